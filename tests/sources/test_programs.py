"""Sixty files of twenty programs: all open, all come back with nothing but their order changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from fabula.session.open import open_ordered
from fabula.session.session import Session
from fabula.sources.registry import Opening

from .make_exports import Export, make_exports

EXPORTS = make_exports()


def test_there_are_sixty_of_twenty_programs():
    assert len(EXPORTS) >= 60
    assert len({export.program for export in EXPORTS}) >= 20
    assert len({export.name for export in EXPORTS}) == len(EXPORTS)


def turn(path: Path, target: Path, collection: str | None) -> list[str]:
    """Write what a file holds the other way round; the titles as they were."""
    ordered = open_ordered(path, opening=Opening(collection=collection))
    titles, session = ordered.titles, ordered.session
    assert isinstance(session, Session)
    n = len(titles)
    session.order(ordering=range(n)[::-1], sides=1, alternatives=1).save(target)
    return list(titles)


@pytest.mark.parametrize("export", EXPORTS, ids=[f"{export.program}: {export.name}" for export in EXPORTS])
def test_all_open_and_come_back(tmp_path: Path, export: Export):
    path, turned, again = (tmp_path / f"{start}{export.name}" for start in ("", "turned ", "again "))
    path.write_bytes(export.data)
    for image in ("image.wav", "tape.flac") if path.suffix == ".cue" else ():  # of which the last track has an end
        soundfile.write(tmp_path / image, np.zeros(1363 * 1000, np.int16), 1000)
    titles = turn(path, turned, export.collection)
    assert tuple(titles) == export.titles
    assert turn(turned, again, export.collection) == list(export.titles)[::-1]
    assert tuple(open_ordered(again, opening=Opening(collection=export.collection)).titles) == export.titles
    if export.exact and path.suffix not in (".csv", ".tsv"):
        assert again.read_bytes() == export.data
    elif export.exact:  # our columns stand behind theirs
        old, new = (one.read_bytes().splitlines() for one in (path, again))
        assert all(b.startswith(a) for a, b in zip(old, new, strict=True))
