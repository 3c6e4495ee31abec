"""Methods as programs and functions: what they answer, and what becomes of those that do not."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import store_bench_rows
from fabula.cli import run
from fabula.core.collection import Collection, Item
from fabula.errors import FileError, InputError
from fabula.report.boards import board_page
from fabula.research.bench import (
    FAMILIES,
    BenchCard,
    BenchTask,
    family_task,
    fma_task,
    join_cards,
    load_rows,
    make_card,
    score_row,
    table_task,
    take_half,
)
from fabula.research.bench_programs import Orderings, command_of, run_program

HEAD = """
import json, sys, time
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "train":
        continue
    ids = [i["id"] for i in sorted(m["items"], key=lambda i: i["features"]["a"])]
"""
GOOD = HEAD + '    print(json.dumps({"id": m["id"], "order": ids}), flush=True)\n'


@pytest.fixture
def task():
    """Twelve collections that rise, so that sorting by a is right."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.normal(size=(12, 5, 1)), axis=1)
    made = [Collection(f"c{i}", [Item(str(j)) for j in range(5)], row, ["a"]) for i, row in enumerate(rows)]
    return BenchTask("rise", "what rises", made[:4], made[4:], "as given")


@pytest.fixture
def method(tmp_path):
    def write(text):
        path = tmp_path / "method.py"
        path.write_text(text)
        return shlex.join([sys.executable, str(path)])

    return write


def test_a_program_is_asked_everything(task, method):
    found = run_program(task, method(GOOD))
    assert found.misses == 0
    assert all(order.tolist() == list(range(5)) for order in found.found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (HEAD + "    sys.exit(3)", {"it ended with code 3": 4, "not asked: it was started 4 times": 4}),
        (HEAD + "    raise ValueError('no idea')", {"it ended with code 1: ValueError: no idea": 4, "not asked": 4}),
        (HEAD + "    print('hm', flush=True)", {"the answer is no line of JSON": 8}),
        (
            HEAD + "    print(json.dumps({'id': m['id'], 'order': ids[1:]}), flush=True)",
            {"no permutation: 1 of 5 items are missing": 8},
        ),
        ("import time; time.sleep(60)", {"no answer within 0.3 s": 4, "not asked": 4}),
        ("print('{}')", {"it ended with code 0": 4, "not asked": 4}),
    ],
)
def test_failures_get_one_line_each_and_count_as_chance(task, method, text, reasons):
    found = run_program(task, method(text), answer=0.3, first=0.3 if "sleep" in text else 20)
    told = {why: sum(n for line, n in found.failures.items() if line.startswith(why)) for why in reasons}
    assert told == reasons
    assert found.misses == 8
    assert all("\n" not in line for line in found.failures)
    chance = task.chance
    row = score_row("x", "yours", found, task)
    assert row.metrics["spearman"].mean == pytest.approx(chance["spearman"].mean())
    assert row.gain.mean == 0
    assert row.failed == 8


@pytest.mark.slow
def test_one_late_answer_costs_one_question(task, method):
    text = HEAD + "    if m['id'] == 'q3': time.sleep(60)\n" + GOOD.splitlines()[-1]
    found = run_program(task, method(text), answer=0.7, first=20)
    assert found.failures == {"no answer within 0.7 s": 1}
    assert sum(order is not None for order in found.found) == 7


def test_a_function_and_a_class_that_learns(task, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def up(collection):\n    print('talk')\n    return np.argsort(collection.column('a'))\n"
        "class Learner:\n"
        "    def train(self, collections):\n"
        "        self.sign = np.sign(sum(np.polyfit(range(len(c)), c.column('a'), 1)[0] for c in collections))\n"
        "    def __call__(self, collection):\n"
        "        assert not collection.ordered\n"
        "        return np.argsort(self.sign * collection.column('a'))\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("mine:up", "mine:Learner"):
        found = run_program(task, name)
        assert found.failures == {}
        assert all(order.tolist() == list(range(5)) for order in found.found)


def test_what_cannot_be_started_is_one_line(task):
    with pytest.raises(InputError, match="the method cannot be started: no-such-program"):
        run_program(task, "no-such-program --x")
    with pytest.raises(InputError, match="no command line"):
        command_of("a 'b")
    with pytest.raises(InputError, match="above 0 seconds"):
        run_program(task, "x", answer=0)


def test_the_card_comes_back_and_the_page_holds_everybody(task, tmp_path):
    given = Orderings([np.arange(5)] * 7 + [None], {"<b>late</b>": 1})
    card = make_card(task, given, name="<i>mine</i>", command="x")
    path = card.save(tmp_path / "card.json")
    again = BenchCard.load(path)
    assert again.text() == card.text()
    by_name = {row.method: row for row in card.rows}
    assert by_name["sort by a"].metrics["perfect"].mean == 1
    assert by_name["random"].metrics["spearman"].mean == pytest.approx(0, abs=0.2)
    assert by_name["<i>mine</i>"].failed == 1
    assert card.rows[0].metrics["spearman"].mean == max(r.metrics["spearman"].mean for r in card.rows)
    page = board_page([join_cards([card, again])])
    assert page.count("&lt;i&gt;mine") >= 2
    assert "<i>mine" not in page
    assert "<b>late" not in page
    other = BenchCard.load(path)
    other.task["digest"] = "0" * 16
    with pytest.raises(InputError, match="cards of different tasks"):
        join_cards([card, other])
    path.write_text("{}")
    with pytest.raises(FileError, match="is no card"):
        BenchCard.load(path)


def test_a_table_is_split_by_its_makers_and_shows_no_column_of_the_order(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["collection,position,artist,running,a"]
    for c in range(60):
        lines += [f"c{c},{j + 1},maker {c % 20},{j * 3.5 + c},{rng.normal():.4f}" for j in range(6)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    task = table_task(path)
    assert task.features == ("a",)
    assert any("running" in note for note in task.notes)
    sides = [{c.items[0].creator for c in part} for part in (task.training, task.test)]
    assert not sides[0] & sides[1]
    assert table_task(path).digest == task.digest
    assert len(set(task.groups)) < len(task.test)


def test_trained_rows_come_with_the_package():
    """Those of the known tasks are stored under the digests of today's tasks."""
    for name in ("plackett-luce", "mallows", "arc", "opener", "walk"):
        rows = {row.method: row for row in load_rows(family_task(name).digest)}
        assert set(rows) == {"truth known", "arcs", "arcs, trained", "the paper's method"}
        for task in (family_task(name), take_half(family_task(name), "open")):
            assert asdict(store_bench_rows.know(task)) == asdict(load_rows(task.digest)[0])
        assert rows["arcs"].metrics["spearman"].mean > 0.02
    assert load_rows("nothing") == []


def test_from_the_command_line(tmp_path, method, capsys, monkeypatch):
    command = method(GOOD)
    card, page = tmp_path / "c.json", tmp_path / "b.html"
    options = ["--method", command, "--name", "mine", "--card", str(card), "--page", str(page)]
    assert run(["bench-order", "mallows", *options]) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in ("mine", "the paper", "test 3d1139d4a9fefb68"))
    assert json.loads(card.read_text())["task"]["name"] == "mallows"
    assert page.read_text().startswith("<!doctype html>")
    assert run(["bench-order"]) == 0
    assert "plackett-luce" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "there is no task 'nothing'; there are: plackett-luce"),
        (["arc", "--titles"], "--titles, --texts, --where and --split are for tables"),
        (["fma"], "say where the dataset lies: --fma FOLDER"),
        (["arc", "--orderings", "a.jsonl"], "--orderings goes with --key"),
        (["arc", "--orderings", "a", "--method", "b", "--key", "c"], "give --method or --orderings, not both"),
        (["arc", "--card", "no/such/folder.json"], "the folder no/such does not exist"),
        (["none.csv"], "none.csv"),
    ],
)
def test_mistakes_are_one_line(arguments, words, capsys):
    assert run(["bench-order", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_offline_answers_score_like_asked_ones(tmp_path, capsys):
    questions, answers = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    assert run(["bench-order", "mallows", "--questions", str(questions)]) == 0
    asked = [json.loads(line) for line in questions.read_text().splitlines()]
    told = [
        {"id": m["id"], "order": [i["id"] for i in sorted(m["items"], key=lambda i: i["features"]["a"])]}
        for m in asked
        if m["type"] == "order"
    ]
    answers.write_text("".join(json.dumps(each) + "\n" for each in told[:-1]))
    key = Path(f"{questions}.key")
    capsys.readouterr()
    assert run(["bench-order", "mallows", "--orderings", str(answers), "--key", str(key), "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    rows = {row["method"]: row for row in card["rows"]}
    assert card["failures"] == {"no answer": 1}
    mine, ours = (rows[name]["metrics"]["spearman"]["mean"] for name in ("a.jsonl", "sort by a"))
    assert mine == pytest.approx(ours, abs=0.01)


def test_fma_is_ordered_by_its_own_split(tmp_path):
    path = Path(__file__).resolve().parents[1] / "sources" / "fma" / "conftest.py"
    spec = importlib.util.spec_from_file_location("fma_archive_for_bench", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    archive = module.Archive()
    for number in range(1, 9):
        archive.album(number, [1, 2, 3, 4], split="training" if number < 6 else "test")
    archive.album(9, [1, 2, 3], split="validation")
    task = fma_task(archive.write(tmp_path))
    assert (len(task.training), len(task.test)) == (5, 3)
    assert len(task.features) == 75
    assert task.test[0].features.shape == (4, 75)
    assert all(np.isfinite(c.features).all() for c in task.test)


@pytest.mark.parametrize("name", FAMILIES)
def test_who_knows_the_truth_wins(name):
    """No row of a drawn task, measured here or stored, is above that of the oracle."""
    card = make_card(family_task(name))
    oracle = next(row for row in card.rows if row.kind == "known").metrics["spearman"]
    assert all(row.metrics["spearman"].mean <= oracle.mean + 1e-9 for row in card.rows)
    assert (card.task["version"], card.task["half"]) == (1, "")
    assert "CC0" in card.task["source"]


def test_the_halves_of_a_test_share_nothing(task):
    halves = [take_half(family_task("walk"), half) for half in ("open", "sealed")]
    ids = [{c.id for c in each.test} for each in halves]
    assert not ids[0] & ids[1]
    assert len(ids[0] | ids[1]) == 200
    assert len({each.digest for each in halves} | {family_task("walk").digest}) == 3
    assert halves[1].to_dict()["half"] == "sealed"
    alone = replace(task, test=task.test[:1])
    with pytest.raises(InputError, match=r"no test collection in the (open|sealed) half"):
        [take_half(alone, half) for half in ("open", "sealed")]


def test_texts_are_shown_and_read(tmp_path, method):
    """A table of texts: what a program is shown, and the models that read texts beside it."""
    rng = np.random.default_rng(0)
    words = np.array(
        ["rain", "wind", "stone", "river", "night", "bread", "candle", "letter", "garden", "window", "Anna", "Peter"]
    )
    rows = ["collection_id,position,author,split,text"]
    for book in range(6):
        for part in range(5):
            text = f"day {part}: " + ". ".join(" ".join(rng.choice(words, 8)) for _ in range(12))
            rows.append(f"b{book},{part},author {book},{'train' if book < 4 else 'validation'},{text}.")
    path = tmp_path / "books.csv"
    path.write_text("\n".join(rows) + "\n")
    posed = table_task(path, texts=True)
    assert posed.digest != table_task(path, texts=False, titles=True).digest
    found = run_program(posed, method(GOOD.replace('i["features"]["a"]', 'i["text"]')))
    assert [list(each) for each in found.found] == [[0, 1, 2, 3, 4]] * 2
    card = make_card(posed, found)
    assert card.task["texts"] is True
    assert {"prose", "yours"} <= {row.method for row in card.rows}
    assert card.rows[0].method == "yours"
    (tmp_path / "plain.csv").write_text(
        "collection_id,position,x,split\na,0,1,train\na,1,3,train\nb,0,2,validation\nb,1,5,validation\n"
    )
    with pytest.raises(InputError, match="has no column text to show"):
        table_task(tmp_path / "plain.csv", texts=True)
