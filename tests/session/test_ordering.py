"""The main job on the album that comes with the package and on tables."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

from fabula.core.arranging.durations import as_clock
from fabula.core.collection import Collection, Item
from fabula.core.fit import lay
from fabula.core.template import Template
from fabula.errors import FileError, InputError
from fabula.models.file import load_model
from fabula.session.copies import copy_numbered, numbered_names
from fabula.session.demo import demo_folder
from fabula.session.essence import brought_near
from fabula.session.limits import as_seconds
from fabula.session.ordering import as_json, order
from fabula.session.outputs import restore, write_ordered
from fabula.session.reasons import reasons
from fabula.session.sources import Measuring
from fabula.session.wishes import Wishes
from fabula.sources.playlists.playlist import read_playlist

TITLES = {
    "Embers", "Red Line", "Small Hours", "Parade", "First Light", "Weather Front", "Paper Waltz", "Clockwork",
    "Slow River",
}  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(3)
    rows = ["title,artist,duration_ms,loudness"]
    rows += [f"T{i},A{i % 3},{rng.integers(120, 300) * 1000},{rng.normal(-9, 3):.2f}" for i in range(12)]
    path = tmp_path / "album.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def titles(ordered):
    return [item.label for item in ordered.collection.items]


def test_the_demo_album_by_the_model_of_sound():
    ordered = order([demo_folder()])
    assert set(titles(ordered)) == TITLES
    assert ordered.features == ("duration_ms", "loudness")
    assert ordered.fit.exact
    scores = [fit.score for fit in ordered.fits]
    assert scores == sorted(scores, reverse=True)
    assert ordered.fit.score > ordered.given.score
    assert len({tuple(fit.ordering) for fit in ordered.fits}) == len(ordered.fits) == 4
    model = load_model("audio")
    features, notes = brought_near(ordered.source.collection.columns(model.feature_names), model.transform)
    assert notes == ["duration_ms is far from what the model was trained on: it was taken relative to this collection"]
    essence = model.encode(features)
    assert np.allclose(ordered.essence, essence[:, 0])
    assert ordered.fit.score == pytest.approx(model.score(essence[ordered.fit.ordering]))


def test_a_table_with_the_features_of_a_model_needs_no_column_named(table):
    assert order([table]).features == ("duration_ms", "loudness")


def test_a_playlist_is_measured_and_keeps_what_it_says(tmp_path):
    for name in ("05 First Light.ogg", "02 Red Line.ogg"):
        shutil.copy(demo_folder() / name, tmp_path)
    path = tmp_path / "mix.m3u8"
    path.write_text("#EXTM3U\n#EXTINF:15,quiet\n05 First Light.ogg\n#EXTINF:1,gone\ngone.ogg\n#X\n02 Red Line.ogg\n")
    ordered = order([path], by="loudness", template="steady-fall")
    assert titles(ordered) == ["02 Red Line.ogg", "quiet"]
    assert [note for note in ordered.notes if "gone.ogg" in note]
    written = write_ordered(ordered, tmp_path / "new.m3u8")
    assert written.read_text() == "#EXTM3U\n#X\n02 Red Line.ogg\n#EXTINF:15,quiet\n05 First Light.ogg\n"


def test_broken_and_foreign_files_are_named_and_the_rest_is_ordered(tmp_path):
    for source in sorted(demo_folder().glob("*.ogg"))[:4]:
        shutil.copy(source, tmp_path)
    (tmp_path / "broken.ogg").write_bytes(b"OggS not really")
    (tmp_path / "empty.mp3").write_bytes(b"")
    (tmp_path / "tool.exe").write_bytes(b"MZ")
    (tmp_path / "cover.jpg").write_bytes(b"x")
    ordered = order([tmp_path])
    assert len(titles(ordered)) == 4
    noted = " ".join(ordered.notes)
    assert all(name in noted for name in ("broken.ogg", "empty.mp3", "tool.exe"))
    assert "cover.jpg" not in noted


def test_nothing_usable(tmp_path):
    (tmp_path / "broken.ogg").write_bytes(b"OggS not really")
    with pytest.raises(FileError, match=r"broken\.ogg"):
        order([tmp_path])
    (tmp_path / "new").mkdir()
    with pytest.raises(FileError, match="has no audio files in it"):
        order([tmp_path / "new"])


def test_constraints_are_kept(table):
    wishes = Wishes(
        first="T4", last="T6", at={3: "T2"}, together=[("T0", "T10")], before=[("T11", "T1")], apart="artist"
    )
    ordered = order([table], wishes=wishes)
    found = titles(ordered)
    assert (found[0], found[-1], found[2]) == ("T4", "T6", "T2")
    assert found.index("T10") == found.index("T0") + 1
    assert found.index("T11") < found.index("T1")
    artists = [item.artist for item in ordered.collection.items]
    assert all(a != b for a, b in itertools.pairwise(artists))
    assert ordered.fit.exact


def test_smoothness_makes_neighbours_alike_and_contrast_unlike(table):
    def steps(weight):
        ordered = order([table], by="loudness", template="wave", wishes=Wishes(smoothness=weight))
        return np.abs(np.diff(ordered.collection.column("loudness"))).sum()

    assert steps(3.0) < steps(0.0) < steps(-3.0)


def test_sides_keep_their_limit_and_each_has_an_arc(table):
    ordered = order([table], template="icarus", wishes=Wishes(sides=2, side_limit=24 * 60))
    assert sum(ordered.sides) == 12
    minutes = np.split(ordered.collection.column("duration_ms") / 60000, [ordered.sides[0]])
    assert all(side.sum() <= 24 for side in minutes)
    parts = np.split(ordered.essence[ordered.fit.ordering], [ordered.sides[0]])
    assert all(0 < np.argmax(part) < len(part) - 1 for part in parts)


def test_a_limit_leaves_out_what_is_not_named(table):
    ordered = order([table], wishes=Wishes(limit=20 * 60, first="T5"))
    assert ordered.collection.column("duration_ms").sum() <= 20 * 60_000
    assert titles(ordered)[0] == "T5"
    assert any(note.startswith("left out to keep within 20:00: ") for note in ordered.notes)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (Wishes(before=[("T0", "T1"), ("T1", "T0")]), "'T0' before 'T1'; 'T1' before 'T0'"),
        (Wishes(sides=2, side_limit=60), "a side may take 1:00; 'T0' alone takes 4:26"),
        (Wishes(limit=10), "the limit is 0:10; even the shortest item takes "),
        (Wishes(sides=2, side_limit=600), "2 side(s) of 10:00 hold 20:00; the items take "),
        (Wishes(together=[("T0", "T1")], at={1: "T0", 5: "T1"}), "'T0'"),
        (Wishes(apart="colour"), "--apart: no item has 'colour'; there are: artist, duration_ms, loudness"),
        (Wishes(first="T0", last="T0"), "--last: 'T0' is already at place 1 by --first"),
    ],
)
def test_what_cannot_hold_is_told_by_name(wishes, message, table):
    with pytest.raises(InputError) as caught:
        order([table], wishes=wishes)
    assert message in str(caught.value)


def test_durations_are_needed_for_times(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("title,energy\na,1\nb,2\n")
    with pytest.raises(InputError, match="--sides: the durations are not known"):
        order([path], by="energy", wishes=Wishes(sides=2))
    path.write_text("title,energy,duration\na,1,200\nb,2,-65\n")
    with pytest.raises(InputError, match=r"^--limit: the duration of 'b' must not be negative; got -1:05$"):
        order([path], by="energy", wishes=Wishes(limit=100))


def test_doubts_are_told(tmp_path, table):
    assert any("far from what the model was trained on" in note for note in order([demo_folder()]).notes)
    alike = tmp_path / "alike.csv"
    alike.write_text("title,duration_ms,loudness\n" + "".join(f"T{i},200000,-8\n" for i in range(5)))
    assert any("all alike" in note for note in order([alike]).notes)
    few = tmp_path / "few.csv"
    few.write_text("title,duration_ms,loudness\na,200000,-8\nb,100000,-9\n")
    assert any("only 2 item(s)" in note for note in order([few]).notes)
    assert order([table]).notes == ()


def test_what_is_far_is_taken_relative_to_the_collection(tmp_path):
    """Ten times longer, a collection is laid out the same way; within reach of the model nothing is touched."""
    rng = np.random.default_rng(0)
    rows = [(f"T{i}", rng.integers(5, 20) * 1000, round(rng.normal(-9, 3), 2)) for i in range(10)]
    found = []
    for factor in (1, 2, 20, 500):
        path = tmp_path / f"{factor}.csv"
        path.write_text("title,duration_ms,loudness\n" + "".join(f"{t},{d * factor},{x}\n" for t, d, x in rows))
        found.append(order([path]))
    assert [bool(ordered.notes) for ordered in found] == [True, True, False, True]
    assert np.allclose(found[0].essence, found[1].essence)
    assert np.allclose(found[0].essence, found[3].essence)
    usual = found[2].source.collection.columns(found[2].features)
    assert brought_near(usual, load_model("audio").transform) == (pytest.approx(usual), [])


def test_reasons_without_a_value_and_with_several_dimensions():
    """A feature that no item of the collection has says nothing, and warns of nothing."""
    items = [Item(str(i)) for i in range(4)]
    features = np.array([[np.nan, 0.1], [np.nan, 0.9], [np.nan, 0.5], [np.nan, 0.4]])
    collection = Collection("c", items, features, ("speechiness", "energy"))
    essence = np.random.default_rng(0).normal(size=(4, 3))
    told = reasons(collection, essence, lay(essence, [1, 0, 2, 3], Template([0, 1], np.ones((2, 3)))))
    assert told == ["energetic: opener", "calm: in between", "middling: in between", "middling: close"]


def test_reasons_say_what_an_item_is_like():
    ordered = order([demo_folder()])
    why = dict(zip(titles(ordered), ordered.reasons, strict=True))
    assert "loud" in why["Red Line"]
    assert "quiet" in why["Embers"]
    assert why[titles(ordered)[0]].split(": ")[1].startswith("opener")
    assert why[titles(ordered)[-1]].split(": ")[1].startswith("close")


def test_copies_are_numbered_and_originals_untouched(tmp_path):
    before = {path.name: path.read_bytes() for path in demo_folder().glob("*.ogg")}
    ordered = order([demo_folder()])
    files = copy_numbered(ordered, tmp_path / "out")
    assert [path.name for path in files] == [f"{i:02d} {t}.ogg" for i, t in enumerate(titles(ordered), start=1)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [path.name for path in files]
    assert {path.name: path.read_bytes() for path in demo_folder().glob("*.ogg")} == before
    with pytest.raises(InputError, match="already holds '01 "):
        copy_numbered(ordered, tmp_path / "out")
    links = copy_numbered(ordered, tmp_path / "links", link=True)
    assert all(path.is_symlink() and path.read_bytes() for path in links)


def test_a_failing_copy_leaves_nothing(tmp_path, monkeypatch):
    ordered = order([demo_folder()])
    real, count = shutil.copy2, 0

    def failing(source, target):
        nonlocal count
        count += 1
        if count == 4:
            raise OSError(28, "No space left on device")
        return real(source, target)

    monkeypatch.setattr(shutil, "copy2", failing)
    with pytest.raises(FileError, match=r"cannot be written \(No space left on device\)"):
        copy_numbered(ordered, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_names_any_system_takes():
    assert numbered_names(["01 - A", "b/c\0", "...", "é" * 200], [".x"] * 4)[:3] == ["01 A.x", "02 b_c_.x", "03 item.x"]
    assert len(numbered_names(["é" * 200], [".x"])[0].encode()) < 255


def test_the_old_file_comes_back(tmp_path):
    path = tmp_path / "mix.m3u8"
    path.write_text("#EXTM3U\nmade by hand.ogg\n")
    ordered = order([demo_folder()])
    write_ordered(ordered, path)
    write_ordered(order([demo_folder()], template="wave"), path)
    assert len(read_playlist(path).entries) == 9
    restore(path)
    assert path.read_text() == "#EXTM3U\nmade by hand.ogg\n"
    with pytest.raises(FileError, match="nothing to restore"):
        restore(path)


def test_json_has_what_is_promised():
    told = as_json(order([demo_folder()]))
    assert {"template", "ordering", "worst", "mean", "score", "items", "alternatives", "given", "notes"} <= set(told)
    assert {"position", "id", "title", "path", "essence", "target", "deviation"} <= set(told["items"][0])
    assert Path(told["items"][0]["path"]).is_file()


def test_times():
    assert [as_seconds(t, "x") for t in ("22:00", "1:02:03", "90s", "1.5 h", "45m")] == [1320, 3723, 90, 5400, 2700]
    for wrong in ("22", "", "1:99", "0s", "x"):
        with pytest.raises(InputError, match="--limit takes a time such as 22:00"):
            as_seconds(wrong, "--limit")
    assert as_clock(59.6) == "1:00"


def test_the_second_run_measures_nothing():
    order([demo_folder()])
    seen = []
    order([demo_folder()], measuring=Measuring(progress=lambda *step: seen.append(step)))
    assert len(seen) == 9
