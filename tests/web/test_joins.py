"""Joins on the page: the last lines of one text beside the first of the next."""

from __future__ import annotations

import pytest

from fabula.web.settings import Settings

from .conftest import serving

EVIL = "<img src=x onerror=\"document.title='run'\"> said Ann. "


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    for name in ("Ann", "Bob", "Carl"):
        body = EVIL + " ".join(f"Sentence {k} of {name} by the sea." for k in range(60))
        (folder / f"{name}.txt").write_text(f"{name}\n\n{body} It ended with {name}.", encoding="utf-8")
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        yield served


def test_how_items_begin_and_end(served, tmp_path):
    opened = served.opened(served.client.post("/api/collections", json={"path": str(tmp_path / "book")}))
    ends = served.client.get(f"/api/collections/{opened}/ends/0").json()
    assert ends["first"].startswith(EVIL)
    assert ends["first"].endswith("of Ann by the sea. …")
    assert ends["last"].startswith("… Sentence")
    assert ends["last"].endswith("It ended with Ann.")
    assert max(map(len, ends.values())) < 440
    for item in (-1, 3):
        assert served.client.get(f"/api/collections/{opened}/ends/{item}").status_code == 404


def test_parts_of_a_file_that_was_sent(served):
    book = b"# One\n\nIt rained on Ann.\n\n# Two\n\nIt rained on Tom."
    opened = served.opened(served.upload(("book.md", book)))
    assert served.client.get(f"/api/collections/{opened}/ends/1").json()["first"] == "It rained on Tom."


def test_a_session_file_does_not_lead_to_files_of_elsewhere(served, tmp_path, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("A secret that nobody is to read, ever.")
    opened = served.opened(served.client.post("/api/collections", json={"path": str(tmp_path / "book")}))
    saved = served.client.post(f"/api/collections/{opened}/session", json={"state": {}}).json()
    saved["items"][0]["path"] = str(secret)
    again = served.client.post("/api/sessions", json=saved).json()["collection"]["id"]
    assert served.client.get(f"/api/collections/{again}/ends/0").status_code == 404


def test_numbers_have_no_ends(served):
    opened = served.opened(served.upload(("x.csv", b"title,energy\na,1\nb,2\nc,3\n")))
    assert served.client.get(f"/api/collections/{opened}/ends/0").status_code == 404
