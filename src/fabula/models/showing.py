"""How a model shows itself: its card in one line, and as a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabula.core.display import name_some, table_html
from fabula.core.fingerprints import fingerprints_of

HISTORY = "history"  # what the epochs brought: too long for a card
_HIDDEN = ("settings", "seen", HISTORY)


class CardShown:
    """What every kind of model shows of itself: features, dimensions, scorers, card."""

    feature_names: Any
    dimensions: Any
    scorers: Any
    card: dict[str, Any]
    training: dict[str, Any]

    def __repr__(self) -> str:
        found = [(label, value.partition(" (")[0]) for label, value in flat(self.card, "") if label.startswith("bits")]
        told = "".join(f"; {label} {value}" for label, value in found[:2])
        return (
            f"<{type(self).__name__}: {name_some(self.feature_names, 4) or 'no features'}; "
            f"scorers {', '.join(self.scorers) or 'none'}{told}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("features", name_some(self.feature_names, 16) or "none"),
            ("dimensions", str(self.dimensions)),
            ("scorers", ", ".join(self.scorers) or "none"),
            *flat(self.card, ""),
            *flat(told_of(self.training), "training"),
        ]
        return table_html(["", ""], rows, caption=type(self).__name__)


def told_of(training: Mapping[str, Any]) -> dict[str, Any]:
    """What a card tells of the training: all but its settings, its epochs and the digests of what it has seen."""
    seen = fingerprints_of(training)
    known = "not recorded" if seen is None else f"digests of {len(seen):,} collections, by which they are known again"
    return {**{key: value for key, value in training.items() if key not in _HIDDEN}, "seen": known}


def flat(value: Any, label: str) -> Iterator[tuple[str, str]]:
    """Nested names as one label: ("bits, arcs", "0.25").

    Examples
    --------
    >>> list(flat({"bits": {"arcs": 0.25}}, ""))
    [('bits, arcs', '0.25')]
    """
    if isinstance(value, Mapping) and {"bits", "low", "high"} <= set(value):
        bits, low, high = (f"{round(value[key], 3) + 0.0:.3f}" for key in ("bits", "low", "high"))  # no "-0.000"
        count = f", {value['collections']:,} collections" if "collections" in value else ""
        yield label, f"{bits} (95 % interval {low} to {high}{count})"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{label}, {key}" if label else str(key))
    elif isinstance(value, list):
        yield label, ", ".join(map(_shown, value))
    else:
        yield label, _shown(value)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
