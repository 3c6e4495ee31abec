"""The rows of this package and of the paper on a task; each learns from the training collections alone."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.arcs import Arcs
from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.core.ordering import Ints
from fabula.errors import FabulaError, MissingExtraError
from fabula.evaluation.information import seen_among
from fabula.evaluation.metrics import spearman
from fabula.models.config import PAIRS, TITLES
from fabula.models.file import load_model, shipped_models
from fabula.models.model import Model
from fabula.studies.bench.known import FAMILIES
from fabula.studies.bench.scoring import Orderings
from fabula.studies.bench.tasks import BenchTask
from fabula.studies.recovery import closest_fits, spread
from fabula.templates.contrastive import learn_arcs
from fabula.templates.learning import learn_templates

ARCS = "arcs"
K = 4  # templates, and arcs
_MOST = 4000  # collections that a column, arcs and templates are learned from
_PAPER_EPOCHS = 30  # of its 100: it stops by itself after ten without a gain

Propose = Callable[[Collection], Ints]


@dataclass(frozen=True, eq=False)
class Ours:
    """A method to be measured beside others: what it is called, whose it is, what it does."""

    name: str
    kind: str
    about: str
    propose: Propose


def our_methods(task: BenchTask, *, trained: bool, known: Container[str] = (), seed: int = 0) -> Iterator[Ours | str]:
    """The methods that can do a task; a text where one cannot, saying why.

    Parameters
    ----------
    task
        What they learn from.
    trained
        Whether an essence is trained, which needs PyTorch and takes a while.
    known
        Names of those that were measured before and are left out.
    seed
        Of everything random.
    """
    if task.name in FAMILIES:
        rng = np.random.default_rng(seed)
        best = FAMILIES[task.name].best
        yield Ours(
            "truth known", "known", "the order by the model that drew it", lambda c: best(c.columns(task.features), rng)
        )
    if task.features:
        column, sign = best_column(_some(task.training), task.features)
        yield Ours(
            f"sort by {column}", "ours", f"by {'rising' if sign > 0 else 'falling'} {column}, chosen on training",
            lambda c: np.argsort(sign * _filled(c.column(column)), kind="stable"),
        )  # fmt: skip
        if ARCS not in known:
            yield from _of_column(task, column, seed)
        if trained:
            yield from _of_essence(task, seed)
    yield from _shipped(task)


def hidden_orderings(task: BenchTask, propose: Propose, rng: np.random.Generator) -> Orderings:
    """One ordering of each test collection, none of which is shown in its true order."""
    found: list[Ints | None] = []
    for collection in task.test:
        mixed = rng.permutation(len(collection))
        found.append(np.asarray(mixed[propose(collection.reordered(mixed))], dtype=np.intp))
    return Orderings(found)


def best_column(collections: Sequence[Collection], names: Sequence[str]) -> tuple[str, float]:
    """The feature, and the direction, that sorts known collections nearest to their true order.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> best_column([Collection("1", [Item("x"), Item("y")], [[3.0, 1.0], [2.0, 1.0]], ["a", "b"])], ["a", "b"])
    ('a', -1.0)
    """
    rng = np.random.default_rng(0)
    scores = {}
    for name in names:
        found = []
        for collection in collections:
            mixed = rng.permutation(len(collection))
            found.append(spearman(mixed[np.argsort(_filled(collection.column(name))[mixed], kind="stable")]))
        scores[name] = float(np.mean(found))
    name = max(scores, key=lambda each: abs(scores[each]))
    return name, 1.0 if scores[name] >= 0 else -1.0


def _of_column(task: BenchTask, column: str, seed: int) -> Iterator[Ours]:
    def essence(collection: Collection) -> Floats:
        return normalise(_filled(collection.column(column)))

    known = [essence(collection) for collection in _some(task.training)]
    arcs = learn_arcs(known, k=min(K, len(known)), rng=np.random.default_rng(seed))
    yield _arcs_row(ARCS, f"a mixture of {K} arcs over {column}", arcs, essence)


def _of_essence(task: BenchTask, seed: int) -> Iterator[Ours | str]:
    from fabula.studies.research import preset, train
    from fabula.studies.splits import divided

    learned, aside = divided(task.training, 0.1)
    try:
        model = train((learned, aside), preset("arcs", seed=seed, features=task.features)).model
        if model.arcs is not None:
            yield _arcs_row(
                "arcs, trained", f"a trained essence and its mixture of {K} arcs", model.arcs, lambda c: model.encode(c)
            )
        letter = preset("paper", seed=seed, features=task.features, epochs=_PAPER_EPOCHS)
        paper = train((learned, aside), letter).model
    except MissingExtraError as error:
        yield f"arcs, trained; the paper's method: {error}"
        return
    yield _paper_row(task, paper, seed)


def _paper_row(task: BenchTask, model: Model, seed: int) -> Ours:
    known = [essence[:, 0] for essence in model.encode_all(_some(task.training))]
    templates = learn_templates(known, k=min(K, len(known)), method="evolution", seed=seed)
    propose = closest_fits(templates)
    about = f"essence by its appendix A ({_PAPER_EPOCHS} epochs at most), {K} templates evolved, the closest fit"
    return Ours("the paper's method", "paper", about, lambda c: propose(model.encode(c)[:, 0], np.array([0, len(c)])))


def _arcs_row(name: str, about: str, arcs: Arcs, essence: Callable[[Collection], Floats]) -> Ours:
    return Ours(name, "ours", about, lambda c: arcs.order(essence(c), alternatives=1)[0].ordering)


def _shipped(task: BenchTask) -> Iterator[Ours | str]:
    """The models that come with the package and can read this task."""
    for name in shipped_models():
        model = load_model(name)
        if not _reads(model, task):
            continue
        seen = seen_among(model, task.test)
        if seen:
            yield f"{name} was trained on {seen:,} of the {len(task.test):,} test collections: its row is no finding"
        if not model.by_item:
            about = "comes with the package; sees the whole collection" + (", titles too" if task.titles else "")
            yield Ours(name, "ours", about, lambda c, m=model: m.order(c, alternatives=1)[0].ordering)  # type: ignore[misc]
        else:
            about = f"comes with the package; an essence of {model.dimensions} from {len(model.feature_names)} features"
            yield Ours(name, "ours", about, lambda c, m=model: m.order(c, alternatives=1)[0].ordering)  # type: ignore[misc]


def _reads(model: Model, task: BenchTask) -> bool:
    there = [name for name in model.feature_names if name in task.features]
    if PAIRS in model.reads:
        return False
    if not model.by_item:
        return bool(there) or (task.titles and TITLES in model.reads)
    return len(there) == len(model.feature_names)


def measured(task: BenchTask, method: Ours, rng: np.random.Generator) -> Orderings | str:
    """A method's orderings, or why it cannot give any."""
    try:
        return hidden_orderings(task, method.propose, rng)
    except FabulaError as error:
        return f"{method.name}: {error}"


def _some(collections: Sequence[Collection]) -> list[Collection]:
    """What a column, arcs and templates are learned from: at most so many, evenly spread."""
    return [collections[i] for i in spread(len(collections), _MOST)]


def _filled(values: Floats) -> Floats:
    known = np.isfinite(values)
    return np.where(known, values, values[known].mean() if known.any() else 0.0)
