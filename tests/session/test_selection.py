"""Which items are ordered: comparisons, one of several, and the few that cover all, against brute force."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fabula
from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.registry import ITEMS
from fabula.session.selection import compare, cover

NUMBERS = [3.0, np.nan, 5.0, 1.0, 3.0]
ROWS = Collection(
    "c",
    [Item(str(k), title=f"T{k}", artist="Ada" if k % 2 else "", details={"day": f"2024-05-0{k + 1}", "mark": m})
     for k, m in enumerate(["x", "", "X and y", "z", None])],
    np.array([NUMBERS]).T, ("stars",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("stars >= 3", [0, 2, 4]), ("stars>3", [2]), ("stars = 3", [0, 4]), ("stars != 3", [2, 3]),
        ("STARS < 3 or stars > 4", [2, 3]), ("stars >= 3 and mark ~ x", [0, 2]), ('mark = "x and y"', [2]),
        ("mark = X", [0]), ("mark != x", [1, 2, 3, 4]), ("day = 2024-05-02", [1]), ("day <= 2024-05-02", [0, 1]),
        ("creator = ada", [1, 3]), ("title ~ t3", [3]), ("stars >= 9", []),
    ],
)  # fmt: skip
def test_comparisons_keep_what_they_say(text, kept):
    assert compare(ROWS, text, ITEMS) == kept


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("stars", "takes COLUMN >= VALUE"), ("stars >=", "takes COLUMN"), ("weight > 2", "there is no column 'weight'"),
        ("mark > x", "is no number"), ("__import__('os') = 1", "there is no column"),
    ],
)  # fmt: skip
def test_what_is_no_comparison_is_told_in_a_line(text, told):
    with pytest.raises(InputError, match=told):
        compare(ROWS, text, ITEMS)


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=8), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_few_cover_all_about_as_well_as_any(values, count):
    points = np.array(values)
    distance = np.abs(points[:, np.newaxis] - points)
    chosen = cover(distance, count)
    assert len(set(chosen)) == count
    best = min(distance[list(some)].min(axis=0).sum() for some in combinations(range(len(points)), count))
    assert distance[chosen].min(axis=0).sum() <= 1.5 * best + 1e-9
    assert set(cover(distance, count, fixed=1)) >= {0}


def test_what_is_left_out_goes_from_the_playlist_and_the_table(tmp_path: Path):
    rows = "".join(f"song {k},artist {k},{k},{k % 2}\n" for k in range(6))
    (tmp_path / "a.csv").write_text(f"title,artist,energy,odd\n{rows}")
    ordered = fabula.order(tmp_path / "a.csv", by="energy", template="steady-rise", only="odd = 1")
    assert ordered.titles == ["song 1", "song 3", "song 5"]
    assert ordered.save(tmp_path / "b.csv").read_text().count("song") == 3
    few = fabula.order(tmp_path / "a.csv", by="energy", pick=3)
    assert len(few.ordering) == 3
    assert any(note.startswith("picked 3 of 6") for note in few.notes)
    demo = fabula.session.open.demo_folder()
    fabula.open(demo).order(ordering=range(9)).save(tmp_path / "all.m3u8")
    part = fabula.order(tmp_path / "all.m3u8", only="title ~ wa or title ~ line")
    text = part.save(tmp_path / "part.m3u8").read_text()
    assert 0 < text.count(".ogg") == len(part.ordering) < 9


@pytest.mark.parametrize("ending", ["", ".csv", ".m3u8"])
def test_lengths_are_compared_in_seconds_whatever_they_were_read_from(tmp_path: Path, ending: str):
    demo = fabula.session.open.demo_folder()
    path = fabula.open(demo).order(ordering=range(9)).save(tmp_path / f"all{ending}") if ending else demo
    whole = fabula.open(path).collection
    long = {item.label for item in whole.items if item.length > 10}
    assert 0 < len(long) < 9
    for text in ("length > 10", "length > 0:10", "Length > 10s"):
        assert set(fabula.order(path, only=text).titles) == long
    with pytest.raises(InputError, match=r"no column 'weight'; there are: .*\blength\b"):
        fabula.order(path, only="weight > 2")


def test_what_is_named_is_picked(capsys: pytest.CaptureFixture[str]):
    import json

    from fabula.cli import run

    folder = str(fabula.session.open.demo_folder())
    assert run(["order", folder, "--pick", "3", "--first", "Parade", "--last", "Embers", "--json"]) == 0
    titles = [item["title"] for item in json.loads(capsys.readouterr().out)["items"]]
    assert (len(titles), titles[0], titles[-1]) == (3, "Parade", "Embers")
    few = fabula.order(folder, pick=3, first="Parade", last="Embers")  # in Python alike
    assert (len(few.titles), few.titles[0], few.titles[-1]) == (3, "Parade", "Embers")
    assert run(["order", folder, "--pick", "1", "--first", "Parade", "--last", "Embers"]) == 2
    assert "--pick: 2 tracks are named; got 1" in capsys.readouterr().err
