"""``templates-learn``: templates from a table of ordered collections, as ``fabula templates learn`` finds them.

In round 0 every shard keeps the quadratic forms of its collections, b and c of each (A follows from the length), which
is all that is ever needed of them: nine numbers a collection. Round 1 is one shard, which learns from all of them. The
result is that of :func:`fabula.learn_templates` on all essences at once, but for rounding.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fabula.core.arrays import Floats, normalise_many
from fabula.core.template import PAPER_KNOTS, TemplateSet, name_templates
from fabula.errors import InputError
from fabula.jobs.job import Input, ShardedJob
from fabula.jobs.store import manifests, read_part, total_digest
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.jobs.tasks import by_model as tables
from fabula.models.model import Model
from fabula.session.catalogue import Piece, complete
from fabula.templates.costs import TemplateCosts, as_count, flat_costs, restore_costs
from fabula.templates.learn import learn_values
from fabula.templates.refinement import PAPER_EVOLUTION, RefinementSettings

if TYPE_CHECKING:
    import pyarrow as pa

_SPLIT = "split"
_Q = len(PAPER_KNOTS)
_METHOD: Mapping[str, Any] = {"method": "refined", "paper": False, "starts": 48, "steps": 300}


class TemplatesLearn(JobTask):
    """Gathered as the JSON of a template set."""

    name: ClassVar[str] = "templates-learn"
    options: ClassVar[Mapping[str, Any]] = {**tables.OPTIONS, "by": None, "k": 4, "seed": 0, **_METHOD}
    model: ClassVar[bool | None] = None
    items: ClassVar[str] = "collections"
    rounds: ClassVar[bool] = True

    def cut(self, asked: JobRequest) -> Cut:
        """Ranges of rows; of a table with a column split, those to train on are learned from."""
        if (asked.options["by"] is None) == (not asked.model):
            raise InputError("say where the essence comes from: a column (by) or a model, one of the two")
        RefinementSettings(asked.options["starts"], asked.options["steps"])
        if asked.options["method"] not in ("refined", "evolution"):
            raise InputError("is refined or evolution; contrast learns from 50,000 at most", field="method")
        if asked.options["paper"] and asked.options["method"] != "evolution":
            raise InputError("the letter of the paper is that of its evolution", field="paper")
        path, where = Input.table(asked.inputs).path, asked.options["where"]
        if _SPLIT not in where and _SPLIT in tables.headings_of(path):
            asked = replace(asked, options={**asked.options, "where": {**where, _SPLIT: "train"}})
        cut = tables.cut_table(asked)
        as_count(int(asked.options["k"]), cut.items)
        return tables.try_model(asked, cut) if asked.model else cut

    def open(self, job: ShardedJob) -> Model | None:
        """The model, where the essence comes from one."""
        if not job.plan.model:
            return None
        model = tables.model_of(job)
        if not model.by_item or model.dimensions != 1:
            raise InputError(f"{job.plan.model['name']}: templates are learned from one number per item")
        return model

    def do(self, job: ShardedJob, now: Round, shard: int) -> "tuple[pa.Table, int]":
        """Keep the forms of a shard's collections; or learn from all of them."""
        import pyarrow as pa

        if now.number == 0:
            return _forms(job, shard)
        costs, options = _read_forms(job), job.options
        k, rng = int(options["k"]), np.random.default_rng(int(options["seed"]))
        how = asdict(PAPER_EVOLUTION) if options["paper"] else {}
        if options["method"] == "refined":
            how = {name: int(options[name]) for name in ("starts", "steps")}
        values, followers, cost = learn_values(costs, k, options["method"], rng=rng, **how)
        table = {"values": _lists(values), "followers": followers, "cost": np.full(k, cost)}
        return pa.table(table), len(costs)

    def following(self, job: ShardedJob, now: Round) -> Round:
        """One shard that learns; a round of version 0.4, which was a step, is followed by it, too."""
        return Round(now.number + 1, 1 if _learned(job, now) is None else 0)

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Write the templates, those that most collections follow first."""
        if output.suffix.lower() != ".json":
            raise InputError(f"{output}: templates are gathered as .json")
        final = job.latest()
        last = job.round_of(final.number - 1)
        found = _learned(job, last)
        if found is None:  # as version 0.4 left it
            state = final.state
            values, followers, cost = np.array(state["best"]), np.array(state["followers"]), state["history"][-1]
            values = values[np.argsort(-followers, kind="stable")]
        else:
            values, followers = _arrays(found.column("values"), _Q), found.column("followers").to_numpy()
            cost = found.column("cost")[0].as_py()
        TemplateSet(name_templates(PAPER_KNOTS, values)).save(output)
        failures = sum(part.failures for part in manifests(job.store, 0, len(job.plan.shards)))
        about = {"templates": len(values), "cost": cost, "rounds": final.number}
        learned = {"collections": int(followers.sum()), "failures": failures}
        return {**about, **learned, "digest": total_digest(manifests(job.store, last.number, last.shards))}


def _learned(job: ShardedJob, now: Round) -> "pa.Table | None":
    """The templates that a round learned; None where it did something else."""
    parts = manifests(job.store, now.number, now.shards) if now.number else []
    tables = (read_part(job.store, part) for part in parts)
    return next((table for table in tables if "followers" in table.column_names), None)


def _forms(job: ShardedJob, shard: int) -> "tuple[pa.Table, int]":
    """What is kept of every collection of two items and more: b and c; one that lacks a value is a failure."""
    model: Model | None = job.opened
    names = (str(job.options["by"]),) if model is None else model.feature_names
    found = tables.read_shard(job.inputs[0].path, job.options, job.plan.shards[shard], names)
    if model is None and found.piece is not None:  # a collection that lacks a value has failed
        many = found.piece.collections
        gaps = np.add.reduceat(~np.isfinite(many.column(names[0])), many.offsets[:-1], dtype=np.intp)
        found = tables.Shard(
            found.piece, {**dict.fromkeys(np.flatnonzero(gaps).tolist(), "lacks a value"), **found.failures}
        )

    def rows(piece: Piece) -> dict[str, Any]:
        part = piece.collections
        if model is None:
            essence = normalise_many(part.column(names[0])[:, np.newaxis], part.offsets)
        else:
            essence = model.encode_many(complete(part, piece.medium))
        several = part.sizes > 1
        lengths = part.sizes[several].astype(np.int64)
        costs = flat_costs(essence[np.repeat(several, part.sizes), 0], lengths)
        ids = np.array(part.ids[several].tolist(), dtype=str)
        return {"collection": ids, "length": lengths, "linear": _lists(costs.linear), "constant": costs.constant}

    return tables.rows_of_shard(found, rows), len(found)


def _read_forms(job: ShardedJob) -> TemplateCosts:
    """What round 0 kept of all collections."""
    lengths, linear, constant = [np.empty(0, dtype=np.int64)], [np.empty((0, _Q))], [np.empty(0)]
    for part in manifests(job.store, 0, len(job.plan.shards)):
        table = read_part(job.store, part)
        table = table.filter(table.column("failure").is_null())
        if table.num_rows:  # else all were left out, or have failed
            lengths.append(table.column("length").to_numpy())
            linear.append(_arrays(table.column("linear"), _Q))
            constant.append(table.column("constant").to_numpy())
    return restore_costs(np.concatenate(lengths), np.concatenate(linear), np.concatenate(constant))


def _lists(array: Floats) -> Any:
    """Rows (m, w) as a column of lists."""
    import pyarrow as pa

    return pa.array(list(array), pa.list_(pa.float64()))


def _arrays(column: Any, width: int) -> Floats:
    """A column of lists as rows (m, w)."""
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, dtype=np.float64).reshape(-1, width)
