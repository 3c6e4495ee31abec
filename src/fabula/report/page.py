"""One self-contained HTML page about an ordering: nothing in it is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from fabula.core.files.writing import write_whole
from fabula.core.fit import Fit
from fabula.media.facts import Fact
from fabula.media.medium import Threads
from fabula.report import svg
from fabula.report.figures.colours import STYLE as COLOURS
from fabula.report.figures.ends import MOST_ITEMS, ends_figure
from fabula.report.figures.inner import whole_figure
from fabula.report.figures.likes import MOST_ROWS, likes_figure
from fabula.report.figures.threads import threads_figure
from fabula.report.light_table import STYLE as LIGHT
from fabula.report.light_table import light_table, swatches
from fabula.session.answer import beside_text, facts_of, gap_text, headline, likely_text, model_name, rows_of, side_line
from fabula.session.explain import story
from fabula.session.inner_arcs import whole_arc
from fabula.session.ordered import Ordered

STYLE = """
:root{color-scheme:light dark;--ink:#1d2330;--soft:#6b7280;--line:#e1e5ec;--page:#fff;--card:#f7f8fa;--dot:#2f6fde}
@media(prefers-color-scheme:dark){:root{--ink:#e8ebf1;--soft:#9aa3b2;--line:#343b48;--page:#14171d;--card:#1c2028;
--dot:#6ea8ff}}
*{box-sizing:border-box}body{margin:0 auto;max-width:60rem;padding:2rem 1rem 4rem;background:var(--page);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}
h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.4rem 0 .6rem}
.sub,.soft{color:var(--soft)}.note{border-left:3px solid #d9822b;padding:.3rem .8rem;background:var(--card);
margin:.6rem 0}
figure{margin:1rem 0;padding:.8rem;background:var(--card);border:1px solid var(--line);border-radius:10px}
figure{overflow-x:auto}svg{width:100%;min-width:34rem;height:auto;display:block}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem}th{text-align:left;color:var(--soft);font-weight:600}
th,td{padding:.4rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.why{min-width:15rem}.bar{height:.55rem;border-radius:.3rem;background:var(--dot);min-width:2px;margin-top:.45rem}
details{border:1px solid var(--line);border-radius:10px;padding:.5rem .9rem;margin:.5rem 0}summary{cursor:pointer}
ol{margin:.6rem 0;padding-left:2rem}
"""


def write_page(ordered: Ordered, path: str | Path) -> Path:
    """Write the page about an ordering, whole or not at all."""
    return write_whole(path, order_page(ordered))


def order_page(ordered: Ordered) -> str:
    """The page: the arc after and before, the table with reasons, the alternatives.

    Returns
    -------
    HTML text.
    """
    title = ordered.session.title
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="sub">{escape(_summary(ordered))}</p>',
        f"<p>{escape(_verdict(ordered))}</p>",
        *(f'<p class="note">{escape(note)}</p>' for note in ordered.notes),
        *_figures(ordered),
        *light_table(ordered),
        "<h2>The order</h2>",
        _table(ordered),
        *_changes(ordered),
        *_ends(ordered),
        *_likes(ordered),
        *_whole(ordered),
        *_threads(ordered),
        *_alternatives(ordered),
    ]
    style = f"{STYLE}{svg.STYLE}{COLOURS}{LIGHT}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · fabula</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{style}</style>'
        f"</head><body>{''.join(body)}</body></html>\n"
    )


def _summary(ordered: Ordered) -> str:
    sides = ", ".join(side_line(ordered, side) for side in range(len(ordered.sides)))
    name = ordered.fit.template.name or "an arc"
    counted = headline(ordered).removeprefix(f"{ordered.session.title}: ")
    return f"{counted}, along {name}.{f' {sides}.' if sides else ''}"


def _verdict(ordered: Ordered) -> str:
    chosen, given = ordered.fit, ordered.given
    words = story(ordered)
    text = f"{words[:1].upper()}{words[1:]}. " if words else ""
    likely = likely_text(ordered)
    if likely:
        text += f"By the model {model_name(ordered)}: {likely}. "
    if ordered.task.likelihood is None:
        text += f"Mean deviation {chosen.mean:.2f}, worst {chosen.worst:.2f}; "
        text += f"as given {given.mean:.2f} and {given.worst:.2f}."
    if ordered.gap is None:
        return f"{text} How close this is to the best is not known."
    return text if not ordered.gap else f"{text} Another ordering could be better by {gap_text(ordered.gap)} at most."


def _figures(ordered: Ordered) -> list[str]:
    essence, items = ordered.session.essence, ordered.session.collection.items
    if essence.ndim > 1:
        return []
    figures = []
    for name, fit, pinned in (("after", ordered.fit, ordered.pinned), ("before", ordered.given, ())):
        labels = [items[i].label for i in fit.ordering]
        how = svg.Drawing(fit.template, ordered.sides, pinned, caption=f"The arc {name}", width=900)
        figures.append(f"<figure>{svg.arc_figure(essence[fit.ordering], labels, how)}</figure>")
    return figures


def _table(ordered: Ordered) -> str:
    rows, facts = rows_of(ordered), facts_of(ordered)
    creators, timed = any(row.item.creator for row in rows), any(row.length for row in rows)
    creator = escape(ordered.session.medium.words.creator)
    head = '<th class="n">#</th><th>title</th>' + (f"<th>{creator}</th>" if creators else "")
    head += '<th class="n">length</th>' if timed else ""
    head += "".join(f'<th class="n">{escape(fact.name)}</th>' for fact in facts)
    head += '<th class="n">was</th><th class="n">essence</th><th class="n">target</th>'
    head += '<th style="width:7rem"></th><th>why</th>'
    columns = head.count("<th")
    body = []
    for row, share, why in zip(rows, _shares(ordered.session.essence, ordered.fit), ordered.reasons, strict=True):
        if row.side and row.number == 1:
            line = escape(side_line(ordered, ordered.side_of(row.position)[0]))
            body.append(f'<tr><th colspan="{columns}" scope="rowgroup">{line}</th></tr>')
        cells = [f'<td class="n">{row.label}</td><td dir="auto">{escape(row.item.label)}</td>']
        cells += [f'<td dir="auto">{escape(row.item.creator)}</td>'] if creators else []
        cells += [f'<td class="n">{row.length}</td>'] if timed else []
        cells += [f'<td class="n">{_fact(fact, row.position)}</td>' for fact in facts]
        cells.append(
            f'<td class="n">{row.index + 1}</td><td class="n">{_number(ordered.session.essence[row.index])}</td>'
        )
        cells.append(f'<td class="n">{_number(ordered.fit.targets[row.position])}</td>')
        cells.append(
            f'<td><div class="bar" style="width:{share:.0%}"></div></td><td class="soft why">{escape(why)}</td>'
        )
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def _fact(fact: Fact, position: int) -> str:
    text = fact.texts[position]
    return swatches(text) if fact.coloured else escape(text)


def _changes(ordered: Ordered) -> list[str]:
    lines = [
        f"<li>{escape(c.name)}: {c.mean[0]:.1f} → {c.mean[1]:.1f} {escape(c.unit)} on average, "
        f"{c.worst[0]:.1f} → {c.worst[1]:.1f} at worst</li>"
        for c in ordered.changes
    ]
    return [f"<h2>Steps between neighbours</h2><ul>{''.join(lines)}</ul>"] if lines else []


def _ends(ordered: Ordered) -> list[str]:
    ends = ordered.session.medium.telling.ends(ordered.collection)
    if ends is None or not 1 < len(ordered.ordering) <= MOST_ITEMS:
        return []
    figure = ends_figure(ends, ordered.titles, ordered.breaks)
    words = (
        f"Each line is an item, from its beginning over the whole to its end, in {ends.name} ({ends.unit}); the short "
    )
    words += "ones between them are the steps that are heard."
    return [f'<h2>How each begins and ends</h2><p class="soft">{escape(words)}</p><figure>{figure}</figure>']


def _likes(ordered: Ordered) -> list[str]:
    judged = ordered.task.likelihood
    if judged is None or len(judged.collection) > MOST_ROWS:
        return []
    likes = judged.likes()[ordered.ordering]
    if not np.ptp(likes):  # a model that knows of no positions
        return []
    figure = likes_figure(likes, ordered.titles)
    words = "Each row is an item, each column a position: the darker, the likelier. A ring marks where it stands."
    return [f'<h2>Where each likes to stand</h2><p class="soft">{words}</p><figure>{figure}</figure>']


def _threads(ordered: Ordered) -> list[str]:
    threads = ordered.session.threads
    if threads is None:
        return []
    along = Threads(threads.names, threads.counts[ordered.ordering])
    met = np.flatnonzero(along.counts.any(axis=0))
    along = Threads(tuple(along.names[i] for i in met), along.counts[:, met])
    words = "Which names run through which, along the new order: the thicker, the oftener."
    figure = threads_figure(along, ordered.titles)
    return [f'<h2>Threads</h2><p class="soft">{words}</p><figure>{figure}</figure>']


def _whole(ordered: Ordered) -> list[str]:
    arc = whole_arc(ordered)
    if arc is None:
        return []
    words = f"The {ordered.session.medium.shown(arc.column)} of the whole in its new order, in sliding windows; "
    words += "a line where each begins."
    return [f'<h2>The arc of the whole</h2><p class="soft">{words}</p><figure>{whole_figure(arc)}</figure>']


def _alternatives(ordered: Ordered) -> list[str]:
    others = [(k, p) for k, p in enumerate(ordered.proposals, start=1) if k != ordered.chosen + 1]
    items = ordered.session.collection.items
    parts = ["<h2>Alternatives</h2>"] if others else []
    for number, proposal in others:
        other = proposal.fit
        score = beside_text(proposal, ordered.fit)
        listed = "".join(f'<li dir="auto">{escape(items[i].label)}</li>' for i in other.ordering)
        figure = ""
        if ordered.session.essence.ndim == 1:
            how = svg.Drawing(other.template, proposal.sides, width=900, height=240)
            labels = [items[i].label for i in other.ordering]
            figure = svg.arc_figure(ordered.session.essence[other.ordering], labels, how)
        name = escape(other.template.name or "an arc")
        parts.append(f"<details><summary>{number}. {name}{score}</summary>{figure}<ol>{listed}</ol></details>")
    return parts


def _shares(essence: np.ndarray[tuple[int, ...], np.dtype[np.float64]], chosen: Fit) -> Sequence[float]:
    values = essence if essence.ndim == 1 else essence[:, 0]
    spread = float(np.ptp(values)) or 1.0
    return [float((values[i] - values.min()) / spread) for i in chosen.ordering]


def _number(value: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    return f"{value:+.2f}" if np.ndim(value) == 0 else " ".join(f"{v:+.2f}" for v in value)
