"""Jellyfin and Plex: against doubles of their servers, which their own clients speak to as well."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest

from fabula.cli import run
from fabula.errors import FabulaError, FileError
from fabula.session.open import demo_folder
from fabula.session.session import open_session
from fabula.sources.libraries import library
from fabula.sources.libraries.library import IN_ENVIRONMENT, find_password, read_address
from fabula.sources.registry import open_source
from tests.sources.libraries.doubles import SECRET, Double

KINDS = ("jellyfin", "plex", "subsonic")
RISING = ("--by", "duration", "--template", "steady-rise")


@pytest.fixture(params=KINDS)
def double(request, monkeypatch):
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    double = Double(request.param, 9)
    told = {"comment": "für später", "public": True, "open": True, "summary": "für später"}
    double.add("Night & Day", list(double.songs), shares=[{"UserId": "u2", "CanEdit": False}], **told)
    yield double
    double.stop()


def address(double, name="Night%20%26%20Day", more=""):
    user = "" if double.kind == "plex" else "ann@"
    return f"{double.kind}://{user}127.0.0.1:{double.port}/playlist/{name}{more}"


def test_the_order_is_written_in_its_place_and_all_else_stays(double, capsys):
    (which, old), given = next(iter(double.lists.items())), dict(next(iter(double.lists.values())))
    songs = list(old["songs"])
    assert run(["order", address(double), *RISING, "-o", address(double)]) == 0
    assert "written: playlist 'Night & Day' at 127.0.0.1" in capsys.readouterr().out
    by_name = {one["name"]: (key, one) for key, one in double.lists.items()}
    now, (_, kept) = by_name.pop("Night & Day"), next(iter(by_name.values()))
    assert len(double.lists) == 2
    assert kept["name"].startswith("Night & Day (before ")
    assert kept["songs"] == songs
    assert [double.songs[song][1] for song in now[1]["songs"]] == sorted(double.songs[song][1] for song in songs)
    same = {"jellyfin": ("open", "shares"), "plex": ("summary",), "subsonic": ("comment", "public")}[double.kind]
    for one in (now[1], kept):
        assert {key: one[key] for key in same} == {key: given[key] for key in same}
    assert (now[0] == which) == (double.kind != "plex")
    assert run(["order", address(double), *RISING, "--as", "Rising"]) == 0
    assert run(["order", address(double), *RISING, "--as", "Rising"]) == 2
    assert "has a playlist 'Rising' already" in capsys.readouterr().err
    assert not any(SECRET in line or "t0ken" in line for line in double.seen)


def test_a_wrong_password_and_a_wrong_name_are_one_line(double, capsys, monkeypatch):
    assert run(["order", address(double, "No")]) == 2
    assert "no collection is called 'No'; it holds 1 collection(s): Night & Day" in capsys.readouterr().err
    monkeypatch.setenv(IN_ENVIRONMENT, "hunter2")
    assert run(["order", address(double)]) == 2
    said = capsys.readouterr().err
    assert "does not " in said
    assert "hunter2" not in said


@pytest.mark.slow
def test_files_are_measured_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    names = sorted(demo_folder().glob("*.ogg"))[:2]
    for k, file in enumerate(names):
        shutil.copy(file, tmp_path / f"{k}.ogg")
    for kind in ("jellyfin", "plex"):
        double = Double(kind, 2, lambda k: str(tmp_path / f"{k}.ogg"))
        double.add("Two", list(double.songs))
        assert "loudness" in open_session(address(double, "Two")).collection.feature_names
        double.stop()


def test_the_clients_of_others_speak_to_the_doubles_too():
    """A double that only we could speak to would prove nothing."""
    plexapi = pytest.importorskip("plexapi.server")
    plex = Double("plex", 5)
    songs = list(plex.songs)
    which = plex.add("Old", songs, summary="s")
    server = plexapi.PlexServer(f"http://127.0.0.1:{plex.port}", SECRET)
    (found,) = server.playlists(playlistType="audio")
    assert (found.title, found.summary, found.leafCount) == ("Old", "s", 5)
    tracks = found.items()
    assert [str(track.ratingKey) for track in tracks] == songs
    assert (tracks[0].grandparentTitle, tracks[0].duration, tracks[0].locations) == ("Ann", 100_000, ["/music/0.ogg"])
    made = server.createPlaylist("New", items=tracks[:2])
    made.addItems(tracks[2:])
    found.editTitle("Older")
    names = {one["name"]: one["songs"] for one in plex.lists.values()}
    assert names == {"Older": songs, "New": songs}
    made.delete()
    assert list(plex.lists) == [which]
    plex.stop()

    api = pytest.importorskip("jellyfin_apiclient_python")
    jellyfin = Double("jellyfin", 5)
    songs = list(jellyfin.songs)
    which = jellyfin.add("Old", songs)
    client = api.JellyfinClient()
    client.config.app("test", "1", "here", "id")
    client.config.data["auth.ssl"] = False
    base = f"http://127.0.0.1:{jellyfin.port}"
    client.auth.connect_to_address(base)
    assert client.auth.login(base, "ann", SECRET)["AccessToken"] == "t0ken"
    ask = client.jellyfin
    assert [song["Id"] for song in ask.get_playlist_items(which)["Items"]] == songs
    ask.update_playlist(which, item_ids=songs[::-1])
    assert jellyfin.lists[which]["songs"] == songs[::-1]
    made = ask.new_playlist("New", item_ids=songs[:2], media_type="Audio", is_public=True)["Id"]
    assert ask.get_playlist(made)["OpenAccess"] is True
    assert {one["Name"] for one in ask.get_playlists()["Items"]} == {"Old", "New"}
    jellyfin.stop()


def test_a_server_that_says_something_else_or_nothing_is_one_line(double):
    home = open_session(address(double), by="duration").source.home
    double.stop()
    with pytest.raises(FileError, match="cannot be reached"):
        home.write(range(9))


@pytest.mark.parametrize("odd", [[], 7, "x", {"x": 1}, {"MediaContainer": {"Metadata": [{"title": 1}]}},
                                 {"AccessToken": "t", "User": {"Id": "u"}, "Items": [{"Id": "1", "ChildCount": "x"}]},
                                 {"subsonic-response": {"status": "ok", "playlists": {"playlist": [7]}}}])  # fmt: skip
def test_a_server_that_answers_oddly_is_one_line(double, odd):
    setattr(double, double.kind, lambda *_: (200, odd))
    with pytest.raises(FabulaError) as caught:
        open_session(address(double))
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(("scheme", "length"), [("subsonic", 10**400), ("jellyfin", 10**400), ("plex", 1e400)])
def test_a_length_beyond_all_numbers_is_left_out_or_refused(scheme, length, monkeypatch):
    kind = import_module(f"fabula.sources.libraries.{scheme}").READER.open.args[0]
    song = {"id": "1", "Id": "1", "ratingKey": "1"} | dict.fromkeys(("duration", "RunTimeTicks"), length)
    served = {"id": "a", "name": "a", "Id": "a", "Name": "a", "ratingKey": "a", "title": "a"}
    monkeypatch.setattr(kind, "playlists", lambda _: [served])
    monkeypatch.setattr(kind, "items", lambda *_: [song, song, song])
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    place = [f"{scheme}://ann@127.0.0.1/playlist/a"]
    if length == 1e400:
        assert open_source(place).playlist.entries[0].duration is None
    else:
        with pytest.raises(FileError, match="answers what no such server says"):
            open_source(place)


def test_an_answer_of_lists_of_lists_is_refused_before_it_is_parsed(double):
    setattr(double, double.kind, lambda *_: (200, [[]] * 4_000_001))
    with pytest.raises(FileError, match="holds more than 4,000,000 lists"):
        open_session(address(double))


def test_a_password_comes_from_the_environment_the_keyring_or_a_question_asked_once(monkeypatch):
    asked = []
    kept = SimpleNamespace(get_password=lambda service, user: {("fabula b", "ann"): "kept"}.get((service, user)))
    monkeypatch.setitem(sys.modules, "keyring", kept)
    monkeypatch.setattr("getpass.getpass", lambda prompt: asked.append(prompt) or "typed")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv(IN_ENVIRONMENT, "set")
    assert find_password(read_address("subsonic://ann@b")) == "set"
    monkeypatch.delenv(IN_ENVIRONMENT)
    assert find_password(read_address("subsonic://ann@b")) == "kept"
    assert [find_password(read_address("subsonic://ann@c")) for _ in range(2)] == ["typed", "typed"]
    assert asked == ["Password of ann at c: "]
    library._find_kept.cache_clear()
