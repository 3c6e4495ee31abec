"""The light table of a report: what there is to see of each item, small, in the new order."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from fabula.session.ordered import Ordered
from fabula.session.telling.answer import Row, rows_of, side_line

MOST = 400  # items that are shown
STYLE = """
.light{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.9rem;margin:.8rem 0}
.light figure{margin:0;display:grid;grid-template-rows:8rem auto;gap:.35rem;min-width:0}
.light img{max-width:100%;max-height:8rem;place-self:center;border-radius:2px}
.light figcaption{font-size:.8rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.light h3{grid-column:1/-1;margin:.6rem 0 0;font-size:.9rem}
"""


def light_table(ordered: Ordered) -> list[str]:
    """The pictures of all items, each with its number; nothing where the medium has none, or there are too many."""
    preview, rows = ordered.session.medium.preview, rows_of(ordered)
    if preview.kind != "picture" or preview.cover is None or len(rows) > MOST:
        return []
    cells = []
    for row in rows:
        if row.side and row.number == 1:
            cells.append(f"<h3>{escape(side_line(ordered, ordered.side_of(row.position)[0]))}</h3>")
        cells.append(_cell(ordered, row))
    return [f'<h2>What it looks like</h2><div class="light">{"".join(cells)}</div>'] if any(cells) else []


def _cell(ordered: Ordered, row: Row) -> str:
    cover = ordered.session.medium.preview.cover
    found = cover(str(ordered.session.source.folder / row.item.path)) if cover is not None and row.item.path else None
    label = escape(row.item.label)
    image = "" if found is None else f"data:{found.type};base64,{b64encode(found.data).decode()}"
    shown = f'<img loading="lazy" alt="{label}" src="{image}">' if image else "<span></span>"
    return f'<figure>{shown}<figcaption dir="auto"><b>{row.label}</b> {label}</figcaption></figure>'
