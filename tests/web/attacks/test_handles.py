"""Exports and previews read the files that were opened, by the handles the guard gives, and nothing else."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fabula.web.server_store import Settings
from tests.web.conftest import serving

pytestmark = pytest.mark.slow  # they wait

SECRET = "The seventh key lies under the oak."
WORDS = "It rained on the hill, and the children went home before the night came down on them. "
OUTPUTS = {"text": ("md", "docx", "html"), "images": ("png", "pdf", "book.pdf", "html")}
Image.init()


@pytest.fixture
def house(tmp_path: Path) -> tuple[Path, Path]:
    """A folder named at start, with texts and pictures, and one outside with secrets."""
    inside, outside = (tmp_path / "inside").resolve(), (tmp_path / "outside").resolve()
    for folder in (inside / "texts", inside / "pictures", outside):
        folder.mkdir(parents=True)
    for k in range(3):
        (inside / "texts" / f"{k}.txt").write_text(f"Part {k}\n\n{WORDS * (k + 2)}", encoding="utf-8")
        picture(40 + 60 * k).save(inside / "pictures" / f"{k}.png")
    (outside / "secret.txt").write_text(f"{SECRET} {WORDS}", encoding="utf-8")
    red().save(outside / "secret.png")
    deck(red(), red()).write_to(outside / "secret.pdf")
    return inside, outside


def picture(grey: int) -> Image.Image:
    return Image.fromarray(np.tile(np.linspace(grey, grey + 60, 64, dtype=np.uint8)[:, None, None], (1, 80, 3)))


def red() -> Image.Image:
    """What nothing of ours looks like."""
    return Image.new("RGB", (80, 64), (250, 10, 20))


class Deck:
    """A PDF of pictures."""

    def __init__(self, pages: tuple[Image.Image, ...]) -> None:
        out = io.BytesIO()
        pages[0].save(out, "PDF", save_all=True, append_images=pages[1:])
        self.data = out.getvalue()

    def write_to(self, path: Path) -> None:
        path.write_bytes(self.data)


def deck(*pages: Image.Image) -> Deck:
    return Deck(pages)


def opened(served, path: Path) -> str:
    return served.opened(served.client.post("/api/collections", json={"path": str(path)}))


def exported(served, collection: str, result: str, form: str):
    return served.client.post(f"/api/collections/{collection}/export", json={"result": result, "format": form})


def shows_secret(data: bytes) -> bool:
    """Whether what was written holds the secret: its words, packed or not, or its red."""
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data = b"".join(archive.read(name) for name in archive.namelist())
    if SECRET.encode() in data:
        return True
    pictures = [Image.open(io.BytesIO(data))] if data[:4] == b"\x89PNG" else []
    if data[:4] == b"%PDF":
        pdfium = pytest.importorskip("pypdfium2")
        pictures = [page.render(scale=1).to_pil() for page in pdfium.PdfDocument(data)]
    for one in pictures:
        pixels = np.asarray(one.convert("RGB")).astype(int)
        if ((pixels[..., 0] > 200) & (pixels[..., 1] < 60)).any():
            return True
    return b"data:image/jpeg;base64," in data and any(map(is_red, data.split(b"data:image/jpeg;base64,")[1:]))


def is_red(rest: bytes) -> bool:
    from base64 import b64decode

    pixels = np.asarray(Image.open(io.BytesIO(b64decode(rest.split(b'"')[0])))).astype(int)
    return bool(((pixels[..., 0] > 200) & (pixels[..., 1] < 60)).any())


_watched: list[str] = []
_seen: list[str] = []


def _listen(event: str, given: tuple[object, ...]) -> None:
    if _watched and event == "open" and isinstance(given[0], str) and given[0].startswith(_watched[0]):
        _seen.append(given[0])


@contextmanager
def no_opening_below(folder: Path) -> Iterator[None]:
    """Nothing below a folder is opened by its name in this process, or by a link that leads there."""
    if not hasattr(_listen, "on"):
        sys.addaudithook(_listen)
        _listen.on = True  # type: ignore[attr-defined]
    _watched.append(str(folder))
    _seen.clear()
    try:
        yield
        assert _seen == []
    finally:
        _watched.clear()


@pytest.mark.parametrize("kind", ["text", "images"])
@pytest.mark.parametrize("swap", ["file", "folder"])
def test_exports_and_previews_do_not_follow_what_was_swapped_in(house, kind, swap):
    inside, outside = house
    folder, name = (inside / "texts", "1.txt") if kind == "text" else (inside / "pictures", "1.png")
    with serving(Settings(roots=(inside,))) as served:
        collection = opened(served, folder)
        result = served.order(collection=collection)["result"]
        for form in OUTPUTS[kind]:
            assert exported(served, collection, result, form).status_code == 200, form
        secret = outside / ("secret.txt" if kind == "text" else "secret.png")
        if swap == "file":
            (folder / name).unlink()
            (folder / name).symlink_to(secret)
        else:
            folder.rename(inside / "away")
            (outside / "all").mkdir()
            for k in range(3):
                (outside / "all" / f"{k}{secret.suffix}").write_bytes(secret.read_bytes())
            folder.symlink_to(outside / "all")
        for form in OUTPUTS[kind]:
            answer = exported(served, collection, result, form)
            assert not shows_secret(answer.content), form
            if answer.status_code != 200:
                assert answer.status_code in (400, 404)
                assert "\n" not in answer.json()["error"]
                assert served.app.state.store.folder.name not in answer.text
        for k in range(3):
            for path in (f"ends/{k}", f"preview/{k}", f"items/{k}/cover"):
                answer = served.client.get(f"/api/collections/{collection}/{path}")
                assert not shows_secret(answer.content), path
                assert is_plain(answer.content), path


def is_plain(data: bytes) -> bool:
    return data[:3] != b"\xff\xd8\xff" or not (np.asarray(Image.open(io.BytesIO(data))).astype(int)[..., 0] > 230).any()


@pytest.mark.parametrize("way", ["session", "table"])
def test_a_pdf_that_is_only_named_is_not_read(house, way):
    """Details of a session, or columns of a table, that say of which PDF an item is a page."""
    inside, outside = house
    pytest.importorskip("pypdfium2")
    names = ["brightness", "warmth", "contrast", "aspect", "colourfulness"]
    rows = [[10.0 * k + 3, 5 - k, 2.0 + k, 1.5, 7.0 * k] for k in range(2)]
    with serving(Settings(roots=(inside,))) as served, no_opening_below(outside):
        if way == "session":
            items = [
                {"id": str(k), "title": f"T{k}", "creator": "", "path": "", "features": row}
                | {"details": {"pdf": str(outside / "secret.pdf"), "page": k + 1}}
                for k, row in enumerate(rows)
            ]
            saved = {"kind": "fabula session", "version": 2, "title": "x", "medium": "images", "by": "brightness"}
            saved |= {"feature_names": names, "items": items, "essence": [-1.0, 1.0], "state": {}}
            answer = served.client.post("/api/sessions", json=saved)
            assert answer.status_code == 201, answer.text
            collection = answer.json()["collection"]["id"]
        else:
            lines = [",".join(map(str, [f"T{k}", outside / "secret.pdf", k + 1, *row])) for k, row in enumerate(rows)]
            table = "\n".join([",".join(["title", "pdf", "page", *names]), *lines])
            collection = served.opened(served.upload(("x.csv", table.encode()), by="brightness"))
        assert served.client.get(f"/api/collections/{collection}").json()["medium"]["name"] == "images"
        result = served.order(collection=collection)["result"]
        for form in OUTPUTS["images"]:
            answer = exported(served, collection, result, form)
            assert not shows_secret(answer.content), form
            assert answer.status_code == (200 if form == "html" else 400)


def test_pages_of_a_pdf_that_was_dropped_can_be_exported(server):
    """What was opened as pages is read again, from the handle the guard gives."""
    pdfium = pytest.importorskip("pypdfium2")
    made = deck(picture(20), picture(90), picture(150))
    collection = server.opened(server.upload(("talk.pdf", made.data)))
    ordered = server.order(collection=collection, first="2")
    for form in ("pdf", "png", "book.pdf"):
        answer = exported(server, collection, ordered["result"], form)
        assert answer.status_code == 200, answer.text
        if form == "pdf":
            assert len(pdfium.PdfDocument(answer.content)) == 3
    saved = server.client.post(f"/api/collections/{collection}/session", json={}).text
    assert str(server.app.state.store.folder) not in saved


def test_ends_are_those_of_the_file_that_was_opened(house):
    """A link that is swapped in and out all the time is never followed."""
    inside, outside = house
    file, other = inside / "texts" / "1.txt", inside / "texts" / "other"
    done = threading.Event()

    def swap() -> None:
        honest = inside / "texts" / "honest"
        os.link(file, honest)
        while not done.is_set():
            other.symlink_to(outside / "secret.txt")
            other.replace(file)
            os.link(honest, other)
            other.replace(file)
        honest.unlink()

    with serving(Settings(roots=(inside,))) as served:
        collection = opened(served, inside / "texts")
        thread = threading.Thread(target=swap)
        thread.start()
        try:
            answers = [served.client.get(f"/api/collections/{collection}/ends/1") for _ in range(75)]
            result = served.order(collection=collection)["result"]
            answers += [exported(served, collection, result, "md") for _ in range(20)]
        finally:
            done.set()
            thread.join()
    assert not any(SECRET in answer.text for answer in answers)
    assert {answer.status_code for answer in answers} <= {200, 400, 404}


SIDECAR = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li>{}</rdf:li>'
    "</rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>"
)


@pytest.mark.parametrize("inner", [False, True], ids=["elsewhere", "inside"])
def test_a_sidecar_that_is_a_link_is_read_where_it_leads_to_a_file_of_ours(house, inner):
    inside, outside = house
    place = (inside if inner else outside) / "title.xmp"
    place.write_text(SIDECAR.format(SECRET))
    (inside / "pictures" / "1.xmp").symlink_to(place)
    with serving(Settings(roots=(inside,))) as served:
        told = served.client.get(f"/api/collections/{opened(served, inside / 'pictures')}").text
    assert (SECRET in told) is inner


def test_a_cover_beside_a_track_that_leads_elsewhere_is_not_shown(house, sound):
    inside, outside = house
    (inside / "album").mkdir()
    (inside / "album" / "a.ogg").write_bytes(sound("02 Red Line.ogg"))
    picture(20).save(inside / "album" / "cover.png")
    with serving(Settings(roots=(inside,))) as served:
        collection = opened(served, inside / "album")
        address = f"/api/collections/{collection}/items/0/cover"
        before = served.client.get(address)
        (inside / "album" / "cover.png").unlink()
        (inside / "album" / "cover.png").symlink_to(outside / "secret.png")
        after = served.client.get(address)
    assert after.content != (outside / "secret.png").read_bytes()
    assert before.status_code == 200 or before.content == after.content


@pytest.mark.parametrize("form", ["docx", "md", "png"])
def test_errors_of_exports_name_files_as_people_know_them(server, form):
    """Where a file is gone or broken: neither the folder of the server nor the number it is stored under."""
    store = server.app.state.store.folder
    before = set(store.iterdir())
    if form == "png":
        out = io.BytesIO()
        picture(30).save(out, "PNG")
        files = [(f"shot {k}.png", out.getvalue()) for k in "ab"]
    else:
        files = [(f"note {k}.txt", WORDS.encode()) for k in "ab"]
    collection = server.opened(server.upload(*files))
    result = server.order(collection=collection)["result"]
    (folder,) = set(store.iterdir()) - before
    for file in (one for one in folder.rglob("*") if one.is_file()):
        file.write_bytes(b"\0\1\2")  # the same file, broken now
    answer = exported(server, collection, result, form)
    text = answer.json()["error"]
    assert answer.status_code == 400
    assert str(store) not in text
    assert "0000" not in text
    assert files[0][0].split(".")[0] in text
    assert json.loads(answer.text)["error"].count("\n") == 0
