"""The page, figures and tables of a reproduction."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

from fabula.core.files import json_text, write_whole
from fabula.core.template import Template
from fabula.report import charts
from fabula.report.markup import GREY, NUMBER, add_style, html_page, html_table
from fabula.research.recovery import DIRECT, METHODS, PAPER
from fabula.research.reproduce import NAMES, RANDOM, Reproduced, baseline_name, make_folders
from fabula.sources.tables.text_tables import csv_text

SHOWN = ("edit", "spearman", "kendall", "first", "last", "neighbours", "position", "lcs", "perfect")
_TESTED = ("metric", "a", "b", "n", "difference", "low", "high", "effect", "p", "adjusted")
_TITLES = {"edit": "best string edit score", "spearman": "best Spearman's rho"}
_VERDICTS = {  # what the controls say together: the first that one of them says
    "leak": "one is above zero: a LEAK, trust no figure",
    "too few": "too few collections were measured to judge them",
    "below zero": "none is above zero; one below it has learned noise by heart, which is no leak",
}
_MORE = "figure>figcaption{color:var(--soft);font-size:.9rem;margin-top:.5rem}body{max-width:68rem}"


def write_report(results: Reproduced, folder: str | Path) -> Path:
    """Write ``report.html``, ``numbers.json``, ``tables/*.csv`` and ``figures/*.svg``; returns the page."""
    target = make_folders(Path(folder), ("figures", "tables"))
    for name, figure in figures(results).items():
        write_whole(target / "figures" / f"{name}.svg", add_style(figure) + "\n")
    for name, table in tables(results).items():
        write_whole(target / "tables" / f"{name}.csv", table.csv())
    numbers = {key: value for key, value in asdict(results).items() if key != "folder"}
    write_whole(target / "numbers.json", json_text(numbers, indent=1) + "\n")
    return write_whole(target / "report.html", report_page(results))


def report_page(results: Reproduced) -> str:
    """The page, which loads nothing from elsewhere: every table and figure of the paper, and what it lacks."""
    drawn, listed = figures(results), tables(results)
    title = f"Narrative essence on {results.data['name']}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="sub">{escape(_about(results))}</p>',
        *(f'<p class="note">{escape(note)}</p>' for note in results.data["notes"]),
        *_information(results, drawn, listed),
        *_templates(results, drawn, listed),
        *_orders(results, drawn, listed),
        "<h2>Learning curves</h2>",
        _figure(drawn["learning"], "Left: bits on the development collections after each epoch, one line a seed. "
                "Right: bits of a mixture of arcs by the number of training collections, with 95 % intervals."),
    ]  # fmt: skip
    return html_page(title, body, style=_MORE)


@dataclass(frozen=True)
class StudyTable:
    """A table: the names of its columns, and rows of texts and numbers (None is unknown)."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def csv(self) -> str:
        """Numbers in full."""
        return csv_text(self.columns, self.rows)

    def html(self, *, digits: int = 3) -> str:
        """Numbers to so many digits, on the right."""
        numeric = [all(isinstance(row[i], int | float | None) for row in self.rows) for i in range(len(self.columns))]
        columns = [(name, NUMBER if n else "") for name, n in zip(self.columns, numeric, strict=True)]
        return html_table(columns, [[escape(format_cell(cell, digits)) for cell in row] for row in self.rows])


def tables(results: Reproduced) -> dict[str, StudyTable]:
    """Every table of a study by name."""
    runs = [
        {**r, "lowest seed": min(each), "highest seed": max(each), "seeds": len(each), "published": r["paper"]}
        for r, each in ((r, r["seeds"]) for r in results.table1)
    ]
    first = ("dimensions", "bits", "low", "high", "lowest seed", "highest seed", "seeds", "published")
    gained = [{**row, "name": f"{row['name']}, gain over shuffled"} for row in results.figure2["gains"]]
    recovered = [
        (row["method"], row["n"], *(row["metrics"][name][end] for name in SHOWN for end in ("mean", "low", "high")))
        for row in results.recovery["rows"]
    ]
    ends = tuple(f"{name}{end}" for name in SHOWN for end in ("", " low", " high"))
    found = {
        "table1": _plain(first, runs),
        "controls": _plain(("data", "scorer", "bits", "low", "high", "verdict"), results.controls),
        "more-data": _plain(("collections", "bits", "low", "high"), results.more_data),
        "figure2": _plain(("name", "k", "metric", "mean", "low", "high", "n"), results.figure2["rows"] + gained),
        "significance": _plain(_TESTED, results.significance["rows"]),
        "recovery": StudyTable(("method", "n", *ends), recovered),
        "recovery-tests": _plain(_TESTED, results.recovery["tests"]),
    }
    if results.figure1 is not None:
        columns = ("name", "dimensions", "bits", "low", "high", "correlation")
        found["figure1"] = _plain(columns, results.figure1)
    return found


def figures(results: Reproduced) -> dict[str, str]:
    """SVG text of every figure by name, in the order of the page."""
    bars = [charts.Bar(f"d = {r['dimensions']}", r["bits"], r["low"], r["high"]) for r in results.table1]
    zero = [charts.Bar(f"{r['data']}, {r['scorer']}", r["bits"], r["low"], r["high"]) for r in results.controls]
    panels = [("bits by dimensions of the essence", bars), ("bits of the controls", zero)]
    found = {"table1": charts.bars_figure(panels)}
    if results.figure1 is not None:
        bits = [charts.Bar(r["name"], r["bits"], r["low"], r["high"]) for r in results.figure1]
        known = [charts.Bar(r["name"], r["correlation"]) for r in results.figure1 if r["correlation"] is not None]
        panels = [("bits about the order", bits), *([("correlation with the essence", known)] if known else [])]
        found["figure1"] = charts.bars_figure(panels)
    looks = {RANDOM: (GREY, True)}
    for colour, way in enumerate(NAMES):
        looks |= {NAMES[way]: (colour, False), baseline_name(way): (colour, True)}
    gains, nothing = results.figure2["gains"], "no gain over a shuffled essence"
    even = [{**row, "name": nothing, "mean": 0.0} for row in gains if row["name"] == gains[0]["name"]]
    gain = {name: (colour, False) for colour, name in enumerate(NAMES.values())} | {nothing: (GREY, True)}
    return found | {
        "figure2": _by_count(results.figure2["rows"], looks, height=330),
        "figure2-gain": _by_count(gains + even, gain, "gain: ", height=280),
        "figure3": _figure3(results.kinship),
        "figure4": charts.genealogy_figure(results.kinship),
        "figure5": _figure5(results),
        "recovery": _recovery_bars(results),
        "learning": _learning(results),
    }


def format_cell(value: Any, digits: int = 3) -> str:
    """A cell as a person reads it; small probabilities keep their exponent.

    >>> format_cell(0.12345), format_cell(1e-9), format_cell(None), format_cell("a")
    ('0.123', '1e-09', '', 'a')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1g}" if 0 < abs(value) < 0.5 * 10**-digits else f"{value:.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _plain(columns: tuple[str, ...], rows: Sequence[dict[str, Any]]) -> StudyTable:
    """Rows by their columns; bits that differ from zero by rounding alone are zero."""

    def cell(name: str, value: Any) -> Any:
        tiny = name in ("bits", "low", "high") and isinstance(value, float) and abs(value) < 1e-9
        return 0.0 if tiny else value

    return StudyTable(columns, [tuple(cell(name, row[name]) for name in columns) for row in rows])


def _by_count(
    rows: Sequence[dict[str, Any]], looks: Mapping[str, tuple[int, bool]], before: str = "", *, height: int
) -> str:
    """A panel for each metric: lines by the number of templates, with a band unless they are dashed."""
    panels = []
    for metric, title in _TITLES.items():
        lines = []
        for name, (colour, dashed) in looks.items():
            own = [row for row in rows if row["name"] == name and row["metric"] == metric]
            k, mean, low, high = ([row[end] for row in own] for end in ("k", "mean", "low", "high"))
            low, high = ([], []) if dashed else (low, high)
            lines += [charts.Line(name, k, mean, low, high, colour, dashed)] if own else []
        panels.append(charts.LinePanel(f"{before}{title}", "number of templates k", lines))
    return charts.lines_figure(panels, height=height)


def _figure3(kinship: dict[str, Any]) -> str:
    templates, panels = _templates_of(kinship), []
    for which, t in product(("best", "worst"), templates):
        arcs = [kinship["arcs"][str(i)] for i in t[which]]
        drawn = [charts.Arc(arc["title"], arc["essence"]) for arc in arcs]
        template = Template(t["knots"], t["values"], t["name"])
        panels.append(charts.ArcPanel(f"{t['name']}: {which} fit", template, drawn, t["lineage"] % GREY))
    return charts.panels_figure(panels, len(templates))


def _templates_of(kinship: dict[str, Any]) -> list[dict[str, Any]]:
    """The templates of the number that is shown."""
    return next(g["templates"] for g in kinship["generations"] if g["k"] == kinship["k"])


def _figure5(results: Reproduced) -> str:
    example, essence = results.example, results.example["essence"]

    def arc(ordering: list[int]) -> charts.Arc:
        return charts.Arc("", [essence[i] for i in ordering], [str(i + 1) for i in ordering])

    panels = [charts.ArcPanel("original order", None, [arc(list(range(len(essence))))])]
    for t, each in zip(_templates_of(results.kinship), example["fits"], strict=True):
        template = Template(each["knots"], each["values"], each["name"])
        panels.append(charts.ArcPanel(each["name"], template, [arc(each["ordering"])], t["lineage"] % GREY))
    labels = [f"{number}. {label}" for number, label in enumerate(example["labels"], start=1)]
    return charts.panels_figure(panels, min(3, len(panels)), height=190, named=False, notes=labels[:13])


def _recovery_bars(results: Reproduced) -> str:
    rows = results.recovery["rows"]
    plain = [r for r in rows[1:] if r["method"] not in METHODS and r["metrics"]["spearman"]["mean"] > 0]
    chosen = [rows[0], *plain[:4], *(r for r in rows if r["method"] in METHODS)]
    short = {PAPER: "squared error", DIRECT: "transformer"}

    def bars(metric: str) -> list[charts.Bar]:
        found = [(short.get(r["method"], r["method"]), r["metrics"][metric]) for r in chosen]
        return [charts.Bar(name, cell["mean"], cell["low"], cell["high"]) for name, cell in found]

    return charts.bars_figure([("Spearman's rho", bars("spearman")), ("closer placed last", bars("last"))])


def _learning(results: Reproduced) -> str:
    lines = []
    for number, scorer in enumerate(results.essences[0]["bits"]):
        for seed, each in enumerate(results.essences):
            epochs = [0, *(h["epoch"] for h in each["history"])]
            bits = [0.0, *(h["bits"][scorer] for h in each["history"])]
            lines.append(charts.Line(f"essence, {scorer}", epochs, bits, colour=number, dashed=seed > 0))
    direct = results.sequencer["history"]
    lines.append(charts.Line("direct transformer (likelihood)", list(range(len(direct))), direct, colour=3))
    by_epoch = charts.LinePanel("bits by epoch, development", "epoch", lines[::-1])
    rows = results.more_data
    count, bits, low, high = ([r[end] for r in rows] for end in ("collections", "bits", "low", "high"))
    arcs = charts.Line("mixture of arcs", count, bits, low, high, colour=2)
    by_data = charts.LinePanel("bits by training collections", "collections", [arcs], log=True)
    return charts.lines_figure([by_epoch, by_data])


def _about(results: Reproduced) -> str:
    counts = results.data["collections"]
    size = "A quick run" if results.plan["quick"] else "The full run"
    return (
        f"{size}, {results.plan['seeds']} seed(s). Trained on {counts['training']:,} collections; "
        f"{counts['development']:,} decide which epoch is kept; {counts['evaluation']:,} are evaluated "
        f"({results.data['rule']}). "
        f"{len(results.data['features'])} features. Intervals are 95 %, over creators."
    )


def _information(results: Reproduced, drawn: Mapping[str, str], listed: Mapping[str, StudyTable]) -> list[str]:
    said = {row["verdict"] for row in results.controls}
    verdict = next((words for one, words in _VERDICTS.items() if one in said), "both are zero, as they must be")
    parts = [
        "<h2>Table 1. Information about the order, by dimensions of the essence</h2>",
        _figure(drawn["table1"], f"Bits on collections that decided nothing in this run, mean over seeds; the controls "
                f"beside them: {verdict}. The published figures come from an error that lets noise score 1.9 bits."),
        listed["table1"].html(),
        "<h2>Controls</h2>",
        listed["controls"].html(digits=4),
    ]  # fmt: skip
    if results.figure1 is not None:
        parts += [
            "<h2>Figure 1. What each feature tells</h2>",
            _figure(drawn["figure1"], "Left: bits of the essence and of each feature alone, each with a scorer of its "
                    "own. Right: Pearson's correlation with the essence within collections; its sign is a convention."),
        ]  # fmt: skip
    return parts


def _templates(results: Reproduced, drawn: Mapping[str, str], listed: Mapping[str, StudyTable]) -> list[str]:
    k, example = results.significance["k"], results.example
    said = " (it was among the training collections)" if example["trained_on"] else ""
    return [
        "<h2>Figure 2. Best of k proposals</h2>",
        _figure(drawn["figure2"], "The best score of k proposed orders, one from each template, held-out collections. "
                "Dashed: the baselines, k random orderings and the same templates with the essence shuffled. "
                "More proposals score higher by chance alone."),
        _figure(drawn["figure2-gain"], "What the essence adds: the score less that of the same templates with the "
                "essence shuffled, paired by collection. k random orderings are not as fair a baseline: of "
                "proposals that are alike the best is lower, of proposals far apart higher, whatever they know."),
        f"<h2>Significance (appendix D), k = {k}</h2>",
        '<p class="sub">Paired t-tests over creators; effect is Cohen\'s d<sub>z</sub>; adjusted by '
        "Holm-Bonferroni over the whole table.</p>",
        listed["significance"].html(digits=4),
        "<h2>Figure 3. Templates and who follows them</h2>",
        _figure(drawn["figure3"], f"The {results.kinship['k']} templates of least squared error; the three best "
                "and the three worst fitting held-out collections of 7 to 15 items among those nearest to each."),
        "<h2>Figure 4. Genealogy of templates</h2>",
        _figure(drawn["figure4"], f"How {results.kinship['collections']:,} held-out collections move between templates "
                "as their number grows. Colours follow descent."),
        f"<h2>Figure 5. {escape(example['title'])}</h2>",
        _figure(drawn["figure5"], f"In its original order and fitted to four templates{said}. The items keep their "
                "numbers."),
    ]  # fmt: skip


def _orders(results: Reproduced, drawn: Mapping[str, str], listed: Mapping[str, StudyTable]) -> list[str]:
    direct = results.sequencer["bits"]
    asked = results.plan["searched"]
    slow = f" The search under a scorer is slow and was asked about {asked} of them." if asked < direct["n"] else ""
    rows = [(r["method"], r["n"], *(r["metrics"][name]["mean"] for name in SHOWN)) for r in results.recovery["rows"]]
    means = StudyTable(("method", "n", *SHOWN), rows)
    ours = listed["recovery-tests"]
    kept = [row for row in ours.rows if row[2] != "chance" or not row[1].endswith((" up", " down"))]
    return [
        "<h2>Order recovery, every method</h2>",
        _figure(drawn["recovery"], "One ordering of each held-out collection, proposed without seeing the true one. "
                "Of the features, the best few sorted one way."),
        means.html(),
        f'<p class="sub">The direct transformer tells {format_cell(direct["mean"])} bits about the order '
        f"[{format_cell(direct['low'])}, {format_cell(direct['high'])}], by likelihood, n = {direct['n']:,}.{slow}</p>",
        "<h2>Paired tests</h2>",
        '<p class="sub">Adjusted by Holm-Bonferroni over all tests of all methods, those of the single features '
        "(in tables/recovery-tests.csv) included.</p>",
        StudyTable(ours.columns, kept).html(digits=4),
    ]  # fmt: skip


def _figure(drawn: str, caption: str) -> str:
    return f"<figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>"
