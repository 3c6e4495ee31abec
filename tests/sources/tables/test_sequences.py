"""Tables with one row a collection, whose cells are lists."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.errors import FileError
from fabula.sources.tables.read_table import read_sequences

ROWS = [
    {"film": "a", "kind": "x", "at": [0, 5, 20], "essence": [0.1, None, 0.3], "split": "test"},
    {"film": "b", "kind": "y", "at": [1, 2], "essence": [3, 4]},
]


def written(tmp_path, rows):
    path = tmp_path / "films.json"
    path.write_text(json.dumps(rows))
    return path


def test_each_row_is_a_collection(tmp_path):
    first, second = read_sequences(written(tmp_path, ROWS), ["essence", "at"])
    assert (first.id, second.id) == ("a", "b")
    assert first.feature_names == ("essence", "at")
    np.testing.assert_array_equal(first.column("at"), [0, 5, 20])
    np.testing.assert_array_equal(first.column("essence"), [0.1, np.nan, 0.3])
    assert first.items[2].details["split"] == "test"
    [only] = read_sequences(written(tmp_path, ROWS), ["essence"], where={"kind": "y"})
    assert only.id == "b"


def test_a_table_of_items_is_left_to_others(tmp_path):
    assert read_sequences(written(tmp_path, [{"film": "a", "essence": 0.5}]), ["essence"]) is None
    assert read_sequences(written(tmp_path, ROWS), ["nothing"]) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"at": [1, 2]}, "row 1: 'at' has 2 values, 'essence' has 3: they must agree"),
        ({"essence": [1, "two", 3]}, "must be a list of numbers, one per item"),
        ({"essence": []}, "must hold at least one number"),
        ({"essence": 3}, "must be a list of numbers, one per item"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, words):
    with pytest.raises(FileError, match=words):
        read_sequences(written(tmp_path, [{**ROWS[0], **change}, ROWS[1]]), ["essence", "at"])
