"""The page with a medium it has never heard of: its words, its unit and its previews come from the medium."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabula.media import registry
from fabula.media.facts import Unit, as_number
from fabula.media.medium import Medium, Preview, Words
from fabula.web.server_store import Settings

from .conftest import serving

WORDS = Unit("words", lambda *lengths: [f"{length:,.0f} words" for length in lengths], as_number, "2500")
ESSAYS = Medium(
    "essays",
    Words("essay", "essays", "anthology", "author", {"mood": ("bright", "dark")}, {"word_count": "number of words"}),
    endings=frozenset({".essay"}),
    unit=WORDS,
    lengths=lambda collection: collection.column("word_count"),
    columns=("mood", "word_count"),
    preview=Preview("text", {".essay": "text/plain"}),
)
TABLE = "title,path,mood,word_count\n" + "".join(f"E{i},e{i}.essay,{i * 37 % 11},{1000 + 10 * i}\n" for i in range(6))


@pytest.fixture
def served(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "media", lambda: {"essays": ESSAYS})
    (tmp_path / "all.csv").write_text(TABLE, encoding="utf-8")
    for i in range(5):
        (tmp_path / f"e{i}.essay").write_text(f"Essay {i}", encoding="utf-8")
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        yield served


@pytest.fixture
def opened(served, tmp_path):
    return served.opened(served.client.post("/api/collections", json={"path": str(tmp_path / "all.csv")}))


def test_the_words_the_unit_and_the_previews_are_those_of_the_medium(served, opened):
    body = served.client.get(f"/api/collections/{opened}").json()
    assert body["medium"] == {
        "name": "essays",
        "words": {"item": "essay", "items": "essays", "collection": "anthology", "creator": "author"},
        "unit": {"name": "words", "example": "2500"},
        "axis": None,
        "preview": {"kind": "text", "type": "text"},
        "faces": False,
        "outputs": [],
    }
    assert body["columns"][1] == {"name": "word_count", "label": "number of words"}
    assert (body["length_text"], body["items"][1]["length_text"]) == ("6,150 words", "1,010 words")
    assert [item["preview"] for item in body["items"]] == [True] * 5 + [False]
    preview = served.client.get(f"/api/collections/{opened}/preview/2")
    assert (preview.text, preview.headers["content-type"].partition(";")[0]) == ("Essay 2", "text/plain")
    assert served.client.get("/api/formats").json()["items"] == [".essay"]


def test_limits_and_sides_count_in_its_unit(served, opened):
    answered = served.order(collection=opened, template="icarus", sides=2, limit="4200")
    assert (answered["unit"], len(answered["left_out"])) == ("words", 2)
    assert answered["length_texts"]["all"] == f"{sum(answered['lengths']):,.0f} words"
    assert "author" in answered["items"][0]
    refused = served.client.post("/api/order", json={"collection": opened, "template": "icarus", "limit": 900})
    assert (refused.status_code, "900 words" in refused.json()["error"]) == (400, True)
    typed = served.client.post("/api/order", json={"collection": opened, "limit": "22:00"}).json()
    assert (typed["field"], "takes a number above 0" in typed["error"]) == ("limit", True)


def test_its_files_can_be_sent(served):
    listed = served.upload(("all.csv", TABLE.encode()), ("e1.essay", b"one"), ("cover.jpg", b"x"), ("x.ogg", b"x"))
    collection = served.opened(listed)
    items = served.client.get(f"/api/collections/{collection}").json()["items"]
    assert [item["preview"] for item in items] == [False, True, *[False] * 4]


def test_a_medium_without_previews_has_none(served, opened, monkeypatch):
    bare = replace(ESSAYS, preview=Preview(), endings=frozenset())
    monkeypatch.setattr(registry, "media", lambda: {"essays": bare})
    again = served.opened(served.upload(("all.csv", TABLE.encode())))
    body = served.client.get(f"/api/collections/{again}").json()
    assert body["medium"]["preview"] == {"kind": "", "type": ""}
    assert not any(item["preview"] for item in body["items"])
