"""Jobs: reading and measuring a collection beside the page, with progress, and with a way to stop it."""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fabula.core.files import guard_files
from fabula.errors import FabulaError, clip_line
from fabula.media.children import stopping
from fabula.media.medium import Stopped
from fabula.sources.registry import Choice, SeveralCollectionsError, Source
from fabula.web.file_access import ItemFile, refuse_file
from fabula.web.http_errors import StatusError

_MOST_REMEMBERED = 50


@dataclass(eq=False)
class Listing:
    """The items of what is being opened, which are there before they are measured; changed by the job alone."""

    source: Source  # with the lengths that tags tell
    files: tuple[ItemFile | None, ...]  # n files that may be fetched
    left_out: tuple[tuple[str, str], ...] = ()  # (name, why) of what is not among the items
    measured: set[int] = field(default_factory=set)  # items
    begun: float = field(default_factory=time.monotonic)
    latest: float = 0.0  # when the last item was measured

    def mark(self, path: str) -> None:
        """Note that the file at a path was measured."""
        self.measured |= {k for k, item in enumerate(self.source.collection.items) if item.path == path}
        self.latest = time.monotonic()

    def seconds_left(self) -> float | None:
        """How long measuring the others will take at the pace so far, by their lengths; None where nothing tells."""
        done, lengths = set(self.measured), [item.length for item in self.source.collection.items]
        if not done:
            return None
        known = [length for length in lengths if length]
        weights = [length or sum(known) / max(1, len(known)) or 1.0 for length in lengths]
        there = sum(weights[k] for k in done)
        pace = (self.latest - self.begun) / there
        return max(0.0, pace * (sum(weights) - there) - (time.monotonic() - self.latest)) if self.latest else 0.0


@dataclass(eq=False)
class OpenJob:
    """How far a job is; changed by its own thread alone, the state last."""

    title: str  # of what is being opened
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    done: int = 0  # files measured
    total: int = 0  # 0: not known yet
    file: str = ""  # measured last
    collection: str | None = None  # what came of it
    error: str | None = None  # why it failed, in one line
    choices: tuple[Choice, ...] = ()  # of a table of several, where it failed because none was named
    listing: Listing | None = None  # its items, once they are known
    stop: threading.Event = field(default_factory=threading.Event)  # set where it is not wanted any more


@dataclass(frozen=True)
class JobProgress:
    """What a job is given: to tell how far it is, and to ask whether it is still wanted."""

    tell: Callable[[int, int, str], None]
    stopped: Callable[[], bool] = lambda: False
    show: Callable[[Listing], None] = lambda listing: None  # called once the items are known

    def __call__(self, done: int, total: int, file: str) -> None:
        """Tell how many files of how many are done, and the last of them; `Stopped` where it is not wanted."""
        if self.stopped():
            raise Stopped
        self.tell(done, total, file)


class OpenJobs:
    """The jobs of one server, a few at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: OrderedDict[str, OpenJob] = OrderedDict()
        self._lock = threading.RLock()

    def start(self, title: str, work: Callable[[JobProgress], str]) -> OpenJob:
        """Run `work` in a thread; it is given a function to tell its progress and returns a collection's id."""
        job = OpenJob(title)
        with self._lock:
            self.check()
            self._jobs[job.id] = job
            while len(self._jobs) > _MOST_REMEMBERED:
                self._jobs.popitem(last=False)
        threading.Thread(target=_run, args=(job, work), daemon=True, name="fabula-job").start()
        return job

    def check(self) -> None:
        """Refuse when too many are running, before anything is done for another."""
        if sum(job.state == "running" for job in self.all()) >= self._most:
            raise StatusError(429, f"{self._most} collections are being opened already; wait or cancel one")

    def find(self, name: str) -> OpenJob | None:
        """A job by its id; None where it is forgotten."""
        with self._lock:
            return self._jobs.get(name)

    def get(self, name: str) -> OpenJob:
        """A job by its id."""
        found = self.find(name)
        if found is None:
            raise StatusError(404, "there is no such job here")
        return found

    def all(self) -> list[OpenJob]:
        """Every job, the newest last."""
        with self._lock:
            return list(self._jobs.values())

    def cancel(self, name: str) -> OpenJob:
        """Ask a job to stop; it does within a block of the file it is at."""
        job = self.get(name)
        job.stop.set()
        return job

    def cancel_all(self) -> None:
        """Ask every job to stop."""
        for job in self.all():
            job.stop.set()


def _run(job: OpenJob, work: Callable[[JobProgress], str]) -> None:
    """Do the work of a job, and say how it went."""

    def report(done: int, total: int, file: str) -> None:
        job.done, job.total, job.file = done, total, Path(file).name

    def show(listing: Listing) -> None:
        job.listing = listing

    state: Literal["done", "failed", "cancelled"] = "failed"
    try:
        with guard_files(refuse_file), stopping(job.stop.is_set):
            job.collection = work(JobProgress(report, job.stop.is_set, show))
        state = "done"
    except Stopped:
        state = "cancelled"
    except FabulaError as error:
        job.error = clip_line(str(error))
        job.choices = error.choices if isinstance(error, SeveralCollectionsError) else ()
    except Exception as error:  # a thread has nobody above it to tell
        job.error = f"something unforeseen went wrong ({type(error).__name__})"
    finally:
        job.state = state
