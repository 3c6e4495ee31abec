"""The figures of a study by name, each from its numbers."""

from __future__ import annotations

from typing import Any

from fabula.core.template import Template
from fabula.report.figures.bars import Bar, bars_figure
from fabula.report.figures.colours import GREY
from fabula.report.figures.lines import Line, LinePanel, lines_figure
from fabula.report.figures.sankey import genealogy_figure
from fabula.report.figures.templates import Arc, ArcPanel, PanelLayout, panels_figure
from fabula.studies.recovery import METHODS
from fabula.studies.reproduce.run import Reproduced
from fabula.studies.reproduce.templates import NAMES, RANDOM, shuffled_name

_TITLES = {"edit": "best string edit score", "spearman": "best Spearman's rho"}


def figures(results: Reproduced, *, standalone: bool = True) -> dict[str, str]:
    """SVG text of every figure by name, in the order of the page."""
    found = {"table1": _table1(results, standalone=standalone)}
    if results.figure1 is not None:
        found["figure1"] = _figure1(results.figure1, standalone=standalone)
    return found | {
        "figure2": _figure2(results, standalone=standalone),
        "figure2-gain": _gain(results, standalone=standalone),
        "figure4": _figure4(results.kinship, standalone=standalone),
        "figure5": genealogy_figure(results.kinship, standalone=standalone),
        "figure6": _figure6(results, standalone=standalone),
        "recovery": _recovery(results, standalone=standalone),
        "learning": _learning(results, standalone=standalone),
    }


def _table1(results: Reproduced, *, standalone: bool) -> str:
    bars = [_bar(f"d = {r['dimensions']}", r["bits"], r["low"], r["high"]) for r in results.table1]
    zero = [_bar(f"{r['data']}, {r['scorer']}", r["bits"], r["low"], r["high"]) for r in results.controls]
    panels = [("bits by dimensions of the essence", bars), ("bits of the controls", zero)]
    return bars_figure(panels, standalone=standalone)


def _figure1(rows: list[dict[str, Any]], *, standalone: bool) -> str:
    bits = [_bar(r["name"], r["bits"], r["low"], r["high"]) for r in rows]
    panels = [("bits about the order", bits)]
    known = [_bar(r["name"], r["correlation"]) for r in rows if r["correlation"] is not None]
    return bars_figure([*panels, ("correlation with the essence", known)] if known else panels, standalone=standalone)


def _figure2(results: Reproduced, *, standalone: bool) -> str:
    looks = {RANDOM: (GREY, True)}
    for colour, way in enumerate(NAMES):
        looks |= {NAMES[way]: (colour, False), shuffled_name(way): (colour, True)}
    panels = []
    for metric, title in _TITLES.items():
        lines = []
        for name, (colour, dashed) in looks.items():
            rows = [r for r in results.figure2["rows"] if r["name"] == name and r["metric"] == metric]
            if rows:
                k, mean, low, high = ([r[end] for r in rows] for end in ("k", "mean", "low", "high"))
                band = ([], []) if dashed else (low, high)
                lines.append(Line(name, k, mean, band[0], band[1], colour=colour, dashed=dashed))
        panels.append(LinePanel(title, "number of templates k", lines))
    return lines_figure(panels, height=330, standalone=standalone)


def _gain(results: Reproduced, *, standalone: bool) -> str:
    panels = []
    for metric, title in _TITLES.items():
        lines = []
        for colour, name in enumerate(NAMES.values()):
            rows = [r for r in results.figure2["gains"] if r["name"] == name and r["metric"] == metric]
            if rows:
                k, mean, low, high = ([r[end] for r in rows] for end in ("k", "mean", "low", "high"))
                lines.append(Line(name, k, mean, low, high, colour=colour))
        nothing = [0.0] * len(lines[0].x)
        lines.append(Line("no gain over a shuffled essence", lines[0].x, nothing, colour=GREY, dashed=True))
        panels.append(LinePanel(f"gain: {title}", "number of templates k", lines))
    return lines_figure(panels, height=280, standalone=standalone)


def _figure4(kinship: dict[str, Any], *, standalone: bool) -> str:
    [generation] = [g for g in kinship["generations"] if g["k"] == kinship["k"]]
    panels = []
    for which in ("best", "worst"):
        for t in generation["templates"]:
            arcs = [kinship["arcs"][str(i)] for i in t[which]]
            drawn = [Arc(arc["title"], arc["essence"]) for arc in arcs]
            template = Template(t["knots"], t["values"], t["name"])
            panels.append(ArcPanel(f"{t['name']}: {which} fit", template, drawn, t["lineage"] % GREY))
    return panels_figure(panels, PanelLayout(len(generation["templates"])), standalone=standalone)


def _figure6(results: Reproduced, *, standalone: bool) -> str:
    example, kinship = results.example, results.kinship
    essence = example["essence"]
    [generation] = [g for g in kinship["generations"] if g["k"] == kinship["k"]]
    lineages = [t["lineage"] % GREY for t in generation["templates"]]

    def arc(ordering: list[int]) -> Arc:
        return Arc("", [essence[i] for i in ordering], [str(i + 1) for i in ordering])

    panels = [ArcPanel("original order", None, [arc(list(range(len(essence))))])]
    for colour, each in zip(lineages, example["fits"], strict=True):
        template = Template(each["knots"], each["values"], each["name"])
        panels.append(ArcPanel(each["name"], template, [arc(each["ordering"])], colour))
    labels = [f"{number}. {label}" for number, label in enumerate(example["labels"], start=1)]
    layout = PanelLayout(min(3, len(panels)), height=190, named=False, notes=labels[:13])
    return panels_figure(panels, layout, standalone=standalone)


def _recovery(results: Reproduced, *, standalone: bool) -> str:
    rows = results.recovery["rows"]
    plain = [r for r in rows[1:] if r["method"] not in METHODS and r["metrics"]["spearman"]["mean"] > 0]
    chosen = [rows[0], *plain[:4], *(r for r in rows if r["method"] in METHODS)]
    panels = []
    for metric, title in (("spearman", "Spearman's rho"), ("last", "closer placed last")):
        bars = []
        for row in chosen:
            cell = row["metrics"][metric]
            bars.append(_bar(_brief(row["method"]), cell["mean"], cell["low"], cell["high"]))
        panels.append((title, bars))
    return bars_figure(panels, standalone=standalone)


def _bar(name: str, value: float, low: float | None = None, high: float | None = None) -> Bar:
    """A bar whose label does not say -0.00."""
    return Bar(name, 0.0 if abs(value) < 0.005 else value, low, high)


def _brief(method: str) -> str:
    return method.replace("squared-error templates", "squared error").replace("direct transformer", "transformer")


def _learning(results: Reproduced, *, standalone: bool) -> str:
    lines = []
    for number, scorer in enumerate(results.essences[0]["bits"]):
        for seed, each in enumerate(results.essences):
            points = [(0, 0.0), *((h["epoch"], h["bits"][scorer]) for h in each["history"])]
            lines.append(Line(f"essence, {scorer}", [e for e, _ in points], [b for _, b in points], colour=number,
                              dashed=seed > 0))  # fmt: skip
    direct = results.sequencer["history"]
    lines.append(Line("direct transformer (likelihood)", list(range(len(direct))), direct, colour=3))
    by_epoch = LinePanel("bits by epoch, development", "epoch", lines[::-1])
    rows = results.more_data
    count, bits, low, high = ([r[end] for r in rows] for end in ("collections", "bits", "low", "high"))
    arcs = Line("mixture of arcs", count, bits, low, high, colour=2)
    by_data = LinePanel("bits by training collections", "collections", [arcs], log=True)
    return lines_figure([by_epoch, by_data], standalone=standalone)
