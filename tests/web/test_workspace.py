"""Workspaces: what a person made of a collection survives the page, the server and a second page."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from fabula.web.server_store import Settings

from .conftest import serving, table

KEPT = Path(__file__).with_name("kept")  # by version 0.4


@pytest.fixture(autouse=True)
def _own_workspaces(monkeypatch, tmp_path):
    monkeypatch.setenv("FABULA_DATA_DIR", str(tmp_path / "data"))


def put(served, collection, revision, state):
    return served.client.put(
        f"/api/collections/{collection}/desk", json={"revision": revision, "state": state}, timeout=20
    )


@pytest.mark.slow
def test_the_same_collection_has_the_same_id_and_its_desk_after_a_restart(root):
    ids, states = [], []
    for wishes in ({"first": 3}, {"first": 4}):
        with serving(Settings(roots=(root.resolve(),))) as served:
            paths = [str(root / "album"), str(root / "table.csv"), str(root / "list.m3u8")]
            opened = [served.opened(served.client.post("/api/collections", json={"path": path})) for path in paths]
            opened.append(served.opened(served.upload(("songs.csv", table(9).encode()))))
            opened.append(served.opened(served.client.post("/api/demo")))
            ids.append(opened)
            desks = [served.client.get(f"/api/collections/{one}/desk").json() for one in opened]
            states.append([(desk["revision"], desk["state"]) for desk in desks])
            for one, desk in zip(opened, desks, strict=True):
                assert put(served, one, desk["revision"], wishes).json()["revision"] == desk["revision"] + 1
            again = served.opened(served.client.post("/api/demo"))
            assert again == opened[-1]  # no second one
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 5
    assert states == [[(0, None)] * 5, [(1, {"first": 3})] * 5]


def test_other_files_of_the_same_names_are_another_collection(tmp_path, sound):
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "a.ogg").write_bytes(sound("01 Embers.ogg"))
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        first = served.opened(served.client.post("/api/collections", json={"path": str(folder)}))
        (folder / "a.ogg").write_bytes(sound("04 Parade.ogg"))
        second = served.opened(served.client.post("/api/collections", json={"path": str(folder)}))
        assert first != second
        other = served.opened(served.upload(("t.csv", table(5).encode())))
        changed = served.opened(served.upload(("t.csv", table(5).replace("0.3663", "0.4").encode())))
        assert other != changed


def test_two_pages_cannot_silently_overwrite_each_other(server, demo):
    at = server.client.get(f"/api/collections/{demo}/desk").json()["revision"]
    assert put(server, demo, at, {"from": "one"}).status_code == 200
    late = put(server, demo, at, {"from": "two"})
    assert late.status_code == 409
    assert (late.json()["revision"], late.json()["state"]) == (at + 1, {"from": "one"})
    assert "another page" in late.json()["error"]
    won = []
    threads = [
        threading.Thread(target=lambda k=k: won.append(put(server, demo, at + 1, {"k": k}).status_code))
        for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [200] + [409] * 7


def test_versions_have_names_of_any_kind(server, demo):
    address = f"/api/collections/{demo}/versions"
    for name in ("Side A louder", "a/b", "../../x", "Ü ‮ x", "%2e%2e"):
        put_to = f"{address}/{quoted(name)}"
        assert server.client.put(put_to, json={"state": {"name": name}}).status_code == 200
        assert server.client.put(put_to, json={"state": {}}).status_code == 409
        assert server.client.put(put_to, json={"state": {"name": name, "n": 2}, "replace": True}).status_code == 200
        assert server.client.get(put_to).json()["state"] == {"name": name, "n": 2}
        assert name in [one["name"] for one in server.client.get(address).json()]
        assert server.client.delete(put_to).status_code == 204
        assert server.client.get(put_to).status_code == 404
    assert server.client.get(address).json() == []


def quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


@pytest.mark.slow
def test_what_was_dropped_opens_again_after_a_restart_and_says_why_it_is_silent(sound):
    with serving() as served:
        files = [("set/1 one.ogg", sound("01 Embers.ogg")), ("set/2 two.ogg", sound("04 Parade.ogg"))]
        collection = served.opened(served.upload(*files))
        put(served, collection, 0, {"first": 1})
        before = served.client.get(f"/api/collections/{collection}").json()
    with serving() as served:
        assert served.client.get(f"/api/collections/{collection}").status_code == 404
        (desk,) = served.client.get("/api/desks").json()
        assert (desk["id"], desk["items"], desk["open"], desk["origin"]["kind"]) == (collection, 2, False, "upload")
        assert served.opened(served.client.post(f"/api/collections/{collection}/reopen")) == collection
        after = served.client.get(f"/api/collections/{collection}").json()
        assert "drop them again" in after["silent"]
        assert after["silent"] in after["notes"]
        assert [i["preview"] for i in after["items"]] == [False, False]
        assert [i["essence"] for i in after["items"]] == pytest.approx([i["essence"] for i in before["items"]])
        assert served.client.get(f"/api/collections/{collection}/desk").json()["state"] == {"first": 1}
        assert served.opened(served.upload(*files)) == collection  # dropped again, it is heard
        told = served.client.get(f"/api/collections/{collection}").json()
        assert (told["silent"], [i["preview"] for i in told["items"]]) == (None, [True, True])
        assert served.client.delete(f"/api/collections/{collection}").status_code == 204
        assert served.client.get("/api/desks").json()[0]["open"] is False  # closed, not forgotten
        assert served.client.delete(f"/api/collections/{collection}/desk").status_code == 204
        assert served.client.get("/api/desks").json() == []
        assert served.client.post(f"/api/collections/{collection}/reopen").status_code == 404


@pytest.mark.slow
def test_a_path_is_opened_from_where_it_lies_and_stays_shut_without_its_root(root, tmp_path):
    with serving(Settings(roots=(root.resolve(),))) as served:
        collection = served.opened(served.client.post("/api/collections", json={"path": str(root / "list.m3u8")}))
        put(served, collection, 0, {})
    with serving(Settings(roots=(root.resolve(),))) as served:
        assert served.opened(served.client.post(f"/api/collections/{collection}/reopen")) == collection
        assert served.order(collection=collection)["unmeasured"]  # the playlist is whole
    with serving() as served:
        assert served.opened(served.client.post(f"/api/collections/{collection}/reopen")) == collection
        told = served.client.get(f"/api/collections/{collection}").json()
        assert "folders named at start" in told["silent"]
        assert served.client.get(f"/api/collections/{collection}/preview/0").status_code == 404


def test_a_broken_desk_and_a_folder_that_cannot_be_written_lose_nothing(tmp_path):
    with serving() as served:
        demo = served.opened(served.client.post("/api/demo"))
        put(served, demo, 0, {"x": 1})
        file = tmp_path / "data" / "desks" / f"{demo}.json"
        file.write_text(file.read_text()[:-20])
        assert served.client.get(f"/api/collections/{demo}/desk").json()["revision"] == 0
        assert served.client.get("/api/desks").json() == []
        file.unlink()
        file.mkdir()
        kept = put(served, demo, 0, {"x": 2})
        assert (kept.status_code, "cannot be kept" in kept.json()["error"]) == (507, True)
        assert served.order(collection=demo)["items"]


@pytest.mark.parametrize("name", ["nosuch12", "..%2f..%2fetc%2fpasswd", "%2e%2e", "a" * 300])
def test_a_desk_of_no_collection(server, name):
    assert server.client.put(f"/api/collections/{name}/desk", json={"revision": 0, "state": {}}).status_code == 404
    assert server.client.get(f"/api/collections/{name}/versions/x").status_code == 404


def test_what_version_0_4_kept_opens(tmp_path):
    shutil.copytree(KEPT, tmp_path / "data" / "desks")
    rows = b"title,energy,loudness\nEmbers,0.2,-14\nParade,0.9,-7\nRed Line,0.5,-9\n"
    name = "ptGTmnNSUE0CR1nVd1V9"
    with serving() as served:
        (listed,) = served.client.get("/api/desks").json()
        assert (listed["id"], listed["title"], listed["items"], listed["open"]) == (name, "three", 3, False)
        desk = served.client.get(f"/api/collections/{name}/desk").json()
        assert (desk["revision"], desk["state"]["wishes"]["fixed"]) == (1, {"0": 1})
        version = served.client.get(f"/api/collections/{name}/versions/as%20it%20was").json()
        assert version["state"] == {"wishes": {"sides": 2}}
        assert served.opened(served.client.post(f"/api/collections/{name}/reopen")) == name
        items = served.client.get(f"/api/collections/{name}").json()["items"]
        assert [item["title"] for item in items] == ["Embers", "Parade", "Red Line"]
        assert put(served, name, 1, {"x": 1}).json()["revision"] == 2
        assert served.opened(served.upload(("three.csv", rows))) == name  # the same one, sent again


def test_too_much_is_not_kept(server, demo):
    revision = server.client.get(f"/api/collections/{demo}/desk").json()["revision"]
    assert put(server, demo, revision, {"x": "y" * (1 << 20)}).status_code == 413
    assert server.client.get(f"/api/collections/{demo}/desk").json()["revision"] == revision
