"""Training, auditing and comparing from Python: what the commands of the same names do, on tables or collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.collection import Collection
from fabula.errors import InputError, import_extra
from fabula.models.own import Encoder, Scorer, register
from fabula.studies.recipe import Given, Recipe
from fabula.studies.train import TrainedTable, audit_table, compare_table, train_table

if TYPE_CHECKING:
    from fabula.training.audit import AuditReport
    from fabula.training.comparison import Compared
    from fabula.training.config import TrainingConfig
    from fabula.training.loop.run import Progress

Data = str | Path | Sequence[Collection] | tuple[Sequence[Collection], Sequence[Collection]]


def preset(name: str = "default", **changes: Any) -> TrainingConfig:
    """The settings of a training: a preset by name, with some of its fields changed. Needs PyTorch.

    Parameters
    ----------
    name
        ``"default"``; ``"arcs"``, light enough for a CPU; ``"paper"`` for the numbers of its appendix A.
    changes
        Fields of :class:`fabula.training.config.TrainingConfig`, such as ``epochs=20`` or ``dimensions=4``. ``encoder``
        and ``scorers`` also take an :class:`Encoder` and :class:`Scorer` of one's own, which are registered.

    Examples
    --------
    >>> config = preset("arcs", epochs=5)
    >>> config.epochs, config.scorers
    (5, ('arcs',))
    """
    import_extra("torch", extra="train", purpose="training")
    from fabula.training import config as training

    if "encoder" in changes:
        changes["encoder"] = _named(changes["encoder"])
    if "scorers" in changes:
        given = changes["scorers"]
        several = [given] if isinstance(given, str | Scorer) else list(given)
        changes["scorers"] = tuple(_named(scorer) for scorer in several)
    return training.preset(name, **changes)


def train(
    data: Data,
    config: TrainingConfig | str | None = None,
    *,
    held_out: float = 0.1,
    output: str | Path | None = None,
    callback: Callable[[Progress], None] | None = None,
    device: str = "auto",
) -> TrainedTable:
    """Train an encoder and its scorers to tell the true order of collections from others: ``fabula train``.

    Needs PyTorch; what comes out does not.

    Parameters
    ----------
    data
        A table of ordered collections, one row an item; or collections in their true order, of two items or more,
        features (n, f) each; or two lists of them, those to train on and those to validate on.
    config
        What :func:`preset` gives, or the name of a preset; by default ``"default"``.
    held_out
        The share to hold out where the data do not say: by creator where each collection has one.
    output
        Where the model goes, whole or not at all; a checkpoint lies beside it while the run goes on.
    callback
        Called after each epoch with its number, loss and bits (:class:`fabula.training.loop.run.Progress`), for
        example with ``fabula.training.EpochLog("run.jsonl")``.
    device
        ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.

    Returns
    -------
    TrainedTable
        ``model`` (needs no PyTorch), ``information`` by scorer on what was held out, ``history``, ``config``, ``split``
        and ``notes``: which columns were left out and why.

    Examples
    --------
    >>> import numpy as np
    >>> from fabula.core.collection import Item
    >>> rows = np.random.default_rng(0).normal(size=(40, 5, 2))
    >>> rows[:, :, 0] += np.linspace(0, 3, 5)  # what rises, on the whole
    >>> albums = [Collection(str(i), [Item(str(j)) for j in range(5)], row, ["a", "b"]) for i, row in enumerate(rows)]
    >>> done = train((albums[:30], albums[30:]), preset("arcs", epochs=20, learning_rate=0.03))
    >>> done.information["arcs"].bits > 0.5, done.model.feature_names, len(done.history)
    (True, ('a', 'b'), 20)
    """
    recipe = _recipe(data, config, held_out, device)
    return train_table(recipe, output, progress=callback)


def audit(
    data: Data,
    config: TrainingConfig | str | None = None,
    *,
    held_out: float = 0.1,
    controls_only: bool = False,
    callback: Callable[[str, Progress], None] | None = None,
    device: str = "auto",
) -> AuditReport:
    """Train on the real collections and on controls in which there is nothing to learn: ``fabula audit``.

    Parameters
    ----------
    data, config, held_out, device
        As :func:`train` takes them.
    controls_only
        Leave the real collections out.
    callback
        Called after each epoch with what is trained on (``"real"``, ``"noise features"``, ``"shuffled orders"``) and
        the epoch.

    Returns
    -------
    AuditReport
        ``rows`` with the bits of each and their intervals, ``ok``: whether every control came out zero.
    """
    recipe = _recipe(data, config, held_out, device)
    return audit_table(recipe, controls_only=controls_only, progress=callback)


def compare(
    data: Data,
    config: TrainingConfig | str | None = None,
    *,
    held_out: float = 0.1,
    seeds: int = 5,
    dimensions: Sequence[int] = (),
    device: str = "auto",
) -> list[Compared]:
    """Bits of the essence and of each feature alone: ``fabula compare``.

    Parameters
    ----------
    data, config, held_out, device
        As :func:`train` takes them.
    seeds
        Runs of each.
    dimensions
        Instead: bits of the essence by its number of dimensions.

    Returns
    -------
    Rows with ``name``, ``dimensions``, ``bits``, ``low``, ``high``, ``seeds`` and ``correlation``; the essence first.
    """
    return compare_table(_recipe(data, config, held_out, device), seeds=seeds, dimensions=dimensions)


def _recipe(data: Data, config: TrainingConfig | str | None, held_out: float, device: str) -> Recipe:
    import_extra("torch", extra="train", purpose="training")
    from fabula.training.config import TrainingConfig

    settings = preset(config or "default") if config is None or isinstance(config, str) else config
    if not isinstance(settings, TrainingConfig):
        raise InputError(
            f"the settings must be what fabula.training.preset gives, or its name; got {type(config).__name__}"
        )
    changes = {name: value for name, value in settings.to_dict().items() if name != "preset"}
    return Recipe(_given(data), {}, settings.preset, changes, device, held_out)


def _given(data: Data) -> Path | Given:
    if isinstance(data, str | Path):
        return Path(data)
    parts = list(data)
    if len(parts) == 2 and not any(isinstance(part, Collection) for part in parts):
        return Given(*(_collections(part) for part in parts))
    return Given(_collections(parts))


def _collections(data: Any) -> list[Collection]:
    found = list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]
    wrong = [each for each in found if not isinstance(each, Collection)]
    if wrong:
        raise InputError(f"the data must be a table or a list of collections; it holds {type(wrong[0]).__name__}")
    return found


def _named(part: Any) -> Any:
    """The name of an encoder or scorer; one of one's own is registered."""
    if isinstance(part, Encoder | Scorer):
        register(part)
        return part.kind
    return part
