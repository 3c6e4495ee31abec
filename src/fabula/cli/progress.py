"""Progress on stderr: bars where somebody looks, else a plain line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from fabula.training.loop.run import Progress
    from fabula.training.sets.loop import Epoch


_SECONDS = 20.0  # between two plain lines


class _Lines:
    """Plain lines where there is no terminal, some seconds apart."""

    def __init__(self) -> None:
        from fabula.cli.printing import console

        self._out = console(err=True)
        self._last = time.monotonic()

    def say(self, text: str) -> None:
        if not self._out.is_terminal and time.monotonic() - self._last >= _SECONDS:
            self._last = time.monotonic()
            self._out.print(text, markup=False, soft_wrap=True)


def _bars() -> Bars:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from fabula.cli.printing import console

    out = console(err=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=out,
        disable=not out.is_terminal,
        transient=True,
    )


@contextmanager
def training_bar(what: str) -> Iterator[Callable[..., None]]:
    """A bar that follows training: epochs, loss, bits on validation, time left."""
    with _epochs(what) as show:

        def report(progress: Progress, name: str = "") -> None:
            bits = ", ".join(f"{scorer} {value:.3f}" for scorer, value in progress.bits.items())
            note = f"loss {progress.loss:.3f}  bits {bits}"
            show(name, progress.epoch, progress.epochs, note, f", {progress.seconds_left:.0f} s left")

        yield report


@contextmanager
def epochs_bar(what: str) -> Iterator[Callable[..., None]]:
    """A bar that follows the training of a set model."""
    with _epochs(what) as show:

        def report(epoch: Epoch, name: str = "") -> None:
            show(name, epoch.number, epoch.of, f"loss {epoch.loss:.3f}  bits {epoch.bits:.3f}", "")

        yield report


@contextmanager
def _epochs(what: str) -> Iterator[Callable[[str, int, int, str, str], None]]:
    """A bar for each of several trainings by name."""
    lines = _Lines()
    with _bars() as bars:
        tasks: dict[str, TaskID] = {}

        def show(name: str, epoch: int, epochs: int, note: str, left: str) -> None:
            title = f"{what} {name}".strip()
            if name not in tasks:
                tasks[name] = bars.add_task(title, total=epochs, note="")
            bars.update(tasks[name], completed=epoch, note=note)
            lines.say(f"{title}: epoch {epoch} of {epochs}, {note}{left}")

        yield show


@contextmanager
def counting_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that counts things done of a total, naming the last one."""
    lines = _Lines()
    with _bars() as bars:
        task = bars.add_task(what, total=1, note="")

        def report(done: int, total: int, name: str) -> None:
            note = name[-40:].encode("utf-8", "replace").decode()
            bars.update(task, completed=done, total=total, note=note)
            lines.say(f"{what}: {done}{f' of {total}' if total else ''}, {note}")

        yield report
