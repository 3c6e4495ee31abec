"""The light table of a report: what there is to see of each item, small, in the new order."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from fabula.session.answer import Row, facts_of, rows_of, side_line
from fabula.session.ordered import Ordered

MOST = 400  # items that are shown
_SIZE = 480  # pixels of each, of its longer side
STYLE = """
.light{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.9rem;margin:.8rem 0}
.light figure{margin:0;display:grid;grid-template-rows:8rem auto;gap:.35rem;min-width:0}
.light img{max-width:100%;max-height:8rem;place-self:center;border-radius:2px}
.light figcaption{font-size:.8rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.light h3{grid-column:1/-1;margin:.6rem 0 0;font-size:.9rem}
.light .why{white-space:normal;margin:0;font-size:.75rem}
.colours{display:flex;gap:2px;height:.5rem}.colours i{flex:1;border-radius:1px}
td .colours{width:5rem;height:.9rem}
"""


def light_table(ordered: Ordered) -> list[str]:
    """The pictures of all items, each with its number; nothing where the medium has none, or there are too many."""
    preview, rows = ordered.session.medium.preview, rows_of(ordered)
    if preview.kind != "picture" or preview.cover is None or len(rows) > MOST:
        return []
    cells: list[str] = []
    colours = next((fact.texts for fact in facts_of(ordered) if fact.coloured), ("",) * len(rows))
    joins = ordered.session.medium.telling.joins(ordered.collection, ordered.breaks)
    for row, told, why in zip(rows, colours, joins, strict=True):
        if row.side and row.number == 1:
            cells.append(f"<h3>{escape(side_line(ordered, ordered.side_of(row.position)[0]))}</h3>")
        cells.append(_cell(ordered, row, told, why))
    return [f'<h2>What it looks like</h2><div class="light">{"".join(cells)}</div>'] if any(cells) else []


def swatches(colours: str) -> str:
    """Colours as a strip; ``#rrggbb`` with a space between two."""
    shown = "".join(f'<i style="background:{escape(one)}"></i>' for one in colours.split())
    return f'<span class="colours" role="img" aria-label="{escape(colours)}">{shown}</span>' if shown else ""


def _cell(ordered: Ordered, row: Row, colours: str, why: str) -> str:
    cover = ordered.session.medium.preview.cover
    file = ordered.readable.items[row.position].path  # where it really lies
    path = str(ordered.session.source.folder / file) if file else ""
    found = cover(path, _SIZE) if cover is not None and path else None
    label = escape(row.item.label)
    image = "" if found is None else f"data:{found.type};base64,{b64encode(found.data).decode()}"
    shown = f'<img loading="lazy" alt="{label}" src="{image}">' if image else "<span></span>"
    said = f'<p class="soft why">{escape(why)}</p>' if why else ""
    caption = f'<figcaption dir="auto"><b>{row.label}</b> {label}{said}</figcaption>'
    return f"<figure>{shown}<div>{swatches(colours)}{caption}</div></figure>"
