"""One self-contained HTML page about an ordering: nothing in it is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from fabula.core.fit import Fit
from fabula.core.writing import write_whole
from fabula.report import svg
from fabula.session.ordering import Ordered

_STYLE = """
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
    title = ordered.source.collection.title or ordered.source.path.stem
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="sub">{len(ordered.essence)} items along <b>{escape(ordered.fit.template.name or "an arc")}</b>. '
        f"{escape(_verdict(ordered))}</p>",
        *(f'<p class="note">{escape(note)}</p>' for note in ordered.notes),
        *_figures(ordered),
        "<h2>The order</h2>",
        _table(ordered),
        *_alternatives(ordered),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · fabula</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}{svg.STYLE}</style></head>'
        f"<body>{''.join(body)}</body></html>\n"
    )


def _verdict(ordered: Ordered) -> str:
    chosen, given = ordered.fit, ordered.given
    text = (
        f"Mean deviation {chosen.mean:.2f}, worst {chosen.worst:.2f}; as given {given.mean:.2f} and {given.worst:.2f}."
    )
    if chosen.score is not None and given.score is not None:
        text += f" The model's score is {chosen.score:.2f}, that of the order given {given.score:.2f}."
    return text


def _figures(ordered: Ordered) -> list[str]:
    if ordered.essence.ndim > 1:
        return []
    items = ordered.source.collection.items
    template = ordered.fit.template
    figures = []
    for name, order, pinned in (
        ("after", ordered.fit.ordering, ordered.pinned),
        ("before", ordered.given.ordering, ()),
    ):
        labels = [items[i].label for i in order]
        figure = svg.arc_figure(
            ordered.essence[order], labels, template=template, pinned=pinned, caption=f"The arc {name}", width=900
        )
        figures.append(f"<figure>{figure}</figure>")
    return figures


def _table(ordered: Ordered) -> str:
    chosen = ordered.fit
    artists = any(item.artist for item in ordered.source.collection.items)
    head = '<th class="n">#</th><th>title</th>' + ("<th>artist</th>" if artists else "")
    head += '<th class="n">was</th><th class="n">essence</th><th class="n">target</th>'
    head += '<th style="width:7rem"></th><th>why</th>'
    shares = _shares(ordered.essence, chosen)
    rows = []
    for place, (item, why) in enumerate(zip(ordered.collection.items, ordered.reasons, strict=True)):
        index = chosen.ordering[place]
        cells = [f'<td class="n">{place + 1}</td><td>{escape(item.label)}</td>']
        cells += [f"<td>{escape(item.artist)}</td>"] if artists else []
        cells.append(f'<td class="n">{index + 1}</td><td class="n">{_number(ordered.essence[index])}</td>')
        cells.append(f'<td class="n">{_number(chosen.targets[place])}</td>')
        cells.append(
            f'<td><div class="bar" style="width:{shares[place]:.0%}"></div></td><td class="soft why">{escape(why)}</td>'
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _alternatives(ordered: Ordered) -> list[str]:
    if len(ordered.fits) < 2:
        return []
    items = ordered.source.collection.items
    parts = ["<h2>Alternatives</h2>"]
    for number, other in enumerate(ordered.fits[1:], start=2):
        score = "" if other.score is None else f", score {other.score:.2f}"
        listed = "".join(f"<li>{escape(items[i].label)}</li>" for i in other.ordering)
        figure = ""
        if ordered.essence.ndim == 1:
            labels = [items[i].label for i in other.ordering]
            figure = svg.arc_figure(
                ordered.essence[other.ordering], labels, template=other.template, width=900, height=240
            )
        name = escape(other.template.name or "an arc")
        parts.append(f"<details><summary>{number}. {name}{score}</summary>{figure}<ol>{listed}</ol></details>")
    return parts


def _shares(essence: np.ndarray[tuple[int, ...], np.dtype[np.float64]], chosen: Fit) -> Sequence[float]:
    values = essence if essence.ndim == 1 else essence[:, 0]
    spread = float(np.ptp(values)) or 1.0
    return [float((values[i] - values.min()) / spread) for i in chosen.ordering]


def _number(value: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    return f"{value:+.2f}" if np.ndim(value) == 0 else " ".join(f"{v:+.2f}" for v in value)
