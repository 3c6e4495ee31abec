"""Gathering: the parts of a job in the order of their shards, as one table with one digest."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.files.atomic import check_target, write_whole
from fabula.errors import FileError, InputError
from fabula.jobs.parts import FAILURE, Manifest, manifests, part_schema, rows_of_parts, total_digest
from fabula.jobs.plan import OpenJob, open_job

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = (".parquet", ".csv")


def gather(address: str, output: str | os.PathLike[str], *, partial: bool = False) -> dict[str, Any]:
    """Write what a job came to.

    Parameters
    ----------
    address
        Where the job lies.
    output
        The file; what it may be depends on the task.
    partial
        Take what is there of an incomplete job.

    Returns
    -------
    What to tell: ``path``, ``digest``, and for tables ``rows``, ``failures`` and ``missing`` shards.
    """
    job = open_job(address, check=False)
    target = check_target(output)
    now = job.round()
    if now is not None and not partial:
        manifests(job.store, now.number, now.shards)  # says which are missing
        raise InputError(f"{job.store.address}: a round is to come; work on it")
    own = job.task.gather(job, target) if now is None else None
    return {"path": str(target), **(own or gather_table(job, target, partial=partial))}


def gather_table(job: OpenJob, target: Path, *, partial: bool = False) -> dict[str, Any]:
    """Write the rows of all parts of the first round as .parquet or .csv, whole or not at all."""
    if target.suffix.lower() not in ENDINGS:
        raise InputError(f"{target}: rows are gathered as one of {', '.join(ENDINGS)}")
    shards = len(job.plan.shards)
    parts = manifests(job.store, 0, shards, partial=partial)
    schema = _schema(job, parts)
    if target.suffix.lower() == ".csv":
        _write_csv(job, parts, schema, target)
    else:
        _write_parquet(job, parts, schema, target)
    rows, failures = (sum(getattr(one, name) for one in parts) for name in ("rows", "failures"))
    about = {"rows": rows, "failures": failures, "digest": total_digest(parts)}
    return {**about, "missing": shards - len(parts)}


def _schema(job: OpenJob, parts: Sequence[Manifest]) -> pa.Schema:
    """One schema for all parts: a column that one part lacks is empty there; failures come last."""
    import pyarrow as pa

    known = {part_schema(job.store, part): None for part in parts}
    found: pa.Schema = pa.unify_schemas(list(known), promote_options="permissive")
    if FAILURE not in found.names:
        return found
    at = found.get_field_index(FAILURE)
    return found.remove(at).append(found.field(at))


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _write_parquet(job: OpenJob, parts: Sequence[Manifest], schema: pa.Schema, target: Path) -> None:
    """Write a part at a time, so that the result may be larger than memory."""
    import pyarrow.parquet as pq

    aside = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with pq.ParquetWriter(aside, schema) as writer:
            for table in rows_of_parts(job.store, parts):
                writer.write_table(_cast(table, schema))
        aside.replace(target)
    except OSError as error:
        raise FileError(f"{target}: cannot be written ({error.strerror or error})") from error
    finally:
        aside.unlink(missing_ok=True)


def _write_csv(job: OpenJob, parts: Sequence[Manifest], schema: pa.Schema, target: Path) -> None:
    import pyarrow.csv as csv

    buffer = io.BytesIO()
    with csv.CSVWriter(buffer, schema) as writer:
        for table in rows_of_parts(job.store, parts):
            writer.write_table(_cast(table, schema))
    write_whole(target, buffer.getvalue())
