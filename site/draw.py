"""Small figures as SVG: in the page they take its colours, by themselves those of the reader's system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LIGHT = dict(
    ink="#1a2130", soft="#555f70", line="#d5dae3", a="#2560cc", b="#a8540a", c="#2f7d4f", d="#7a3fb0", well="#eff1f5"
)
DARK = dict(
    ink="#e8ebf1", soft="#a3acbb", line="#39414e", a="#7aaeff", b="#f0a95a", c="#6fce97", d="#c79bf2", well="#212731"
)


def _style() -> str:
    rules = ["svg{font-family:system-ui,sans-serif}"]
    for colours, head, tail in ((LIGHT, "", ""), (DARK, "@media (prefers-color-scheme:dark){", "}")):
        c = {**colours}
        body = "".join(f".{n}{{stroke:{c[n]}}}.f{n}{{fill:{c[n]}}}" for n in "abcd")
        body += f".e{{stroke:{c['soft']}}}.fe,.soft{{fill:{c['soft']} !important}}text{{fill:{c['ink']}}}.axis{{stroke:{c['line']};fill:none}}.well{{fill:{c['well']}}}.band{{fill:{c['a']};opacity:.14}}"
        rules.append(head + body + tail)
    rules.append(".line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}")
    return f"<style>{''.join(rules)}</style>"


class Figure:
    """A picture of so many pixels, drawn from the top left."""

    def __init__(self, width: float, height: float, kind: str = "fig") -> None:
        self.width, self.height, self.kind, self.parts = width, height, kind, []  # type: ignore[var-annotated]

    def line(self, points: Iterable[tuple[float, float]], kind: str = "a line", more: str = "") -> None:
        path = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<path class="{kind}" d="M{path}" {more}/>')

    def area(self, points: Iterable[tuple[float, float]], kind: str = "band") -> None:
        self.parts.append(f'<path class="{kind}" d="M{"L".join(f"{x:.1f},{y:.1f}" for x, y in points)}Z"/>')

    def dot(self, x: float, y: float, kind: str = "fa", r: float = 4, title: str = "") -> None:
        inner = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:g}">{inner}</circle>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str = "well", more: str = "") -> None:
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(0, width):.1f}" height="{height:.1f}" {more}/>'
        )

    def text(
        self, x: float, y: float, words: str, kind: str = "", size: float = 12, anchor: str = "start", more: str = ""
    ) -> None:
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" {more}>{escape(words)}</text>'
        )

    def svg(self, *, alone: bool = True) -> str:
        """The whole of it; alone: a file by itself, with its own style."""
        names = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
        return f'<svg class="{self.kind}" viewBox="0 0 {self.width:g} {self.height:g}"{names}>{_style() if alone else ""}{"".join(self.parts)}</svg>'


class Plot:
    """A box of a figure with its own scales."""

    def __init__(
        self, figure: Figure, box: tuple[float, float, float, float], x: tuple[float, float], y: tuple[float, float]
    ) -> None:
        self.figure, self.box, self.xs, self.ys = figure, box, x, y

    def at(self, x: float, y: float) -> tuple[float, float]:
        left, top, width, height = self.box
        return left + (x - self.xs[0]) / (self.xs[1] - self.xs[0]) * width, top + (self.ys[1] - y) / (
            self.ys[1] - self.ys[0]
        ) * height

    def points(self, x: Iterable[float], y: Iterable[float]) -> list[tuple[float, float]]:
        return [self.at(one, other) for one, other in zip(x, y, strict=True)]

    def frame(
        self,
        title: str = "",
        ticks: Sequence[tuple[float, str]] = (),
        x_ticks: Sequence[tuple[float, str]] = (),
        zero: float | None = None,
    ) -> None:
        left, top, width, height = self.box
        self.figure.line([(left, top), (left, top + height), (left + width, top + height)], "axis")
        if zero is not None:
            y = self.at(0, zero)[1]
            self.figure.line([(left, y), (left + width, y)], "axis", 'stroke-dasharray="3 4"')
        if title:
            self.figure.text(left, top - 8, title, size=13, more='font-weight="600"')
        for value, words in ticks:
            self.figure.text(left - 5, self.at(0, value)[1] + 4, words, "soft", 11, "end")
        for value, words in x_ticks:
            self.figure.text(self.at(value, 0)[0], top + height + 15, words, "soft", 11, "middle")
