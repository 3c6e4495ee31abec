"""Progress bars, on stderr and only where somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from fabula.training.loop.run import Progress
    from fabula.training.sets.loop import Epoch


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
    with _bars() as bars:
        tasks: dict[str, object] = {}

        def report(progress: Progress, name: str = "") -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(f"{what} {name}".strip(), total=progress.epochs, note="")
            bits = ", ".join(f"{scorer} {value:.3f}" for scorer, value in progress.bits.items())
            note = f"loss {progress.loss:.3f}  bits {bits}"
            bars.update(tasks[name], completed=progress.epoch, note=note)  # type: ignore[arg-type]

        yield report


@contextmanager
def epochs_bar(what: str) -> Iterator[Callable[..., None]]:
    """A bar that follows the training of a set model."""
    with _bars() as bars:
        tasks: dict[str, object] = {}

        def report(epoch: Epoch, name: str = "") -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(f"{what} {name}".strip(), total=epoch.of, note="")
            note = f"loss {epoch.loss:.3f}  bits {epoch.bits:.3f}"
            bars.update(tasks[name], completed=epoch.number, note=note)  # type: ignore[arg-type]

        yield report


@contextmanager
def counting_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that counts things done of a total, naming the last one."""
    with _bars() as bars:
        task = bars.add_task(what, total=1, note="")

        def report(done: int, total: int, name: str) -> None:
            bars.update(task, completed=done, total=total, note=name[-40:].encode("utf-8", "replace").decode())

        yield report
