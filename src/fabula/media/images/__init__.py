"""Pictures: what a photograph or a page is, how its files are read and measured, and the words for what was found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from fabula.core.collection import Collection
from fabula.core.files import write_whole
from fabula.media.facts import Telling
from fabula.media.images import pdf_pages, picture_files
from fabula.media.medium import Medium, Preview, Words, lazy, load, read_words

_SAID = read_words(__name__)
_TRAITS, _NAMES = _SAID["traits"], _SAID["names"]
_SHOWN = {**dict.fromkeys((".jpg", ".jpeg", ".jpe", ".jfif"), "image/jpeg"), ".avif": "image/avif"}


def _list(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """A plain list of files, relative to where it lies, one a line; an empty line between sides."""
    lines = [os.path.relpath(item.path, target.parent) if item.path else item.label for item in collection.items]
    starts = accumulate(sides or (len(lines),), initial=0)
    return write_whole(target, "\n\n".join("\n".join(lines[a:b]) for a, b in pairwise(starts)) + "\n")


MEDIUM = Medium(
    "images",
    Words("picture", "pictures", "series", "photographer", _TRAITS, _NAMES, "a picture", "pictures", "wall"),
    (
        "fabula order photos --pick 24 --soft captured -o show.gallery",
        'fabula order photos --only "rating >= 3" --one-of burst --spreads match -o book.pdf',
        "fabula order photos --walls 2 --by warmth -o walls.pdf",
        "fabula order photos --pick 9 --grid 3 -o profile.png",
    ),
    endings=picture_files.PICTURE_ENDINGS | {".pdf"},
    companions=picture_files.COMPANION_ENDINGS,
    read_item=picture_files.read_item,
    parts=lazy("fabula.media.images.picture_measures:cut_pages"),
    specs={"images": lambda: load("fabula.media.images.picture_measures:SPEC")},
    complete=lazy("fabula.media.images.picture_measures:complete_pictures"),
    steps=lazy("fabula.media.images.picture_measures:picture_steps"),
    proposer="pictures",
    neighbours=True,
    columns=tuple(_SAID["columns"]),
    parsed=lambda path: True,
    places=frozenset((pdf_pages.PDF,)),
    codes=frozenset(("hash_a", "hash_b", "duplicates", "burst", *(f"palette_{k}" for k in range(1, 6)))),
    preview=Preview("picture", _SHOWN, cover=lazy("fabula.media.images.prints:thumbnail")),
    choosing=lazy("fabula.media.images.picture_measures:choose_pictures"),
    unknown=dict.fromkeys(("captured", "latitude", "longitude"), "its file does not say"),
    facing=lazy("fabula.media.images.picture_measures:facing_pages"),
    outputs={
        ".png": lazy("fabula.media.images.prints:write_sheet"),
        ".pdf": lazy("fabula.media.images.prints:write_pdf"),
        ".book.pdf": lazy("fabula.media.images.prints:write_book_pdf"),
        ".html": lazy("fabula.media.images.prints:write_flip_book"),
        ".gallery": lazy("fabula.media.images.prints:write_gallery"),
        ".merge.csv": lazy("fabula.media.images.prints:write_merge"),
        ".txt": _list,
    },
    room={".png": 1400},
    write_numbers=picture_files.write_numbers,
    numbered=picture_files.sidecar_path,
    telling=Telling(
        facts=lazy("fabula.media.images.picture_measures:picture_facts"),
        joins=lazy("fabula.media.images.picture_measures:joins"),
    ),
)

__all__ = ["MEDIUM"]
