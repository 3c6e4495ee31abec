"""Folders of pictures from the files to what is written: one way through the house."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fabula
from fabula.errors import InputError
from fabula.media.images.picture_files import read_packet, write_numbers
from fabula.media.images.prints import spreads_of

COLOURS = ("red", "navy", "orange", "teal", "crimson", "blue", "gold", "black")


@pytest.fixture
def folder(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Eight pictures, warm and cold by turns, upright and wide; among them no two alike."""
    made = tmp_path / "Bilder für später"
    made.mkdir()
    for number, colour in enumerate(COLOURS):
        size = (60, 80) if number % 3 else (90, 60)
        picture = Image.new("RGB", size, colour)
        blot = Image.fromarray(rng.integers(0, 256, (4, 4, 3), dtype=np.uint8)).resize((30, 30))
        picture.paste(blot, (int(rng.integers(25)), int(rng.integers(25))))
        picture.save(made / f"{number + 1:02d} {colour}.jpg", quality=95)
    return made


def _digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def test_neighbours_are_alike_and_nothing_is_touched(folder: Path, tmp_path: Path) -> None:
    before = _digests(folder)
    session = fabula.open(folder)
    ordered = session.order()
    assert ordered.to_json()["model"] == "pictures"
    assert sorted(ordered.ordering.tolist()) == list(range(8))
    assert ordered.gap == 0
    flow = session.likelihood.flow
    steps = lambda order: flow[order[:-1], order[1:]].sum()  # noqa: E731
    mean = np.mean([steps(np.random.default_rng(seed).permutation(8)) for seed in range(200)])
    assert steps(ordered.ordering) > steps(np.arange(8))
    assert steps(ordered.ordering) > mean
    for name in ("a.png", "a.pdf", "a.book.pdf", "a.html", "a.txt", "a.csv", "a.json", "a.m3u8"):
        assert ordered.save(tmp_path / name).stat().st_size > 100
    assert _digests(folder) == before
    assert fabula.open(folder / "01 red.jpg").order().titles == ["01 red"]  # one alone, of which there are no steps


def test_what_is_written_shows_the_new_order(folder: Path, tmp_path: Path) -> None:
    ordered = fabula.open(folder).order(sides=2)
    lines = ordered.save(tmp_path / "list.txt").read_text(encoding="utf-8").splitlines()
    assert [Path(line).name.split(" ")[1].removesuffix(".jpg") for line in lines if line] == [
        title.split(" ")[1] for title in ordered.titles
    ]
    assert lines.index("") == ordered.sides[0]
    page = ordered.save(tmp_path / "book.html").read_text(encoding="utf-8")
    at = [page.index(f'alt="{title}"') for title in ordered.titles]
    assert at == sorted(at)
    assert page.count("data:image/jpeg") == 8
    with Image.open(ordered.save(tmp_path / "sheet.png")) as sheet:
        assert sheet.mode == "RGB"
        assert sheet.width > 1000


def test_a_column_and_a_template_give_an_arc(folder: Path) -> None:
    ordered = fabula.order(folder, by="brightness", template="steady-rise")
    light = ordered.session.collection.column("brightness")[ordered.ordering]
    assert (np.diff(light) >= 0).all()


def test_facing_pages_match_or_contrast(folder: Path) -> None:
    session = fabula.open(folder)
    unlike, _ = session.medium.facing(session.collection).costs()
    means = {}
    for how in ("match", "contrast"):
        order = session.order(spreads=how, first="01 red").ordering
        assert order[0] == 0
        means[how] = np.mean([unlike[order[k], order[k + 1]] for k in range(1, 7, 2)])
    assert means["match"] < means["contrast"]
    with pytest.raises(InputError, match="goes without sides"):
        session.order(spreads="match", sides=2)


def test_facing_pages_hold_with_wishes(folder: Path) -> None:
    order = fabula.open(folder).order(
        spreads="match", first="03 orange", together=[["01 red", "06 blue"]], last="08 black"
    )
    titles = order.titles
    assert (titles[0], titles[-1]) == ("03 orange", "08 black")
    assert titles.index("06 blue") == titles.index("01 red") + 1
    assert titles.index("01 red") % 2 == 1


def test_music_has_no_pages() -> None:
    items = [fabula.Item(str(k)) for k in range(4)]
    from fabula.session.session import session_of

    with pytest.raises(InputError, match="have no pages"):
        session_of(items, [1.0, 2, 3, 4]).order(spreads="match")


def test_what_faces_what() -> None:
    assert spreads_of([False] * 6) == [(None, 0), (1, 2), (3, 4), (5, None)]
    assert spreads_of([True, False, True, False]) == [(0,), (1, None), (2,), (3, None)]
    assert spreads_of([False] * 4, (2, 2)) == [(None, 0), (1, None), (None, 2), (3, None)]


def test_near_duplicates_stand_apart(folder: Path) -> None:
    for number in range(3):
        Image.open(folder / "02 navy.jpg").resize((58 + number, 78)).save(folder / f"9{number} again.jpg")
    ordered = fabula.order(folder, apart="duplicates")
    groups = ordered.session.collection.column("duplicates")[ordered.ordering]
    assert np.isfinite(groups).sum() == 4
    assert not (groups[1:] == groups[:-1]).any()


def test_pages_of_a_pdf_are_put_in_a_new_order(tmp_path: Path) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    pages = [Image.new("RGB", (100 + 10 * k, 80), colour) for k, colour in enumerate(COLOURS[:5])]
    content = BytesIO()
    pages[0].save(content, "PDF", save_all=True, append_images=pages[1:])
    (tmp_path / "deck.pdf").write_bytes(content.getvalue())
    ordered = fabula.order(tmp_path / "deck.pdf", first="Page 4")
    written = pdfium.PdfDocument(ordered.save(tmp_path / "new.pdf"))
    widths = [
        round(page.get_size()[0] * 100 / pdfium.PdfDocument(tmp_path / "deck.pdf")[0].get_size()[0]) for page in written
    ]
    assert widths == [100 + 10 * int(i) for i in ordered.ordering]
    assert widths[0] == 130
    assert (tmp_path / "deck.pdf").read_bytes() == content.getvalue()


@pytest.mark.parametrize("how", [{}, {"link": True}, {"tags": True}])
def test_what_a_sidecar_says_comes_along_with_a_copy(folder: Path, tmp_path: Path, how: dict[str, bool]) -> None:
    from fabula.session.export import copy_numbered

    files = sorted(folder.glob("*.jpg"))
    packet = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="{}"/></rdf:RDF></x:xmpmeta>'
    )
    for stars, file in enumerate(files[:4], start=1):
        sidecar = file.with_name(f"{file.name}.xmp") if stars % 2 else file.with_suffix(".xmp")
        sidecar.write_text(packet.format(stars))
    ordered = fabula.order(folder, by="brightness")
    written = copy_numbered(ordered, tmp_path / "copies", **how)
    assert [file.suffix for file in written] == [".jpg"] * 8
    stars, copied = (
        {item.title.split()[-1]: item.details.get("rating") for item in one.collection.items}
        for one in (ordered.session, fabula.open(tmp_path / "copies"))
    )
    assert copied == stars
    assert sorted(filter(None, stars.values())) == [1, 2, 3, 4]


def test_sidecars_say_where_a_picture_stands(folder: Path, tmp_path: Path) -> None:
    from fabula.session.export import copy_numbered

    ordered = fabula.order(folder)
    copy_numbered(ordered, tmp_path / "copies", tags=True)
    assert len(list((tmp_path / "copies").glob("*.xmp"))) == 8
    assert 'fabula:position="1"' in next((tmp_path / "copies").glob("01*.xmp")).read_text()
    assert not list(folder.glob("*.xmp"))
    (folder / "x.jpg.xmp").write_text("<x:xmpmeta/>")
    with pytest.raises(fabula.FabulaError, match="is left as it is"):
        write_numbers(folder / "x.jpg", (1, 2), None)


def test_titles_and_ratings_of_a_sidecar(folder: Path) -> None:
    (folder / "01 red.xmp").write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmp:Rating="4"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Der rote Platz</rdf:li></rdf:Alt></dc:title>'
        "</rdf:Description></rdf:RDF></x:xmpmeta>",
        encoding="utf-8",
    )
    item = fabula.open(folder).collection.items[0]
    assert (item.title, item.details["rating"]) == ("Der rote Platz", 4)


@pytest.mark.parametrize("packet", ["", "<", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a/>", b"\xff\xfe\0"])
def test_odd_packets_say_nothing(packet: str | bytes) -> None:
    assert read_packet(packet) == {}


def test_the_demo_runs_through_a_day(tmp_path: Path) -> None:
    from fabula.report.page import write_page
    from fabula.session.open import order_demo

    ordered, sheet = order_demo(tmp_path, "images")
    light = ordered.session.collection.column("brightness")[ordered.ordering]
    assert sheet.name == "fabula-demo.png"
    assert np.sum(np.diff(np.sign(np.diff(light))) != 0) <= 4, "the light rises and falls, without going to and fro"
    page = write_page(ordered, tmp_path / "day.html").read_text(encoding="utf-8")
    assert page.count("data:image/jpeg;base64,") == 12
    assert "Where each likes to stand" not in page
