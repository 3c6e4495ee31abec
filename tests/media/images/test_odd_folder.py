"""A folder of every odd picture there is: a right result or one line each, and nothing in it is touched."""

from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fabula
from fabula.errors import FileError
from fabula.session.export import number_in_place

BROKEN = ("bomb.png", "broken.jpg", "cut.jpg", "empty.jpg", "text.png")


def _bomb() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 90000, 90000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")
    )


@pytest.fixture
def odd(tmp_path: Path, rng: np.random.Generator) -> Path:
    folder = tmp_path / "odd"
    folder.mkdir()
    picture = Image.fromarray(rng.integers(0, 255, (6, 9, 3), dtype=np.uint8)).resize((90, 60))
    for turn in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = turn
        picture.save(folder / f"turned {turn}.jpg", exif=exif)
    picture.save(folder / "plain.jpg")  # no EXIF
    picture.convert("CMYK").save(folder / "cmyk.jpg")
    Image.fromarray(rng.integers(0, 65535, (60, 90), dtype=np.uint16)).save(folder / "deep.png")
    clear = picture.convert("P")
    clear.save(folder / "palette.png", transparency=bytes(range(256)))
    picture.save(folder / "moving.gif", save_all=True, append_images=[Image.new("RGB", (90, 60), "red")])
    picture.save(folder / "really a png.jpg", "PNG")
    picture.resize((2000, 1400)).save(folder / "cut.jpg")
    whole = (folder / "cut.jpg").read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 4])
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(200))
    (folder / "bomb.png").write_bytes(_bomb())
    (folder / "text.png").write_text("no picture at all")
    (folder / "empty.jpg").write_bytes(b"")
    return folder


def _digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


@pytest.mark.slow
def test_each_is_ordered_or_told_in_a_line_and_none_is_touched(odd: Path, tmp_path: Path) -> None:
    before = _digests(odd)
    session = fabula.open(odd)
    ordered = session.order()
    names = {Path(item.path).name for item in session.collection.items}
    assert names == set(before) - set(BROKEN)
    for name in BROKEN:
        told = [note for note in session.notes if name in note]
        assert len(told) == 1, (name, session.notes)
        assert "\n" not in told[0]
    order = [Path(item.path).name for item in session.collection.items]
    aspects = dict(zip(order, session.collection.column("aspect"), strict=True))
    for turn in range(1, 9):
        assert aspects[f"turned {turn}.jpg"] == pytest.approx(1.5 if turn < 5 else 2 / 3, abs=0.01)
    for name in ("a.png", "a.html", "a.csv", "a.json"):
        ordered.save(tmp_path / name)
    assert _digests(odd) == before


def test_a_palette_with_alpha_is_seen_on_white(tmp_path: Path) -> None:
    from fabula.media.images.picture_files import open_picture

    picture = Image.new("P", (20, 20), 1)
    picture.putpalette([0, 0, 0, 200, 0, 0])
    picture.save(tmp_path / "a.png", transparency=1)
    assert open_picture(tmp_path / "a.png", 64).getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.json", "a.m3u8"])
def test_what_was_written_opens_again_in_its_order(odd: Path, tmp_path: Path, name: str) -> None:
    ordered = fabula.order(odd)
    again = fabula.open(ordered.save(tmp_path / name))
    assert [item.label for item in again.collection.items] == ordered.titles
    assert again.medium.name == "images"
    assert "brightness" in again.collection.feature_names


def test_a_table_or_a_text_that_names_files_is_measured(odd: Path, tmp_path: Path) -> None:
    files = [f"odd/turned {k}.jpg" for k in (1, 5, 2)]
    (tmp_path / "list.csv").write_text("file,mark\n" + "".join(f"{file},{k}\n" for k, file in enumerate(files)))
    (tmp_path / "list.txt").write_text("# a list\n" + "\n\n".join(files) + "\nodd/gone.jpg\n")
    (tmp_path / "novel.txt").write_text("It was a picture.\nHe called it summer.jpg\n")
    table = fabula.open(tmp_path / "list.csv")
    assert table.collection.column("aspect").round(2).tolist() == [1.5, 0.67, 1.5]
    assert fabula.open(tmp_path / "list.csv", by="mark").column == "mark"
    text = fabula.open(tmp_path / "list.txt")
    assert [item.title for item in text.collection.items] == ["turned 1", "turned 5", "turned 2"]
    assert any("gone.jpg" in note for note in text.notes)
    assert fabula.open(tmp_path / "novel.txt").medium.name == "text"


def test_numbers_in_place_go_into_sidecars_and_copy_no_picture(odd: Path) -> None:
    for name in BROKEN:
        (odd / name).unlink()
    before = _digests(odd)
    written = number_in_place(fabula.order(odd))
    assert {file.suffix for file in written} == {".xmp"}
    after = _digests(odd)
    assert {name: after[name] for name in before} == before
    assert set(after) == set(before) | {f"{name}.xmp" for name in before}
    again = number_in_place(fabula.order(odd, first="plain"))
    assert sum(".~" in file.name for file in odd.iterdir()) == len(again)  # sidecars that were replaced, and no picture
    assert not any(".~" in file.name and ".xmp" not in file.name for file in odd.iterdir())


def test_a_strange_sidecar_stops_it_before_anything_is_written(odd: Path) -> None:
    for name in BROKEN:
        (odd / name).unlink()
    (odd / "plain.jpg.xmp").write_text("<x:xmpmeta xmlns:x='adobe:ns:meta/'>somebody's work</x:xmpmeta>")
    before = _digests(odd)
    with pytest.raises(FileError, match="is left as it is"):
        number_in_place(fabula.order(odd))
    assert _digests(odd) == before
