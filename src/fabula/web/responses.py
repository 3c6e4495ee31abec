"""What goes out: an open collection, a result, templates as JSON; a result as files."""

import io
import json
import mimetypes
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi.responses import Response

from fabula.core.collection import Item
from fabula.core.files import cut_name, null_infinite, split_stretch
from fabula.core.template import template, template_names
from fabula.errors import FileError, InputError, shown
from fabula.media.facts import SECONDS, Fact, total
from fabula.media.medium import Medium, Wave
from fabula.report.page import write_page
from fabula.report.pictures import write_picture
from fabula.report.reviews import name_outlook, verdict
from fabula.session.export import number_names, write_ordered
from fabula.session.ordered import Ordered, describe_arc, find_arc, input_order_name
from fabula.session.review import Review
from fabula.session.session import Session
from fabula.web.file_access import ItemFile
from fabula.web.open_jobs import OpenJob
from fabula.web.server_store import OpenCollection, Origin

if TYPE_CHECKING:
    from fabula.web.page_workspace import PageWorkspace

_SAMPLES = 41


def json_response(data: Any, status: int = 200) -> Response:
    """JSON text; plain ASCII, so that no odd character in a name can break it."""
    return Response(write_json(data), status, media_type="application/json")


def write_json(data: Any) -> str:
    """JSON text, plain ASCII; a number that is none is written as null.

    >>> write_json({"gap": float("inf"), "a": [1.5]})
    '{"gap":null,"a":[1.5]}'
    """
    try:
        return json.dumps(data, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(null_infinite(data), separators=(",", ":"), allow_nan=False)


def job_body(job: OpenJob) -> dict[str, Any]:
    """How far a job is; its items in the order given as soon as they are known, each measured yet or not."""
    listing, told = job.listing, {name: value for name, value in vars(job).items() if name not in ("listing", "stop")}
    told["choices"] = [vars(choice) for choice in job.choices]
    if listing is None:
        return {**told, "medium": None, "items": [], "seconds_left": None, "left_out": []}
    medium = listing.source.medium
    timed, words = medium.unit.name == SECONDS.name, _describe_medium(medium, listing.files)
    items = [
        {
            "label": item.label,
            "seconds": item.length if timed else None,
            "length_text": medium.unit.text(item.length),
            "measured": index in listing.measured,
            "preview": file is not None,
            "span": _span(item),
        }
        for index, (item, file) in enumerate(zip(listing.source.collection.items, listing.files, strict=True))
    ]
    left = listing.seconds_left() if job.state == "running" else None
    return {
        **told,
        "medium": words,
        "items": items,
        "seconds_left": left,
        "left_out": _describe_left_out(listing.left_out),
    }


def _span(item: Item) -> list[float | None] | None:
    """From when to when an item is heard or seen in its file, None for the end of that; None where it is all of it."""
    _, begins, ends = split_stretch(item.path)
    return None if begins is None else [begins, ends]


def _describe_left_out(left_out: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "why": why} for name, why in left_out]


def collection_body(opened: OpenCollection, *, knows_model: bool) -> dict[str, Any]:
    """An open collection: its title, medium, model, columns and notes, and its items in the order given."""
    session = opened.session
    medium, items = session.medium, session.collection.items
    facts = medium.telling.facts(session.collection)
    knows = list(dict.fromkeys(_label(name, medium) for name in session.features))
    own = "" if opened.whole is None else opened.whole.path.suffix.lower()  # of the file that was cut into its items
    return {
        **summary_body(opened.id, session.title, len(items), opened.origin),
        "medium": _describe_medium(medium, opened.files),
        "by": session.column,
        "arc": describe_arc(find_arc(session, judged=session.likelihood is not None), slice(None)),
        "axis": None if session.axis is None else {"name": session.axis.name, "unit": session.axis.unit},
        "model": None if session.model_name is None else {"name": session.model_name, "knows": knows},
        "knows_model": knows_model,
        "columns": [{"name": name, "label": _label(name, medium)} for name in session.columns],
        "facts": [{"name": fact.name, "unit": fact.unit} for fact in facts if not fact.coloured],
        "length_text": medium.unit.text(total([item.length for item in items])),
        "notes": list(session.notes),
        "left_out": _describe_left_out((*opened.left_out, *session.source.left_out)),
        "library": None if session.source.home is None else session.source.home.name,
        "form": own[1:] if own in medium.outputs else None,
        "silent": opened.silent or None,
        "items": _describe_items(opened, facts),
    }


def _describe_medium(medium: Medium, files: tuple[ItemFile | None, ...]) -> dict[str, Any]:
    words, types = medium.words, (media_type(file.path, medium) for file in files if file is not None)
    kind = next((known.partition("/")[0] for known in types if known), "")
    return {
        "name": medium.name,
        "words": {name: getattr(words, name) for name in ("item", "items", "collection", "creator", "side")},
        "unit": {"name": medium.unit.name, "example": medium.unit.example},
        "axis": medium.axis_name or None,
        "faces": medium.facing is not None,
        "preview": {"kind": medium.preview.kind, "type": kind},
        "outputs": [ending[1:] for ending in medium.outputs],
    }


def media_type(file: Path, medium: Medium) -> str | None:
    """The media type of a file, as the medium or else the system knows it."""
    return medium.preview.types.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0]


def wave_body(wave: Wave) -> dict[str, Any]:
    """What an item looks like over its length."""
    parts = {"low": wave.low.round(3).tolist(), "high": wave.high.round(3).tolist()}
    return {**parts, "begins": round(wave.begins, 3), "ends": round(wave.ends, 3), "length": round(wave.length, 3)}


def _label(feature: str, medium: Medium) -> str:
    return medium.shown(feature).replace("_", " ")


def _describe_items(opened: OpenCollection, facts: Sequence[Fact]) -> list[dict[str, Any]]:
    session = opened.session
    coloured = next((fact for fact in facts if fact.coloured), None)
    both = None if session.medium.facing is None else session.medium.facing(session.collection).alone
    heights = (session.essence if session.essence.ndim == 1 else session.essence[:, 0]).tolist()
    gains = session.medium.preview.gains
    levels = gains(session.collection) if gains is not None else np.full(len(heights), np.nan)
    return [
        {
            "id": item.id,
            "title": item.label,
            "creator": item.creator,
            "path": item.path,
            "length": item.length,
            "length_text": session.medium.unit.text(item.length),
            "essence": height,
            "preview": file is not None,
            "span": _span(item),
            "gain": round(float(level), 2) if np.isfinite(level) else None,
            "facts": {fact.name: fact.texts[index] for fact in facts if not fact.coloured},
            "colours": [] if coloured is None else coloured.texts[index].split(),
            "both_pages": both is not None and bool(both[index]),
        }
        for index, (item, height, file, level) in enumerate(
            zip(session.collection.items, heights, opened.files, levels, strict=True)
        )
    ]


def order_body(ordered: Ordered, result: str | None, *, explain: bool) -> dict[str, Any]:
    """A result as every surface has it; with the id to export it by, and lengths and names as text."""
    unit, items, steps = ordered.session.medium.unit, ordered.session.collection.items, ordered.steps
    return {
        **ordered.to_json(explain=explain),
        "result": result,
        "explained": ordered.reasons_told if explain else 0,
        "given_name": input_order_name(ordered),
        "steps": [{"name": part.name, "counts": part in steps.active} for part in steps.parts]
        if steps is not None
        else [],
        "length_texts": {
            "sides": ordered.length_texts,
            "all": unit.text(total(ordered.lengths)),
            "before": unit.text(total([item.length for item in ordered.session.collection.items], ordered.gap_seconds)),
            "left_out": unit.text(total([items[i].length for i in ordered.left_out])),
        },
    }


def review_body(review: Review) -> dict[str, Any]:
    """A review as every surface has it, with its verdict in words."""
    words = {"verdict": verdict(review), "outlook": name_outlook(review), "weakest": len(review.weakest)}
    return {**review.to_json(), **words, "clear_odd": len(review.clear_odd)}


def workspace_body(found: "PageWorkspace") -> dict[str, Any]:
    """What is kept of a collection: the page's state, and its revision."""
    state, saved = (None, None) if found.kept is None else (found.kept.state, found.kept.saved)
    return {"revision": found.revision, "state": state, "saved": saved}


def summary_body(name: str, title: str, items: int, origin: Origin) -> dict[str, Any]:
    """What is said of a collection, by its id, where there may be many."""
    return {"id": name, "title": title, "items": items, "origin": {"kind": origin.kind, "path": origin.path}}


@cache
def templates_body() -> list[dict[str, Any]]:
    """The built-in templates, each with its values at evenly spaced positions."""
    return [
        {
            "name": one.name,
            "description": one.description,
            "knots": one.knots.tolist(),
            "values": one.values.tolist(),
            "interpolation": one.interpolation,
            "samples": one.samples(_SAMPLES).round(4).tolist(),
        }
        for one in map(template, template_names())
    ]


# From a result on the screen to files.

_CHUNK = 1 << 18
_WRITERS: dict[str, Callable[[Ordered, Path], Path]] = {"html": write_page, "svg": write_picture}


def export(ordered: Ordered, form: str, scratch: Path) -> tuple[str, bytes]:
    """A result as a file of some format: name and bytes.

    Errors name files as people know them, never where they are stored.
    """
    with tempfile.TemporaryDirectory(prefix="export-", dir=scratch) as folder:
        target = Path(folder) / f"{file_name(ordered.session.title) or 'order'}.{form}"
        source = ordered.session.source  # as if its paths started from here: so they stay as they are
        playlist = None if source.playlist is None else replace(source.playlist, folder=Path(folder))
        moved = replace(source, folder=Path(folder), playlist=playlist)
        stored = ordered.session.readable.items  # what the items only name is not to be opened
        try:
            write = _WRITERS.get(form, write_ordered)
            write(replace(ordered, session=replace(ordered.session, source=moved, stored=stored)), target)
        except (FileError, InputError) as error:
            raise FileError(_without_places(str(error), ordered.session, folder)) from error
        if target.is_dir():
            raise FileError(f"{target.name}: is a folder; the command line writes it")
        return target.name, target.read_bytes()


def _without_places(text: str, session: Session, folder: str) -> str:
    """A message that tells nothing of where we store things."""
    table = session.source.table
    text = text if table is None else text.replace(shown(table.path), shown(session.source.path.name))
    for item, stored in zip(session.collection.items, session.stored, strict=False):  # all of them, or none
        places = {stored.path: item.path}
        places |= {
            str(stored.details[name]): str(item.details[name]) for name in session.medium.places & {*item.details}
        }
        for place, name in places.items():
            text = text.replace(shown(place), shown(name)) if place else text
    return text.replace(f"{folder}{os.sep}", "")


def zip_copies(opened: OpenCollection, ordered: Ordered, scratch: Path) -> Iterator[bytes]:
    """A zip of numbered copies with a playlist of them, made as it goes out."""
    rows = ordered.rows
    files = [None if _span(row.item) else opened.files[row.index] for row in rows]
    there = [file for file in files if file is not None and file.there]
    if len(there) < len(files):
        missing = next(row.item for row, file in zip(rows, files, strict=True) if file is None or not file.there)
        count = f"{len(files) - len(there)} of {len(files)}"
        raise InputError(f"{missing.label!r} has no file here, so it cannot be copied ({count})")
    names = number_names(rows, [file.path.suffix.lower() for file in there])
    written = [name.encode("utf-8", "replace").decode() for name in names]
    source, items = ordered.session.source, list(ordered.session.collection.items)
    for row, name in zip(rows, written, strict=True):
        items[row.index] = replace(row.item, path=name)
    copied = replace(source, collection=replace(source.collection, items=tuple(items)), playlist=None, rows=())
    _, playlist = export(replace(ordered, session=replace(ordered.session, source=copied)), "m3u8", scratch)
    return _zip(playlist, list(zip(written, there, strict=True)))


def _zip(playlist: bytes, files: Sequence[tuple[str, ItemFile]]) -> Iterator[bytes]:
    out = _Stream()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr("order.m3u8", playlist)
        for name, file in files:
            with file.open() as source, archive.open(name, "w", force_zip64=True) as entry:
                while chunk := source.read(_CHUNK):
                    entry.write(chunk)
                    yield out.take()
    yield out.take()


class _Stream(io.RawIOBase):
    """A file that can only be written on; what was written is taken away from time to time."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        taken, self._parts = b"".join(self._parts), []
        return taken


def file_name(text: str) -> str:
    """A text as it can stand in the name of a file on any system."""
    plain = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]+', " ", text)
    return cut_name(" ".join(plain.split())[:80]).strip(" .")
