"""Training, auditing and comparing, from a table to what is worth keeping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fabula.core.collection import Collection
from fabula.core.files.atomic import check_target
from fabula.errors import InputError, import_extra
from fabula.models.file import save_model
from fabula.models.transform import log_parts
from fabula.studies.recipe import Recipe
from fabula.studies.splits import Split, asked_for, split_of, usable_features

if TYPE_CHECKING:
    from fabula.evaluation.information import Information
    from fabula.models.model import Model
    from fabula.training.audit import AuditReport
    from fabula.training.comparison import Compared
    from fabula.training.config import TrainingConfig
    from fabula.training.loop.run import Progress
    from fabula.training.trainer import Trained

T = TypeVar("T")
MEASURED = 40  # collections that an audit of a small table holds out, where it can


@dataclass(frozen=True)
class TrainedTable:
    """What training on a table gave.

    Attributes
    ----------
    trained, split
        What was learned, and from which collections.
    first
        Whether this process is the one that wrote the model and may print; all but one of torchrun's are not.
    """

    trained: Trained
    split: Split
    first: bool = True

    @property
    def model(self) -> Model:
        """What was learned; it needs no PyTorch."""
        return self.trained.model

    @property
    def information(self) -> dict[str, Information]:
        """Bits on what was held out, by scorer."""
        return self.trained.information

    @property
    def history(self) -> list[Progress]:
        """What each epoch brought."""
        return self.trained.history

    @property
    def config(self) -> TrainingConfig:
        """The settings, with everything decided."""
        return self.trained.config

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know: which columns were left out, and why."""
        return self.split.notes

    def __repr__(self) -> str:
        bits = "; ".join(f"{n}: {i.bits:.3f} bits [{i.low:.3f}, {i.high:.3f}]" for n, i in self.information.items())
        return f"<Trained on {len(self.split.training):,} collections, {len(self.split.held_out):,} held out; {bits}>"


def train_table(
    recipe: Recipe,
    output: str | Path | None,
    *,
    checkpoint: str | Path | None = None,
    onnx: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> TrainedTable:
    """Train a model on a table and write it, where that is asked for.

    An existing ``checkpoint`` is taken up where it stopped; it is removed when the model is written. Of several
    processes (torchrun) the first alone reports and writes; table and checkpoint may lie on the disk of any.
    """
    config, split = prepared(recipe)
    from fabula.training.loop.checkpoint import Checkpoint
    from fabula.training.ranks import is_first
    from fabula.training.trainer import train

    for target in (output, onnx):
        if target is not None and is_first():
            check_target(target)
    kept = _kept(output, checkpoint)
    about = {"data": recipe.table.name, "where": dict(recipe.where), "held out": split.rule}
    done = train(
        split.parts,
        config,
        device=recipe.device,
        checkpoint=None if kept is None else Checkpoint(kept),
        progress=progress,
        card=about,
    )
    if is_first():
        _write(done, output, onnx)
    if kept is not None:
        kept.unlink(missing_ok=True)
    return TrainedTable(done, split, is_first())


def _kept(output: str | Path | None, checkpoint: str | Path | None) -> Path | None:
    """Where a run is kept: where it was asked for, else beside the model, else nowhere."""
    if checkpoint is not None:
        return Path(checkpoint)
    return None if output is None else Path(output).with_suffix(".checkpoint")


def _write(done: Trained, output: str | Path | None, onnx: str | Path | None) -> None:
    if output is not None:
        save_model(output, done.model)
    if onnx is not None:
        from fabula.training.export import export_onnx

        export_onnx(done.model, onnx)


def audit_table(
    recipe: Recipe,
    *,
    controls_only: bool = False,
    published_bug: bool = False,
    progress: Callable[[str, Progress], None] | None = None,
) -> AuditReport:
    """Train on the real collections and on the two controls; report the bits of each.

    Of a small table up to a third is held out, so that there is enough to judge by.
    """
    config, split = prepared(recipe, least=MEASURED)
    from fabula.training.audit import audit

    report = audit(
        split.parts,
        config,
        device=recipe.device,
        controls_only=controls_only,
        published_bug=published_bug,
        progress=progress,
    )
    return replace(report, notes=split.notes)


def compare_table(
    recipe: Recipe,
    *,
    seeds: int = 5,
    dimensions: Sequence[int] = (),
    progress: Callable[[str, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Compared]:
    """Bits of the essence and of each feature alone; with ``dimensions``, bits by the number of dimensions.

    ``tell`` is called first with each thing that the user should know of the data.
    """
    config, split = prepared(recipe)
    from fabula.training.comparison import compare_dimensions, compare_features

    tell_all(split, tell)
    options: dict[str, Any] = {"seeds": seeds, "device": recipe.device, "progress": progress}
    if dimensions:
        return compare_dimensions(split.parts, config, dimensions=dimensions, **options)
    return compare_features(split.parts, config, **options)


def tell_all(split: Split, tell: Callable[[str], None] | None) -> None:
    """Tell what the user should know of the collections."""
    for note in split.notes if tell is not None else ():
        tell(note)  # type: ignore[misc]


def compared_json(rows: Sequence[Compared]) -> list[dict[str, Any]]:
    """Rows of :func:`compare_table` as JSON can hold them."""
    return [asdict(row) for row in rows]


def read_everywhere(recipe: Recipe, read: Callable[[], T]) -> T:
    """What is read of a recipe's table; under torchrun it may lie on the disk of any process."""
    from fabula.training.loop.distributed import read_by_any

    return read_by_any(recipe.table, read, recipe.device) if isinstance(recipe.table, Path) else read()


def prepared(recipe: Recipe, *, least: int = 0) -> tuple[TrainingConfig, Split]:
    """Settings and collections of a recipe, with everything decided; ``least`` collections are held out if they can."""
    import_extra("torch", extra="train", purpose="training")
    from fabula.training.config import preset

    config = preset(recipe.preset, **(recipe.changes or {}))
    split = read_everywhere(recipe, lambda: split_of(recipe, least=least))
    if config.logged != preset(recipe.preset).logged:
        check_logged(config.logged, split.training)
    if config.features:
        notes = asked_for(split.training, config.features)
        return config, replace(split, notes=(*split.notes, *notes))
    names, notes = usable_features(split.training)
    return replace(config, features=names), replace(split, notes=(*split.notes, *notes))


def check_logged(logged: Sequence[str], collections: Sequence[Collection]) -> None:
    """Check that every column of which a user wants the logarithm is there.

    Raises
    ------
    InputError
        Naming the one that is not, and those that are.
    """
    there = collections[0].feature_names
    for text in logged:
        if log_parts(text, there)[0] not in there:
            raise InputError(f"there is no column {text!r} to take the logarithm of; there are: {', '.join(there)}")
