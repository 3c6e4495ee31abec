"""``extract``: measure files, a row a file."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import FileError, InputError, shown
from fabula.jobs.job import Input, ShardedJob, digest, ranges
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.media.extraction import Measuring, extract
from fabula.media.medium import Medium
from fabula.media.registry import find_medium
from fabula.session.measure import add_columns
from fabula.sources.folders import files_of, medium_of
from fabula.sources.registry import Opening, Source
from fabula.sources.tables.write_table import feature_columns

if TYPE_CHECKING:
    import pyarrow as pa

_EACH = 64  # files in a shard
_LISTS = "files"


class Extract(JobTask):
    """Rows: collection (the folder), path, title, who made it, features, failure."""

    name: ClassVar[str] = "extract"
    options: ClassVar[Mapping[str, Any]] = {"spec": None}
    items: ClassVar[str] = "files"

    def cut(self, asked: JobRequest) -> Cut:
        """Lists of files below one folder, each with its size; the lists lie beside the plan."""
        medium, _ = medium_of(asked.inputs, Opening())
        spec = medium.spec(asked.options["spec"])
        names = [name for name in files_of(asked.inputs) if Path(name).suffix.lower() in medium.endings]
        if not names:
            raise FileError(f"{shown(asked.inputs[0])}: holds no {medium.words.files}")
        places = list(dict.fromkeys(Path(name).resolve() for name in names))  # one that links lead to counts once
        root = Path(os.path.commonpath([place.parent for place in places]))
        files = [[os.fspath(place.relative_to(root)), place.stat().st_size] for place in places]
        beside, shards = {}, []
        for number, (a, b) in enumerate(ranges(len(files), asked.shards, _EACH)):
            content = json.dumps(files[a:b]).encode()
            beside[_list(number)] = content
            shards.append([b - a, digest(content)])
        options = {"spec": spec.name, "spec version": spec.version, "medium": medium.name}
        return Cut((Input.folder(root),), tuple(shards), len(files), options, beside)

    def open(self, job: ShardedJob) -> Medium:
        """The medium."""
        medium = find_medium(job.options["medium"])
        if medium.spec(job.options["spec"]).version != job.options["spec version"]:
            raise InputError(f"the job was planned with another version of {job.options['spec']!r}")
        return medium

    def do(self, job: ShardedJob, now: Round, shard: int) -> "tuple[pa.Table, int]":
        """Measure the files of a shard, one after the other: processes, not threads, share the shards."""
        data = job.store.read(_list(shard)) or b""
        if digest(data) != job.plan.shards[shard][1]:
            raise FileError(f"{job.store.address}/{_list(shard)}: is not the list that the job was planned with")
        root, files = Path(job.inputs[0].path), json.loads(data)
        medium: Medium = job.opened
        changed = {}
        for name, size in files:
            with suppress(OSError):
                if (root / name).stat().st_size == size:
                    continue
            changed[name] = "changed since the job was planned"
        names = [name for name, _ in files if name not in changed]
        spec = medium.spec(job.options["spec"])
        found = extract([root / name for name in names], spec, Measuring(jobs=1))
        kept = [names[i] for i in found.kept]
        failures = changed | {os.fspath(Path(path).relative_to(root)): why for path, why in found.problems}
        items = [medium.read_item(os.fspath(root / name)) for name in kept]
        source = Source(root, Collection("files", items), medium, files=True) if items else None
        rows = medium.complete(add_columns(source, found)) if source else None
        return _table(medium, rows, kept, [[n, failures[n]] for n, _ in files if n in failures]), len(files)


def _table(medium: Medium, rows: Collection | None, kept: Sequence[str], lost: Sequence[Sequence[str]]) -> "pa.Table":
    """Measured files in their order, then those that could not be measured."""
    import pyarrow as pa

    names = [*kept, *(name for name, _ in lost)]
    columns: dict[str, Any] = {
        "collection": pa.array([os.path.dirname(name) for name in names], pa.string()),  # noqa: PTH120 - a name
        "path": pa.array(names, pa.string()),
    }
    if rows is not None:
        none = [None] * len(lost)
        columns["title"] = pa.array([*(item.title for item in rows.items), *none], pa.string())
        columns[medium.words.creator] = pa.array([*(item.creator for item in rows.items), *none], pa.string())
        for name, values in feature_columns(rows).items():
            columns[name] = pa.array(np.concatenate([values, np.full(len(lost), np.nan)]), from_pandas=True)
    columns["failure"] = pa.array([*[None] * len(kept), *(why for _, why in lost)], pa.string())
    return pa.table(columns)


def _list(shard: int) -> str:
    return f"{_LISTS}/{shard:05d}.json"
