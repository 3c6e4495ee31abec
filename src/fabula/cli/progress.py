"""Progress on stderr: bars where somebody looks, else a plain line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabula.cli.printing import console

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from fabula.training.loop import Progress


_SECONDS = 20.0  # between two plain lines


@contextmanager
def _bars() -> Iterator[tuple[Bars, Callable[[str], None]]]:
    """Bars on a terminal; and what says a plain line where there is none, some seconds apart."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    out, last = console(err=True), time.monotonic()

    def say(text: str) -> None:
        nonlocal last
        if not out.is_terminal and time.monotonic() - last >= _SECONDS:
            last = time.monotonic()
            out.print(text, markup=False, soft_wrap=True)

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=out,
        disable=not out.is_terminal,
        transient=True,
    ) as bars:
        yield bars, say


@contextmanager
def training_bar(what: str) -> Iterator[Callable[..., None]]:
    """A bar that follows training: epochs, loss, bits on validation, time left."""
    with _epochs(what) as show:

        def report(progress: Progress, name: str = "") -> None:
            bits = ", ".join(f"{scorer} {value:.3f}" for scorer, value in progress.bits.items())
            note = f"loss {progress.loss:.3f}" + (f"  bits {bits}" if bits else "")
            show(name, progress.epoch, progress.epochs, note, f", {progress.seconds_left:.0f} s left")

        yield report


@contextmanager
def _epochs(what: str) -> Iterator[Callable[[str, int, int, str, str], None]]:
    """A bar for each of several trainings by name."""
    with _bars() as (bars, say):
        tasks: dict[str, TaskID] = {}

        def show(name: str, epoch: int, epochs: int, note: str, left: str) -> None:
            title = f"{what} {name}".strip()
            if name not in tasks:
                tasks[name] = bars.add_task(title, total=epochs, note="")
            bars.update(tasks[name], completed=epoch, note=note)
            say(f"{title}: epoch {epoch} of {epochs}, {note}{left}")

        yield show


@contextmanager
def counting_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that counts things done of a total, naming the last one."""
    with _bars() as (bars, say):
        task = bars.add_task(what, total=1, note="")

        def report(done: int, total: int, name: str) -> None:
            note = name[-40:].encode("utf-8", "replace").decode()
            bars.update(task, completed=done, total=total, note=note)
            say(f"{what}: {done}{f' of {total}' if total else ''}, {note}")

        yield report
