"""What a photographer keeps: times, stars, labels, keywords and places; picked, laid out, and back in the sidecars."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fabula
from fabula.errors import FileError, InputError
from fabula.media.images.picture_files import open_picture, read_packet, sidecar_path, write_numbers
from fabula.media.images.prints import write_gallery
from fabula.media.medium import Layout
from fabula.session.catalogue import extract_table
from fabula.session.export import number_in_place
from fabula.session.open import open_ordered

SIDECAR = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
 <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:darktable="http://darktable.sf.net/" xmp:Rating="{stars}"
  xmp:Label="Red" photoshop:City="Emden" darktable:auto_presets_applied="1">
  <dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>storm</rdf:li></rdf:Bag></dc:subject>
  <darktable:history><rdf:Seq><rdf:li darktable:operation="exposure"/></rdf:Seq></darktable:history>
 </rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>
"""


def _take(file: Path, rng: np.random.Generator, when: str, stars: int | None = None, seed: int = 0) -> None:
    """Write a picture with what a camera says of it."""
    cells = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    noisy = np.clip(cells.repeat(20, 0).repeat(20, 1) + rng.normal(0, 2, (120, 120, 3)), 0, 255)
    exif = Image.Exif()
    if when:
        exif.get_ifd(0x8769)[0x9003] = when
    if stars is not None:
        exif[0x4746] = stars
    exif.get_ifd(0x8825).update({1: "S", 2: (33.0, 30.0, 0.0), 3: "E", 4: (151.0, 15.0, 36.0)})
    Image.fromarray(noisy.astype(np.uint8)).save(file, exif=exif, quality=95)


@pytest.fixture
def shoot(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Ten pictures: a burst of three, two that are alike by chance hours apart, one without a time, names at random."""
    folder = tmp_path / "shoot"
    folder.mkdir()
    moments = {"g": "08:00:00", "a": "09:00:00", "c": "09:00:01", "b": "09:00:03", "f": "11:00:00", "e": "12:30:00"}
    for k, (name, clock) in enumerate(moments.items()):
        _take(folder / f"{name}.jpg", rng, f"2024:05:17 {clock}", k % 6 or None, 7 if name in "acb" else k)
    _take(folder / "d.jpg", rng, "2024:05:18 07:00:00", 5, 20)
    _take(folder / "h.jpg", rng, "2024:05:19 07:00:00", 1, 20)
    _take(folder / "i.jpg", rng, "2024:05:20 07:00:00", None, 30)
    (folder / "e.jpg.xmp").write_text(SIDECAR.format(stars=4))
    return folder


def test_files_and_sidecars_say_columns_that_can_be_asked_for(shoot: Path, tmp_path: Path) -> None:
    ordered = fabula.order(shoot, by="captured", template="steady-rise")
    assert "".join(ordered.titles) == "gacbfedhi"
    items = {item.title: item.details for item in ordered.collection.items}
    assert items["e"]["rating"] == 4
    assert (items["e"]["label"], items["e"]["keywords"], items["e"]["place"]) == ("Red", "sea; storm", "Emden")
    assert items["a"]["captured"] == 1715936400.0  # 2024-05-17 09:00 on the camera's clock
    assert (items["a"]["latitude"], items["a"]["longitude"]) == (-33.5, 151.26)
    burst = dict(zip(ordered.titles, ordered.collection.column("burst"), strict=True))
    assert burst["a"] == burst["b"] == burst["c"]
    assert all(np.isnan(burst[name]) for name in "gfedhi")
    stars = fabula.order(shoot, by="rating", template="steady-fall")
    assert stars.titles[0] == "d"
    assert stars.collection.column("rating").tolist() == [5, 4, 4, 3, 2, 1, 1, 0, 0]  # none is none
    _, table = extract_table([shoot], tmp_path / "x.csv")  # what is written can be asked for
    columns = next(csv.reader(table.read_text().splitlines()))
    assert {"captured", "rating", "label", "keywords", "place", "latitude", "burst"} <= set(columns)
    shown = {fact.name: fact.texts for fact in ordered.facts()}
    assert shown["captured"][0] == "2024-05-17 08:00"


def test_a_burst_gives_one_frame_and_few_tell_all(shoot: Path) -> None:
    one = fabula.open(shoot, one_of="burst")
    names = {item.title for item in one.collection.items}
    assert len(names) == 7
    assert "b" in names  # which has most stars
    dozen = fabula.open(shoot, pick=4)
    picked = {item.title for item in dozen.collection.items}
    assert len(picked & set("abc")) <= 1
    assert len(picked & set("dh")) <= 1  # nearly the same
    alone = fabula.open(shoot, only="rating >= 4", one_of="burst")  # of which no two are of one burst
    assert {item.title for item in alone.collection.items} == {"f", "e", "d"}
    assert len(fabula.order(shoot, only="rating >= 4", apart="burst").ordering) == 3
    assert any("picked 4 of 9 pictures: one of what is of a burst, or nearly the same" in note for note in dozen.notes)
    more = fabula.open(shoot, pick=12)  # of nine
    assert (
        "picked 6 of 9 pictures, fewer than the 12 wanted: one of what is of a burst, or nearly the same" in more.notes
    )
    with pytest.raises(InputError, match=r"2 pictures are named; got 1"):
        fabula.order(shoot, pick=1, first="a", last="d")
    rated = fabula.open(shoot, only="rating >= 4 or keywords ~ SEA")
    assert {item.title for item in rated.collection.items} == {"f", "e", "d"}
    day = fabula.open(shoot, only="captured > 2024-05-17 and captured <= 2024-05-19")
    assert {item.title for item in day.collection.items} == {"d", "h"}
    assert len(fabula.order(shoot, limit=3).ordering) == 3  # pictures are counted where they have no length
    with pytest.raises(InputError, match=r"no column 'stars'; there are: .*rating"):
        fabula.open(shoot, only="stars >= 4")


def test_chronology_is_kept_as_far_as_it_counts(shoot: Path) -> None:
    strict = fabula.order(shoot, soft={"captured": 50.0})
    assert "".join(strict.titles) == "gacbfedhi"
    free = fabula.order(shoot)
    assert free.titles != strict.titles
    back = fabula.order(shoot, soft={"captured": -50.0})
    assert "".join(back.titles) == "gacbfedhi"[::-1]
    with pytest.raises(InputError, match="no picture has a number for 'weight'"):
        fabula.order(shoot, soft={"weight": 1.0})
    assert not [note for note in strict.notes if "is not known" in note]
    Image.new("RGB", (40, 30), (9, 90, 200)).save(shoot / "scan.png")
    told = "captured is not known of 1: nothing is asked of where they stand"
    assert told in fabula.order(shoot, soft={"captured": 50.0}).notes


def test_sidecars_keep_all_and_say_where_a_picture_stands(shoot: Path, tmp_path: Path) -> None:
    ordered = fabula.order(shoot, by="captured", template="steady-rise", sides=2)
    label = {row.item.title: f"sequence {row.label}" for row in ordered.rows}
    ordered.save(tmp_path / "list.csv")
    pictures = {file: file.read_bytes() for file in shoot.glob("*.jpg")}
    number_in_place(open_ordered(tmp_path / "list.csv"))
    number_in_place(open_ordered(tmp_path / "list.csv"))  # again: nothing is listed twice
    assert {file: file.read_bytes() for file in shoot.glob("*.jpg")} == pictures
    text = (shoot / "e.jpg.xmp").read_text()
    assert text.startswith('<?xpacket begin=""')
    assert text.endswith('<?xpacket end="w"?>\n')
    assert 'darktable:operation="exposure"' in text
    said = read_packet(text.encode())
    assert said["keywords"].split("; ") == ["sea", "storm", label["e"]]
    assert (said["rating"], said["label"], said["place"]) == (4, "Red", "Emden")
    assert read_packet((shoot / "d.jpg.xmp").read_bytes())["rating"] == 5  # as the file itself says
    assert (shoot / "e.jpg.xmp.~1~").read_text() == SIDECAR.format(stars=4)
    if shutil.which("exiftool"):
        command = ["exiftool", "-j", "-G1", "-struct", str(shoot / "e.jpg.xmp"), str(shoot / "g.jpg.xmp")]
        known = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
        assert known[0]["XMP-xmp:Rating"] == 4
        assert known[0]["XMP-dc:Subject"] == ["sea", "storm", label["e"]]
        assert known[0]["XMP-lr:HierarchicalSubject"] == ["sea", "storm", f"sequence|{label['e']}"]
        assert known[0]["XMP-digiKam:TagsList"] == ["sea", "storm", f"sequence/{label['e']}"]
        assert known[1]["XMP-dc:Subject"] == [label["g"]]


def test_words_of_a_picture_stay_in_sight_of_programs_that_look_at_paths_alone(tmp_path: Path) -> None:
    Image.new("RGB", (64, 48), "red").save(tmp_path / "flat.jpg")
    (tmp_path / "flat.jpg.xmp").write_text(SIDECAR.format(stars=3))
    lists = (
        "<dc:subject><rdf:Bag><rdf:li>Anna</rdf:li><rdf:li>sea</rdf:li></rdf:Bag></dc:subject>"
        "<lr:hierarchicalSubject><rdf:Bag><rdf:li>people|Anna</rdf:li></rdf:Bag></lr:hierarchicalSubject>"
    )
    packet = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        "<rdf:Description "
        'xmlns:lr="http://ns.adobe.com/lightroom/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"{lists}</rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    Image.new("RGB", (64, 48), "blue").save(tmp_path / "deep.jpg", xmp=packet.encode())
    words = [b"harbour", "Kräne".encode()]
    iptc = b"".join(b"\x1c\x02\x19" + len(word).to_bytes(2, "big") + word for word in words)
    block = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + len(iptc).to_bytes(4, "big") + iptc + b"\0" * (len(iptc) % 2)
    plain = io.BytesIO()
    Image.new("RGB", (64, 48), "green").save(plain, "JPEG")
    data = plain.getvalue()
    (tmp_path / "agency.jpg").write_bytes(
        data[:2] + b"\xff\xed" + (len(block) + 2).to_bytes(2, "big") + block + data[2:]
    )
    items = {item.title: item.details for item in fabula.open(tmp_path).collection.items}
    assert items["agency"]["keywords"] == "harbour; Kräne"
    wanted = {"flat": ["sea", "storm"], "deep": ["people|Anna", "sea"], "agency": ["harbour", "Kräne"]}
    for _ in range(2):  # again: nothing is listed twice
        for name, words_of in wanted.items():
            write_numbers(tmp_path / f"{name}.jpg", (2, 3), None)
            packet = (tmp_path / f"{name}.jpg.xmp").read_text()
            paths = {  # as darktable and Lightroom, and as digiKam have them
                tag: re.findall("<rdf:li>(.*?)</rdf:li>", packet.split(f"<{tag}>")[1].split(f"</{tag}>")[0])
                for tag in ("lr:hierarchicalSubject", "digiKam:TagsList")
            }
            assert paths["lr:hierarchicalSubject"] == [*words_of, "sequence|sequence 2"]
            assert paths["digiKam:TagsList"] == [path.replace("|", "/") for path in paths["lr:hierarchicalSubject"]]
            assert read_packet(packet)["keywords"].count("sequence") == 1


def test_a_sidecar_belongs_to_one_file(tmp_path: Path) -> None:
    for name in ("a.jpg", "a.CR2", "a.xmp", "b.jpg", "b.xmp", "c.NEF"):
        (tmp_path / name).write_text(SIDECAR.format(stars=1))
    found = {name: sidecar_path(tmp_path / name).name for name in ("a.jpg", "a.CR2", "b.jpg", "c.NEF")}
    assert found == {"a.jpg": "a.jpg.xmp", "a.CR2": "a.xmp", "b.jpg": "b.xmp", "c.NEF": "c.xmp"}
    (tmp_path / "b.xmp").write_text("<!DOCTYPE x [<!ENTITY a 'b'>]><x/>")
    with pytest.raises(FileError, match="is left as it is"):
        write_numbers(tmp_path / "b.jpg", (1, 2), None)


def test_a_gallery_is_one_folder_that_asks_for_nothing(shoot: Path, tmp_path: Path) -> None:
    ordered = fabula.order(shoot, sides=2, grid=3)
    target = ordered.save(tmp_path / "show.gallery")
    page = (target / "index.html").read_text()
    assert page.count("<figure") == 9
    assert "repeat(3," in page
    seen = re.search(
        r'<figure style="flex: (\d+) .*?width="(\d+)" height="(\d+)" style="object-position: (\d+)% (\d+)%"', page
    )
    assert seen is not None
    assert int(seen[1]) == round(100 * int(seen[2]) / int(seen[3]))  # a row is as high as each of its pictures
    first = ordered.collection.column("subject_x")[0], ordered.collection.column("subject_y")[0]
    assert (int(seen[4]), int(seen[5])) == tuple(round(100 * part) for part in first)
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page
    assert "{" + "title}" not in page
    assert sorted(file.name for file in target.iterdir())[:4] == ["A1-small.jpg", "A1.jpg", "A2-small.jpg", "A2.jpg"]
    with Image.open(target / "A1.jpg") as large:
        assert large.size == (120, 120)
    with pytest.raises(FileError, match="is a folder"):
        ordered.save(target)
    gone = fabula.Collection("c", [fabula.Item("x", path=str(shoot / "gone.jpg"))])
    with pytest.raises(FileError):
        write_gallery(gone, tmp_path / "other.gallery", Layout())
    assert not [file for file in tmp_path.iterdir() if "other" in file.name]  # complete or absent


def test_lists_for_layout_programs_and_sheets_of_so_many_in_a_row(shoot: Path, tmp_path: Path) -> None:
    ordered = fabula.order(shoot, grid=3)
    text = ordered.save(tmp_path / "book.merge.csv").read_bytes()
    rows = list(csv.DictReader(text.decode("utf-16").splitlines()))
    assert [row["title"] for row in rows] == ordered.titles
    assert all(Path(row["@image"]).is_file() and Path(row["@image"]).is_absolute() for row in rows)
    with Image.open(ordered.save(tmp_path / "sheet.png")) as sheet:
        assert sheet.height > sheet.width  # three rows of three, with captions
    assert ordered.save(tmp_path / "sheet.pdf").stat().st_size > 1000


def test_titles_below_the_pictures_of_a_sheet_have_their_accents(monkeypatch: pytest.MonkeyPatch) -> None:
    from fabula.media.images import prints

    def drawn(text: str) -> bytes:
        sheet = Image.new("L", (90, 20))
        prints._write(sheet, (0, 0), text, 15, 255)
        return sheet.tobytes()

    assert len({drawn(text) for text in ("Plage é", "Plage è", "Plage ß", "Plage ")}) == 4
    assert drawn("Plage è\U000f1234") == drawn("Plage è")
    prints._font.cache_clear()
    monkeypatch.setattr(prints, "_FONTS", ())  # a system without fonts
    assert drawn("Plage é") == drawn("Plage e") != drawn("Plage ")
    prints._font.cache_clear()


def test_too_many_for_a_sheet_are_refused_before_they_are_measured(
    shoot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    from fabula.cli import run
    from fabula.media.registry import media

    few = replace(media()["images"], room={".png": 5})
    monkeypatch.setitem(media(), "images", few)
    monkeypatch.setattr("fabula.session.measure.extract", lambda *_: pytest.fail("measured"))
    assert run(["order", str(shoot), "-o", str(tmp_path / "many.png")]) == 2
    assert "9 pictures are more than the 5 that one .png holds; choose fewer (--pick)" in capsys.readouterr().err


def _psd(file: Path) -> None:
    """Photoshop's format as its description has it: header, three empty sections, raw pixels by channel."""
    head = b"8BPS\0\1" + bytes(6) + (3).to_bytes(2) + (8).to_bytes(4) + (10).to_bytes(4) + (8).to_bytes(2)
    file.write_bytes(head + (3).to_bytes(2) + bytes(12) + bytes(2) + bytes([200] * 80 + [30] * 80 + [90] * 80))


def test_photoshop_jpeg_xl_and_drawings(tmp_path: Path) -> None:
    _psd(tmp_path / "a.psd")
    assert open_picture(tmp_path / "a.psd", 64).getpixel((3, 3)) == (200, 30, 90)
    shutil.copy(tmp_path / "a.psd", tmp_path / "a.jpg")
    with pytest.raises(FileError, match="no picture"):  # only what is called so is taken for it
        open_picture(tmp_path / "a.jpg", 64)
    pytest.importorskip("resvg_py")
    Image.new("RGB", (40, 20), (0, 0, 255)).save(tmp_path / "secret.png")
    secret = f'<image href="{tmp_path / "secret.png"}" width="40" height="20"/>'
    red = '<rect width="40" height="20" fill="red"/>'
    (tmp_path / "d.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">{red}{secret}</svg>'
    )
    assert open_picture(tmp_path / "d.svg", 64).getpixel((30, 10)) == (255, 0, 0)
    (tmp_path / "e.svg").write_text("no drawing")
    with pytest.raises(FileError, match=r"e\.svg: is broken"):
        open_picture(tmp_path / "e.svg", 64)
    plugin = pytest.importorskip("pillow_jxl")
    assert plugin is not None
    Image.new("RGB", (40, 20), (10, 200, 10)).save(tmp_path / "f.jxl")
    assert np.allclose(open_picture(tmp_path / "f.jxl", 64).getpixel((5, 5)), (10, 200, 10), atol=6)
