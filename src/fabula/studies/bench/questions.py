"""What a method sees of a collection: shuffled items under names drawn for this one question.

The shuffle and the names come from fresh randomness, so that neither the place of an item in a question nor its name
says anything about the true order. Ids, paths and whatever else a source said of an item are not shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.files.atomic import write_whole
from fabula.core.ordering import Ints
from fabula.errors import FileError
from fabula.studies.bench.tasks import BenchTask

VERSION = 1
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))


class WrongAnswerError(ValueError):
    """An answer that is no ordering of the items; the message says why."""


@dataclass(frozen=True, eq=False)
class Question:
    """One collection to be ordered.

    Attributes
    ----------
    id
        Which question it is.
    names
        What the items are called here, by their true position; the method never learns that order.
    shown
        The line a method gets.
    """

    id: str
    names: tuple[str, ...]
    shown: dict[str, Any]

    def ordering(self, answer: Any) -> Ints:
        """The ordering in the true numbering that an answer, a list of names, says.

        Raises
        ------
        WrongAnswerError
            When it is no permutation of the names.
        """
        if not isinstance(answer, list) or not all(isinstance(name, str) for name in answer):
            raise WrongAnswerError("the order must be a list of the items' ids")
        place = {name: position for position, name in enumerate(self.names)}
        unknown = [name for name in answer if name not in place]
        if unknown:
            raise WrongAnswerError(f"no permutation: there is no item {unknown[0][:20]!r}")
        if len(set(answer)) < len(answer):
            twice = next(name for name in answer if answer.count(name) > 1)
            raise WrongAnswerError(f"no permutation: item {twice!r} stands twice")
        if len(answer) < len(place):
            raise WrongAnswerError(f"no permutation: {len(place) - len(answer)} of {len(place)} items are missing")
        return np.array([place[name] for name in answer], dtype=np.intp)


def ask_all(task: BenchTask, rng: np.random.Generator) -> list[Question]:
    """A question for each test collection, in an order of their own."""
    mixed = rng.permutation(len(task.test))
    asked = {int(i): _question(f"q{number}", task.test[i], task, rng) for number, i in enumerate(mixed)}
    return [asked[i] for i in range(len(task.test))]


def _question(name: str, collection: Collection, task: BenchTask, rng: np.random.Generator) -> Question:
    names: list[str] = []
    while len(names) < len(collection):
        drawn = "".join(rng.choice(_LETTERS, size=8))
        if drawn not in names:
            names.append(drawn)
    items = [{"id": names[i], **_told(collection, i, task)} for i in rng.permutation(len(collection)).tolist()]
    return Question(name, tuple(names), {"type": "order", "id": name, "items": items})


def training_lines(task: BenchTask) -> list[dict[str, Any]]:
    """What a method may learn from: the training collections, items in their true order."""
    return [
        {"type": "train", "items": [_told(collection, i, task) for i in range(len(collection))]}
        for collection in task.training
    ]


def _told(collection: Collection, i: int, task: BenchTask) -> dict[str, Any]:
    values = [None if np.isnan(value) else float(value) for value in collection.features[i]]
    told: dict[str, Any] = {"features": dict(zip(collection.feature_names, values, strict=True))}
    return {**told, "title": collection.items[i].title} if task.titles else told


def write_questions(path: str | Path, task: BenchTask, questions: Sequence[Question]) -> tuple[Path, Path]:
    """Write the questions for a method that is run elsewhere, and beside them the key that scores its answers."""
    lines = [*training_lines(task), *(question.shown for question in sorted(questions, key=lambda q: int(q.id[1:])))]
    target = write_whole(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    key = {"format": "fabula-bench-key", "version": VERSION, "task": task.digest}
    document = {**key, "questions": {question.id: list(question.names) for question in questions}}
    return target, write_whole(f"{target}.key", json.dumps(document) + "\n")


def read_key(path: str | Path, task: BenchTask) -> list[Question]:
    """The questions as a key keeps them, by test collection."""
    document = _read_json(path)
    if not isinstance(document, dict) or document.get("format") != "fabula-bench-key":
        raise FileError(f"{path}: is no key that --questions wrote")
    if document.get("task") != task.digest:
        raise FileError(f"{path}: is the key of another task than {task.name}")
    questions = [Question(name, tuple(names), {}) for name, names in document["questions"].items()]
    if [len(q.names) for q in questions] != [len(c) for c in task.test]:
        raise FileError(f"{path}: does not hold one question for each of the {len(task.test)} collections")
    return questions


def read_answers(path: str | Path) -> dict[str, Any]:
    """The answers of a file of JSON lines, ``{"id": ..., "order": [...]}`` each: question -> order."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
    found: dict[str, Any] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
            found[str(answer["id"])] = answer["order"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(f'{path}: line {number}: must be {{"id": ..., "order": [...]}}') from error
    return found


def _read_json(path: str | Path) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
