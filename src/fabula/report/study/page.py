"""One self-contained HTML page about a reproduction of the paper; figures as files, numbers as JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path

from fabula.core.files.atomic import write_whole
from fabula.errors import FileError
from fabula.report import svg
from fabula.report.figures import colours as figures_colours
from fabula.report.page import STYLE
from fabula.report.study.figures import figures
from fabula.report.study.tables import Table, recovery_means, shown, tables
from fabula.studies.reproduce.run import Reproduced

_MORE = "figure>figcaption{color:var(--soft);font-size:.9rem;margin-top:.5rem}body{max-width:68rem}"


def write_report(results: Reproduced, folder: str | Path) -> Path:
    """Write ``report.html``, ``numbers.json``, ``tables/*.csv`` and ``figures/*.svg``; returns the page."""
    target = Path(folder)
    try:
        for part in ("figures", "tables"):
            (target / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{target}: the folder cannot be made ({error.strerror or error})") from error
    for name, figure in figures(results).items():
        write_whole(target / "figures" / f"{name}.svg", figure + "\n")
    for name, table in tables(results).items():
        write_whole(target / "tables" / f"{name}.csv", table.csv())
    numbers = {key: value for key, value in asdict(results).items() if key != "folder"}
    write_whole(target / "numbers.json", json.dumps(numbers, ensure_ascii=False, indent=1) + "\n")
    return write_whole(target / "report.html", report_page(results))


def report_page(results: Reproduced) -> str:
    """The page: every table and figure of the paper, and what it lacks.

    Returns
    -------
    HTML text that loads nothing from elsewhere.
    """
    drawn, listed = figures(results, standalone=False), tables(results)
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
    style = STYLE + svg.STYLE + figures_colours.STYLE + _MORE
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · fabula</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{style}</style></head>'
        f"<body>{''.join(body)}</body></html>\n"
    )


def _about(results: Reproduced) -> str:
    counts = results.data["collections"]
    size = "A quick run" if results.plan["quick"] else "The full run"
    return (
        f"{size}, {results.plan['seeds']} seed(s). Trained on {counts['training']:,} collections; "
        f"{counts['development']:,} decide which epoch is kept; {counts['evaluation']:,} are evaluated "
        f"({results.data['rule']}). "
        f"{len(results.data['features'])} features. Intervals are 95 %, by bootstrap over creators."
    )


def _information(results: Reproduced, drawn: Mapping[str, str], listed: Mapping[str, Table]) -> list[str]:
    worst = max((abs(r["bits"]) for r in results.controls if r["data"] != "real"), default=0.0)
    verdict = "both controls are zero, as they must be" if worst < 0.02 else "a control is NOT zero: trust no figure"
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


def _templates(results: Reproduced, drawn: Mapping[str, str], listed: Mapping[str, Table]) -> list[str]:
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
        '<p class="sub">Paired t-tests over collections; effect is Cohen\'s d<sub>z</sub>; adjusted by '
        "Holm-Bonferroni over the whole table.</p>",
        listed["significance"].html(digits=4),
        "<h2>Figure 4. Templates and who follows them</h2>",
        _figure(drawn["figure4"], f"The {results.kinship['k']} templates of least squared error; the three best "
                "and the three worst fitting held-out collections of 7 to 15 items among those nearest to each."),
        "<h2>Figure 5. Genealogy of templates</h2>",
        _figure(drawn["figure5"], f"How {results.kinship['collections']:,} held-out collections move between templates "
                "as their number grows. Colours follow descent."),
        f"<h2>Figure 6. {escape(example['title'])}</h2>",
        _figure(drawn["figure6"], f"In its original order and fitted to four templates{said}. The items keep their "
                "numbers."),
    ]  # fmt: skip


def _orders(results: Reproduced, drawn: Mapping[str, str], listed: Mapping[str, Table]) -> list[str]:
    direct = results.sequencer["bits"]
    asked = results.plan["searched"]
    slow = f" The search under a scorer is slow and was asked about {asked} of them." if asked < direct["n"] else ""
    ours = listed["recovery-tests"]
    kept = [row for row in ours.rows if row[2] != "chance" or not row[1].endswith((" up", " down"))]
    return [
        "<h2>Order recovery, every method</h2>",
        _figure(drawn["recovery"], "One ordering of each held-out collection, proposed without seeing the true one. "
                "Of the features, the best few sorted one way."),
        recovery_means(results).html(),
        f'<p class="sub">The direct transformer tells {shown(direct["mean"])} bits about the order '
        f"[{shown(direct['low'])}, {shown(direct['high'])}], by likelihood, n = {direct['n']:,}.{slow}</p>",
        "<h2>Paired tests</h2>",
        '<p class="sub">Adjusted by Holm-Bonferroni over all tests of all methods, those of the single features '
        "(in tables/recovery-tests.csv) included.</p>",
        Table("", ours.columns, kept).html(digits=4),
    ]  # fmt: skip


def _figure(drawn: str, caption: str) -> str:
    return f"<figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>"
