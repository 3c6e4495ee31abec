"""Pictures: what a photograph or a page is, how its files are read and measured, and the words for what was found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.files.writing import write_whole
from fabula.media.facts import Fact, Telling
from fabula.media.images.picture_files import COMPANION_ENDINGS, PICTURE_ENDINGS, read_item, sidecar_path, write_numbers
from fabula.media.medium import Cover, Facing, Medium, Output, Preview, Spec, Words
from fabula.media.steps import Steps

_TRAITS = {  # feature: (much, little)
    "brightness": ("light", "dark"),
    "contrast": ("full of contrast", "soft"),
    "warmth": ("warm", "cold"),
    "colourfulness": ("colourful", "muted"),
    "bw": ("black and white", "in colour"),
    "edge_density": ("busy", "calm"),
    "sharpness": ("sharp", "smooth"),
    "aspect": ("wide", "tall"),
    "symmetry": ("symmetrical", "lopsided"),
}
_NAMES = {
    "green_red": "green to red",
    "key_low": "shadows",
    "key_high": "highlights",
    "bw": "black and white",
    "edge_density": "detail",
    "aspect": "format",
    "top_bottom": "lightness above",
    "tone": "light",
}
_COLUMNS = (
    "brightness", "warmth", "colourfulness", "contrast", "chroma", "hue", "edge_density", "sharpness", "entropy",
    "symmetry", "aspect", "bw", "key_low", "key_high", "hue_agreement", "green_red", "top_bottom", "horizontality",
    "subject_x", "subject_y", "subject_size", "subject_spread", "captured", "rating",
)  # fmt: skip
_SHOWN = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".jpe": "image/jpeg",
    ".jfif": "image/jpeg",
    ".avif": "image/avif",
}


def _images() -> Spec:
    from fabula.media.images.picture_measures import SPEC

    return SPEC


def _steps(collection: Collection, essence: Floats) -> Steps:
    from fabula.media.images.joins import picture_steps

    return picture_steps(collection, essence)


def _facing(collection: Collection) -> Facing:
    from fabula.media.images.joins import facing_pages

    return facing_pages(collection)


def _complete(collection: Collection) -> Collection:
    from fabula.media.images.joins import with_duplicates

    return with_duplicates(collection)


def _thumbnail(path: str, size: int) -> Cover | None:
    from fabula.media.images.prints import thumbnail

    return thumbnail(path, size)


def _facts(collection: Collection) -> tuple[Fact, ...]:
    """The palette, where it is known."""
    from fabula.media.images.picture_measures import as_hex, palettes

    found = palettes(collection)
    if not any(found):
        return ()
    texts = tuple(" ".join(as_hex(colour) for colour, _ in one) for one in found)
    lab = [" ".join(f"{light:.0f},{a:.0f},{b:.0f}:{share:.2f}" for (light, a, b), share in one) for one in found]
    return (Fact("palette", texts, {"palette": texts, "palette_lab": lab}, coloured=True),)


def _joins(collection: Collection, breaks: Sequence[int]) -> list[str]:
    from fabula.media.images.joins import joins

    return joins(collection, breaks)


def _parts(path: str) -> Collection | None:
    from fabula.media.images.picture_measures import cut_pages

    return cut_pages(path)


def _sheet(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    from fabula.media.images.prints import write_sheet

    return write_sheet(collection, target, sides)


def _pdf(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    from fabula.media.images.prints import write_pdf

    return write_pdf(collection, target, sides)


def _flip_book(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    from fabula.media.images.prints import write_flip_book

    return write_flip_book(collection, target, sides)


def _book_pdf(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    from fabula.media.images.prints import write_book_pdf

    return write_book_pdf(collection, target, sides)


def _list(collection: Collection, target: Path, sides: Sequence[int]) -> Path:
    """A plain list of files, relative to where it lies, one a line; an empty line between sides."""
    breaks = {sum(sides[:k]) for k in range(1, len(sides))}
    lines = []
    for position, item in enumerate(collection.items):
        lines += [""] * (position in breaks)
        lines.append(os.path.relpath(item.path, target.parent) if item.path else item.label)
    return write_whole(target, "\n".join(lines) + "\n")


OUTPUTS: dict[str, Output] = {
    ".png": _sheet,
    ".pdf": _pdf,
    ".book.pdf": _book_pdf,
    ".html": _flip_book,
    ".txt": _list,
}

MEDIUM = Medium(
    "images",
    Words("picture", "pictures", "series", "photographer", _TRAITS, _NAMES, "a picture", "pictures"),
    endings=PICTURE_ENDINGS | {".pdf"},
    companions=COMPANION_ENDINGS,
    read_item=read_item,
    parts=_parts,
    specs={"images": _images},
    complete=_complete,
    steps=_steps,
    proposer="pictures",
    neighbours=True,
    columns=_COLUMNS,
    codes=frozenset(("hash_a", "hash_b", "duplicates", *(f"palette_{k}" for k in range(1, 6)))),
    preview=Preview("picture", _SHOWN, cover=_thumbnail),
    facing=_facing,
    outputs=OUTPUTS,
    write_numbers=write_numbers,
    numbered=sidecar_path,
    telling=Telling(facts=_facts, joins=_joins),
)

__all__ = ["MEDIUM"]
