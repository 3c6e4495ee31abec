"""Methods as programs: lines of JSON in, lines of JSON out, each with a time to answer in.

A program is started once. It is told every training collection, which it may pass over, and then asked question by
question. One that ends, or is too slow, is started again, at most three times.

A question shows shuffled items under names drawn for it alone, from fresh randomness, so that neither the place of an
item nor its name says anything about the true order. Ids, paths and whatever else a source said are not shown.

A Python function is a method, too, and sees what a program would: ``python -m fabula.research.bench_programs
module:function`` asks it in a process of its own. ``function(collection)`` takes a :class:`fabula.Collection` in no
known order and gives an ordering, ``ordering[position] = item``. A class is made first; where it, or the function, has
``train``, that is called with the training collections before the first question.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Ints, as_ordering
from fabula.core.collection import Collection, Item
from fabula.core.files import read_bytes, write_whole
from fabula.errors import FileError, InputError

if TYPE_CHECKING:
    from fabula.research.bench import BenchTask

VERSION = 1
RESTARTS = 3
_CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))

Report = Callable[[int, int, str], None]


class MethodFailedError(Exception):
    """A question that was not answered, or not with an ordering; the message says why, in one line."""


@dataclass(frozen=True, eq=False)
class Orderings:
    """A method's orderings in the true numbering, None where it failed, and why it did."""

    found: Sequence[Ints | None]
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def misses(self) -> int:
        """How many it did not give."""
        return sum(each is None for each in self.found)


@dataclass(frozen=True, eq=False)
class Question:
    """One collection to be ordered."""

    id: str
    names: tuple[str, ...]  # of the items, by their true position; the method never learns that order
    shown: dict[str, Any]  # the line a method gets

    def ordering(self, answer: Any) -> Ints:
        """The ordering in the true numbering that an answer, a list of names, says; an error where it is none."""
        if not isinstance(answer, list) or not all(isinstance(name, str) for name in answer):
            raise MethodFailedError("the order must be a list of the items' ids")
        place = {name: position for position, name in enumerate(self.names)}
        unknown = [name for name in answer if name not in place]
        if unknown:
            raise MethodFailedError(f"no permutation: there is no item {unknown[0][:20]!r}")
        if len(set(answer)) < len(answer):
            twice = next(name for name in answer if answer.count(name) > 1)
            raise MethodFailedError(f"no permutation: item {twice!r} stands twice")
        if len(answer) < len(place):
            raise MethodFailedError(f"no permutation: {len(place) - len(answer)} of {len(place)} items are missing")
        return np.array([place[name] for name in answer], dtype=np.intp)


def ask_all(task: BenchTask, rng: np.random.Generator) -> list[Question]:
    """A question for each test collection, in an order of their own."""
    mixed = rng.permutation(len(task.test))
    asked: dict[int, Question] = {}
    for number, which in enumerate(mixed.tolist()):
        collection, names = task.test[which], list[str]()
        while len(names) < len(collection):
            drawn = "".join(rng.choice(_LETTERS, size=8))
            if drawn not in names:
                names.append(drawn)
        items = [{"id": names[i], **_describe(collection, i, task)} for i in rng.permutation(len(collection)).tolist()]
        line = {"type": "order", "id": f"q{number}", "items": items}
        asked[which] = Question(f"q{number}", tuple(names), line)
    return [asked[i] for i in range(len(task.test))]


def training_lines(task: BenchTask) -> list[dict[str, Any]]:
    """What a method may learn from: the training collections, items in their true order."""
    return [{"type": "train", "items": [_describe(c, i, task) for i in range(len(c))]} for c in task.training]


def run_program(
    task: BenchTask, method: str, *, answer: float = 10.0, first: float = 600.0, progress: Report | None = None
) -> Orderings:
    """Ask a method, a command line or ``module:function``, about every test collection.

    ``answer``: how many seconds an answer may take, and the ``first`` one, which waits for the method to learn.
    """
    if not (answer > 0 and first > 0):
        raise InputError(f"a time to answer in must be above 0 seconds; got {answer} and {first}")
    program = Program(command_of(method), training_lines(task), answer, first)
    found: dict[int, Ints] = {}
    failures: Counter[str] = Counter()
    try:
        questions = enumerate(ask_all(task, np.random.default_rng()))
        for number, (i, question) in enumerate(sorted(questions, key=lambda pair: int(pair[1].id[1:])), start=1):
            try:
                found[i] = program.ask(question)
            except MethodFailedError as error:
                failures[str(error)] += 1
            if progress is not None:
                progress(number, len(task.test), f"{failures.total()} failed")
    finally:
        program.close()
    return Orderings([found.get(i) for i in range(len(task.test))], dict(failures))


def command_of(method: str) -> list[str]:
    """The program and its arguments; a Python function becomes a program that asks it.

    >>> command_of("python mine.py --fast")
    ['python', 'mine.py', '--fast']
    >>> command_of("mine:order")[1:]
    ['-m', 'fabula.research.bench_programs', 'mine:order']
    """
    if _CALLABLE.fullmatch(method):
        return [sys.executable, "-m", "fabula.research.bench_programs", method]
    try:
        parts = shlex.split(method)
    except ValueError as error:
        raise InputError(f"the method is no command line: {error}") from error
    if not parts:
        raise InputError("the method is empty: give a command, or module:function")
    return parts


def write_questions(path: str | Path, task: BenchTask, questions: Sequence[Question]) -> tuple[Path, Path]:
    """Write the questions for a method that is run elsewhere, and beside them the key that scores its answers."""
    lines = [*training_lines(task), *(question.shown for question in sorted(questions, key=lambda q: int(q.id[1:])))]
    target = write_whole(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    key = {"format": "fabula-bench-key", "version": VERSION, "task": task.digest}
    document = {**key, "questions": {question.id: list(question.names) for question in questions}}
    return target, write_whole(f"{target}.key", json.dumps(document) + "\n")


def read_document(path: str | Path, what: str, **marks: Any) -> dict[str, Any]:
    """The JSON object of a file, which has these marks if it is what it should be."""
    try:
        document = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
    if not isinstance(document, dict) or any(document.get(name) != mark for name, mark in marks.items()):
        raise FileError(f"{path}: is no {what}")
    return document


def read_key(path: str | Path, task: BenchTask) -> list[Question]:
    """The questions as a key keeps them, by test collection."""
    document = read_document(path, "key that --questions wrote", format="fabula-bench-key")
    if document.get("task") != task.digest:
        raise FileError(f"{path}: is the key of another task than {task.name}")
    questions = [Question(name, tuple(names), {}) for name, names in document["questions"].items()]
    if [len(q.names) for q in questions] != [len(c) for c in task.test]:
        raise FileError(f"{path}: does not hold one question for each of the {len(task.test)} collections")
    return questions


def read_orderings(path: str | Path, questions: Sequence[Question]) -> Orderings:
    """The answers of a file of JSON lines, ``{"id": ..., "order": [...]}`` each, to questions written before."""
    try:
        lines = read_bytes(path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
    answers: dict[str, Any] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
            answers[str(answer["id"])] = answer["order"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(f'{path}: line {number}: must be {{"id": ..., "order": [...]}}') from error
    unknown = sorted(set(answers) - {question.id for question in questions})
    if unknown:
        raise FileError(f"{path}: answers a question {unknown[0]!r} that was not asked")
    found: list[Ints | None] = []
    failures: Counter[str] = Counter()
    for question in questions:
        try:
            if question.id not in answers:
                raise MethodFailedError("no answer")
            found.append(question.ordering(answers[question.id]))
        except MethodFailedError as error:
            found.append(None)
            failures[str(error)] += 1
    return Orderings(found, dict(failures))


class Program:
    """A running method, with the lines it may learn from: an answer and the first one may take so many seconds."""

    def __init__(self, command: Sequence[str], training: Sequence[dict[str, Any]], answer: float, first: float) -> None:
        self._command, self._limits = list(command), (first, answer)
        self._training = _as_lines(training)
        self._process: subprocess.Popen[bytes] | None = None
        self._starts, self._answered = 0, False

    def ask(self, question: Question) -> Ints:
        """The ordering it gives, in the true numbering; an error when it ends, is too slow, or answers otherwise."""
        process: Any = self._process or self._start()
        self._writing.submit(_send, process.stdin, _as_lines([question.shown]))
        limit = self._limits[self._answered]
        end = time.monotonic() + limit
        while True:
            try:
                line = self._reading.submit(process.stdout.readline).result(max(0.0, end - time.monotonic()))
            except TimeoutError:
                process.kill()
                self.close()
                raise MethodFailedError(f"no answer within {limit:g} s") from None
            if not line:
                said = self.close().decode("utf-8", "replace").split("\n")
                last = next((one.strip() for one in reversed(said) if one.strip()), "")
                why = f": {last[:160]}" if last else ""
                raise MethodFailedError(f"it ended with code {process.returncode}{why}")
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError):
                answer = None
            if not isinstance(answer, dict):
                raise MethodFailedError('the answer is no line of JSON such as {"id": ..., "order": [...]}')
            if answer.get("id") == question.id:  # else it is late, for a question that was given up
                self._answered = True
                return question.ordering(answer.get("order"))

    def close(self) -> bytes:
        """End it, by force after two seconds, and give what it told as errors."""
        process, self._process = self._process, None
        if process is None:
            return b""
        with self._running:
            closing = self._writing.submit(_send, process.stdin, None)
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.kill()
            closing.result()
            self._errors.seek(0)
            return self._errors.read()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._starts > RESTARTS:
            raise MethodFailedError(f"not asked: it was started {self._starts} times")
        self._starts += 1
        self._answered = False
        pipe = subprocess.PIPE
        with contextlib.ExitStack() as stack:
            self._errors = stack.enter_context(tempfile.TemporaryFile())
            try:
                process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=self._errors)
            except OSError as error:
                why = f"{self._command[0]}: {error.strerror or error}"
                raise InputError(f"the method cannot be started: {why}") from error
            self._process = stack.enter_context(process)
            self._reading, self._writing = (stack.enter_context(ThreadPoolExecutor(1)) for _ in range(2))
            self._running = stack.pop_all()
        self._writing.submit(_send, process.stdin, self._training)
        return process


def _as_lines(messages: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(message) + "\n" for message in messages).encode()


def _send(stream: Any, data: bytes | None) -> None:
    """Write, or close; in a thread of its own, since a program that does not read must not stop us."""
    with contextlib.suppress(OSError, ValueError):
        if data is None:
            stream.close()
        else:
            stream.write(data)
            stream.flush()


def _describe(collection: Collection, i: int, task: BenchTask) -> dict[str, Any]:
    """What a method is shown of an item."""
    values = [None if np.isnan(value) else float(value) for value in collection.features[i]]
    shown: dict[str, Any] = {"features": dict(zip(collection.feature_names, values, strict=True))}
    shown |= {"title": collection.items[i].title} if task.titles else {}
    return shown | ({"text": collection.items[i].details.get("text", "")} if task.texts else {})


def answer_lines(target: str, lines: Iterable[str], write: Callable[[str], object]) -> None:
    """Answer questions by a Python function, line by line."""
    module, _, name = target.partition(":")
    method: Any = importlib.import_module(module)
    for part in name.split("."):
        method = getattr(method, part)
    if isinstance(method, type):
        method = method()
    learned: list[Collection] = []
    trained = False
    for line in lines:
        message = json.loads(line)
        if message["type"] == "train":
            learned.append(_as_collection(str(len(learned)), message["items"], ordered=True))
            continue
        if not trained and hasattr(method, "train"):
            method.train(learned)
        trained = True
        items = message["items"]
        ordering = as_ordering(method(_as_collection(message["id"], items, ordered=False)), len(items))
        write(json.dumps({"id": message["id"], "order": [items[i]["id"] for i in ordering]}) + "\n")


def _as_collection(name: str, items: list[dict[str, Any]], *, ordered: bool) -> Collection:
    """The items of a line as a collection."""
    names = list(items[0]["features"])
    rows = [[math.nan if item["features"][f] is None else item["features"][f] for f in names] for item in items]
    details = [{"text": item["text"]} if "text" in item else {} for item in items]
    shown = [
        Item(item.get("id", str(i)), title=item.get("title", ""), details=own)
        for i, (item, own) in enumerate(zip(items, details, strict=True))
    ]
    return Collection(name, shown, rows, names, ordered=ordered)


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr  # what the method prints is no answer

    def _write(text: str) -> None:
        answers.write(text)
        answers.flush()

    answer_lines(sys.argv[1], sys.stdin, _write)
