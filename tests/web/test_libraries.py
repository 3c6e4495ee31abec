"""Libraries on the page: those named at start are opened, and an order is written back into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.cli.serve import command
from fabula.errors import FabulaError
from fabula.sources.libraries.library import IN_ENVIRONMENT
from fabula.web.server_store import Settings
from tests.sources.libraries.doubles import SECRET, Double
from tests.sources.libraries.make_databases import make_mixxx

from .conftest import serving, settled, titles

KINDS = ("subsonic", "jellyfin", "plex")


@pytest.fixture(params=KINDS)
def double(request, monkeypatch):
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    made = Double(request.param, 9)
    made.add("Night", list(made.songs), comment="late", public=True)
    made.add("Day", list(made.songs)[:4])
    user = "" if request.param == "plex" else "ann@"
    made.address = f"{request.param}://{user}127.0.0.1:{made.port}"
    yield made
    made.stop()


def songs(double: Double) -> dict[str, list[str]]:
    return {one["name"]: list(one["songs"]) for one in double.lists.values()}


def test_a_playlist_is_opened_ordered_and_written_back_as_often_as_wanted(double):
    old = list(double.songs)
    with serving(Settings(libraries=(double.address,))) as served:
        ask = served.client
        assert ask.get("/api/folders").json()["lists"] == [{"name": double.address, "path": double.address}]
        assert ask.get("/api/start").json()["library"] == double.address
        job = served.finish(ask.post("/api/collections", json={"path": double.address}))
        assert [one["title"] for one in job["choices"]] == ["Night", "Day"]
        asked = {"path": double.address, "collection": "Night"}
        opened = served.opened(ask.post("/api/collections", json=asked))
        told = ask.get(f"/api/collections/{opened}").json()
        assert told["library"] == "Night"
        assert told["origin"] == {"kind": "library", "path": double.address}
        turned = served.order(collection=opened, ordering=list(range(9))[::-1])["result"]
        written = ask.post(f"/api/collections/{opened}/write", json={"result": turned, "name": "Mine"}).json()
        assert written == {"written": f"playlist 'Mine' at 127.0.0.1:{double.port}"}
        assert songs(double)["Mine"] == old[::-1]
        assert songs(double)["Night"] == old
        moved = served.order(collection=opened, ordering=[*range(1, 9), 0])["result"]
        for result, order in ((turned, old[::-1]), (moved, [*old[1:], old[0]]), (moved, [*old[1:], old[0]])):
            written = ask.post(f"/api/collections/{opened}/write", json={"result": result}).json()
            assert "as it was: 'Night (before " in written["written"]
            assert songs(double)["Night"] == order
        refused = ask.post(f"/api/collections/{opened}/write", json={"result": moved, "name": "Mine"})
        assert refused.status_code == 400
        assert "has a playlist 'Mine' already" in refused.json()["error"]
        assert SECRET not in str(told) + str(job) + refused.text


def test_what_was_not_named_is_not_opened_and_a_wrong_password_is_told(double, monkeypatch):
    other = double.address.replace("127.0.0.1", "localhost")
    with serving(Settings(libraries=(double.address,))) as served:
        for path in (other, f"{double.address}/playlist/Night", "mpd://127.0.0.1/queue", "https://example.org/a.csv"):
            answer = served.client.post("/api/collections", json={"path": path})
            assert answer.status_code == 404, path
        monkeypatch.setenv(IN_ENVIRONMENT, "wr0ng")
        job = served.finish(served.client.post("/api/collections", json={"path": double.address}))
        assert job["state"] == "failed"
        assert "does not" in job["error"]
        assert "wr0ng" not in str(job)


@pytest.mark.slow
def test_a_database_is_opened_and_gets_a_playlist_more(tmp_path: Path, root: Path):
    files = sorted((root / "album").glob("*.ogg"))
    path = make_mixxx(tmp_path, files)
    with serving(Settings(libraries=(str(path),))) as served:
        asked = {"path": str(path), "collection": "Night"}
        opened = served.opened(served.client.post("/api/collections", json=asked))
        told = served.client.get(f"/api/collections/{opened}").json()
        assert not any(item["preview"] for item in told["items"])  # they lie below no folder named at start
        result = served.order(collection=opened, ordering=list(range(len(told["items"])))[::-1])["result"]
        written = served.client.post(f"/api/collections/{opened}/write", json={"result": result}).json()["written"]
        assert written.startswith("playlist 'Night (fabula)' in ")
        other = path.with_name("other.sqlite")
        other.write_bytes(path.read_bytes())
        assert served.client.post("/api/collections", json={"path": str(other)}).status_code == 404
    with serving(Settings(roots=(root.resolve(),), libraries=(str(path),))) as served:
        opened = served.opened(served.client.post("/api/collections", json=asked))
        told = served.client.get(f"/api/collections/{opened}").json()
        assert all(item["preview"] for item in told["items"])


def test_what_comes_from_no_library_is_not_written_back(server, demo):
    result = server.order(collection=demo)["result"]
    answer = server.client.post(f"/api/collections/{demo}/write", json={"result": result})
    assert answer.status_code == 400
    assert "comes from no library" in answer.json()["error"]


def test_a_library_that_is_not_there_is_told_before_the_page_starts(tmp_path, monkeypatch):
    monkeypatch.delenv(IN_ENVIRONMENT, raising=False)
    with pytest.raises(FabulaError, match=r"no\.sqlite: does not exist"):
        command.main([str(tmp_path / "no.sqlite"), "--no-browser"], standalone_mode=False)
    with pytest.raises(FabulaError, match=f"needs the password of ann: set {IN_ENVIRONMENT}"):
        command.main(["subsonic://ann@music.example", "--no-browser"], standalone_mode=False)


@pytest.mark.slow
@pytest.mark.parametrize("double", ["subsonic"], indirect=True)
def test_the_page_opens_and_saves_to_a_library(browser, double):
    """The library named alone is opened at once; of its playlists one is chosen."""
    old = list(double.songs)
    with serving(Settings(libraries=(double.address,))) as served:
        page = browser.new_page()
        page.goto(served.entrance)
        page.locator("#which-list button", has_text="Night").click()
        settled(page)
        assert len(titles(page)) == 9
        page.click("#save summary")
        assert page.locator("#library-back").text_content() == "Back into Night"
        page.fill("#library-title", "Mine")
        page.click("#library-new button")
        page.get_by_text("Written: playlist 'Mine'").wait_for()
        order = [next(key for key, song in double.songs.items() if song[0] == title) for title in titles(page)]
        assert songs(double)["Mine"] == order
        assert songs(double)["Night"] == old
        page.click("#save summary")
        page.click("#library-back")
        page.get_by_text("as it was: 'Night (before ").wait_for()
        assert songs(double)["Night"] == order
        page.close()
