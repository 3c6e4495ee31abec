"""Training, auditing and comparing, from a table to what is worth keeping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.writing import check_target
from fabula.errors import import_extra
from fabula.models.file import save_model
from fabula.studies.splits import Split, read_split, usable_features

if TYPE_CHECKING:
    from fabula.training.audit import AuditReport
    from fabula.training.comparison import Compared
    from fabula.training.config import TrainingConfig
    from fabula.training.loop.run import Progress
    from fabula.training.trainer import Trained


@dataclass(frozen=True)
class Recipe:
    """What to train on and how, as a user says it.

    Attributes
    ----------
    table
        Ordered collections, one row an item.
    where
        Column -> value: keep only the rows that have it.
    preset
        ``"default"`` or ``"paper"``.
    changes
        Fields of the preset to change.
    """

    table: Path
    where: Mapping[str, str]
    preset: str = "default"
    changes: Mapping[str, Any] | None = None
    device: str = "auto"
    held_out: float = 0.1


def train_model(
    recipe: Recipe,
    output: str | Path,
    *,
    checkpoint: str | Path | None = None,
    onnx: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Trained, Split]:
    """Train a model on a table and write it.

    An existing ``checkpoint`` is taken up where it stopped; it is removed when the model is written.
    """
    config, split = _prepared(recipe)
    check_target(output)
    if onnx is not None:
        check_target(onnx)
    from fabula.training.trainer import train

    kept = Path(checkpoint) if checkpoint is not None else Path(output).with_suffix(".checkpoint")
    taken_up = kept if kept.exists() else None
    done = train(
        split.training,
        split.validation,
        config,
        device=recipe.device,
        checkpoint=kept,
        resume=taken_up,
        progress=progress,
        card={"data": recipe.table.name, "where": dict(recipe.where), "held out": split.rule},
    )
    save_model(output, done.model)
    if onnx is not None:
        from fabula.training.export import export_onnx

        export_onnx(done.model, onnx)
    kept.unlink(missing_ok=True)
    return done, split


def audit_table(
    recipe: Recipe,
    *,
    controls_only: bool = False,
    published_bug: bool = False,
    progress: Callable[[str, Progress], None] | None = None,
) -> AuditReport:
    """Train on the real collections and on the two controls; report the bits of each."""
    config, split = _prepared(recipe)
    from fabula.training.audit import audit

    return audit(
        split.training,
        split.validation,
        config,
        device=recipe.device,
        controls_only=controls_only,
        published_bug=published_bug,
        progress=progress,
    )


def compare_features(
    recipe: Recipe,
    *,
    seeds: int = 5,
    dimensions: Sequence[int] = (),
    progress: Callable[[str, int], None] | None = None,
) -> list[Compared]:
    """Bits of the essence and of each feature alone; with ``dimensions``, bits by the number of dimensions."""
    config, split = _prepared(recipe)
    from fabula.training.comparison import compare, sweep

    options: dict[str, Any] = {"seeds": seeds, "device": recipe.device, "progress": progress}
    if dimensions:
        return sweep(split.training, split.validation, config, dimensions=dimensions, **options)
    return compare(split.training, split.validation, config, **options)


def compared_json(rows: Sequence[Compared]) -> list[dict[str, Any]]:
    """Rows of :func:`compare_features` as JSON can hold them."""
    return [asdict(row) for row in rows]


def _prepared(recipe: Recipe) -> tuple[TrainingConfig, Split]:
    import_extra("torch", extra="train", purpose="training")
    from fabula.training.config import preset

    config = preset(recipe.preset, **(recipe.changes or {}))
    split = read_split(recipe.table, where=recipe.where, held_out=recipe.held_out)
    if config.features:
        return config, split
    names, notes = usable_features(split.training)
    return replace(config, features=names), replace(split, notes=notes)
