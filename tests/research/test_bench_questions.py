"""What a method sees: nothing of the true order."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.store_bench_rows import EXPECTED
from fabula.core.collection import Collection, Item
from fabula.errors import FileError
from fabula.evaluation.metrics import spearman
from fabula.research.bench import FAMILIES, BenchTask, family_task
from fabula.research.bench_programs import (
    MethodFailedError,
    ask_all,
    read_key,
    read_orderings,
    training_lines,
    write_questions,
)

SECRET = "in its file at place 3"


def a_task(count=200, n=8, *, titles=False):
    """Collections whose items are all alike but for ids, paths and details that give the order away."""
    made = []
    for c in range(count):
        items = [Item(f"{j:03d}", path=f"{j:02d} {SECRET}", details={"place": j}, title="same") for j in range(n)]
        made.append(Collection(f"c{c:04d}", items, np.ones((n, 1)), ["a"]))
    return BenchTask("t", "", made[:5], made, "", titles)


CHEATS = {
    "as shown": lambda items: items,
    "backwards": lambda items: items[::-1],
    "by id": lambda items: sorted(items, key=lambda item: item["id"]),
    "by the whole line": lambda items: sorted(items, key=json.dumps),
    "by hash of the id": lambda items: sorted(items, key=lambda item: sum(map(ord, item["id"]))),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_ids_and_places_gain_nothing(cheat, rng):
    task = a_task()
    scores = [
        spearman(q.ordering([item["id"] for item in CHEATS[cheat](q.shown["items"])])) for q in ask_all(task, rng)
    ]
    assert abs(np.mean(scores)) < 4 / np.sqrt(7 * 200)  # four deviations of a random ordering's mean


def test_nothing_else_of_an_item_is_shown(rng):
    for titles in (False, True):
        task = a_task(20, titles=titles)
        lines = [*training_lines(task), *(q.shown for q in ask_all(task, rng))]
        told = json.dumps(lines)
        assert SECRET not in told
        assert "c000" not in told
        assert "place" not in told
        for line in lines:
            for item in line["items"]:
                assert set(item) - {"id"} == {"features", "title"} if titles else {"features"}
    assert all("id" not in item for line in training_lines(task) for item in line["items"])


def test_questions_come_in_an_order_of_their_own(rng):
    task = a_task(50)
    numbers = [int(q.id[1:]) for q in ask_all(task, rng)]
    assert sorted(numbers) == list(range(50))
    assert numbers != list(range(50))


def test_fresh_randomness_each_time():
    task = a_task(3)
    first, second = (ask_all(task, np.random.default_rng()) for _ in range(2))
    assert [q.names for q in first] != [q.names for q in second]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda ids: ids[:-1], "1 of 8 items are missing"),
        (lambda ids: [*ids[:-1], ids[0]], "stands twice"),
        (lambda ids: [*ids[:-1], "zzz"], "there is no item 'zzz'"),
        (lambda ids: list(range(8)), "must be a list of the items' ids"),
        (lambda ids: None, "must be a list of the items' ids"),
    ],
)
def test_what_is_no_permutation_says_why(change, words, rng):
    [question] = ask_all(a_task(1), rng)
    with pytest.raises(MethodFailedError, match=words):
        question.ordering(change(list(question.names)))


def test_an_answer_is_read_in_the_true_numbering(rng):
    [question] = ask_all(a_task(1), rng)
    order = rng.permutation(8)
    np.testing.assert_array_equal(question.ordering([question.names[i] for i in order]), order)


def test_written_questions_and_their_key_score_answers(tmp_path, rng):
    task = a_task(6)
    questions = ask_all(task, rng)
    written, key = write_questions(tmp_path / "q.jsonl", task, questions)
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["train"] * 5 + ["order"] * 6
    again = read_key(key, task)
    assert [(q.id, q.names) for q in again] == [(q.id, q.names) for q in questions]
    with pytest.raises(FileError, match="is the key of another task"):
        read_key(key, family_task("arc"))
    answers = tmp_path / "a.jsonl"
    answers.write_text('{"id": "q0", "order": ["x"]}\n\n{"id": 1}\n')
    with pytest.raises(FileError, match="line 3: must be"):
        read_orderings(answers, questions)


@pytest.mark.parametrize("name", FAMILIES)
def test_known_tasks_are_the_same_everywhere(name):
    """Drawn again they are equal, and who knows the model does better than chance."""
    task = family_task(name)
    assert task.digest == DIGESTS[name]
    task = family_task(name)
    training, test = task.training, task.test
    assert (len(training), len(test)) == (400, 200)
    rng = np.random.default_rng(0)
    scores = []
    for collection in test:
        mixed = rng.permutation(len(collection))
        scores.append(spearman(mixed[np.argsort(EXPECTED[name](collection.features[mixed]), kind="stable")]))
    assert np.mean(scores) > 4 * np.std(scores) / np.sqrt(len(scores)) or name == "opener"
    assert np.mean(scores) > 0.05


DIGESTS = {
    "plackett-luce": "d7786c08df4d1d16",
    "mallows": "3d1139d4a9fefb68",
    "arc": "f5bebdcd8794c9ea",
    "opener": "7203f483879fc06a",
    "walk": "19263a1cd053dcbb",
}
