"""Logs of training: every epoch as a line of JSON, and for TensorBoard where it is installed.

A log is called with the report of each epoch, as any callback is, and closed after the last.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fabula.core.files import check_target
from fabula.errors import FileError, import_extra

if TYPE_CHECKING:
    from fabula.training.checkpoint import Progress

Callback = Callable[[Any], None]


def epoch_row(report: Progress) -> dict[str, Any]:
    """An epoch as one object: ``epoch``, ``epochs``, ``loss`` (nats, training) and ``bits`` by scorer (validation)."""
    return {"epoch": report.epoch, "epochs": report.epochs, "loss": report.loss, "bits": dict(report.bits)}


class EpochLog:
    """Every epoch as a line of JSON in a file, which can be followed while the run goes on.

    A run that begins replaces the file; one that goes on from a checkpoint adds to it.

    Parameters
    ----------
    path
        Where to write, for example ``run.jsonl``.
    about
        More to say in each line, for example which of several runs it is.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        self.path, self.about = check_target(path), dict(about or {})
        self._file: TextIO | None = None

    def __call__(self, report: Progress) -> None:
        """Write one epoch."""
        row = {**self.about, **epoch_row(report)}
        try:
            if self._file is None:
                self._file = self.path.open("w" if row["epoch"] <= 1 else "a", encoding="utf-8")
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise FileError(f"{self.path}: cannot be written ({error.strerror or error})") from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class TensorBoardLog:
    """Loss and bits of every epoch for TensorBoard.

    Parameters
    ----------
    folder
        Where it looks for runs: ``tensorboard --logdir FOLDER``.
    """

    def __init__(self, folder: str | Path) -> None:
        import_extra("tensorboard", extra="tensorboard", purpose="a log for TensorBoard")
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"{folder}: is a file; TensorBoard wants a folder")
        self._writer: Any = None

    def __call__(self, report: Progress) -> None:
        """Write one epoch."""
        row = epoch_row(report)
        try:
            if self._writer is None:
                self._writer = import_module("torch.utils.tensorboard").SummaryWriter(str(self.folder))
            self._writer.add_scalar("loss", row["loss"], row["epoch"])
            for name, bits in row["bits"].items():
                self._writer.add_scalar(f"bits/{name}", bits, row["epoch"])
        except OSError as error:
            raise FileError(f"{self.folder}: cannot be written ({error.strerror or error})") from error

    def close(self) -> None:
        """Write what is held back."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


@contextmanager
def logging(
    *callbacks: Callback | None, log: str | Path | None = None, tensorboard: str | Path | None = None
) -> Iterator[Callback]:
    """One callback that calls them all, those that are not None, and the logs that are asked for."""
    logs: list[EpochLog | TensorBoardLog] = []
    try:
        logs += [EpochLog(log)] if log is not None else []
        logs += [TensorBoardLog(tensorboard)] if tensorboard is not None else []
        called = [*(callback for callback in callbacks if callback is not None), *logs]

        def report(epoch: Any) -> None:
            for callback in called:
                callback(epoch)

        yield report
    finally:
        for each in logs:
            each.close()
