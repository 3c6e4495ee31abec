"""A PDF whose pages take far longer than its size lets expect is given up; one that holds much is read."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from fabula.errors import FileError
from fabula.media.images import pdf_pages
from fabula.media.images.picture_measures import cut_pages
from fabula.media.medium import Cutting
from tests.hostile.make import deflate, pdf

pytest.importorskip("pypdfium2")

FLATE = b"/Filter/FlateDecode"


@pytest.mark.slow
def test_few_bytes_that_stand_for_very_many_are_given_up_in_time(tmp_path: Path, monkeypatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(pdf_pages, "_SECONDS", 0.0)
    monkeypatch.setattr(pdf_pages, "_PER_PAGE", 0.05)
    path = tmp_path / "bomb.pdf"
    path.write_bytes(pdf(30, deflate(b" " * 10**6, 400), FLATE))
    with pytest.raises(FileError, match=r"bomb\.pdf: takes more than 2 s to be drawn \(30 pages\)"):
        seen.extend(number for number, _ in enumerate(pdf_pages.render_pages(str(path), 64, 50)))
    assert 1 <= len(seen) < 30


def test_pages_that_hold_much_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    lines = b"\n".join(b"%d %d m %d %d l S" % (k % 7, k % 8, k % 9, k % 5) for k in range(20_000))
    path.write_bytes(pdf(3, zlib.compress(lines), FLATE))
    found = cut_pages(str(path), Cutting())
    assert found is not None
    assert len(found) == 3
