"""``fabula review``: what it prints and writes, and that Python says the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fabula import review
from fabula.session.open import demo_folder


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(demo_folder(), tmp_path / "album"))


def test_it_prints_a_verdict_joins_oddities_and_moves(fabula, folder):
    done = fabula("review", folder)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "Nine Short Pieces: 9 tracks, 1:43"
    assert "of 100 random orders" in lines[1]
    assert {"strongest joins:", "weakest joins:", "moves that help:"} <= set(lines)
    assert any(line.startswith("opens with Embers (") for line in lines)


def test_its_json_has_the_fields_of_the_contract_and_is_what_python_says(fabula, folder):
    found = fabula("review", folder, "--json").json
    assert {"percentile", "odd", "joins", "moves", "openers", "closers", "notes"} <= set(found)
    assert 0 <= found["percentile"] <= 100
    ids = {str(path) for path in folder.iterdir()}
    n = len(ids)
    assert set(found["openers"]) | set(found["closers"]) <= ids
    assert len(found["openers"]) == len(found["closers"]) == 3
    for one in found["odd"]:
        assert one["id"] in ids
        assert 1 <= one["position"] <= n
        assert 1 <= one["better"] <= n
    assert sorted(one["after"] for one in found["joins"]) == list(range(1, n))
    assert all(isinstance(one["why"], str) and one["why"] for one in found["joins"])
    for one in found["moves"]:
        assert one["id"] in ids
        assert {1 <= one[name] <= n for name in ("from", "to")} == {True}
        assert one["gain"] > 0
    assert found == json.loads(json.dumps(review(folder).to_json()))


def test_moves_are_applied_and_written(fabula, folder, tmp_path):
    target = tmp_path / "better.m3u8"
    done = fabula("review", folder, "--moves", 1, "-o", target)
    assert done.code == 0
    assert f"written: {target}" in done.out
    assert "with 1 of the moves:" in done.out
    found = review(folder)
    listed = [line for line in target.read_text().splitlines() if line and not line.startswith("#")]
    assert [Path(line).name for line in listed] == [Path(item.path).name for item in found.apply(1).collection.items]
    again = review(target)
    assert again.percentile > found.percentile


def test_pages_and_pictures_are_written(fabula, folder, tmp_path):
    page, picture, drawn = (tmp_path / name for name in ("r.html", "r.svg", "r.png"))
    pytest.importorskip("matplotlib")
    assert fabula("review", folder, "--report", page, "--plot", picture).code == 0
    assert fabula("review", folder, "--plot", drawn).code == 0
    html = page.read_text()
    assert "<h2>The weakest joins</h2>" in html
    assert "<h2>Moves that help</h2>" in html
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "line dashed" in picture.read_text()
    assert drawn.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "x.m3u8"), "fabula: --output: goes with --moves N"),
        (("--report", "x.txt"), "fabula: x.txt: the ending must be .html"),
        (("--plot", "x.gif"), "fabula: x.gif: the ending must be one of"),
        (("--moves", "-1"), "fabula: Invalid value for '--moves'"),
    ],
)
def test_mistakes_are_one_line_before_any_work(fabula, arguments, message):
    done = fabula("review", "nowhere", *arguments)
    assert done.code == 2
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1


def test_a_table_that_a_model_cannot_judge_is_told_in_one_line(fabula, tmp_path):
    table = tmp_path / "stock.csv"
    table.write_text("title,price\n" + "".join(f"thing {k},{k * k % 7}\n" for k in range(8)))
    done = fabula("review", table)
    assert done.code == 2
    assert done.err.startswith("fabula: ")
    assert done.err.count("\n") == 1


@pytest.fixture
def answers(monkeypatch):
    """A terminal on which a person types these lines."""

    def type_lines(*lines: str) -> None:
        typed = iter(lines)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True)
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: next(typed))

    return type_lines


def test_an_opener_and_a_close_are_asked_for(fabula, folder, answers):
    likely = review(folder)
    names = {item.id: item.title for item in likely.items}
    answers("2", "")
    done = fabula("order", folder, "--ask", "--json")
    assert done.json["items"][0]["title"] == names[likely.openers[1]]
    assert "Which opens?" in done.err
    assert f"  1  {names[likely.openers[0]]} (" in done.err
    answers("no such thing", "Parade", "Slow River")
    done = fabula("order", folder, "--ask", "--json")
    assert [done.json["items"][k]["title"] for k in (0, -1)] == ["Parade", "Slow River"]
    assert "fabula: no item is called 'no such thing'" in done.err
    answers("")
    done = fabula("order", folder, "--ask", "--first", "Embers", "--json")
    assert done.json["items"][0]["title"] == "Embers"
    assert "Which opens?" not in done.err


def test_without_a_terminal_nothing_is_asked(fabula, folder):
    done = fabula("order", folder, "--ask")
    assert done.code == 2
    assert done.err == "fabula: --ask: needs a terminal to ask on; --first and --last say it without\n"


def test_most_of_an_order_is_left_by_the_command(fabula, folder):
    done = fabula("order", folder, "--keep", 0.8, "--json")
    assert done.code == 0
    assert any(note.endswith("tracks keep their order; 1 moved") for note in done.json["notes"])


def test_an_order_that_no_move_helps_is_written_as_it_was_and_that_is_told(fabula, tmp_path):
    table, target = tmp_path / "alike.csv", tmp_path / "same.csv"
    table.write_text("title,loudness\nA,-9\nB,-9\nC,-9\n")
    done = fabula("review", table, "--moves", 1, "-o", target)
    assert done.code == 0
    assert "note: no move helps; the order is as it was" in done.out
    assert [line.split(",")[0] for line in target.read_text().splitlines()[1:]] == ["A", "B", "C"]
