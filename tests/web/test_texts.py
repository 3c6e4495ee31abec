"""The page with texts: opened from a folder or sent, ordered by their model, and read where they join."""

from __future__ import annotations

import pytest

from fabula.media.text.passages import read_document
from fabula.web.server_store import Settings

from .conftest import serving

EVIL = "<img src=x onerror=\"document.title='run'\"> said Ann. "
TABLE = b"title,text\n" + b"".join(b"%c,%s\n" % (name, b"It rained on Ann and Tom. " * 9) for name in b"ABC")
BODY = "Then old {} met young {} by the sea, and they said nothing of the war. It rained."


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    for number, name in enumerate(["Ann", "Bob", "Carl", "Dora", "Eve"]):
        text = f"{name}\n\n" + "\n\n".join([BODY.format(name, "Tom")] * (number + 1))
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    (folder / "5.html").write_text("<h1>Fay</h1><p>Then old Fay met young Tom.<script>alert(1)</script>")
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        yield served


def test_a_folder_of_texts(served, tmp_path):
    opened = served.opened(served.client.post("/api/collections", json={"path": str(tmp_path / "book")}))
    body = served.client.get(f"/api/collections/{opened}").json()
    assert (body["by"], body["model"]["name"], body["knows_model"]) == (None, "prose", True)
    assert body["medium"]["preview"] == {"kind": "text", "type": "text"}
    assert [item["title"] for item in body["items"]] == ["Ann", "Bob", "Carl", "Dora", "Eve", "Fay"]
    answered = served.order(collection=opened)
    assert sorted(answered["ordering"]) == list(range(6))
    assert answered["unit"] == "words"
    page = served.client.get(f"/api/collections/{opened}/preview/5")
    assert page.headers["content-type"].startswith("text/plain")  # shown, not run


def test_a_file_that_is_sent_is_cut(served):
    book = b"# One\n\nIt rained on Ann.\n\n# Two\n\nIt rained on Tom.\n\n# Three\n\nIt stopped."
    opened = served.opened(served.upload(("book.md", book)))
    body = served.client.get(f"/api/collections/{opened}").json()
    assert (body["title"], [item["title"] for item in body["items"]]) == ("book", ["One", "Two", "Three"])
    assert sorted(served.order(collection=opened)["ordering"]) == [0, 1, 2]
    table = served.opened(served.upload(("t.csv", TABLE)))
    for one in (body, served.client.get(f"/api/collections/{table}").json()):  # by the model, as everywhere else
        assert (one["by"], (one["model"] or {}).get("name")) == (None, "prose")


def test_texts_that_are_sent(served):
    files = [(f"{name}.txt", BODY.format(name, "Tom").encode()) for name in ("Ann", "Bob", "Carl")]
    opened = served.opened(served.upload(*files))
    body = served.client.get(f"/api/collections/{opened}").json()
    assert (body["model"]["name"], [item["title"] for item in body["items"]]) == ("prose", ["Ann", "Bob", "Carl"])
    answered = served.order(collection=opened, smoothness=1)
    assert sorted(answered["ordering"]) == [0, 1, 2]
    assert [change["name"] for change in answered["changes"]] == ["wording", "names", "join"]


def test_texts_that_are_sent_are_read_where_they_are_stored(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("Ann", "Bob", "Carl"):  # of the same name, where the server runs
        (tmp_path / f"01 - {name}.txt").write_text("Here old Zed met young Zed, and Zed was Zed. " * 9)
    files = [(f"01 - {name}.txt", (BODY.format(name, "Tom") * 9).encode()) for name in ("Ann", "Bob", "Carl")]
    opened = served.opened(served.upload(*files))
    items = served.client.get(f"/api/collections/{opened}").json()["items"]
    assert [item["title"] for item in items] == ["Ann", "Bob", "Carl"]
    answered = served.order(collection=opened)
    assert "brings in" in answered["items"][0]["why"]
    assert "Zed" not in str(answered)
    written = served.client.post(
        f"/api/collections/{opened}/export", json={"result": answered["result"], "format": "html"}
    ).text
    assert "<h2>The arc of the whole</h2>" in written
    assert "Zed" not in written


@pytest.mark.slow
def test_texts_are_saved_as_one(served, tmp_path, tmp_path_factory):
    files = [(f"{name}.txt", BODY.format(name, "Tom").encode()) for name in ("Ann", "Bob", "Carl")]
    opened = served.opened(served.upload(*files))

    def saved(collection, form):
        result = served.order(collection=collection)["result"]
        asked = {"result": result, "format": form}
        return served.client.post(f"/api/collections/{collection}/export", json=asked)

    assert all(f"# {name}" in saved(opened, "md").text for name in ("Ann", "Bob", "Carl"))
    (tmp_path / "x.docx").write_bytes(saved(opened, "docx").content)
    assert "Then old Bob met young Tom" in read_document(str(tmp_path / "x.docx")).text
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("A secret that nobody is to read, ever.")
    kept = served.client.post(f"/api/collections/{opened}/session", json={"state": {}}).json()
    for item in kept["items"]:
        item["path"] = str(secret)
    kept["by"] = "words"
    kept["essence"] = [0.0, 0.0, 0.0]
    again = served.client.post("/api/sessions", json=kept).json()["collection"]["id"]
    answer = saved(again, "md")
    assert (answer.status_code, "secret" in answer.text) == (400, False)


@pytest.fixture
def reader(tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    for name in ("Ann", "Bob", "Carl"):
        body = EVIL + " ".join(f"Sentence {k} of {name} by the sea." for k in range(60))
        (folder / f"{name}.txt").write_text(f"{name}\n\n{body} It ended with {name}.", encoding="utf-8")
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        yield served


def test_how_items_begin_and_end(reader, tmp_path):
    opened = reader.opened(reader.client.post("/api/collections", json={"path": str(tmp_path / "book")}))
    ends = reader.client.get(f"/api/collections/{opened}/ends/0").json()
    assert ends["first"].startswith(EVIL)
    assert ends["first"].endswith("of Ann by the sea. …")
    assert ends["last"].startswith("… Sentence")
    assert ends["last"].endswith("It ended with Ann.")
    assert max(map(len, ends.values())) < 440
    for item in (-1, 3):
        assert reader.client.get(f"/api/collections/{opened}/ends/{item}").status_code == 404


def test_parts_of_a_file_that_was_sent(reader):
    book = b"# One\n\nIt rained on Ann.\n\n# Two\n\nIt rained on Tom."
    opened = reader.opened(reader.upload(("book.md", book)))
    assert reader.client.get(f"/api/collections/{opened}/ends/1").json()["first"] == "It rained on Tom."


def test_a_session_file_does_not_lead_to_files_of_elsewhere(reader, tmp_path, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("A secret that nobody is to read, ever.")
    opened = reader.opened(reader.client.post("/api/collections", json={"path": str(tmp_path / "book")}))
    saved = reader.client.post(f"/api/collections/{opened}/session", json={"state": {}}).json()
    saved["items"][0]["path"] = str(secret)
    again = reader.client.post("/api/sessions", json=saved).json()["collection"]["id"]
    assert reader.client.get(f"/api/collections/{again}/ends/0").status_code == 404


def test_numbers_have_no_ends(reader):
    opened = reader.opened(reader.upload(("x.csv", b"title,energy\na,1\nb,2\nc,3\n")))
    assert reader.client.get(f"/api/collections/{opened}/ends/0").status_code == 404


PAGE = (
    b"<h1>One</h1><p>It rained on Ann.</p><img src='a.png'><h1>Two</h1>"
    b"<table><tr><td>x</td></tr></table><p>It rained.</p>"
)


def test_what_a_file_would_not_carry_is_told_before_it_is_saved(reader):
    def told(*files, formats="md,docx,epub,csv,m3u8"):
        opened = reader.opened(reader.upload(*files))
        result = reader.order(collection=opened)["result"]
        answer = reader.client.get(f"/api/collections/{opened}/losses/{result}?formats={formats}")
        assert answer.status_code == 200, answer.text
        return reader.client.get(f"/api/collections/{opened}").json()["form"], answer.json()

    form, lost = told(("page.html", PAGE))
    assert form is None
    anew = "page.{} is made anew, without the layout, pictures, tables of the sources"
    assert lost == {**{form: anew.format(form) for form in ("md", "docx", "epub")}, "csv": "", "m3u8": ""}
    form, lost = told(("a.md", b"---\npov: Ann\n---\n# One\n\nIt rained.\n\n# Two\n\nIt stopped.\n"))
    assert (form, lost["md"], "front matter" in lost["docx"]) == ("md", "", True)
    form, lost = told(("list.xspf", XSPF), ("a.txt", b"It rained on Ann."), ("b.txt", b"It rained on Tom."))
    assert (lost["csv"], "made anew: of what list.xspf says" in lost["m3u8"]) == ("", True)
    opened = reader.opened(reader.upload(("a.md", b"# One\n\nIt rained.\n\n# Two\n\nIt stopped.\n")))
    result = reader.order(collection=opened)["result"]
    for wrong in ("", "md,", "../md", "a" * 300):
        asked = f"/api/collections/{opened}/losses/{result}?formats={wrong}"
        assert reader.client.get(asked).status_code == 422
    assert reader.client.get(f"/api/collections/{opened}/losses/none?formats=md").status_code == 404


XSPF = b"""<?xml version="1.0"?><playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList>
<track><location>a.txt</location><annotation>the first</annotation></track>
<track><location>b.txt</location></track></trackList></playlist>"""


@pytest.mark.slow
def test_the_page_tells_it_under_the_button_and_when_it_is_saved(visit, server, tmp_path):
    opened = server.opened(server.upload(("page.html", PAGE)))
    page = visit(collection=opened)
    page.click("#save summary")
    line = page.locator("#loss-docx")
    line.wait_for()
    assert line.text_content() == "page.docx is made anew, without the layout, pictures, tables of the sources"
    assert page.locator('[data-format="docx"]').get_attribute("aria-describedby") == "loss-docx"
    assert page.locator(".loss").count() == 3  # .docx, .epub and .md; all else carries everything
    offered = page.locator("#save [data-format]:visible").evaluate_all("all => all.map((one) => one.dataset.format)")
    assert offered == ["docx", "epub", "md", "html", "csv", "json", "session"]  # parts of a file are no list of files
    page.screenshot(path=tmp_path / "losses.png")
    with page.expect_download():
        page.click('[data-format="docx"]')
    page.get_by_text("Saved: page.docx is made anew").wait_for()
    manuscript = server.opened(
        server.upload(("a.fountain", b"INT. HOUSE - DAY\n\nIt rained.\n\nEXT. SEA - DAY\n\nIt stopped.\n"))
    )
    page = visit(collection=manuscript)
    page.click("#save summary")
    with page.expect_download() as download:
        page.click('[data-format="fountain"]')
    download.value.save_as(tmp_path / "a.fountain")
    assert sorted((tmp_path / "a.fountain").read_text().split("\n\n")[1::2]) == ["It rained.", "It stopped.\n"]
