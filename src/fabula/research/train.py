"""Training, auditing and comparing: one way from a recipe to what is worth keeping, for every kind of model.

:func:`train`, :func:`audit` and :func:`compare` are the commands of the same names, in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from fabula.core.collection import Collection
from fabula.core.files import check_target, json_text, tell_refusal
from fabula.errors import FileError, InputError, brief, import_extra
from fabula.evaluation.intervals import Interval
from fabula.media.extraction import Measuring
from fabula.models.config import PAIRS
from fabula.models.encoders import item_encoders
from fabula.models.model import Model, save_model
from fabula.models.own import Encoder, Scorer, register
from fabula.research.splits import Given, Kind, Recipe, Split, is_folder

if TYPE_CHECKING:
    from fabula.evaluation.information import Information
    from fabula.research.kinds import Gain, Prepared
    from fabula.training.audit import AuditReport, Trained
    from fabula.training.compare import Compared
    from fabula.training.loop import Progress
    from fabula.training.recipes import TrainingConfig

Data = str | Path | Sequence[Collection] | tuple[Sequence[Collection], Sequence[Collection]]
MEASURED = 40  # collections that an audit of a small table holds out, where it can
TOO_LITTLE = (
    "nothing that holds of others could be learned from {:,} collections: the model says nothing; order by a column "
    "(--by), or with a model that comes with fabula, or gather some hundred more"
)
_ALSO: dict[str, Kind] = {"measures": "steps", "pictures": "neighbours"}  # what kinds are called besides


@dataclass(frozen=True, eq=False)
class TrainedModel(Model):
    """The model that was trained, and what training told besides."""

    trained: Trained  # what was learned
    split: Split  # from which collections
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)  # every one, as a recipe takes it
    gained: Gain | None = None  # over the model it went on from, or is held near to; None: it began anew
    more: Mapping[str, Any] = field(default_factory=dict)  # such as the share of shuffles beaten
    first: bool = True  # whether this process wrote the model and may print; all but one of torchrun's do not

    def __post_init__(self) -> None:
        self.__dict__.update(vars(self.trained.model))

    @property
    def model(self) -> Model:
        """The model by itself; it needs no PyTorch, and nothing of what it learned from is kept with it."""
        return self.trained.model  # type: ignore[no-any-return]

    @property
    def information(self) -> dict[str, Information]:
        """Bits on what was held out, by scorer."""
        return self.trained.information

    @property
    def history(self) -> list[Progress]:
        """What each epoch brought."""
        return self.trained.history

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know: which columns were left out, and why."""
        return self.split.notes

    def to_dict(self) -> dict[str, Any]:
        """What training told as plain values, for JSON: what it learned from, bits by scorer, what was gained."""
        sides = {"trained_on": len(self.split.training), "held_out": len(self.split.held_out), "rule": self.split.rule}
        more = {name: asdict(each) if isinstance(each, Interval) else each for name, each in self.more.items()}
        gained = None if self.gained is None else asdict(self.gained)
        bits = {name: info.to_dict() for name, info in self.information.items()}
        told = {"bits": bits, "gained": gained, "best_epoch": self.trained.best_epoch, "more": more}
        return {**sides, **told, "settings": dict(self.settings), "notes": list(self.notes)}

    def __repr__(self) -> str:
        bits = "; ".join(f"{n}: {i.bits:.3f} bits [{i.low:.3f}, {i.high:.3f}]" for n, i in self.information.items())
        return f"<Trained on {len(self.split.training):,} collections, {len(self.split.held_out):,} held out; {bits}>"


def preset(name: str = "default", **changes: Any) -> TrainingConfig:
    """The settings of a training: a preset by name, with some of its fields changed. Needs PyTorch.

    The presets are ``"default"``; ``"arcs"``, light enough for a CPU; ``"paper"`` for the numbers of its appendix A.
    ``changes`` are fields of :class:`fabula.training.recipes.TrainingConfig`, such as ``epochs=20``; ``encoder`` and
    ``scorers`` take an :class:`Encoder` and :class:`Scorer` of one's own, which is registered.

    >>> config = preset("arcs", epochs=5)
    >>> config.epochs, config.scorers
    (5, ('arcs',))
    """
    import_extra("torch", extra="train", purpose="training")
    from fabula.training import recipes as training

    return training.preset(name, **_name_parts(changes))


def train(
    data: Data,
    config: TrainingConfig | str | None = None,
    *,
    kind: str | None = None,
    titles: str | bool | None = None,
    start: str | None = None,
    held_out: float = 0.1,
    output: str | Path | None = None,
    callback: Callable[[Progress], None] | None = None,
    device: str = "auto",
    jobs: int = 1,
    **settings: Any,
) -> TrainedModel:
    """Train a model to tell the true order of collections from others: ``fabula train``.

    Needs PyTorch; what comes out does not.

    Parameters
    ----------
    data
        A table of ordered collections, one row an item, or a folder of numbered folders and playlists; or collections
        in their true order, of two items or more; or two lists of them, those to train on and those to hold out.
    config
        Of an essence: what :func:`preset` gives, or the name of a preset; by default ``"default"``.
    kind
        ``"essence"``: each item by itself, or by the kind of its encoder (``"mlp"``, ``"bilstm"``, ``"identity"``).
        ``"set"``: each among the others, with titles. ``"steps"``: all pairs of texts. ``"neighbours"``: what follows
        what. By default as ``fabula train`` decides.
    titles
        Of a set model: the column with the titles, True for the one that is recognised; by default those of
        collections that have any.
    start
        The set model to go on from: a shipped name or a file.
    held_out
        The share to hold out where the data do not say: by creator where each collection has one.
    output
        Where the model goes, whole or not at all; a checkpoint lies beside it while the run goes on.
    callback
        Called after each epoch with its number, loss and bits (:class:`fabula.training.loop.Progress`), for
        example with ``fabula.training.EpochLog("run.jsonl")``.
    device
        ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
    jobs
        Processes side by side, for steps.
    settings
        Any setting of that kind, such as ``epochs=20``.

    Returns
    -------
    TrainedModel
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
    recipe = _recipe(data, config, settings, device=device, held_out=held_out, kind=kind, titles=titles, start=start)
    return train_recipe(recipe, output, jobs=jobs, progress=callback)


def audit(
    data: Data,
    config: TrainingConfig | str | None = None,
    *,
    kind: str | None = None,
    titles: str | bool | None = None,
    held_out: float = 0.1,
    controls_only: bool = False,
    published_bug: bool = False,
    callback: Callable[[str, Progress], None] | None = None,
    device: str = "auto",
    **settings: Any,
) -> AuditReport:
    """Train on the real collections and on controls in which there is nothing to learn: ``fabula audit``.

    Parameters
    ----------
    data, config, kind, titles, held_out, device, settings
        As :func:`train` takes them.
    controls_only
        Leave the real collections out.
    published_bug
        Put in the errors of the published code, on purpose, to see the controls catch them.
    callback
        Called after each epoch with what is trained on (``"real"``, ``"noise features"``, ``"shuffled orders"``) and
        the epoch.

    Returns
    -------
    AuditReport
        ``rows`` with the bits of each and their intervals, ``ok``: whether every control came out zero.
    """
    recipe = _recipe(data, config, settings, device=device, held_out=held_out, kind=kind, titles=titles)
    return audit_recipe(recipe, controls_only=controls_only, published_bug=published_bug, progress=callback)


def compare(
    data: Data,
    config: TrainingConfig | str | None = None,
    *,
    kind: str | None = None,
    titles: str | bool | None = None,
    held_out: float = 0.1,
    seeds: int = 5,
    dimensions: Sequence[int] = (),
    device: str = "auto",
    **settings: Any,
) -> list[Compared]:
    """Bits of the essence and of each feature alone, or of a set model by what it may see: ``fabula compare``.

    Parameters
    ----------
    data, config, kind, titles, held_out, device, settings
        As :func:`train` takes them.
    seeds
        Runs of each.
    dimensions
        Instead: bits of the essence by its number of dimensions.

    Returns
    -------
    Rows with ``name``, ``dimensions``, ``bits``, ``low``, ``high``, ``seeds`` and ``correlation``; the essence first.
    """
    recipe = _recipe(data, config, settings, device=device, held_out=held_out, kind=kind, titles=titles)
    return compare_recipe(recipe, seeds=seeds, dimensions=dimensions)


def train_recipe(
    recipe: Recipe,
    output: str | Path | None = None,
    *,
    checkpoint: str | Path | None = None,
    onnx: str | Path | None = None,
    measuring: Measuring | None = None,
    jobs: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> TrainedModel:
    """Train a model by a recipe of any kind and write it, where that is asked for.

    What is held out decides nothing. Of an essence an existing ``checkpoint`` is taken up where it stopped; it is
    removed when the model is written. Of several processes (torchrun) the first alone reports and writes; table and
    checkpoint may lie on the disk of any.
    """
    from fabula.research.kinds import Gain, prepare
    from fabula.research.recovery import doubt_bits
    from fabula.training.distributed import is_first
    from fabula.training.item_models import export_onnx

    for target in (output, onnx):
        if target is not None and is_first():
            check_target(target)
    if recipe.kind != "essence" and (checkpoint is not None or onnx is not None):
        raise InputError("only an essence has checkpoints and an ONNX form: leave --checkpoint and --onnx out")
    found = prepare(recipe, measuring=measuring, jobs=jobs)
    kept = None if checkpoint is None else Path(checkpoint)
    if kept is None and output is not None and recipe.kind == "essence":
        kept = Path(output).with_suffix(".checkpoint")
    ready: Any = found.trainable
    if kept is not None:
        ready = replace(ready, checkpoint=kept)
    done: Trained = ready.train(progress=progress)
    kept_start = recipe.start is not None and done.best_epoch == 0
    gained = None if done.gained is None else Gain(found.start, done.gained, kept_start)
    doubts = () if PAIRS in done.model.reads else doubt_bits(done.model, found.split.held_out, done.information)
    if recipe.kind == "essence" and done.best_epoch == 0:
        doubts = (*doubts, TOO_LITTLE.format(len(found.split.training)))
    if is_first() and output is not None:
        save_model(output, done.model)
    if is_first() and onnx is not None:
        export_onnx(done.model, onnx)
    if kept is not None:
        kept.unlink(missing_ok=True)
    settings = found.settings
    if settings is None:
        settings = {name: value for name, value in done.config.to_dict().items() if name != "preset"}
    return TrainedModel(done, found.split.note(doubts), settings, gained, done.more, is_first())


def audit_recipe(
    recipe: Recipe,
    *,
    controls_only: bool = False,
    published_bug: bool = False,
    progress: Callable[[str, Progress], None] | None = None,
) -> AuditReport:
    """Train on the real collections and on the controls; report the bits of each.

    Of a small table up to a third is held out, so that there is enough to judge by.
    """
    found = prepare_audit(recipe, published_bug=published_bug)
    from fabula.training.audit import audit as audit_trainable

    report = audit_trainable(found.trainable, controls_only=controls_only, progress=progress)
    return replace(report, notes=found.split.notes)


def prepare_audit(recipe: Recipe, *, published_bug: bool = False) -> Prepared:
    """A recipe as an audit trains it: more is held out of a small table, and every scorer is measured."""
    if published_bug and recipe.kind != "essence":
        raise InputError("--published-bug is about the bilstm of the paper, not about set models")
    from fabula.research.kinds import prepare
    from fabula.training.item_models import EssenceTraining
    from fabula.training.published_bug import PublishedBug
    from fabula.training.sets import SCORERS, SetTraining

    found = prepare(recipe, least=MEASURED)
    ready = found.trainable
    if isinstance(ready, SetTraining):
        return replace(found, trainable=replace(ready, scorers=tuple(SCORERS)))
    if published_bug and isinstance(ready, EssenceTraining):
        return replace(found, trainable=PublishedBug(ready.parts, ready.config, ready.device))
    return found


def compare_recipe(
    recipe: Recipe,
    *,
    seeds: int = 5,
    dimensions: Sequence[int] = (),
    progress: Callable[[str, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Compared]:
    """Bits of the essence and of each feature alone; of a set model by what it may see; or by ``dimensions``.

    ``tell`` is called first with each thing that the user should know of the data.
    """
    if recipe.kind not in ("essence", "set"):
        raise InputError(f"features and inputs are compared for models of kind essence and set; got {recipe.kind}")
    from fabula.research.kinds import prepare
    from fabula.training import compare as comparing
    from fabula.training.sets import SetTraining

    found = prepare(recipe)
    if tell is not None:
        for note in found.split.notes:
            tell(note)
    options: dict[str, Any] = {"seeds": seeds, "dimensions": dimensions, "progress": progress}
    ready: Any = found.trainable
    return (comparing.compare_inputs if isinstance(ready, SetTraining) else comparing.compare_essence)(ready, **options)


def _recipe(
    data: Data,
    config: TrainingConfig | str | None,
    settings: Mapping[str, Any],
    *,
    device: str,
    held_out: float,
    kind: str | None,
    titles: str | bool | None,
    start: str | None = None,
) -> Recipe:
    """The recipe of a call from Python."""
    import_extra("torch", extra="train", purpose="training")
    table, changes = _as_given(data), _name_parts(dict(settings))
    if kind in item_encoders():
        changes["encoder"], kind = kind, "essence"
    chosen = choose_kind(kind, table, sets=titles not in (None, False) or start is not None)
    read = None if titles in (None, False) else "" if titles is True else str(titles)
    if chosen == "set" and titles is None and start is None:  # those of files, and of collections that have any
        given = () if isinstance(table, Path) else (item for c in table.training for item in c.items)
        read = "" if is_folder(table) or any(item.title for item in given) else None
    base: Any = "default" if config is None else config
    if not isinstance(base, str):
        from fabula.training.recipes import TrainingConfig

        if chosen != "essence":
            raise InputError(f"a model of kind {chosen} takes its settings by name, such as seed=1; got a {config!r}")
        if not isinstance(base, TrainingConfig):
            wanted = "what fabula.training.preset gives, or its name"
            raise InputError(f"the settings must be {wanted}; got {type(base).__name__}")
        changes = {**base.to_dict(), **changes}
        base = changes.pop("preset")
    return Recipe(table, {}, base, changes, device, held_out, chosen, read, start)


def choose_kind(kind: str | None, table: Path | Given, *, sets: bool, usual: Kind = "essence") -> Kind:
    """The kind that is meant; where nobody says, a set model if what is asked for is of ``sets`` alone.

    Else the usual one, and of a folder what the medium of its files says.
    """
    named = None if kind is None else _ALSO.get(kind, kind)
    for known in get_args(Kind):
        if named == known:
            return known  # type: ignore[no-any-return]
    if named is not None:
        legal = ", ".join([*get_args(Kind), *item_encoders()])
        raise InputError(f"a kind of model is one of {legal}; got {kind!r}")
    if sets or not is_folder(table):
        return "set" if sets else usual
    from fabula.media.registry import medium_of_file
    from fabula.sources.folders import files_of

    media = (medium_of_file(Path(file).suffix) for file in files_of([str(table)]))
    first = next((medium for medium in media if medium is not None), None)
    return "neighbours" if first is not None and first.neighbours else "set"


def _as_given(data: Data) -> Path | Given:
    if isinstance(data, str | Path):
        return Path(data)
    if not isinstance(data, Iterable):
        raise InputError(f"the data must be a table or a list of collections; got {brief(data)}")
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


def _name_parts(changes: dict[str, Any]) -> dict[str, Any]:
    """Settings with encoders and scorers by name; those of one's own are registered."""
    if "encoder" in changes:
        changes["encoder"] = _name_part(changes["encoder"])
    if "scorers" in changes:
        given = changes["scorers"]
        several = [given] if isinstance(given, str | Scorer) else list(given)
        changes["scorers"] = tuple(_name_part(scorer) for scorer in several)
    return changes


def _name_part(part: Any) -> Any:
    if isinstance(part, Encoder | Scorer):
        register(part)
        return part.kind
    return part


# Logs of training: every epoch as a line of JSON, and for TensorBoard where it is installed.


class EpochLog:
    """Every epoch as a line of JSON in a file, which can be followed while the run goes on.

    A line has ``epoch``, ``epochs``, ``loss`` (nats, training) and ``bits`` by scorer (validation). A run that begins
    replaces the file (such as ``run.jsonl``); one that goes on from a checkpoint adds to it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = check_target(path)
        self._out: Any = None

    def __call__(self, report: Progress) -> None:
        """Write one epoch."""
        with tell_refusal(self.path, "be written"):
            self._out = self._out or self._open(report)
            self._write(report)

    def close(self) -> None:
        """Close the file."""
        if self._out is not None:
            self._out.close()
            self._out = None

    def _open(self, report: Progress) -> Any:
        return self.path.open("w" if report.epoch <= 1 else "a", encoding="utf-8")

    def _write(self, report: Progress) -> None:
        row = {name: getattr(report, name) for name in ("epoch", "epochs", "loss", "bits")}
        self._out.write(json_text(row) + "\n")
        self._out.flush()


class TensorBoardLog(EpochLog):
    """Loss and bits of every epoch for TensorBoard, in a folder where it looks: ``tensorboard --logdir FOLDER``."""

    def __init__(self, folder: str | Path) -> None:
        import_extra("tensorboard", extra="tensorboard", purpose="a log for TensorBoard")
        self.folder = self.path = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"{folder}: is a file; TensorBoard wants a folder")
        self._out = None

    def _open(self, report: Progress) -> Any:
        return import_module("torch.utils.tensorboard").SummaryWriter(str(self.folder))

    def _write(self, report: Progress) -> None:
        self._out.add_scalar("loss", report.loss, report.epoch)
        for name, bits in report.bits.items():
            self._out.add_scalar(f"bits/{name}", bits, report.epoch)
