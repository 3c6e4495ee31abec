"""Uploads, folders, jobs, sessions."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from fabula.cli import run
from fabula.core.collection import Collection, Item
from fabula.media import extraction
from fabula.media.registry import find_medium
from fabula.session.open import demo_folder
from fabula.sources.registry import Source
from fabula.web import routes
from fabula.web.open_jobs import Listing, OpenJob
from fabula.web.server_store import Settings

from .conftest import serving, table


def test_uploaded_sound_keeps_its_names_and_natural_order(server, sound):
    data = sound("01 Embers.ogg")
    files = [("set/10 ten.ogg", sound("04 Parade.ogg")), ("set/9 nine.ogg", data), ("set/cover.jpg", b"x")]
    collection = server.opened(server.upload(*files))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert [item["path"] for item in told["items"]] == ["set/9 nine.ogg", "set/10 ten.ogg"]
    assert [item["title"] for item in told["items"]] == ["Embers", "Parade"]  # their tags
    assert told["items"][0]["length"] == pytest.approx(10.5, abs=0.1)
    fetched = server.client.get(f"/api/collections/{collection}/preview/0")
    assert (fetched.content, fetched.headers["content-type"]) == (data, "audio/ogg")


def cover_of(server, collection, item) -> bytes:
    return server.client.get(f"/api/collections/{collection}/items/{item}/cover?empty=true").content


def test_a_cover_that_is_dropped_with_an_album_is_the_cover_of_that_album(server, sound):
    red, blue = (b"\x89PNG\r\n\x1a\n" + colour * 30 for colour in (b"red", b"blue"))
    files = [("One/1.ogg", sound("04 Parade.ogg")), ("One/Cover.PNG", red), ("Two/2.ogg", sound("01 Embers.ogg")),
             ("Two/folder.png", blue), ("Two/photo.png", blue)]  # fmt: skip
    collection = server.opened(server.upload(*files))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert [item["path"] for item in told["items"]] == ["One/1.ogg", "Two/2.ogg"]
    assert [cover_of(server, collection, item) for item in (0, 1)] == [red, blue]
    assert told["left_out"] == []
    assert "no tracks, and left alone: photo.png" in told["notes"]


def test_pictures_called_as_covers_are_items_where_all_are_pictures(server):
    folder = demo_folder("images")
    data = [(folder / name).read_bytes() for name in ("Bats.jpg", "Dew.jpg", "Milk.jpg")]
    collection = server.opened(server.upload(("cover.jpg", data[0]), ("back.jpg", data[1]), ("x/cover.jpg", data[2])))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert [item["path"] for item in told["items"]] == ["back.jpg", "cover.jpg", "x/cover.jpg"]
    fetched = [server.client.get(f"/api/collections/{collection}/preview/{item}").content for item in range(3)]
    assert fetched == [data[1], data[0], data[2]]


STRAY = {
    "songs.csv": (b"title,energy\nx,1\ny,2\n", "a list that names none of the 2 files here"),
    "old.m3u8": (b"#EXTM3U\nold/away.ogg\nold/gone.ogg\nold/third.ogg\n", "a list that names none of the 2 files here"),
    "all.csv": (b"collection,title,energy\na,x,1\nb,y,2\n", "a list of several"),
    "broken.xspf": (b"<playlist><track", "a list that cannot be read"),
}


@pytest.mark.parametrize("name", STRAY)
def test_music_is_opened_and_a_list_of_other_things_beside_it_is_told(server, sound, name):
    music = [("a/A.ogg", sound("01 Embers.ogg")), ("a/B.ogg", sound("04 Parade.ogg"))]
    collection = server.opened(server.upload(*music, (f"a/{name}", STRAY[name][0])))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert [item["path"] for item in told["items"]] == ["a/A.ogg", "a/B.ogg"]
    assert told["left_out"] == [{"name": name, "why": f"{STRAY[name][1]}; drop it by itself to open it"}]
    assert f"left alone: {name}: {STRAY[name][1]}; drop it by itself to open it" in told["notes"]


def test_a_list_that_names_the_music_is_opened_and_what_it_does_not_name_is_told(server, sound):
    listed, data = b"#EXTM3U\nB.ogg\nA.ogg\n", sound("01 Embers.ogg")
    files = [("mix.m3u8", listed), ("A.ogg", data), ("B.ogg", sound("04 Parade.ogg")), ("C.ogg", data)]
    collection = server.opened(server.upload(*files, ("cover.png", b"\x89PNG\r\n\x1a\n")))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert ([item["path"] for item in told["items"]], told["title"]) == (["B.ogg", "A.ogg"], "mix")
    assert told["left_out"] == [{"name": "C.ogg", "why": "is not on mix.m3u8"}]
    assert cover_of(server, collection, 0) == b"\x89PNG\r\n\x1a\n"


def test_several_lists_beside_music_are_all_told(server, sound):
    lists = [("a.m3u8", b"A.ogg\n"), ("b.m3u8", b"A.ogg\n")]
    collection = server.opened(server.upload(("A.ogg", sound("01 Embers.ogg")), *lists))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert [one["name"] for one in told["left_out"]] == ["a.m3u8", "b.m3u8"]


def test_a_folder_with_stray_lists_is_opened_as_music_on_the_page_and_the_command_line(tmp_path, sound, capsys):
    for name in ("01 Embers.ogg", "04 Parade.ogg", "07 Paper Waltz.ogg"):
        (tmp_path / name).write_bytes(sound(name))
    (tmp_path / "songs.csv").write_bytes(STRAY["songs.csv"][0])
    (tmp_path / "old.m3u8").write_bytes(STRAY["old.m3u8"][0])
    (tmp_path / "cover.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    note = "lists, and left alone (name one to open it): old.m3u8, songs.csv"
    assert run(["order", str(tmp_path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (len(printed["items"]), note in printed["notes"]) == (3, True)
    with serving(Settings(roots=(tmp_path.resolve(),), first=tmp_path.resolve())) as served:
        collection = wait(served, served.client.get("/api/start").json()["open"]["id"])["collection"]
        told = served.client.get(f"/api/collections/{collection}").json()
        assert (len(told["items"]), note in told["notes"]) == (3, True)
        assert cover_of(served, collection, 0) == b"\x89PNG\r\n\x1a\n"


def test_of_too_many_files_the_first_are_taken_where_that_is_asked_for(sound):
    with serving(Settings(most_files=3)) as served:
        assert served.client.get("/api/start").json()["most_files"] == 3
        files = [(f"{k}.ogg", sound("04 Parade.ogg")) for k in range(5)]
        refused = served.upload(*files)
        assert (refused.status_code, refused.json()["most"]) == (413, 3)
        assert "3 files at most: name their folder behind `fabula serve`, or take the first" in refused.json()["error"]
        collection = served.opened(served.upload(*files, first="true"))
        told = served.client.get(f"/api/collections/{collection}").json()
        assert [item["path"] for item in told["items"]] == ["0.ogg", "1.ogg", "2.ogg"]
        assert told["left_out"] == [{"name": "2 more files", "why": "only the first 3 were taken"}]
        assert "only the first 3 files were taken, not 2 more" in told["notes"]


def test_a_broken_file_is_left_out_and_named(server, sound):
    collection = server.opened(server.upload(("good.ogg", sound("01 Embers.ogg")), ("bad.ogg", b"OggS broken")))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert len(told["items"]) == 1
    assert any(note.startswith("1 of 2 opened; left out: bad.ogg: ") for note in told["notes"])


def test_an_uploaded_table_is_ordered_by_a_column(server):
    collection = server.opened(server.upload(("songs.csv", table(9).encode())))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert (told["title"], told["by"], told["items"][0]["preview"]) == ("songs", "energy", False)
    assert told["columns"] == [{"name": "energy", "label": "energy"}, {"name": "duration_ms", "label": "length"}]
    assert (told["model"], told["knows_model"]) == (None, True)
    chosen = server.opened(server.upload(("songs.csv", table(9).encode()), by="duration_ms"))
    assert server.client.get(f"/api/collections/{chosen}").json()["by"] == "duration_ms"


def test_an_uploaded_playlist_finds_the_sound_beside_it(server, sound):
    listed = "#EXTM3U\n# mine\nmusic/B.ogg\nmusic/A.ogg\n"
    files = [("mix.m3u8", listed.encode()), ("A.ogg", sound("01 Embers.ogg")), ("b.ogg", sound("04 Parade.ogg"))]
    collection = server.opened(server.upload(*files))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert all(item["preview"] for item in told["items"])
    result = server.order(collection=collection, ordering=[1, 0])["result"]
    asked = {"result": result, "format": "m3u8"}
    kept = server.client.post(f"/api/collections/{collection}/export", json=asked).text
    assert kept == "#EXTM3U\nmusic/A.ogg\n# mine\nmusic/B.ogg\n"


def test_an_uploaded_list_of_windows_finds_the_sound_beside_it(server, sound):
    names = ["04 Parade.ogg", "01 Embers.ogg"]
    media = "".join(f'<media src="..\\Music\\{name}" trackTitle="{name[3:-4]}" trackArtist="x"/>' for name in names)
    listed = f'<?wpl version="1.0"?><smil><body><seq>{media}</seq></body></smil>'.encode()
    opened = server.opened(server.upload(("a.wpl", listed), *((name, sound(name)) for name in names)))
    told = server.client.get(f"/api/collections/{opened}").json()
    assert [item["title"] for item in told["items"]] == ["Parade", "Embers"]
    assert all(item["preview"] for item in told["items"])
    assert told["left_out"] == []
    assert "loudness" in [column["name"] for column in told["columns"]]


def test_nothing_usable_and_several_lists_are_refused(server):
    nothing = server.upload(("a.xyz", b"x"))
    assert (nothing.status_code, "nothing in the upload can be opened" in nothing.json()["error"]) == (400, True)
    two = server.finish(server.upload(("a.csv", table(3).encode()), ("b.csv", table(3).encode())))
    assert "one table or one playlist at a time" in two["error"]


def test_a_folder_below_a_root_is_opened(server, root):
    roots = server.client.get("/api/folders").json()
    assert [one["path"] for one in roots["folders"]] == [str(root.resolve())]
    inner = server.client.get("/api/folders", params={"path": str(root / "album")}).json()
    assert (inner["items"], inner["parent"]) == (4, str(root.resolve()))
    collection = server.opened(server.client.post("/api/collections", json={"path": str(root / "album")}))
    assert len(server.client.get(f"/api/collections/{collection}").json()["items"]) == 4
    opened = server.opened(
        server.client.post("/api/collections", json={"path": str(root / "table.csv"), "by": "energy"})
    )
    assert server.client.get(f"/api/collections/{opened}").json()["by"] == "energy"


def test_without_roots_no_folder_is_shown():
    with serving() as served:
        assert served.client.get("/api/folders").json()["folders"] == []
        assert served.client.post("/api/collections", json={"path": "/tmp"}).status_code == 404


def test_a_job_that_has_ended_already_is_told_whatever_its_error_says():
    ended = OpenJob("x", state="failed", error="no such column '\ud800'")
    answer = routes._start(SimpleNamespace(start=lambda title, work: ended), "x", lambda progress: "")
    assert answer.status_code == 202
    assert json.loads(answer.body)["error"] == "no such column '\ud800'"


@pytest.fixture
def slowly(monkeypatch):
    """Measuring that waits until it is let go."""
    going = threading.Event()
    plain = extraction._measure_all

    def waiting(names, spec, stop):
        while not going.wait(0.01):
            if stop():
                break
        return plain(names, spec, stop)

    monkeypatch.setattr(extraction, "_measure_all", waiting)
    yield going
    going.set()


def test_a_job_tells_its_progress_and_can_be_cancelled(slowly):
    with serving() as served:
        jobs = [served.client.post("/api/demo").json() for _ in range(2)]
        busy = served.client.post("/api/demo")
        assert (busy.status_code, "2 collections are being opened" in busy.json()["error"]) == (429, True)
        assert served.upload(("a.ogg", b"x")).status_code == 429
        until = time.monotonic() + 30
        while not (now := served.client.get(f"/api/jobs/{jobs[0]['id']}").json())["total"]:
            assert time.monotonic() < until
        assert (now["state"], now["done"], now["total"]) == ("running", 0, 9)
        served.client.delete(f"/api/jobs/{jobs[0]['id']}")
        slowly.set()
        states = {job["id"]: wait(served, job["id"]) for job in jobs}
        assert states[jobs[0]["id"]]["state"] == "cancelled"
        done = states[jobs[1]["id"]]
        assert (done["state"], done["done"], done["file"][-4:]) == ("done", 9, ".ogg")
        assert [job["state"] for job in served.client.get("/api/jobs").json()] == ["cancelled", "done"]
        assert served.client.get("/api/jobs/nosuch").status_code == 404


def wait(served, name):
    until = time.monotonic() + 60
    while (job := served.client.get(f"/api/jobs/{name}").json())["state"] == "running":
        assert time.monotonic() < until
        time.sleep(0.02)
    return job


def test_items_of_a_job_are_listed_and_played_before_they_are_measured(slowly, sound):
    with serving() as served:
        files = [("set/10 ten.ogg", sound("04 Parade.ogg")), ("set/9 nine.ogg", sound("01 Embers.ogg"))]
        job = served.upload(*files, ("set/bad.ogg", b"OggS broken"), ("set/x.exe", b"MZ")).json()["id"]
        now = wait_until(served, job, lambda now: now["items"])
        assert [one["label"] for one in now["items"]] == ["Embers", "Parade", "bad"]
        assert [one["measured"] for one in now["items"]] == [False] * 3
        assert [one["seconds"] and round(one["seconds"]) for one in now["items"]] == [10, 8, None]  # as the tags say
        assert (now["state"], now["seconds_left"]) == ("running", None)
        assert now["left_out"] == [{"name": "x.exe", "why": "is of no known kind"}]
        early = served.client.get(f"/api/jobs/{job}/preview/0", headers={"Range": "bytes=0-9"})
        assert (early.status_code, early.content) == (206, sound("01 Embers.ogg")[:10])
        for item in (3, -1):
            assert served.client.get(f"/api/jobs/{job}/preview/{item}").status_code == 404
        assert served.client.get("/api/jobs/nosuch/preview/0").status_code == 404
        stranger = httpx.get(f"{served.address}/api/jobs/{job}/preview/0")
        assert stranger.status_code == 403
        slowly.set()
        done = wait(served, job)
        assert all(one["measured"] for one in done["items"])
        assert done["seconds_left"] is None
        assert [one["name"] for one in done["left_out"]] == ["x.exe", "bad.ogg"]
        told = served.client.get(f"/api/collections/{done['collection']}").json()
        assert told["left_out"] == done["left_out"]
        assert [item["title"] for item in told["items"]] == ["Embers", "Parade"]


def test_time_left_goes_by_the_pace_and_the_lengths(monkeypatch):
    lengths = {"a": 60.0, "b": 120.0, "c": 20.0, "d": None}  # what is not known counts as the average
    items = tuple(Item(name, path=name, length=length) for name, length in lengths.items())
    listing = Listing(Source(Path("x"), Collection("x", items), find_medium("music")), (None,) * 4, begun=100.0)
    clock = iter([103.0, 104.0, 105.0, 105.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert listing.seconds_left() is None
    listing.mark("a")  # 60 s of sound took 3 s; the others will take as long for each minute, of which one has gone
    left = 140 + 200 / 3
    assert listing.seconds_left() == pytest.approx(3 / 60 * left - 1)
    listing.mark("b")
    assert listing.seconds_left() == pytest.approx(5 / 180 * (left - 120))


def wait_until(served, name, holds):
    until = time.monotonic() + 60
    while not holds(job := served.client.get(f"/api/jobs/{name}").json()):
        assert time.monotonic() < until, job
        time.sleep(0.02)
    return job


@pytest.mark.parametrize(("name", "medium"), [("music", "music"), ("text", "text"), ("pictures", "images")])
def test_each_demo_opens_under_its_title(server, name, medium):
    demos = {one["name"]: one for one in server.client.get("/api/start").json()["demos"]}
    told = server.client.get(
        f"/api/collections/{server.opened(server.client.post('/api/demo', json={'name': name}))}"
    ).json()
    assert (told["title"], len(told["items"])) == (demos[name]["title"], demos[name]["items"])
    assert told["medium"]["name"] == medium
    assert told["left_out"] == []
    known = server.client.get(f"/api/collections/{told['id']}/desk").json()["revision"]  # of another test, perhaps
    kept = server.client.put(f"/api/collections/{told['id']}/desk", json={"revision": known, "state": {}})
    assert kept.status_code == 200
    server.client.delete(f"/api/collections/{told['id']}")
    assert server.opened(server.client.post(f"/api/collections/{told['id']}/reopen")) == told["id"]
    server.client.delete(f"/api/collections/{told['id']}/desk")
    assert server.client.post("/api/demo", json={"name": "films"}).status_code == 422


def test_what_was_named_at_start_is_open_at_once(root):
    album = (root / "album").resolve()
    with serving(Settings(roots=(album,), first=album)) as served:
        found = served.client.get("/api/start").json()["open"]
        assert (found["title"], found["state"] in ("running", "done")) == ("album", True)
        collection = wait(served, found["id"])["collection"]
        assert len(served.client.get(f"/api/collections/{collection}").json()["items"]) == 4
        again = served.client.get("/api/start").json()["open"]
        assert (again["state"], again["collection"]) == ("done", collection)
        served.client.delete(f"/api/collections/{collection}")
        assert served.client.get("/api/start").json()["open"] is None


def test_a_folder_of_several_collections_is_not_opened_at_once(root):
    with serving(Settings(roots=(root.resolve(),), first=root.resolve())) as served:
        assert served.client.get("/api/start").json()["open"] is None
        assert served.client.get("/api/jobs").json() == []
        assert [one["name"] for one in served.client.get("/api/start").json()["demos"]] == ["music", "text", "pictures"]


def test_a_session_opens_again(server, demo):
    state = {"wishes": {"curve": None, "fixed": {"0": 3}}, "past": []}
    kept = server.client.post(f"/api/collections/{demo}/session", json={"state": state})
    assert "Nine%20Short%20Pieces.fabula.json" in kept.headers["content-disposition"]
    opened = server.client.post("/api/sessions", json=kept.json())
    assert opened.status_code == 201
    assert opened.json()["state"] == state
    before = server.client.get(f"/api/collections/{demo}").json()
    after = opened.json()["collection"]
    assert after["items"] == before["items"]
    assert server.order(collection=after["id"])["ordering"] == server.order(collection=demo)["ordering"]


def test_a_session_of_a_table_opens_again(server):
    collection = server.opened(server.upload(("songs.csv", table(9).encode())))
    kept = server.client.post(f"/api/collections/{collection}/session", json={}).json()
    opened = server.client.post("/api/sessions", json=kept).json()["collection"]
    assert opened["by"] == "energy"
    assert [item["title"] for item in opened["items"]] == [f"Item {i}" for i in range(9)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "other"}, "not a session"),
        ({"version": 3}, "update it"),
        ({"items": []}, "broken"),
        ({"items": [{"id": 1}]}, "broken"),
        ({"feature_names": ["a", "b", "c"]}, "broken"),
        ({"state": 3}, "broken"),
        ({"by": "nosuch"}, "broken"),
        ({"essence": "x"}, "broken"),
    ],
)
def test_a_broken_session_is_told(server, demo, change, words):
    kept = server.client.post(f"/api/collections/{demo}/session", json={}).json()
    answer = server.client.post("/api/sessions", json={**kept, **change})
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_one_of_several_collections_is_chosen(server):
    several = "collection,album,title,energy\n"
    several += "".join(f"{'ab'[i % 2]},{['', 'The Bees'][i % 2]},T{i},{i / 9:.2f}\n" for i in range(8))
    job = server.finish(server.upload(("all.csv", several.encode())))
    assert job["error"] == "collection: all.csv holds 2 collection(s): a, b; choose one"
    assert job["choices"] == [  # the page asks which one
        {"id": "a", "title": "", "items": 4},
        {"id": "b", "title": "The Bees", "items": 4},
    ]
    chosen = server.opened(server.upload(("all.csv", several.encode()), collection="b"))
    items = server.client.get(f"/api/collections/{chosen}").json()["items"]
    assert [item["title"] for item in items] == ["T1", "T3", "T5", "T7"]
    wrong = server.finish(server.upload(("all.csv", several.encode()), collection="c"))
    assert "no collection is called 'c'" in wrong["error"]
    assert wrong["choices"] == []


def test_all_of_many_collections_of_a_file_here_are_told(tmp_path):
    many = "collection,title,energy\n" + "".join(f"c{k},T{i},{i}\n" for k in range(50) for i in range(2))
    (tmp_path / "many.csv").write_text(many, encoding="utf-8")
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        job = served.finish(served.client.post("/api/collections", json={"path": str(tmp_path / "many.csv")}))
        assert [choice["id"] for choice in job["choices"]] == [f"c{k}" for k in range(50)]
        asked = {"path": str(tmp_path / "many.csv"), "collection": job["choices"][49]["id"]}
        assert served.opened(served.client.post("/api/collections", json=asked))


def test_a_name_of_great_length_keeps_its_ending_and_is_told(server, sound):
    long = "a" * 150
    collection = server.opened(
        server.upload((f"{long}.ogg", sound("01 Embers.ogg")), ("b.ogg", sound("04 Parade.ogg")), ("x.exe", b"MZ"))
    )
    told = server.client.get(f"/api/collections/{collection}").json()
    assert len(told["items"]) == 2
    assert any(item["path"].endswith("[…].ogg") and len(item["path"]) == 120 for item in told["items"])
    assert any(note.startswith("called at more than 120 characters, shown cut: aaa") for note in told["notes"])
    assert "of no known kind, and left out: x.exe" in told["notes"]
