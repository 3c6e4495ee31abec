"""Colours that tell series apart, in light and dark, and the frame that every figure of the study has."""

from __future__ import annotations

from html import escape

from fabula.report import svg

_LIGHT = ("#2f6fde", "#c8641b", "#1f8a5f", "#8250c8", "#c2384b", "#0b8aa0", "#8a7a17", "#6b7280")
_DARK = ("#6ea8ff", "#f0a05a", "#4fc795", "#b48cf2", "#f07a88", "#4cc3d9", "#cdbb52", "#a3acbb")

COLOURS = len(_LIGHT)
GREY = COLOURS - 1


def _rules(colours: tuple[str, ...]) -> str:
    return "".join(f".fab .s{i}{{--c:{colour}}}" for i, colour in enumerate(colours))


STYLE = (
    _rules(_LIGHT)
    + f"@media(prefers-color-scheme:dark){{{_rules(_DARK)}}}"
    + ".fab .line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}"
    + ".fab .thin{fill:none;stroke:var(--c);stroke-width:1.1;stroke-opacity:.75}"
    + ".fab .thick{fill:none;stroke:var(--c);stroke-width:3}"
    + ".fab .dashed{stroke-dasharray:5 4}.fab .band{fill:var(--c);fill-opacity:.14;stroke:none}"
    + ".fab .mark{fill:var(--c)}.fab .flow{fill:var(--c);fill-opacity:.28;stroke:none}"
    + ".fab .node{fill:var(--c);fill-opacity:.12;stroke:var(--c);stroke-width:1.2}"
    + ".fab .inside{fill:#fff;font-weight:600}@media(prefers-color-scheme:dark){.fab .inside{fill:#14171d}}"
    + ".fab .zero{stroke:var(--line);stroke-width:1}.fab .small{font-size:10.5px}"
)


def frame(parts: list[str], *, width: float, height: float, label: str, standalone: bool) -> str:
    """The SVG around the parts of a figure; with its own style sheet where it stands alone."""
    style = f"<style>{svg.STYLE}{STYLE}</style>" if standalone else ""
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{style}{"".join(parts)}</svg>'
    )


def text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "start", bold: bool = False) -> str:
    """One line of text."""
    names = f' class="{kind}"' if kind else ""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{names}{weight}>{escape(words)}</text>'


def path(kind: str, points: list[tuple[float, float]], *, closed: bool = False) -> str:
    """A line through points."""
    joined = " L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="M{joined}{"Z" if closed else ""}"/>'


def shorten(words: str, most: int) -> str:
    """At most so many characters, the last an ellipsis where some are left out.

    Examples
    --------
    >>> shorten("a long title", 7)
    'a long…'
    """
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
