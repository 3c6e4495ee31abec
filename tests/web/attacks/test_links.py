"""Links that lead out of the folders named at start, before and after a collection is opened."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fabula.web.server_store import Settings
from tests.web.conftest import serving

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


@pytest.fixture
def house(tmp_path, sound) -> tuple[Path, Path]:
    """A folder named at start, with one that is not named beside it."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder, name in ((inside / "album", "01 Embers.ogg"), (outside / "album", "04 Parade.ogg")):
        folder.mkdir(parents=True)
        (folder / "a.ogg").write_bytes(sound(name))
    (outside / "secret.csv").write_text("title,energy\na,1\nb,2\n")
    (outside / "album" / "cover.jpg").write_bytes(b"\xff\xd8\xff secret")
    return inside.resolve(), outside.resolve()


def opened(served, path):
    return served.opened(served.client.post("/api/collections", json={"path": str(path)}))


def test_a_link_that_leads_out_is_not_listed_and_not_followed(house):
    inside, outside = house
    (inside / "album" / "b.ogg").symlink_to(outside / "album" / "a.ogg")
    (inside / "album" / "out").symlink_to(outside / "album")
    (inside / "out").symlink_to(outside)
    (inside / "secret.csv").symlink_to(outside / "secret.csv")
    (inside / "album" / "in.ogg").symlink_to(inside / "album" / "a.ogg")  # one that stays inside is fine
    with serving(Settings(roots=(inside,))) as served:
        listed = served.client.get("/api/folders", params={"path": str(inside)}).json()
        assert ([one["name"] for one in listed["folders"]], listed["lists"]) == (["album"], [])
        inner = served.client.get("/api/folders", params={"path": str(inside / "album")}).json()
        assert (inner["folders"], inner["items"]) == ([], 2)
        collection = opened(served, inside)
        told = served.client.get(f"/api/collections/{collection}").json()
        assert [item["title"] for item in told["items"]] == ["Embers"]
        assert "Parade" not in str(told)  # not even its tags were read
        for path in (
            inside / "out",
            inside / "secret.csv",
            inside / "album" / "out",
            inside / "out" / ".." / "outside",
        ):
            assert served.client.post("/api/collections", json={"path": str(path)}).status_code == 404
            assert served.client.get("/api/folders", params={"path": str(path)}).status_code == 404


def test_a_link_in_a_circle_ends(house):
    inside, _ = house
    (inside / "album" / "round").symlink_to(inside)
    (inside / "album" / "self").symlink_to(inside / "album" / "self")
    with serving(Settings(roots=(inside,))) as served:
        assert served.client.get("/api/folders", params={"path": str(inside / "album")}).status_code == 200
        collection = opened(served, inside)
        assert len(served.client.get(f"/api/collections/{collection}").json()["items"]) == 1


def by_link(inside: Path, outside: Path) -> None:
    (inside / "album" / "a.ogg").unlink()
    (inside / "album" / "a.ogg").symlink_to(outside / "album" / "a.ogg")


def by_folder(inside: Path, outside: Path) -> None:
    shutil.rmtree(inside / "album")
    (inside / "album").symlink_to(outside / "album")


def by_hard_link(inside: Path, outside: Path) -> None:
    (inside / "album" / "a.ogg").unlink()
    os.link(outside / "album" / "a.ogg", inside / "album" / "a.ogg")


def by_pipe(inside: Path, outside: Path) -> None:
    (inside / "album" / "a.ogg").unlink()
    os.mkfifo(inside / "album" / "a.ogg")


@pytest.mark.parametrize(
    "swap", [by_link, *(pytest.param(way, marks=pytest.mark.slow) for way in (by_folder, by_hard_link, by_pipe))]
)
def test_what_takes_the_place_of_a_file_is_not_served(house, swap):
    inside, outside = house
    with serving(Settings(roots=(inside,))) as served:
        collection = opened(served, inside / "album")
        result = served.order(collection=collection)["result"]
        assert served.client.get(f"/api/collections/{collection}/preview/0").status_code == 200
        swap(inside, outside)
        for path in ("preview/0", "items/0/wave", "items/0/cover"):
            answer = served.client.get(f"/api/collections/{collection}/{path}", timeout=5)
            assert answer.status_code == 404, path
            assert str(outside) not in answer.text
        asked = {"result": result, "format": "zip"}
        zipped = served.client.post(f"/api/collections/{collection}/export", json=asked)
        assert (zipped.status_code, "has no file here" in zipped.json()["error"]) == (400, True)


def test_a_session_names_files_in_vain(house):
    inside, outside = house
    with serving(Settings(roots=(inside,))) as served:
        collection = opened(served, inside / "album")
        saved = served.client.post(f"/api/collections/{collection}/session", json={}).json()
        (inside / "album" / "x.ogg").symlink_to(outside / "album" / "a.ogg")
        for path in (outside / "album" / "a.ogg", inside / "album" / "x.ogg", "../outside/album/a.ogg", "/dev/zero"):
            saved["items"][0]["path"] = str(path)
            body = served.client.post("/api/sessions", json=saved).json()["collection"]
            assert body["items"][0]["preview"] is False
            assert served.client.get(f"/api/collections/{body['id']}/preview/0").status_code == 404


def test_like_and_template_open_no_path(house):
    inside, outside = house
    with serving(Settings(roots=(inside,))) as served:
        collection = opened(served, inside / "album")
        for path in ("/etc/passwd", "../outside", "~/x", "file:///etc/passwd", str(outside / "secret.csv")):
            assert served.client.post("/api/order", json={"collection": collection, "like": path}).status_code == 404
            answer = served.client.post("/api/order", json={"collection": collection, "template": path})
            assert answer.status_code == 400
            assert "energy" not in answer.text
