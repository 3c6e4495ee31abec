"""Methods as programs: lines of JSON in, lines of JSON out, each with a time to answer in.

A program is started once. It is told every training collection, which it may pass over, and then asked question by
question. One that ends, or is too slow, is started again, at most three times.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.core.ordering import Ints
from fabula.errors import InputError
from fabula.studies.bench.questions import Question, WrongAnswerError

RESTARTS = 3


class MethodFailedError(Exception):
    """A question that was not answered; the message says why, in one line."""


@dataclass(frozen=True)
class Patience:
    """How many seconds an answer may take, and the first one, which waits for the method to learn."""

    answer: float = 10.0
    first: float = 600.0

    def __post_init__(self) -> None:
        if not (self.answer > 0 and self.first > 0):
            raise InputError(f"a time to answer in must be above 0 seconds; got {self.answer} and {self.first}")


@dataclass
class Program:
    """A running method.

    Parameters
    ----------
    command
        The program and its arguments.
    training
        The lines it may learn from.
    patience
        How long it may take.
    """

    command: Sequence[str]
    training: Sequence[dict[str, Any]]
    patience: Patience = field(default_factory=Patience)
    starts: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _lines: queue.Queue[bytes | None] = field(default_factory=queue.Queue)
    _outgoing: queue.Queue[bytes | None] = field(default_factory=queue.Queue)
    _errors: list[bytes] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _answered: bool = False

    def ask(self, question: Question) -> Ints:
        """The ordering it gives, in the true numbering.

        Raises
        ------
        MethodFailedError
            When it ends, is too slow, or answers with something else.
        """
        if self._process is None:
            self._start()
        self._send(question.shown)
        answer = self._answer(question.id)
        self._answered = True
        try:
            return question.ordering(answer.get("order"))
        except WrongAnswerError as error:
            raise MethodFailedError(str(error)) from None

    def close(self) -> None:
        """End it: its input is closed, and what still runs after two seconds is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        self._outgoing.put(None)
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for thread in self._threads:
            thread.join(2)
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()

    def _start(self) -> None:
        if self.starts > RESTARTS:
            raise MethodFailedError(f"not asked: it was started {self.starts} times")
        self.starts += 1
        self._lines, self._outgoing, self._errors, self._answered = queue.Queue(), queue.Queue(), [], False
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(list(self.command), stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise InputError(f"the method cannot be started: {self.command[0]}: {error.strerror or error}") from error
        self._process = process
        self._threads = [
            threading.Thread(target=_follow, args=(process.stdout, self._lines.put), daemon=True),
            threading.Thread(target=_follow, args=(process.stderr, self._errors.append), daemon=True),
            threading.Thread(target=_feed, args=(process, self._outgoing), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        for line in self.training:
            self._send(line)

    def _send(self, line: dict[str, Any]) -> None:
        """Through a thread of its own: a program that does not read must not stop us."""
        self._outgoing.put((json.dumps(line) + "\n").encode())

    def _answer(self, asked: str) -> dict[str, Any]:
        limit = self.patience.answer if self._answered else self.patience.first
        end = time.monotonic() + limit
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self._abandon()
                raise MethodFailedError(f"no answer within {limit:g} s") from None
            if line is None:
                raise MethodFailedError(self._ended())
            answer = _as_answer(line)
            if answer is not None and answer.get("id") != asked:
                continue  # late, for a question that was given up
            if answer is None:
                raise MethodFailedError('the answer is no line of JSON such as {"id": ..., "order": [...]}')
            return answer

    def _abandon(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.close()

    def _ended(self) -> str:
        process = self._process
        self.close()
        code = process.returncode if process is not None else None
        said = [line.decode("utf-8", "replace").strip() for line in self._errors if line is not None and line.strip()]
        return f"it ended with code {code}{f': {said[-1][:160]}' if said else ''}"


def _feed(process: subprocess.Popen[bytes], outgoing: queue.Queue[bytes | None]) -> None:
    """Write every line; close the input at the end."""
    with contextlib.suppress(OSError, ValueError):
        while process.stdin is not None and (line := outgoing.get()) is not None:
            process.stdin.write(line)
            process.stdin.flush()
    with contextlib.suppress(OSError, ValueError):
        if process.stdin is not None:
            process.stdin.close()


def _follow(stream: Any, put: Any) -> None:
    """Pass on every line; None at the end."""
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            put(line)
    put(None)


def _as_answer(line: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None
