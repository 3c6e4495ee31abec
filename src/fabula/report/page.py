"""One self-contained HTML page about an ordering: nothing in it is loaded from elsewhere."""

from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.files import write_whole
from fabula.core.fit import Fit
from fabula.media.medium import Threads
from fabula.report import figures
from fabula.report.markup import ANY_WAY, NUMBER, html_page, html_table, read_style
from fabula.session import ordered as answer
from fabula.session.explain import story
from fabula.session.inner_arcs import whole_arc
from fabula.session.ordered import Ordered

_MOST_PICTURES = 400  # items that are shown
_SIZE = 480  # pixels of each picture, of its longer side


def _light_table(ordered: Ordered) -> list[str]:
    """The pictures of all items, each with its number; nothing where the medium has none, or there are too many."""
    preview, rows = ordered.session.medium.preview, ordered.rows
    if preview.kind != "picture" or preview.cover is None or len(rows) > _MOST_PICTURES:
        return []
    cells: list[str] = []
    colours = next((fact.texts for fact in ordered.facts() if fact.coloured), ("",) * len(rows))
    joins = ordered.session.medium.telling.joins(ordered.collection, ordered.breaks)
    for row, told, why in zip(rows, colours, joins, strict=True):
        if row.side and row.number == 1:
            cells.append(f"<h3>{escape(ordered.side_line(ordered.side_of(row.position)[0]))}</h3>")
        cells.append(_cell(ordered, row, told, why))
    return [f'<h2>What it looks like</h2><div class="light">{"".join(cells)}</div>'] if any(cells) else []


def _swatches(colours: str) -> str:
    """Colours as a strip; ``#rrggbb`` with a space between two."""
    shown = "".join(f'<i style="background:{escape(one)}"></i>' for one in colours.split())
    return f'<span class="colours" role="img" aria-label="{escape(colours)}">{shown}</span>' if shown else ""


def _cell(ordered: Ordered, row: answer.Row, colours: str, why: str) -> str:
    cover = ordered.session.medium.preview.cover
    file = ordered.readable.items[row.position].path  # where it really lies
    path = str(ordered.session.source.folder / file) if file else ""
    found = cover(path, _SIZE) if cover is not None and path else None
    label = escape(row.item.label)
    image = "" if found is None else f"data:{found.type};base64,{b64encode(found.data).decode()}"
    shown = f'<img loading="lazy" alt="{label}" src="{image}">' if image else "<span></span>"
    said = f'<p class="soft why">{escape(why)}</p>' if why else ""
    caption = f'<figcaption dir="auto"><b>{row.label}</b> {label}{said}</figcaption>'
    return f"<figure>{shown}<div>{_swatches(colours)}{caption}</div></figure>"


def write_page(ordered: Ordered, path: str | Path) -> Path:
    """Write the page about an ordering, whole or not at all."""
    return write_whole(path, order_page(ordered))


def order_page(ordered: Ordered) -> str:
    """The page as HTML: the arc after and before, the table with reasons, the alternatives."""
    title = ordered.session.title
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="sub">{escape(_summary(ordered))}</p>',
        f"<p>{escape(_verdict(ordered))}</p>",
        *(f'<p class="note">{escape(note)}</p>' for note in ordered.notes),
        *_figures(ordered),
        *_light_table(ordered),
        "<h2>The order</h2>",
        _table(ordered),
        *([f'<p class="soft">{escape(ordered.reasons_untold)}</p>'] if ordered.reasons_untold else []),
        *_changes(ordered),
        *_ends(ordered),
        *_likes(ordered),
        *_whole(ordered),
        *_threads(ordered),
        *_alternatives(ordered),
    ]
    return html_page(title, body, style=read_style("pictures"))


def _summary(ordered: Ordered) -> str:
    sides = ", ".join(ordered.side_line(side) for side in range(len(ordered.sides)))
    name = ordered.fit.template.name
    counted = answer.headline(ordered).removeprefix(f"{ordered.session.title}: ")
    how = "along" if ordered.task.likelihood is None else "nearest to"
    return f"{counted}{f', {how} {name}' if name else ''}.{f' {sides}.' if sides else ''}"


def _verdict(ordered: Ordered) -> str:
    chosen, given = ordered.fit, ordered.given
    said = filter(None, (story(ordered), answer.likely_text(ordered)))
    text = "".join(f"{words[:1].upper()}{words[1:]}. " for words in said)
    if ordered.task.likelihood is None:
        text += f"It strays from the template by {chosen.mean:.2f} on average, {chosen.worst:.2f} at worst; "
        text += f"as given by {given.mean:.2f} and {given.worst:.2f}. "
    return text + ("Not proven best." if ordered.gap is None or ordered.gap else "")


def _figures(ordered: Ordered) -> list[str]:
    axis = ordered.session.axis
    along = "" if axis is None else f", {axis.name}"
    after = _arc(ordered, ordered.fit, sides=ordered.sides, pinned=ordered.pinned, caption=f"The arc after{along}")
    before = _arc(ordered, ordered.given, sides=ordered.sides, caption=f"The arc before{along}")
    return [f"<figure>{figure}</figure>" for figure in (after, before) if figure]


def _arc(ordered: Ordered, fit: Fit, **how: Any) -> str:
    """The arc of an ordering; "" where the essence has several dimensions."""
    essence, items = ordered.session.essence, ordered.session.collection.items
    drawing = figures.Drawing(ordered.shape_of(fit), width=900, marks=figures.mark_axis(ordered.session.axis), **how)
    labels = [items[i].label for i in fit.ordering]
    return figures.arc_figure(essence[fit.ordering], labels, drawing) if essence.ndim == 1 else ""


def _table(ordered: Ordered) -> str:
    rows, facts = ordered.rows, ordered.facts()
    creators, timed = any(row.item.creator for row in rows), any(row.length for row in rows)
    columns = [("#", NUMBER), ("title", ANY_WAY)]
    columns += [(ordered.session.medium.words.creator, ANY_WAY)] if creators else []
    columns += [("length", NUMBER)] if timed else []
    columns += [(name, NUMBER) for name in (*(fact.name for fact in facts), "was", "essence", "target")]
    columns += [('<th style="width:7rem"></th>', ""), ("why", ' class="soft why"')]
    body: list[str | list[str]] = []
    heights = ordered.session.essence if ordered.session.essence.ndim == 1 else ordered.session.essence[:, 0]
    low, spread = heights.min(), np.ptp(heights) or 1.0
    for row, why in zip(rows, ordered.reasons, strict=True):
        if row.side and row.number == 1:
            line = escape(ordered.side_line(ordered.side_of(row.position)[0]))
            body.append(f'<tr><th colspan="{len(columns)}" scope="rowgroup">{line}</th></tr>')
        cells = [row.label, escape(row.item.label)]
        cells += [escape(row.item.creator)] if creators else []
        cells += [row.length] if timed else []
        cells += [(_swatches if fact.coloured else escape)(fact.texts[row.position]) for fact in facts]
        numbers = _number(ordered.session.essence[row.index]), _number(ordered.fit.targets[row.position])
        cells += [f"{row.index + 1}", *numbers]
        bar = f'<div class="bar" style="width:{(heights[row.index] - low) / spread:.0%}"></div>'
        body.append([*cells, bar, escape(why)])
    return html_table(columns, body)


def _changes(ordered: Ordered) -> list[str]:
    lines = [
        f"<li>{escape(c.name)}: {c.mean[0]:.1f} → {c.mean[1]:.1f} {escape(c.unit)} on average, "
        f"{c.worst[0]:.1f} → {c.worst[1]:.1f} at worst</li>"
        for c in ordered.changes
    ]
    return [f"<h2>Steps between neighbours</h2><ul>{''.join(lines)}</ul>"] if lines else []


def _ends(ordered: Ordered) -> list[str]:
    ends = ordered.session.medium.telling.ends(ordered.collection)
    if ends is None or not 1 < len(ordered.ordering) <= figures.MOST_ENDS:
        return []
    words = f"Each line is an item, from its beginning over the whole to its end, in {ends.name} ({ends.unit}); "
    words += "the short ones between them are the steps that are heard."
    return _section("How each begins and ends", words, figures.ends_figure(ends, ordered.titles, ordered.breaks))


def _likes(ordered: Ordered) -> list[str]:
    judged = ordered.task.likelihood
    if judged is None or len(judged.collection) > figures.MOST_LIKES:
        return []
    likes = judged.likes()[ordered.ordering]
    if not np.ptp(likes):  # a model that knows of no positions
        return []
    words = "Each row is an item, each column a position: the darker, the likelier. A ring marks where it stands."
    return _section("Where each likes to stand", words, figures.likes_figure(likes, ordered.titles))


def _threads(ordered: Ordered) -> list[str]:
    threads = ordered.session.threads
    if threads is None:
        return []
    counts = threads.counts[ordered.ordering]
    met = np.flatnonzero(counts.any(axis=0))
    along = Threads(tuple(threads.names[i] for i in met), counts[:, met])
    words = "Which names run through which, along the new order: the thicker, the oftener."
    return _section("Threads", words, figures.threads_figure(along, ordered.titles))


def _whole(ordered: Ordered) -> list[str]:
    arc = whole_arc(ordered)
    if arc is None:
        return []
    words = f"The {ordered.session.medium.shown(arc.column)} of the whole in its new order, in sliding windows; "
    words += "a line where each begins."
    return _section("The arc of the whole", words, figures.whole_figure(arc))


def _section(title: str, words: str, figure: str) -> list[str]:
    return [f'<h2>{title}</h2><p class="soft">{escape(words)}</p><figure>{figure}</figure>']


def _alternatives(ordered: Ordered) -> list[str]:
    others = [(k, p) for k, p in enumerate(ordered.proposals, start=1) if k != ordered.chosen + 1]
    items = ordered.session.collection.items
    parts = ["<h2>Alternatives</h2>"] if others else []
    for number, proposal in others:
        other = proposal.fit
        words = ", ".join(filter(None, (other.template.name, answer.beside_text(proposal, ordered.fit))))
        listed = "".join(f'<li dir="auto">{escape(items[i].label)}</li>' for i in other.ordering)
        figure = _arc(ordered, other, sides=proposal.sides, height=240)
        parts.append(f"<details><summary>{number}. {escape(words)}</summary>{figure}<ol>{listed}</ol></details>")
    return parts


def _number(value: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    return " ".join(f"{v:+.2f}" for v in np.atleast_1d(value))
