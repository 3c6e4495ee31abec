"""What a PDF unpacks to is counted, whatever it is packed by, and one that unpacks to far too much is refused."""

from __future__ import annotations

import base64
import io
import zlib
from pathlib import Path

import pytest

from fabula.errors import FileError
from fabula.media.images import pdf_pages
from fabula.media.images.pdf_pages import check_unpacked
from fabula.media.images.picture_measures import cut_pages
from fabula.media.medium import Cutting
from tests.hostile.make import deflate, pdf

pytest.importorskip("pypdfium2")

PAGES, BYTES = 30, 2_000_000
SPACES = b" " * BYTES
FLATE = b"/Filter/FlateDecode"
TWICE = b"/Filter[/FlateDecode/FlateDecode]"


def lzw(data: bytes) -> bytes:
    """Packed as TIFF has it, by Pillow."""
    image, out = pytest.importorskip("PIL.Image"), io.BytesIO()
    image.frombytes("L", (len(data), 1), data).save(out, "TIFF", compression="tiff_lzw")
    with image.open(io.BytesIO(out.getvalue())) as found:
        start, length = found.tag_v2[273][0], found.tag_v2[279][0]
    return out.getvalue()[start : start + length]


SHARED = {
    "once": pdf(PAGES, zlib.compress(SPACES), FLATE),
    "twice": pdf(PAGES, zlib.compress(zlib.compress(SPACES)), TWICE),
    "LZW": pdf(PAGES, lzw(SPACES), b"/Filter/LZWDecode"),
    "LZW within": pdf(PAGES, zlib.compress(lzw(SPACES)), b"/Filter[/FlateDecode/LZWDecode]"),
    "letters": pdf(PAGES, base64.a85encode(zlib.compress(SPACES)) + b"~>", b"/Filter[/ASCII85Decode/FlateDecode]"),
    "digits": pdf(PAGES, zlib.compress(SPACES).hex().encode(), b"/Filter[/ASCIIHexDecode/FlateDecode]"),
    "an escaped name": pdf(PAGES, zlib.compress(SPACES), b"/Filter/Fl#61teDecode"),
    "a way that is said elsewhere": pdf(
        PAGES, zlib.compress(SPACES), b"/Filter 4 0 R", more=b"4 0 obj/FlateDecode endobj\n"
    ),
    "other lengths within": pdf(
        PAGES, zlib.compress(SPACES), b"/Z<</Length 3/Y(a>>stream\r\n\\)<<)>>/A<41>" + FLATE
    ),
    "a picture": pdf(
        PAGES, b"q 9 0 0 9 0 0 cm/A Do Q", page=b"/Resources<</XObject<</A 4 0 R>>>>",
        more=b"4 0 obj<</Type/XObject/Subtype/Image/Width 2000/Height 1000/BitsPerComponent 8/ColorSpace/DeviceGray"
             b"/Filter/DCTDecode/Length 1>>stream\na\nendstream endobj\n",
    ),
}  # fmt: skip


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of a test: half of what the pages unpack to."""
    monkeypatch.setattr(pdf_pages, "_MOST", PAGES * BYTES // 4)
    monkeypatch.setattr(pdf_pages, "_PER_PAGE", BYTES // 4)
    monkeypatch.setattr(pdf_pages, "_PER_BYTE", 1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", SHARED)
def test_what_pages_share_counts_for_each(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(SHARED[name])
    with pytest.raises(FileError, match=r"a\.pdf: unpacks to more than 30 MB, too much for 30 pages"):
        check_unpacked(str(path))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", [name for name in SHARED if name != "a way that is said elsewhere"])
def test_half_as_much_is_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So what is counted is neither half nor twice as much as there is."""
    monkeypatch.setattr(pdf_pages, "_PER_PAGE", BYTES * 7 // 8)
    path = tmp_path / "a.pdf"
    path.write_bytes(SHARED[name])
    check_unpacked(str(path))


def test_a_few_bytes_that_stand_for_very_many_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pdf"
    path.write_bytes(pdf(PAGES, zlib.compress(deflate(b" " * 10**6, 50)), TWICE))
    with pytest.raises(FileError, match="unpacks to more than 1,300 MB, too much for 30 pages"):
        cut_pages(str(path), Cutting())


def test_pages_that_hold_much_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    lines = b"\n".join(b"%d %d m %d %d l S" % (k % 7, k % 8, k % 9, k % 5) for k in range(20_000))
    path.write_bytes(pdf(3, zlib.compress(lines), FLATE))
    found = cut_pages(str(path), Cutting())
    assert found is not None
    assert len(found) == 3
