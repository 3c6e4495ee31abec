"""How good a set model is on collections it was not trained on: bits by what is known, proposals, and the obvious."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.energy import Energy
from fabula.core.posterior import posterior
from fabula.core.sampling import likely_orderings
from fabula.models.titles import TITLE_PAIRS, words_of
from fabula.training.sets.data import SetData
from fabula.training.sets.masking import only
from fabula.training.sets.measuring import Tables, collection_bits

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Seen:
    """What may be seen of items: some columns of the features, and titles or not."""

    features: tuple[int, ...]
    titles: bool


def seen_by(features: Sequence[str]) -> dict[str, Seen]:
    """The usual cases by name: all is known, what a folder of music tells, no titles, and less."""
    folder = tuple(features.index(name) for name in ("duration_ms", "loudness") if name in features)
    length = tuple(features.index(name) for name in ("duration_ms",) if name in features)
    whole = tuple(range(len(features)))
    return {
        "all inputs": Seen(whole, titles=True),
        "duration, loudness and titles": Seen(folder, titles=True),
        "features without titles": Seen(whole, titles=False),
        "duration and titles": Seen(length, titles=True),
        "duration and loudness": Seen(folder, titles=False),
        "titles alone": Seen((), titles=True),
    }


def interval(
    values: NDArray[np.float64], groups: NDArray[Any], seed: int = 0, resamples: int = 2000
) -> dict[str, float]:
    """Mean with its 95 % interval by bootstrap over groups (artists), which are drawn whole.

    Examples
    --------
    >>> interval(np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]))
    {'mean': 1.0, 'low': 1.0, 'high': 1.0, 'n': 3}
    """
    _, number = np.unique(groups, return_inverse=True)
    sums, counts = np.bincount(number, weights=values), np.bincount(number)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(resamples, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high), "n": len(values)}


def bits_by_inputs(tables: Tables, data: SetData, features: Sequence[str], **settings: Any) -> dict[str, Any]:
    """Bits with their intervals for each usual case of what is known; of all inputs also by length and without flow."""
    groups = data.groups.cpu().numpy()
    found: dict[str, Any] = {}
    for name, seen in seen_by(features).items():
        bits = collection_bits(tables, data, features=seen.features, titles=seen.titles, **settings)
        found[name] = interval(bits, groups)
        if name == "all inputs":
            lengths = data.lengths.cpu().numpy()
            cases = {"3 to 6": lengths < 7, "7 to 10": (lengths > 6) & (lengths < 11), "11 to 20": lengths > 10}
            found["by length"] = {k: interval(bits[c], groups[c]) for k, c in cases.items() if c.any()}
    arcs = collection_bits(tables, data, flow=False, **settings)
    return {**found, "all inputs, arcs alone": interval(arcs, groups)}


def proposals(tables: Tables, data: SetData, seen: Seen, seed: int = 0) -> dict[str, list[Ints]]:
    """One ordering per collection: the likeliest found, and the one sorted by expected positions."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[Ints]] = {k: [np.zeros(0, np.int64)] * len(data) for k in ("likeliest", "expected")}
    with torch.no_grad():
        for chosen in data.by_length().values():
            for part in torch.split(chosen, 128):
                both = tables(only(data.whole(part), seen.features, titles=seen.titles))
                positions, flow = (table.double().cpu().numpy() for table in both)
                energy = Energy(positions, flow)
                likely = likely_orderings([energy[row] for row in range(len(part))], rng)
                for row, number in enumerate(part.tolist()):
                    mean = posterior(energy[row]).places
                    found["likeliest"][number], found["expected"][number] = likely[row], mean.argsort()
    return found


def agreement(orderings: Sequence[Ints]) -> dict[str, float]:
    """How orderings of items that stand in true order agree with it: Spearman's rho, opener, close, neighbours kept."""
    rho = [_spearman(order) for order in orderings]
    pairs = [np.mean(np.diff(order) == 1) for order in orderings]
    return {
        "spearman": float(np.mean(rho)),
        "opener": float(np.mean([order[0] == 0 for order in orderings])),
        "close": float(np.mean([order[-1] == len(order) - 1 for order in orderings])),
        "neighbours": float(np.mean(pairs)),
    }


def obvious(
    orderings: Sequence[Ints], collections: Sequence[Collection], data: SetData
) -> dict[str, dict[str, float | None]]:
    """In how many albums Intro comes first, Outro last, a part before the next, of those where they truly do."""
    kept: dict[str, list[bool]] = {"intro first": [], "outro last": [], "parts in order": []}
    for number, (order, collection) in enumerate(zip(orderings, collections, strict=True)):
        titles = [words_of(item.title) for item in collection.items]
        if "intro" in titles[0]:
            kept["intro first"].append(bool(order[0] == 0))
        if "outro" in titles[-1]:
            kept["outro last"].append(bool(order[-1] == len(order) - 1))
        parts = _parts_in_order(data, number)
        if len(parts):
            place = np.argsort(order)
            kept["parts in order"].append(bool((place[parts[:, 0]] < place[parts[:, 1]]).all()))
    return {k: {"albums": len(v), "share": float(np.mean(v)) if v else None} for k, v in kept.items()}


def _parts_in_order(data: SetData, number: int) -> Ints:
    """Pairs (p, 2) of items of which the second is the next part of the first and stands behind it in truth."""
    n, start = int(data.lengths[number]), int(data.pair_starts[number])
    table = data.pairs[start : start + n * n].view(n, n, -1)[..., TITLE_PAIRS.index("next part")].cpu().numpy()
    first, second = np.nonzero(table)
    return np.stack([first, second], axis=1)[first < second]


def _spearman(order: Ints) -> float:
    n = len(order)
    return float(1 - 6 * np.sum((order - np.arange(n)) ** 2) / (n * (n**2 - 1)))


def mean_tables(nets: Sequence[Callable[[Any], Any]]) -> Tables:
    """The mean of several nets' tables."""

    def tables(x: Any) -> tuple[torch.Tensor, torch.Tensor]:
        found = [net(x) for net in nets]
        return torch.stack([t[0] for t in found]).mean(0), torch.stack([t[1] for t in found]).mean(0)

    return tables


def figures(report: Mapping[str, Any]) -> str:
    """A line of bits: all inputs, and what a folder of music tells."""
    return ", ".join(f"{name} {value['mean']:.3f}" for name, value in report.items() if "mean" in value)
