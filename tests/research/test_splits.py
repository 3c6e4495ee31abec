from __future__ import annotations

import numpy as np
import pytest

from fabula.errors import InputError
from fabula.research.splits import read_split, usable_features


def write(path, rows, header):
    path.write_text(header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def test_a_column_split_is_followed(tmp_path):
    rows = [(c, t, "train" if c < 3 else "validation", t) for c in range(4) for t in range(3)]
    split = read_split(write(tmp_path / "t.csv", rows, "album_id,title,split,energy"))
    assert ([c.id for c in split.training], [c.id for c in split.held_out]) == (["0", "1", "2"], ["3"])
    assert split.rule == "column 'split'"


def test_no_artist_is_on_both_sides_and_the_split_stays_when_the_table_grows(tmp_path):
    header = "album_id,artist,title,energy"
    rows = [(c, f"artist {c % 40}", t, t) for c in range(120) for t in range(2)]
    small = read_split(write(tmp_path / "t.csv", rows[:160], header), held_out=0.2)
    large = read_split(write(tmp_path / "t.csv", rows, header), held_out=0.2)
    artists = [{c.items[0].artist for c in side} for side in (large.training, large.held_out)]
    assert not artists[0] & artists[1]
    assert {c.id for c in small.held_out} <= {c.id for c in large.held_out}
    assert 0.05 < len(large.held_out) / 120 < 0.4


def test_a_side_that_is_empty(tmp_path):
    path = write(tmp_path / "t.csv", [(1, "a", 1), (1, "b", 2)], "album_id,title,energy")
    with pytest.raises(InputError, match="1 collections to train on and 0 to hold out"):
        read_split(path, held_out=0.001)
    with pytest.raises(InputError, match=r"must lie between 0 and 1; got 1\.5"):
        read_split(path, held_out=1.5)
    one = write(tmp_path / "one.csv", [(1, "a", 1), (2, "b", 2)], "album_id,title,energy")
    with pytest.raises(InputError, match="holds no collection of two items or more"):
        read_split(one)


def test_columns_that_tell_the_order_are_left_out(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(c, t + 1, t + 1, 6, f"{rng.normal():.3f}") for c in range(20) for t in range(6)]
    path = write(tmp_path / "t.csv", rows, "album_id,position,number,n_tracks,energy")
    names, notes = usable_features(read_split(path, held_out=0.3).training)
    assert names == ("energy",)
    assert notes == (
        "column 'number' left out: it follows the order itself",
        "column 'n_tracks' left out: it is the same for all items of a collection",
    )
    bad = write(tmp_path / "bad.csv", [row[:3] for row in rows], "album_id,position,number")
    with pytest.raises(InputError, match="no column is left to train on; column 'number' left out"):
        usable_features(read_split(bad, held_out=0.3).training)


def table(path, marks, *, artist=lambda c: f"a{c}", items=4):
    rng = np.random.default_rng(0)
    header = "album_id,position,artist,title,split,energy"
    rows = [
        (c, j + 1, artist(c), f"song {c} {j}", mark, f"{rng.normal():.5f}")
        for c, mark in enumerate(marks)
        for j in range(items)
    ]
    return write(path, rows, header)


def test_what_is_marked_test_is_never_trained_on_nor_held_out_unless_named(tmp_path):
    path = table(tmp_path / "t.csv", ["train"] * 60 + ["test"] * 20)
    split = read_split(path, held_out=0.2)
    marks = {c.items[0].details["split"] for c in (*split.training, *split.held_out)}
    assert marks == {"train"}
    assert len(split.training) + len(split.held_out) == 60
    assert "20 of test not touched" in split.rule
    named = read_split(path, side="test")
    assert (len(named.training), len(named.held_out)) == (60, 20)
    assert {c.items[0].details["split"] for c in named.held_out} == {"test"}


def test_with_all_three_sides_validation_is_held_out(tmp_path):
    path = table(tmp_path / "t.csv", ["Train"] * 6 + ["valid"] * 3 + ["test"] * 2)
    split = read_split(path)
    assert (len(split.training), len(split.held_out)) == (6, 3)
    assert "2 of test not touched" in split.rule


@pytest.mark.parametrize(
    ("marks", "line"),
    [
        (["train", "held"], "column 'split' says 'held' for collection '1'; it must say train, validation, test"),
        (["train", ""], "column 'split' is empty for collection '1'"),
        (["0", "1"], "column 'split' says '0'"),
        (["test", "test"], "all 2 collections are of test"),
    ],
)
def test_any_other_mark_is_an_error(tmp_path, marks, line):
    with pytest.raises(InputError, match=line):
        read_split(table(tmp_path / "t.csv", marks))


def test_a_collection_on_two_sides_is_an_error(tmp_path):
    rows = [(0, "a", "train", 1), (0, "b", "test", 2), (1, "c", "train", 3), (1, "d", "train", 5)]
    with pytest.raises(InputError, match="collection '0' is on several sides of the split: test, train"):
        read_split(write(tmp_path / "t.csv", rows, "album_id,title,split,energy"))


def test_a_side_chosen_by_where_is_the_whole(tmp_path):
    path = table(tmp_path / "t.csv", ["train"] * 6 + ["test"] * 40)
    split = read_split(path, where={"split": "test"}, held_out=0.3)
    assert len(split.training) + len(split.held_out) == 40


def test_artists_and_collections_on_both_sides_are_told(tmp_path):
    marks = ["train"] * 20 + ["validation"] * 10
    apart = read_split(table(tmp_path / "t.csv", marks))
    assert apart.notes == ()
    both = read_split(table(tmp_path / "t.csv", marks, artist=lambda c: f"a{c % 22}"))
    told = "NOT INDEPENDENT: 8 of 10 held-out collections are by 8 who also made some that are trained on"
    assert both.notes == (told,)
    rows = [r for r in (tmp_path / "t.csv").read_text().splitlines()[1:] if r.split(",")[0] == "3"]
    again = [r.replace("3,", "99,", 1).replace(",train,", ",validation,").replace(",a3,", ",new,") for r in rows]
    with (tmp_path / "t.csv").open("a") as file:
        file.write("\n".join(reversed(again)) + "\n")
    twice = read_split(tmp_path / "t.csv")
    assert twice.notes[0] == "LEAK: 1 of 11 held-out collections are also among those trained on"


def test_what_is_measured_decides_nothing(tmp_path):
    split = read_split(table(tmp_path / "t.csv", ["train"] * 40 + ["validation"] * 9))
    parts = split.parts
    assert parts.measured == split.held_out
    assert len(parts.training) + len(parts.validation) == 40
    assert not {c.id for c in parts.training} & {c.id for c in parts.validation}


def test_a_small_table_holds_more_out_for_an_audit(tmp_path):
    path = write(tmp_path / "t.csv", [(c, t, c * t % 7) for c in range(120) for t in range(3)], "album_id,title,x")
    assert len(read_split(path).held_out) < 20
    assert 28 < len(read_split(path, least=40).held_out) < 52


def test_a_table_of_test_alone_says_how_it_is_measured_on(tmp_path):
    rows = [(c, t, "test", t) for c in range(4) for t in range(3)]
    path = write(tmp_path / "t.csv", rows, "album_id,title,split,energy")
    with pytest.raises(InputError, match=r"all 4 collections are of test .* `evaluate --split test` measures on them"):
        read_split(path)
    assert len(read_split(path, side="test").held_out) == 4
