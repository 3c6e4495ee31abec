"""The page with a medium it has never heard of: its words, its unit and its previews come from the medium."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.media import Medium, Preview, Spec, Unit, Words, as_number, registry, write_whole
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
        "words": {"item": "essay", "items": "essays", "collection": "anthology", "creator": "author", "side": "side"},
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


# A medium of another package that claims what one of the house claims, too.


def weigh(path, stop):
    if "bad" in path:
        raise KeyError("moss")
    return np.array([float(Path(path).stat().st_size)])


def write_pile(collection, target, sides):
    return write_whole(target, "\n".join(item.title for item in collection.items))


def fail(path, size):
    raise KeyError("moss")


PILES = Medium(
    "piles",
    Words("stone", "stones", "pile", "mason"),
    endings=frozenset({".mp3"}),
    specs={"piles": lambda: Spec("piles", 1, ("weight",), weigh, (1,))},
    preview=Preview("video", {".mp3": "video/mp4"}, cover=fail),
    outputs={".pile": write_pile},
)


@pytest.fixture
def stones(bring, tmp_path):
    bring(PILES)
    for k, name in enumerate("abc"):
        (tmp_path / f"{name}.mp3").write_bytes(b"x" * (k + 1))
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        yield served


def test_the_medium_can_be_named_where_files_are_opened(stones, tmp_path):
    assert stones.client.get("/api/formats").json()["rivals"] == ["music", "piles"]
    body = {"path": str(tmp_path)}
    opened = stones.opened(stones.client.post("/api/collections", json=body))
    told = stones.client.get(f"/api/collections/{opened}").json()
    assert told["notes"][0] == "opened as piles, though music knows such files, too: say medium music for that"
    assert (told["medium"]["preview"], told["medium"]["outputs"]) == ({"kind": "video", "type": "video"}, ["pile"])
    refused = stones.finish(stones.client.post("/api/collections", json={**body, "medium": "music"}))
    assert (refused["state"], "is not audio" in refused["error"]) == ("failed", True)
    sent = stones.opened(stones.upload(("a.mp3", b"x"), ("b.mp3", b"xx"), medium="piles"))
    told = stones.client.get(f"/api/collections/{sent}").json()
    assert (told["medium"]["name"], [note for note in told["notes"] if "opened as" in note]) == ("piles", [])


def test_what_it_writes_is_saved_and_what_it_raises_is_one_line(stones, tmp_path):
    (tmp_path / "bad.mp3").write_bytes(b"moss")
    opened = stones.opened(stones.client.post("/api/collections", json={"path": str(tmp_path)}))
    told = stones.client.get(f"/api/collections/{opened}").json()
    assert told["left_out"] == [{"name": "bad.mp3", "why": "cannot be measured (tests: KeyError: 'moss')"}]
    result = stones.order(collection=opened, template="steady-rise")["result"]
    saved = stones.client.post(f"/api/collections/{opened}/export", json={"result": result, "format": "pile"})
    assert saved.text == "a\nb\nc"
    cover = stones.client.get(f"/api/collections/{opened}/items/0/cover")
    assert (cover.status_code, "medium 'piles', cover fails (tests: KeyError: 'moss')" in cover.text) == (400, True)
