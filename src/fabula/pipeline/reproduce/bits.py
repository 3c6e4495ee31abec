"""Stages that measure information about the order: Table 1, Figure 1, the controls, and more data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.pipeline.reproduce.bench import Bench

PAPER_TABLE = {1: 1.924, 2: 1.936, 4: 1.957, 8: 1.950, 16: 1.975}  # what Table 1 of the paper says


def table1(bench: Bench) -> list[dict[str, Any]]:
    """Bits by the number of dimensions of the essence."""
    study, plan = bench.study, bench.plan
    config = plan.bits_config(study.features)
    rows = []
    for d in plan.dimensions:
        name = f"table1-d{d}"

        def work(d: int = d, name: str = name) -> Any:
            from fabula.training.comparing import sweep

            return sweep(
                some(study.training, plan.most),
                study.measured,
                config,
                dimensions=(d,),
                seeds=plan.seeds,
                device=plan.device,
                progress=_counted(bench, name),
            )

        settings = {"config": config.to_dict(), "d": d, "seeds": plan.seeds, "most": plan.most}
        rows += bench.stage(name, settings, work)
    return [{**row, "paper": PAPER_TABLE.get(row["dimensions"])} for row in rows]


def figure1(bench: Bench) -> list[dict[str, Any]] | None:
    """Bits of the essence and of each feature alone, and correlations; None where no feature is a single number."""
    study, plan = bench.study, bench.plan
    if study.plain is None:
        return None
    training, measured = study.plain
    config = plan.bits_config(training[0].feature_names)

    def work() -> Any:
        from fabula.training.comparing import compare

        return compare(
            some(training, plan.most),
            measured,
            config,
            seeds=plan.seeds,
            device=plan.device,
            progress=_counted(bench, "figure1"),
        )

    settings = {"config": config.to_dict(), "seeds": plan.seeds, "most": plan.most}
    rows: list[dict[str, Any]] = bench.stage("figure1", settings, work)
    return rows


def controls(bench: Bench) -> list[dict[str, Any]]:
    """The recipe on the real collections and on the two controls that must come out zero."""
    study, plan = bench.study, bench.plan
    config = plan.bits_config(study.features)

    def work() -> Any:
        from fabula.training.audit import audit

        return audit(
            some(study.training, plan.most),
            study.measured,
            config,
            device=plan.device,
            progress=lambda name, where: bench.told("controls", f"{name}, epoch {where.epoch} of {where.epochs}"),
        ).rows

    rows: list[dict[str, Any]] = bench.stage("controls", {"config": config.to_dict(), "most": plan.most}, work)
    return rows


def more_data(bench: Bench) -> list[dict[str, Any]]:
    """Bits of a mixture of arcs by the number of training collections."""
    study, plan = bench.study, bench.plan
    config = replace(plan.bits_config(study.features), scorers=("arcs",), scorer_weights=())
    total = len(study.training)
    sizes = sorted({max(2, round(share * total)) for share in plan.shares})

    def work() -> Any:
        from fabula.training.trainer import train

        rows = []
        for size in sizes:
            bench.told("more-data", f"{size} collections")
            # As many steps for few collections as for many, up to a bound, so that data and not steps are short.
            epochs = min(4 * config.epochs, round(config.epochs * total / size))
            settings = replace(config, epochs=epochs)
            done = train(some(study.training, size), study.measured, settings, device=plan.device)
            info = done.information["arcs"]
            rows.append({"collections": size, "bits": info.bits, "low": info.low, "high": info.high})
        return rows

    rows: list[dict[str, Any]] = bench.stage("more-data", {"config": config.to_dict(), "sizes": sizes}, work)
    return rows


def some(collections: Sequence[Collection], most: int) -> list[Collection]:
    """At most so many collections (0: all), drawn without an eye on their order in the file, always the same."""
    if not most or most >= len(collections):
        return list(collections)
    chosen = np.sort(np.random.default_rng(0).permutation(len(collections))[:most])
    return [collections[i] for i in chosen.tolist()]


def _counted(bench: Bench, stage: str) -> Callable[[str, int], None]:
    return lambda name, seed: bench.told(stage, f"{name}, seed {seed}")
