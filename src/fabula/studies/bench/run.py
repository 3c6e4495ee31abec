"""A run of the benchmark: questions to a method, its row beside ours and the paper's, and the card that says it all."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.files.atomic import write_whole
from fabula.errors import FileError, InputError
from fabula.evaluation.intervals import Interval
from fabula.evaluation.metrics import METRICS
from fabula.studies.bench.ours import measured, our_methods
from fabula.studies.bench.programs import MethodFailedError, Patience, Program
from fabula.studies.bench.questions import Question, WrongAnswerError, ask_all, read_answers, training_lines
from fabula.studies.bench.scoring import BenchRow, Orderings, chance_row, chance_scores, score_row
from fabula.studies.bench.tasks import BenchTask
from fabula.version import __version__

FORMAT = "fabula-bench-order"
VERSION = 1
_CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

Report = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class BenchCard:
    """What came of a run.

    Attributes
    ----------
    task
        What was asked: name, digest of the test, numbers of collections, features, rule of the split.
    rows
        The methods, from the highest Spearman's rho.
    command
        How the method was called; empty where there was none.
    failures
        Why questions count as a random ordering, and how many.
    notes
        What one should know.
    """

    task: dict[str, Any]
    rows: list[BenchRow]
    command: str = ""
    failures: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def save(self, path: str | Path) -> Path:
        """Write the card as JSON, whole or not at all."""
        return write_whole(path, self.text())

    def text(self) -> str:
        """The card as JSON."""
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "fabula": __version__, "task": self.task}
        document |= {"command": self.command, "failures": self.failures, "notes": list(self.notes)}
        document |= {"rows": [row.to_dict() for row in self.rows]}
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> BenchCard:
        """Read a card back."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(f"{path}: cannot be read as a card ({error})") from error
        if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
            raise FileError(f"{path}: is no card of version {VERSION} that fabula bench-order wrote")
        try:
            rows = [_row(each) for each in document["rows"]]
            told = (document["task"], rows, document["command"], document["failures"], tuple(document["notes"]))
        except (KeyError, TypeError) as error:
            raise FileError(f"{path}: is a card that lacks something ({error})") from error
        return cls(*told)


def run_program(
    task: BenchTask,
    method: str,
    *,
    patience: Patience | None = None,
    rng: np.random.Generator | None = None,
    progress: Report | None = None,
) -> Orderings:
    """Ask a method about every test collection.

    Parameters
    ----------
    task
        What to ask.
    method
        A command line, or ``module:function``.
    patience
        How long it may take.
    rng
        Shuffles and names the items; by default fresh randomness, so that nobody can know it.
    progress
        Called after each question.
    """
    drawn = np.random.default_rng() if rng is None else rng
    program = Program(command_of(method), training_lines(task), patience or Patience())
    found: dict[int, Any] = {}
    failures: dict[str, int] = {}
    try:
        asked = sorted(enumerate(ask_all(task, drawn)), key=lambda pair: int(pair[1].id[1:]))
        for number, (i, question) in enumerate(asked):
            try:
                found[i] = program.ask(question)
            except MethodFailedError as error:
                failures[str(error)] = failures.get(str(error), 0) + 1
            if progress is not None:
                progress(number + 1, len(asked), f"{sum(failures.values())} failed")
    finally:
        program.close()
    return Orderings([found.get(i) for i in range(len(task.test))], failures)


def command_of(method: str) -> list[str]:
    """The program and its arguments; a Python function becomes a program that asks it.

    Examples
    --------
    >>> command_of("python mine.py --fast")
    ['python', 'mine.py', '--fast']
    >>> command_of("mine:order")[1:]
    ['-m', 'fabula.studies.bench.worker', 'mine:order']
    """
    if _CALLABLE.fullmatch(method):
        return [sys.executable, "-m", "fabula.studies.bench.worker", method]
    try:
        parts = shlex.split(method)
    except ValueError as error:
        raise InputError(f"the method is no command line: {error}") from error
    if not parts:
        raise InputError("the method is empty: give a command, or module:function")
    return parts


def read_orderings(path: str | Path, questions: Sequence[Question]) -> Orderings:
    """The answers of a file to questions that were written before."""
    answers = read_answers(path)
    unknown = sorted(set(answers) - {question.id for question in questions})
    if unknown:
        raise FileError(f"{path}: answers a question {unknown[0]!r} that was not asked")
    found: list[Any] = []
    failures: dict[str, int] = {}
    for question in questions:
        try:
            if question.id not in answers:
                raise WrongAnswerError("no answer")
            found.append(question.ordering(answers[question.id]))
        except WrongAnswerError as error:
            found.append(None)
            failures[str(error)] = failures.get(str(error), 0) + 1
    return Orderings(found, failures)


def make_card(
    task: BenchTask,
    given: Orderings | None = None,
    *,
    name: str = "yours",
    command: str = "",
    trained: bool = False,
    progress: Callable[[str], None] | None = None,
) -> BenchCard:
    """A card: the method's row, where there is one, beside ours and the paper's.

    Parameters
    ----------
    task
        What was asked.
    given
        The method's orderings.
    name, command
        What the method is called, and how it was.
    trained
        Whether the rows that need an essence to be trained are measured anew, which takes PyTorch and minutes; else
        they are those that come with the package, where the task is one of its own.
    progress
        Called with the name of each of our methods before its turn.
    """
    report = progress or (lambda _: None)
    chance = chance_scores(task)
    rows = [chance_row(task, chance)]
    notes = list(task.notes)
    if given is not None:
        rows.append(score_row(name, "yours", given, task, chance))
    report("learning")
    stored = [] if trained else stored_rows(task.digest)
    for method in our_methods(task, trained=trained, known={row.method for row in stored}):
        if isinstance(method, str):
            notes.append(method)
            continue
        report(method.name)
        found = measured(task, method, np.random.default_rng((0, 3)))
        if isinstance(found, str):
            notes.append(found)
        else:
            rows.append(score_row(method.name, method.kind, found, task, chance, about=method.about))
    rows += stored
    rows.sort(key=lambda row: -row.metrics["spearman"].mean)
    return BenchCard(task.to_dict(), rows, command, dict(given.failures) if given else {}, tuple(notes))


def stored_rows(digest: str) -> list[BenchRow]:
    """The rows of a task that were measured before and come with the package; none for a task that is not its own."""
    stored = json.loads(files(__package__).joinpath("stored.json").read_text(encoding="utf-8"))
    return [_row(each) for each in stored.get(digest, [])]


def joined(cards: Sequence[BenchCard]) -> BenchCard:
    """Several cards of one task as one: our rows of the first, everybody's own rows."""
    first = cards[0]
    for card in cards[1:]:
        if card.task["digest"] != first.task["digest"]:
            raise InputError(
                f"cards of different tasks cannot stand on one page: {first.task['name']} ({first.task['digest']}) "
                f"and {card.task['name']} ({card.task['digest']})"
            )
    rows = list(first.rows)
    rows += [row for card in cards[1:] for row in card.rows if row.kind == "yours"]
    rows.sort(key=lambda row: -row.metrics["spearman"].mean)
    return BenchCard(first.task, rows, first.command, first.failures, first.notes)


def _row(document: dict[str, Any]) -> BenchRow:
    metrics = {name: Interval(**document["metrics"][name]) for name in METRICS}
    gain = None if document["gain"] is None else Interval(**document["gain"])
    return BenchRow(document["method"], document["kind"], metrics, document["failed"], gain, document.get("about", ""))
