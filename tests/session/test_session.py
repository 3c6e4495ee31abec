"""The main job on the album that comes with the package and on tables."""

from __future__ import annotations

import itertools
import shutil

import numpy as np
import pytest

import fabula
from fabula.errors import FileError, InputError
from fabula.media.extraction import Measuring
from fabula.media.music import audio
from fabula.models.model import load_model
from fabula.session.measure import shift_to_training_range
from fabula.session.open import demo_folder
from fabula.session.ordered import Ordered
from fabula.session.request import Request
from fabula.session.session import open_session

TITLES = {
    "Embers", "Red Line", "Small Hours", "Parade", "First Light", "Weather Front", "Paper Waltz", "Clockwork",
    "Slow River",
}  # fmt: skip


def test_the_demo_album_by_the_model_of_sound():
    demo = open_session(demo_folder(), model="audio")
    ordered = demo.order()
    assert set(ordered.titles) == TITLES
    assert demo.features == ("duration_ms", "loudness")
    assert ordered.fit.exact
    scores = [ordered.fit.score, *(fit.score for fit in ordered.alternatives)]
    assert scores == sorted(scores, reverse=True)
    assert ordered.fit.score > ordered.given.score
    assert len({tuple(p.fit.ordering) for p in ordered.proposals}) == len(ordered.proposals) == 4
    model = load_model("audio")
    features, far = shift_to_training_range(demo.collection.columns(model.feature_names), model.transform)
    assert far == ["duration_ms"]
    essence = model.encode(features)
    assert np.allclose(demo.essence, essence[:, 0])
    assert ordered.fit.score == pytest.approx(model.score(essence[ordered.ordering]))


def test_one_call_is_open_and_order(demo):
    ordered = fabula.order(demo_folder(), template="icarus", last="Embers")
    assert isinstance(ordered, Ordered)
    assert ordered.ordering.tolist() == demo.order(template="icarus", last="Embers").ordering.tolist()
    assert ordered.titles[-1] == "Embers"
    assert (ordered.gap, ordered.sides, ordered.left_out) == (0.0, (), ())
    assert fabula.open(str(demo_folder())).order(Request(choose=2)).ordering.tolist() == demo.order(
    ).alternatives[0].ordering.tolist()  # fmt: skip


def test_a_wish_nobody_knows_is_told(demo):
    with pytest.raises(InputError, match=r"there is no wish 'frist'; did you mean 'first'"):
        demo.order(frist="Parade")


def test_a_table_with_the_features_of_a_model_needs_no_column_named(table):
    assert open_session(table).features == ("title", "loudness", "duration_ms")
    assert open_session(table, model="audio").features == ("duration_ms", "loudness")


def test_a_result_prints_itself(demo):
    ordered = demo.order(sides=2)
    lines = str(ordered).splitlines()
    assert lines[0].startswith("Nine Short Pieces") or lines[0].endswith(", 2:12") or ": 9 tracks, " in lines[0]
    assert lines[1].startswith("Side A, ")
    assert lines[2].startswith("A1  ")
    html = ordered._repr_html_()
    assert html.count("<tr>") == 10
    assert "B1" in html


def test_entries_that_cannot_be_measured_keep_where_they_stand(tmp_path):
    for name in ("05 First Light.ogg", "02 Red Line.ogg", "04 Parade.ogg"):
        shutil.copy(demo_folder() / name, tmp_path)
    path = tmp_path / "mix.m3u8"
    path.write_text(
        "#EXTM3U\n#EXTINF:15,quiet\n05 First Light.ogg\n#EXTINF:1,gone\ngone.ogg\n#X\n02 Red Line.ogg\n"
        "http://radio.example/live\n04 Parade.ogg\n"
    )
    session = open_session(path, by="loudness")
    ordered = session.order(template="steady-fall")
    assert len(ordered.titles) == 3
    noted = [note for note in ordered.notes if note.startswith("3 of 5 opened; kept where they stand, not measured: ")]
    assert len(noted) == 1
    assert "gone.ogg: " in noted[0]
    assert "http://radio.example/live: is not a file" in noted[0]
    written = ordered.save(tmp_path / "new.m3u8").read_text().splitlines()
    assert sorted(written) == sorted(path.read_text().splitlines())
    entries = [line for line in written if not line.startswith("#")]
    assert (entries[1], entries[3]) == ("gone.ogg", "http://radio.example/live")
    told = ordered.to_json()
    assert [(row["position"], row["location"]) for row in told["unmeasured"]] == [
        (2, "gone.ogg"), (4, "http://radio.example/live"),
    ]  # fmt: skip


def test_broken_and_foreign_files_are_named_and_the_rest_is_ordered(tmp_path):
    for source in sorted(demo_folder().glob("*.ogg"))[:4]:
        shutil.copy(source, tmp_path)
    (tmp_path / "broken.ogg").write_bytes(b"OggS not really")
    (tmp_path / "empty.mp3").write_bytes(b"")
    (tmp_path / "tool.exe").write_bytes(b"MZ")
    (tmp_path / "cover.jpg").write_bytes(b"x")
    ordered = open_session(tmp_path).order()
    assert len(ordered.titles) == 4
    noted = " ".join(ordered.notes)
    assert all(name in noted for name in ("broken.ogg", "empty.mp3", "tool.exe"))
    assert "cover.jpg" not in noted


def test_nothing_usable(tmp_path):
    (tmp_path / "broken.ogg").write_bytes(b"OggS not really")
    with pytest.raises(FileError, match=r"broken\.ogg"):
        open_session(tmp_path)
    (tmp_path / "new").mkdir()
    with pytest.raises(FileError, match=r"has no audio files, text files or pictures in it"):
        open_session(tmp_path / "new")
    with pytest.raises(InputError, match="a path must not be empty"):
        open_session("")


def test_wishes_are_kept(table):
    ordered = open_session(table).order(
        first="T4", last="T6", at={2: "T2"}, together=[("T0", "T10")], before=[("T11", "T1")], apart="artist"
    )
    found = ordered.titles
    assert (found[0], found[-1], found[2]) == ("T4", "T6", "T2")
    assert found.index("T10") == found.index("T0") + 1
    assert found.index("T11") < found.index("T1")
    creators = [item.creator for item in ordered.collection.items]
    assert all(a != b for a, b in itertools.pairwise(creators))
    assert ordered.fit.exact
    assert ordered.pinned == (0, 2, 11)


@pytest.mark.slow
def test_a_wish_that_holds_already_changes_nothing(demo, table):
    for session in (demo, open_session(table)):
        free = session.order()
        names = free.titles
        for wishes in (
            {"before": [(names[0], names[4])]},
            {"together": [names[2:5]]},
            {"first": names[0]},
            {"at": {3: names[3]}},
            {"together": [names[0:2]], "before": [(names[1], names[5])], "last": names[-1]},
            {"limit": 10**6},
        ):
            assert session.order(**wishes).titles == names, wishes


def test_runs_of_three_are_joined(table):
    found = open_session(table).order(together=[("T0", "T5"), ("T5", "T9")]).titles
    start = found.index("T0")
    assert found[start : start + 3] == ["T0", "T5", "T9"]


def test_smoothness_makes_neighbours_alike_and_contrast_unlike(table):
    session = open_session(table, by="loudness")

    def steps(weight):
        return np.abs(np.diff(session.order(template="wave", smoothness=weight).collection.column("loudness"))).sum()

    assert steps(3.0) < steps(0.0) < steps(-3.0)
    ordered = session.order(template="wave", smoothness=3.0)
    [change] = ordered.changes
    assert (change.name, change.unit) == ("loudness", "dB")
    assert change.mean[1] == pytest.approx(np.abs(np.diff(ordered.collection.column("loudness"))).mean())
    assert session.order(template="wave").changes == []


def test_sides_keep_their_limit_and_each_has_an_arc(table):
    ordered = open_session(table).order(template="icarus", sides=2, side_limit="24:00")
    assert sum(ordered.sides) == 12
    minutes = np.split(ordered.collection.column("duration_ms") / 60000, [ordered.sides[0]])
    assert all(side.sum() <= 24 for side in minutes)
    assert ordered.lengths == pytest.approx([60 * side.sum() for side in minutes])
    parts = np.split(ordered.session.essence[ordered.ordering], [ordered.sides[0]])
    assert all(0 < np.argmax(part) < len(part) - 1 for part in parts)
    template = ordered.fit.template
    targets = np.concatenate([template.samples(size) for size in ordered.sides])
    assert np.allclose(ordered.fit.targets, targets)
    assert np.allclose(ordered.given.targets, targets)
    assert ordered.given.ordering.tolist() == list(range(12))
    roles = [reason.split(": ")[-1] for reason in ordered.reasons]
    assert roles[ordered.sides[0] - 1].startswith("close")
    assert roles[ordered.sides[0]].startswith("opener")


def test_openers_and_closes_by_side(table):
    ordered = open_session(table).order(sides=2, first={0: "T3", 1: "T8"}, last={0: "T1"})
    start = ordered.sides[0]
    assert (ordered.titles[0], ordered.titles[start - 1], ordered.titles[start]) == ("T3", "T1", "T8")
    assert ordered.pinned == (0, start - 1, start)
    with pytest.raises(InputError, match=r"^first: there are 2 sides; got side C$"):
        open_session(table).order(sides=2, first={2: "T3"})


def test_a_limit_leaves_out_what_is_not_named(table):
    ordered = open_session(table).order(limit=20 * 60, first="T5")
    assert ordered.collection.column("duration_ms").sum() <= 20 * 60_000
    assert ordered.titles[0] == "T5"
    assert sorted([*ordered.ordering.tolist(), *ordered.left_out]) == list(range(12))
    assert any(note.startswith("left out to keep within 20:00: ") for note in ordered.notes)
    assert ordered.to_json()["left_out"] == list(ordered.left_out)


@pytest.mark.parametrize("wishes", [{"limit": 20 * 60}, {"only": (1, 4, 5, 9)}, {"fill": 20 * 60}])
def test_where_items_are_left_out_positions_count_from_the_end_of_what_is_kept(wishes, table):
    session = open_session(table)
    for position in (1, -1, -2):
        ordered = session.order(at={position: "T5"}, **wishes)
        assert len(ordered.titles) < 12
        assert ordered.titles[position] == "T5"
    far_apart = session.order(at={8: "T5", -4: "T6"}, limit=40 * 60)  # the same position only of all twelve
    assert (far_apart.titles[8], far_apart.titles[-4]) == ("T5", "T6")


def test_items_of_ones_own_choice_are_all_there_or_it_is_told(table):
    with pytest.raises(InputError, match=r"cannot all hold with 3 tracks: 'T7' would be left out$"):
        open_session(table).order(only=(0, 1, 7), first="T0", last="T1", together=[("T0", "T1")])


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"before": [("T0", "T1"), ("T1", "T0")]}, "'T0' before 'T1'"),
        ({"sides": 2, "side_limit": 60}, "1:00"),
        ({"limit": 10}, "0:10"),
        ({"sides": 2, "side_limit": 600}, "10:00"),
        ({"together": [("T0", "T1")], "at": {0: "T0", 4: "T1"}}, "'T0'"),
        ({"apart": "colour"}, "apart: no item has 'colour'; there are: artist, duration_ms, loudness"),
        ({"first": "T0", "last": "T0"}, "last: 'T0' is already at position 1"),
        ({"at": {12: "T0"}}, "at: positions go from 1 to 12 (or -1 from the end); got 13"),
        ({"first": "T0", "at": {0: "T1"}}, "at: position 1 is already taken by 'T0'"),
        ({"choose": 9}, "choose: there are 4 proposals; got 9"),
        ({"limit": "soon"}, "limit: takes a time such as 22:00, 1:02:03, 45m or 90s; got 'soon'"),
        ({"alternatives": 0}, "alternatives: must be at least 1; got 0"),
        ({"template": "icarus", "like": "x"}, "give either a template or like, not both"),
        ({"template": "ikarus"}, "template: no built-in template is called 'ikarus'; did you mean icarus?"),
    ],
)
def test_what_cannot_hold_is_told_by_name(wishes, message, table):
    with pytest.raises(InputError) as caught:
        open_session(table).order(**wishes)
    assert message in str(caught.value)
    assert "--" not in str(caught.value)


def test_the_shortest_side_that_works_is_told(table):
    session = open_session(table)
    with pytest.raises(InputError) as caught:
        session.order(sides=2, side_limit=1200)
    total = sum(item.length for item in session.collection.items)
    assert total / 2 > 1200
    words = str(caught.value)
    shortest = [text for text in words.replace(",", " ").replace(";", " ").split() if ":" in text][-1].rstrip(".")
    minutes, seconds = shortest.split(":")
    limit = 60 * int(minutes) + float(seconds)
    assert session.order(sides=2, side_limit=limit + 0.5).sides


def test_lengths_are_needed_for_limits_and_not_for_sides(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("title,energy\na,1\nb,2\nc,3\nd,4\n")
    ordered = open_session(path, by="energy").order(sides=2)
    assert ordered.sides == (2, 2)
    assert "lengths are not known: each side has as many tracks" in ordered.notes
    with pytest.raises(InputError, match=r"^limit: the length of 'a' in seconds is not known$"):
        open_session(path, by="energy").order(limit=100)


def test_doubts_are_told(tmp_path, table, demo):
    assert any("length is far from what the model has learned from" in note for note in demo.order().notes)
    alike = tmp_path / "alike.csv"
    alike.write_text("title,duration_ms,loudness\n" + "".join(f"T{i},200000,-8\n" for i in range(5)))
    assert any("all alike" in note for note in open_session(alike).notes)
    assert any("all items have the same loudness" in note for note in open_session(alike, by="loudness").notes)
    few = tmp_path / "few.csv"
    few.write_text("title,duration_ms,loudness\na,200000,-8\nb,100000,-9\n")
    assert any("only 2 items" in note for note in open_session(few).notes)
    assert open_session(table, model="audio").order().notes == ()
    assert "the template is flat: any order follows it as well" in open_session(table).order(template="0:1,1:1").notes


def test_what_is_far_is_taken_relative_to_the_collection(tmp_path):
    """Ten times longer, a collection is laid out the same way; within reach of the model nothing is touched."""
    rng = np.random.default_rng(0)
    rows = [(f"T{i}", rng.integers(5, 20) * 1000, round(rng.normal(-9, 3), 2)) for i in range(10)]
    found = []
    for factor in (1, 2, 20, 500):
        path = tmp_path / f"{factor}.csv"
        path.write_text("title,duration_ms,loudness\n" + "".join(f"{t},{d * factor},{x}\n" for t, d, x in rows))
        found.append(open_session(path, model="audio"))
    assert [bool(session.notes) for session in found] == [True, True, False, True]
    assert np.allclose(found[0].essence, found[1].essence)
    assert np.allclose(found[0].essence, found[3].essence)
    usual = found[2].collection.columns(found[2].features)
    assert shift_to_training_range(usual, load_model("audio").transform) == (pytest.approx(usual), [])


def test_an_ordering_is_taken_as_it_is(table):
    session = open_session(table)
    mine = [*range(11, 5, -1), *range(6)]
    ordered = session.order(ordering=mine, template="icarus", sides=2)
    assert ordered.ordering.tolist() == mine
    assert ordered.gap is None
    assert not ordered.fit.exact
    assert sum(ordered.sides) == 12
    half = sum(item.length for item in session.collection.items) / 2
    assert ordered.lengths[0] == pytest.approx(half, rel=0.15)
    assert session.order(ordering=mine[:5]).left_out == tuple(sorted(set(range(12)) - set(mine[:5])))
    with pytest.raises(InputError, match=r"^ordering: must hold indices from 0 to 11, none twice; got \[0, 0\]$"):
        session.order(ordering=[0, 0])


@pytest.mark.slow
def test_the_second_run_measures_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path))
    measured = []
    real = audio.measure
    monkeypatch.setattr(audio, "measure", lambda path, **rest: measured.append(path) or real(path, **rest))
    open_session(demo_folder())
    assert len(measured) == 9
    open_session(demo_folder())
    assert len(measured) == 9
    open_session(demo_folder(), measuring=Measuring(cache=False))
    assert len(measured) == 18
