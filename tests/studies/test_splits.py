from __future__ import annotations

import numpy as np
import pytest

from fabula.errors import InputError
from fabula.studies.splits import read_split, usable_features


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
