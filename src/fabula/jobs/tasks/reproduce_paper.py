"""``reproduce``: every table and figure of the paper; a shard is one stage, its rows are the files that it keeps.

The rounds: everything that is trained; what is measured on an essence once it is trained; and the rest, in one shard.
A worker lays the files of the rounds before into a folder of its own, so that no disk need be shared.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fabula.errors import InputError, import_extra
from fabula.jobs.job import Input, ShardedJob
from fabula.jobs.store import manifests, read_part, total_digest
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.research.reproduce import make_folders, measurements, run, trainings
from fabula.research.workspace import StudyData, Workspace, make_plan, read_study_data

if TYPE_CHECKING:
    import pyarrow as pa

_PLAN = ("quick", "seeds", "preset", "device")


class Reproduce(JobTask):
    """Gathered as a folder; ``fabula reproduce DATA -o FOLDER`` finds everything kept there and writes the report."""

    name: ClassVar[str] = "reproduce"
    options: ClassVar[Mapping[str, Any]] = {
        "quick": False, "seeds": None, "preset": None, "device": "auto", "features": None, "held_out": 0.1,
    }  # fmt: skip
    items: ClassVar[str] = "stages"
    rounds: ClassVar[bool] = True

    def cut(self, asked: JobRequest) -> Cut:
        """One shard for each training; the rounds that follow are counted when they begin."""
        import_extra("torch", extra="train", purpose="reproducing the paper")
        table = Input.table(asked.inputs)
        count = len(trainings(_workspace(_study(table.path, asked.options), asked.options, Path())))
        return Cut((table,), tuple(range(count)), count, dict(asked.options))

    def open(self, job: ShardedJob) -> StudyData:
        """The collections."""
        return _study(job.inputs[0].path, job.options)

    def do(self, job: ShardedJob, now: Round, shard: int) -> "tuple[pa.Table, int]":
        """Do one stage in a folder that holds what the rounds before kept."""
        import pyarrow as pa

        with tempfile.TemporaryDirectory(prefix="fabula-stage-") as name:
            folder = make_folders(Path(name))
            known = _lay_out(job, folder, now.number)
            workspace = _workspace(job.opened, job.options, folder)
            if now.number == 2:
                run(workspace)
            else:
                (trainings, measurements)[now.number](workspace)[shard](workspace)
            made = sorted(path for path in folder.rglob("*") if path.is_file() and str(path) not in known)
            files = [path.relative_to(folder).as_posix() for path in made]
            content = [_timeless(path) for path in made]
        return pa.table({"file": pa.array(files, pa.string()), "content": pa.array(content, pa.binary())}), 1

    def following(self, job: ShardedJob, now: Round) -> Round:
        """Measurements after the trainings, then the rest, then nothing."""
        if now.number == 0:
            return Round(1, len(measurements(_workspace(job.opened, job.options, Path()))))
        return Round(now.number + 1, 1 if now.number == 1 else 0)

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Lay all files out in a folder."""
        final = job.latest().number
        files = _lay_out(job, make_folders(output), final)
        last = [manifests(job.store, number, job.round_of(number).shards) for number in range(final)]
        return {"files": len(files), "digest": total_digest([part for parts in last for part in parts])}


def _study(path: str, options: Mapping[str, Any]) -> StudyData:
    return read_study_data(path, features=options["features"], held_out=options["held_out"])


def _workspace(study: StudyData, options: Mapping[str, Any], folder: Path) -> Workspace:
    plan = make_plan(**{name: options[name] for name in _PLAN})
    return Workspace(folder, study, plan)


def _lay_out(job: ShardedJob, folder: Path, rounds: int) -> set[str]:
    """Write what the first rounds kept; returns the paths."""
    written = set()
    for number in range(rounds):
        for part in manifests(job.store, number, job.round_of(number).shards):
            table = read_part(job.store, part)
            for name, content in zip(*(table.column(key).to_pylist() for key in ("file", "content")), strict=True):
                place = (folder / name).resolve()
                if folder.resolve() not in place.parents:
                    raise InputError(f"{job.store.address}: a part names a file outside the folder ({name})")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
                written.add(str(folder / name))
    return written


def _timeless(path: Path) -> bytes:
    """What a stage kept, without how long it took: the same work has the same digest."""
    if path.suffix != ".json":
        return path.read_bytes()
    document = json.loads(path.read_bytes())
    document.pop("seconds", None)
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"
