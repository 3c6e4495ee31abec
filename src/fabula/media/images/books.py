"""Flip books: the pictures of a collection as one HTML file or as a PDF, two facing pages at a time."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.collection import Collection, Item
from fabula.core.writing import write_whole
from fabula.media.images.opening import pillow
from fabula.media.images.sheets import picture_of

if TYPE_CHECKING:
    from PIL.Image import Image

_SIZE, _QUALITY = 1200, 82  # of a page's picture in the HTML file, in pixels and as JPEG counts
_SPREAD = (2100, 1050)  # pixels of two facing pages of the PDF
_MARGIN = 60
_PAPER = (250, 249, 247)
_WIDE = 2.0  # width by height from which a picture takes both pages


def spreads_of(items: Sequence[Item], wide: Sequence[bool], sides: Sequence[int] = ()) -> list[tuple[int | None, ...]]:
    """What faces what: the cover alone on the right, then two and two; what is wide has both pages for itself.

    Parameters
    ----------
    items
        In their order.
    wide
        Which of them take both pages.
    sides
        How many items each part has; a part begins on a new right-hand page. Empty for one.

    Returns
    -------
    For each spread (left, right), an index or None for an empty page; (index,) for one over both pages.

    Examples
    --------
    >>> spreads_of("abcde", [False, False, False, True, False])
    [(None, 0), (1, 2), (3,), (4, None)]
    """
    starts = {sum(sides[:k]) for k in range(len(sides))} if sides else {0}
    found: list[tuple[int | None, ...]] = []
    left: int | None = None
    for index in range(len(items)):
        if left is not None and (wide[index] or index in starts):
            found.append((left, None))
            left = None
        if wide[index]:
            found.append((index,))
        elif index in starts:
            found.append((None, index))
        elif left is None:
            left = index
        else:
            found.append((left, index))
            left = None
    return found if left is None else [*found, (left, None)]


def write_flip_book(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write a flip book as one HTML file that needs nothing else: arrow keys and taps turn its pages.

    Parameters
    ----------
    collection
        In the order to be shown.
    target
        A file that ends in .html.
    sides
        How many pictures each part has; empty for one.
    """
    figures = [_figure(item, number) for number, item in enumerate(collection.items, start=1)]
    pages = []
    for spread in spreads_of(collection.items, _wide(collection), sides):
        cells = "".join('<div class="page"></div>' if k is None else f'<div class="page">{figures[k]}</div>' for k in spread)
        pages.append(f'<section class="{"both" if len(spread) == 1 else "two"}">{cells}</section>')
    title = escape(collection.title or collection.id)
    return write_whole(target, _HTML.replace("{title}", title).replace("{pages}", "\n".join(pages)))


def write_book_pdf(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """Write the facing pages of a book as a PDF, one spread a page."""
    sheets = [_sheet(collection, spread) for spread in spreads_of(collection.items, _wide(collection), sides)]
    content = BytesIO()
    sheets[0].save(content, "PDF", save_all=True, append_images=sheets[1:], resolution=150.0)
    return write_whole(target, content.getvalue())


def _wide(collection: Collection) -> list[bool]:
    if "aspect" not in collection.feature_names or collection.features.ndim != 2:
        return [False] * len(collection)
    return [bool(aspect >= _WIDE) for aspect in collection.column("aspect")]


def _figure(item: Item, number: int) -> str:
    content = BytesIO()
    picture_of(item, _SIZE).save(content, "JPEG", quality=_QUALITY)
    data, label = b64encode(content.getvalue()).decode(), escape(item.label)
    return (
        f'<figure><img loading="lazy" alt="{label}" src="data:image/jpeg;base64,{data}">'
        f'<figcaption dir="auto">{number} <span>{label}</span></figcaption></figure>'
    )


def _sheet(collection: Collection, spread: Sequence[int | None]) -> Image:
    sheet: Image = pillow().new("RGB", _SPREAD, _PAPER)
    width, height = _SPREAD[0] // len(spread), _SPREAD[1]
    for side, index in enumerate(spread):
        if index is None:
            continue
        picture = picture_of(collection.items[index], max(_SPREAD))
        picture.thumbnail((width - 2 * _MARGIN, height - 2 * _MARGIN))
        at = (side * width + (width - picture.width) // 2, (height - picture.height) // 2)
        sheet.paste(picture, at)
    return sheet


_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root { color-scheme: light dark; --paper: #faf9f7; --ink: #222; --soft: #666; --desk: #e6e3de }
@media (prefers-color-scheme: dark) { :root { --paper: #1d1d1f; --ink: #eee; --soft: #a5a5a5; --desk: #111 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--desk); color: var(--ink); font: 15px/1.4 system-ui, sans-serif; min-height: 100vh;
  display: grid; grid-template-rows: auto 1fr auto }
header, footer { padding: .8rem 1.2rem; display: flex; gap: 1rem; align-items: center; justify-content: space-between }
h1 { font-size: 1rem; font-weight: 600; margin: 0; overflow-wrap: anywhere }
main { display: grid; place-items: center; padding: 0 1.2rem }
section { display: none; width: min(96vw, 160vh); height: 80vh; background: var(--paper);
  box-shadow: 0 2px 24px #0003; border-radius: 3px }
section.now { display: grid }
section.two { grid-template-columns: 1fr 1fr }
section.two .page + .page { border-inline-start: 1px solid #8883 }
.page { display: grid; place-items: center; padding: 3%; min-width: 0; min-height: 0 }
figure { margin: 0; display: grid; grid-template-rows: minmax(0, 1fr) auto; max-height: 100%; height: 100%; gap: .5rem; justify-items: center }
img { max-width: 100%; max-height: 100%; object-fit: contain; align-self: center }
figcaption { font-size: .85rem; color: var(--ink) } figcaption span { color: var(--soft) }
button { font: inherit; color: inherit; background: none; border: 1px solid var(--soft); border-radius: 6px; padding: .35rem .9rem }
button:disabled { opacity: .4 }
button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px }
@media (max-width: 640px) { section.two.now { grid-template-columns: 1fr; height: auto } section.now .page:empty { display: none }
  section.two .page + .page { border: 0 } figure { max-height: 70vh } }
@media print { body { display: block } section { display: grid; break-after: page; box-shadow: none } header, footer { display: none } }
</style></head>
<body><header><h1 dir="auto">{title}</h1><output aria-live="polite"></output></header>
<main>
{pages}
</main>
<footer><button id="back">Back</button><button id="on">Next</button></footer>
<script>
const pages = [...document.querySelectorAll("section")], tell = document.querySelector("output");
let now = Math.min(pages.length - 1, Math.max(0, Number(location.hash.slice(1)) - 1 || 0));
function turn(to) {
  now = Math.min(pages.length - 1, Math.max(0, to));
  pages.forEach((page, k) => page.classList.toggle("now", k === now));
  tell.textContent = `${now + 1} of ${pages.length}`;
  document.getElementById("back").disabled = now === 0;
  document.getElementById("on").disabled = now === pages.length - 1;
  history.replaceState(null, "", `#${now + 1}`);
}
document.getElementById("back").onclick = () => turn(now - 1);
document.getElementById("on").onclick = () => turn(now + 1);
addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (step && event.target.tagName !== "BUTTON") { event.preventDefault(); turn(now + step); }
  if (event.key === "Home") turn(0);
  if (event.key === "End") turn(pages.length - 1);
});
let down = null;
addEventListener("pointerdown", (event) => { down = event.clientX; });
addEventListener("pointerup", (event) => {
  if (down !== null && Math.abs(event.clientX - down) > 60) turn(now + (event.clientX < down ? 1 : -1));
  down = null;
});
turn(now);
</script></body></html>
"""
