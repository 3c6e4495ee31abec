"""``templates-learn``: templates from a table of ordered collections, as ``fabula templates learn`` finds them.

The rounds: in round 0 every shard keeps the quadratic forms of its collections, b and c of each (A follows from the
length), which is all that is ever needed of them. Who finds a round complete plans the next from its parts alone, so
that anybody would plan the same. After round 0 a sample of the collections, the one that ``learn_templates`` draws,
gives the start. Each round from then on is one step of the descent: its shards sum the forms over the collections
nearest to each template, the sums add up, and the templates move or stand. By evolution, each round is a generation:
its shards sum the errors of the sets that were bred. The result is that of :func:`fabula.learn_templates` on all
essences at once, but for rounding.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fabula.core.arrays import Floats, Ints, normalise_many, positions as even_positions
from fabula.core.collections import Collections
from fabula.core.template import PAPER_KNOTS, TemplateSet, name_templates
from fabula.errors import InputError
from fabula.jobs.job import ShardedJob, default_shards, ranges
from fabula.jobs.store import Manifest, manifests, read_manifest, read_part, total_digest
from fabula.jobs.task import Cut, JobRequest, JobTask, Round
from fabula.jobs.tasks import by_model as tables
from fabula.models.model import Model
from fabula.session.catalogue import Piece, complete, open_parquet
from fabula.templates import refinement
from fabula.templates.costs import TemplateCosts, as_count, flat_costs, restore_costs
from fabula.templates.refinement import EvolutionSettings

if TYPE_CHECKING:
    import pyarrow as pa

_EACH = 50_000  # collections that a shard of a step takes, from several of round 0's parts
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
        refinement.RefinementSettings(asked.options["starts"], asked.options["steps"])
        if asked.options["method"] not in ("refined", "evolution"):
            raise InputError("is refined or evolution; contrast learns from 50,000 at most", field="method")
        if asked.options["paper"] and asked.options["method"] != "evolution":
            raise InputError("the letter of the paper is that of its evolution", field="paper")
        cut = tables.cut_table(asked)
        path, where = cut.inputs[0].path, dict(asked.options["where"])
        if _SPLIT not in where and tables.is_parquet(path):
            with open_parquet(path) as file:
                where |= {_SPLIT: "train"} if _SPLIT in file.schema_arrow.names else {}
        as_count(int(asked.options["k"]), cut.items)
        kept = Cut(cut.inputs, cut.shards, cut.items, {**cut.options, "where": where})
        return tables.try_model(asked, kept) if asked.model else kept

    def open(self, job: ShardedJob) -> Model | None:
        """The model, where the essence comes from one."""
        if not job.plan.model:
            return None
        model = tables.model_of(job)
        if not model.by_item or model.dimensions != 1:
            raise InputError(f"{job.plan.model['name']}: templates are learned from one number per item")
        return model

    def do(self, job: ShardedJob, now: Round, shard: int) -> "tuple[pa.Table, int]":
        """Keep the forms of a shard's collections, or sum those of some parts under the round's templates."""
        import pyarrow as pa

        if now.number == 0:
            return _forms(job, shard)
        first, behind = ranges(len(job.plan.shards), now.shards)[shard]  # parts of round 0
        parts = [read_manifest(job.store, 0, part) for part in range(first, behind)]
        costs = _costs([_read_forms(job, part) for part in parts if part is not None])
        if "asked" in now.state:
            total = costs.of(now.state["asked"]) * len(costs) if len(costs) else np.zeros(len(now.state["asked"]))
            return pa.table({"error": total, "members": np.full(len(total), len(costs))}), len(costs)
        return _sums_table(refinement.step_sums(costs, np.array(now.state["values"]))), len(costs)

    def following(self, job: ShardedJob, now: Round) -> Round:
        """The start after round 0, then step after step; the last round's state is the result."""
        done = manifests(job.store, now.number, now.shards)
        way = _start(job, done) if now.number == 0 else _go_on(now, [read_part(job.store, part) for part in done])
        if isinstance(way, refinement.Evolution) and way.finished:
            way = refinement.Descent(way.values, 0)  # a round to count who follows which
        shards = 0 if way.finished else min(len(job.plan.shards), default_shards(job.plan.items, _EACH))
        return Round(now.number + 1, shards, way.to_dict())

    def gather(self, job: ShardedJob, output: Path) -> dict[str, Any]:
        """Write the templates, those that most collections follow first."""
        if output.suffix.lower() != ".json":
            raise InputError(f"{output}: templates are gathered as .json")
        final = job.latest()
        values, followers = np.array(final.state["best"]), np.array(final.state["followers"])
        TemplateSet(name_templates(PAPER_KNOTS, values[np.argsort(-followers, kind="stable")])).save(output)
        first = manifests(job.store, 0, len(job.plan.shards))
        about = {"templates": len(values), "cost": final.state["history"][-1], "rounds": final.number}
        learned = {"collections": int(followers.sum()), "failures": sum(part.failures for part in first)}
        last = manifests(job.store, final.number - 1, job.round_of(final.number - 1).shards)
        return {**about, **learned, "digest": total_digest(last)}


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

    def rows(piece: Piece, part: Collections, at: slice) -> dict[str, Any]:
        if model is None:
            essence = normalise_many(part.column(names[0])[:, np.newaxis], part.offsets)
        else:
            essence = model.encode_many(complete(part, piece.medium))
        return _form_rows(essence[:, 0], part)

    return tables.rows_of_shard(found, rows), len(found)


def _form_rows(essence: Floats, part: Collections) -> dict[str, Any]:
    """A row for each collection of two items and more."""
    several = part.sizes > 1
    lengths = part.sizes[several].astype(np.int64)
    linear, constant = np.empty((0, _Q)), np.empty(0)
    if len(lengths):
        even = {n: even_positions(n) for n in np.unique(lengths).tolist()}
        u = np.concatenate([even[n] for n in lengths.tolist()])
        costs = flat_costs(essence[np.repeat(several, part.sizes)], u, lengths)
        linear, constant = costs.linear, costs.constant
    ids = np.array(part.ids[several].tolist(), dtype=str)
    return {"collection": ids, "length": lengths, "linear": _lists(linear), "constant": constant}


def _go_on(now: Round, parts: "list[pa.Table]") -> refinement.Descent | refinement.Evolution:
    """The templates after a round, by what its shards found."""
    if "asked" in now.state:
        evolving = refinement.Evolution.from_dict(now.state)
        error, members = (np.sum([part.column(n).to_numpy() for part in parts], axis=0) for n in ("error", "members"))
        evolving.take(np.asarray(error / members))  # the mean error of each set, over the collections of all parts
        return evolving
    descent = refinement.Descent.from_dict(now.state)
    descent.take(refinement.StepSums.join([_sums_of(part) for part in parts]))
    return descent


def _start(job: ShardedJob, done: Sequence[Manifest]) -> refinement.Descent | refinement.Evolution:
    """The first population; or the winner of a race on the sample that :func:`fabula.learn_templates` would draw."""
    k, rng = int(job.options["k"]), np.random.default_rng(int(job.options["seed"]))
    as_count(k, sum(part.rows - part.failures for part in done))
    if job.options["method"] == "evolution":
        how = refinement.PAPER_EVOLUTION if job.options["paper"] else EvolutionSettings()
        return refinement.Evolution.begin(k, _Q, how, rng)
    settings = refinement.RefinementSettings(int(job.options["starts"]), int(job.options["steps"]))
    sample = _sample(job, done, k, rng)
    values, cost, _ = refinement.race(sample, k, rng, settings, np.empty((0, k, _Q)))
    return refinement.Descent(values[int(np.argmin(cost))], settings.steps)


def _sample(job: ShardedJob, done: Sequence[Manifest], k: int, rng: np.random.Generator) -> TemplateCosts:
    """The collections that starts race on, from all parts, of which one at a time is held."""
    rows = refinement.sample_rows(sum(part.rows - part.failures for part in done), k, rng)
    picked, begun = [], 0
    for part in done:
        kept = _read_forms(job, part)
        size = len(kept[0])
        if rows is not None:
            wanted = rows[(rows >= begun) & (rows < begun + size)] - begun
            kept = (kept[0][wanted], kept[1][wanted], kept[2][wanted])
        picked.append(kept)
        begun += size
    return _costs(picked)


Forms = tuple[Ints, Floats, Floats]  # lengths (m,), b (m, q), c (m,)


def _read_forms(job: ShardedJob, part: Manifest) -> Forms:
    """What round 0 kept of the collections of a part."""
    table = read_part(job.store, part)
    table = table.filter(table.column("failure").is_null())
    if not table.num_rows:  # all were left out, or have failed
        return np.empty(0, dtype=np.int64), np.empty((0, _Q)), np.empty(0)
    length, constant = (table.column(name).to_numpy() for name in ("length", "constant"))
    return length, _arrays(table.column("linear"), _Q), constant


def _costs(kept: Sequence[Forms]) -> TemplateCosts:
    lengths, linear, constant = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
    return restore_costs(lengths, linear, constant)


def _sums_table(sums: refinement.StepSums) -> "pa.Table":
    """Sums as rows: one for each template, then one for each of the worst collections, whose fit is ``linear``."""
    import pyarrow as pa

    k, worst = len(sums.members), len(sums.worst)
    quadratic = np.concatenate([sums.quadratic.reshape(k, -1), np.zeros((worst, sums.quadratic[0].size))])
    return pa.table(
        {
            "kind": pa.array(["template"] * k + ["worst"] * worst),
            "members": pa.array(np.concatenate([sums.members, np.zeros(worst)])),
            "error": pa.array(np.concatenate([[sums.error], np.zeros(k - 1), sums.worst])),
            "linear": _lists(np.concatenate([sums.linear, sums.fits])),
            "quadratic": _lists(quadratic),
        }
    )


def _sums_of(table: "pa.Table") -> refinement.StepSums:
    """What :func:`_sums_table` was made of."""
    k = table.column("kind").to_pylist().count("template")
    members, error = (table.column(name).to_numpy() for name in ("members", "error"))
    linear = _arrays(table.column("linear"), _Q)
    quadratic = _arrays(table.column("quadratic"), _Q**2)[:k].reshape(k, *[_Q] * 2)
    return refinement.StepSums(quadratic, linear[:k], members[:k], float(error[0]), error[k:], linear[k:])


def _lists(array: Floats) -> Any:
    """Rows (m, w) as a column of lists."""
    import pyarrow as pa

    offsets = np.arange(len(array) + 1, dtype=np.int32) * array.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ascontiguousarray(array).ravel()))


def _arrays(column: Any, width: int) -> Floats:
    """A column of lists as rows (m, w)."""
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, dtype=np.float64).reshape(-1, width)
