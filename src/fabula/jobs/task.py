"""What a kind of work must say of itself to be done in shards, and the kinds there are, ours or one's own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.errors import InputError
from fabula.media.children import load

if TYPE_CHECKING:
    import pyarrow as pa

    from fabula.jobs.job import Input, ShardedJob


@dataclass(frozen=True)
class JobRequest:
    """What a job is asked to do."""

    inputs: tuple[str, ...]  # Paths or addresses
    options: Mapping[str, Any]  # Every option of the task, by name
    shards: int | None = None  # Into how many shards to cut it; None: as the task finds good
    model: str = ""  # The model's name, "" where there is none


@dataclass(frozen=True)
class Cut:
    """How a job is cut."""

    # inputs, shards, items, options: As :class:`fabula.jobs.job.JobPlan` has them
    inputs: "tuple[Input, ...]"
    shards: tuple[Any, ...]
    items: int
    options: Mapping[str, Any] = field(default_factory=dict)
    # Name -> content of files to keep beside the plan
    beside: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Round:
    """One pass over shards that do not wait for each other; most tasks have one."""

    number: int  # From 0
    shards: int  # How many it has; none: the rounds before were all
    state: Mapping[str, Any] = field(default_factory=dict)  # What the rounds before came to, as JSON holds it


class JobTask(ABC):
    """A kind of work.

    A task must give the same rows for the same shard, whoever does it and however often.
    """

    name: ClassVar[str]  # As it is called on the command line
    options: ClassVar[Mapping[str, Any]] = {}  # The options it takes, with what they are where nothing is said
    model: ClassVar[bool | None] = False  # Whether it needs a model (True), takes one (None) or has none (False)
    items: ClassVar[str] = "items"  # What its items are called
    rounds: ClassVar[bool] = False  # Whether there are rounds beyond the first

    @abstractmethod
    def cut(self, asked: JobRequest) -> Cut:
        """Look at the inputs and cut the work into shards."""

    def open(self, job: "ShardedJob") -> Any:
        """What all shards need, made once in a process."""
        return None

    @abstractmethod
    def do(self, job: "ShardedJob", now: Round, shard: int) -> "tuple[pa.Table, int]":
        """Do one shard: its rows, and how many items that were."""

    def following(self, job: "ShardedJob", now: Round) -> Round:
        """The round after one that is complete, without shards where that was the last. Same parts, same answer."""
        return Round(now.number + 1, 0)

    def gather(self, job: "ShardedJob", output: Path) -> dict[str, Any] | None:
        """Write what the parts of a complete job come to, and say what to tell of it; None: the rows of all parts."""
        return None


Task = JobTask  # its name in 0.4: plans may name tasks of one's own, which are gone on with, too

TASKS = {  # name: (where it lies, what it does)
    "extract": ("measure_files:Extract", "Measure files: a row a file."),
    "encode": ("by_model:Encode", "The essence of every item of a table of collections."),
    "order": ("by_model:Order", "An ordering of every collection of a table."),
    "templates-learn": ("templates_learn:TemplatesLearn", "Learn templates from a table of ordered collections."),
    "reproduce": ("reproduce_paper:Reproduce", "Reproduce every table and figure of the paper."),
    "compare": ("training:Compare", "Bits of each feature and of the essence, with several seeds."),
    "audit": ("training:Audit", "The bits of a recipe on real collections and on controls."),
}


@cache
def find_task(name: str) -> JobTask:
    """A task by name."""
    if name in TASKS:
        found = load(f"fabula.jobs.tasks.{TASKS[name][0]}")
    elif ":" in name:
        try:
            found = load(name)
        except (ImportError, AttributeError) as error:
            raise InputError(f"the task {name!r} cannot be imported ({error})") from error
    else:
        raise InputError(f"there is no task {name!r}; there are: {', '.join(TASKS)}")
    task = found() if isinstance(found, type) else found
    if not isinstance(task, JobTask):
        raise InputError(f"{name!r} must be a fabula.jobs.task.JobTask; got {type(task).__name__}")
    return task
