"""The benchmark of ordering methods: a method's row beside ours and the paper's, and the card that says it all.

A question that was not answered, not in time, or not with a permutation counts as a random ordering does on average;
how many there were stands beside the figures. Our methods learn from the training collections alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.files import write_whole
from fabula.errors import FabulaError, FileError, InputError, MissingExtraError
from fabula.evaluation.controls import divide
from fabula.evaluation.information import count_seen
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.evaluation.metrics import METRICS, score_all, spearman
from fabula.models.config import PAIRS, TITLES
from fabula.models.model import Model, load_model, shipped_models
from fabula.research.bench_programs import Orderings
from fabula.research.bench_tasks import FAMILIES, BenchTask
from fabula.research.recovery import chance_scores, closest_fits, column_essence, evenly_spaced, fill_missing
from fabula.templates.learn import learn_arcs, learn_templates
from fabula.version import __version__

FORMAT = "fabula-bench-order"
VERSION = 1
SHOWN = ("spearman", "kendall", "first", "last", "neighbours", "edit")
ARCS = "arcs"
K = 4  # templates, and arcs
_DRAWS = 32  # random orderings that make up chance
_MOST = 4000  # collections that a column, arcs and templates are learned from
_PAPER_EPOCHS = 30  # of its 100: it stops by itself after ten without a gain

Scores = Mapping[str, Floats]  # metric -> (collections,)
Propose = Callable[[Collection], Ints]
sort_stable = partial(np.argsort, kind="stable")


@dataclass(frozen=True)
class BenchRow:
    """One method on a task."""

    method: str
    kind: str  # "yours", "ours", "paper" or "known": what somebody who knows the truth could do
    metrics: Mapping[str, Interval]  # means over the test collections
    failed: int = 0  # questions that count as a random ordering
    gain: Interval | None = None  # Spearman's rho less that of chance, paired by collection
    about: str = ""  # what it does, in one line

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> BenchRow:
        """A row as a card keeps it."""
        metrics = {name: Interval(**document["metrics"][name]) for name in METRICS}
        gain = None if document["gain"] is None else Interval(**document["gain"])
        return cls(document["method"], document["kind"], metrics, document["failed"], gain, document.get("about", ""))


@dataclass(frozen=True, eq=False)
class BenchCard:
    """What came of a run."""

    task: dict[str, Any]  # what was asked, as BenchTask.to_dict says it
    rows: list[BenchRow]  # from the highest Spearman's rho
    command: str = ""  # how the method was called; empty where there was none
    failures: dict[str, int] = field(default_factory=dict)  # why questions count as a random ordering, and how many
    notes: tuple[str, ...] = ()

    def save(self, path: str | Path) -> Path:
        """Write the card as JSON, whole or not at all."""
        return write_whole(path, self.text())

    def text(self) -> str:
        """The card as JSON."""
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "fabula": __version__, "task": self.task}
        document |= {"command": self.command, "failures": self.failures, "notes": list(self.notes)}
        document |= {"rows": [asdict(row) for row in self.rows]}
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> BenchCard:
        """Read a card back."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(f"{path}: cannot be read as a card ({error})") from error
        if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
            raise FileError(f"{path}: is no card of version {VERSION} that fabula bench-order wrote")
        try:
            rows = [BenchRow.from_dict(each) for each in document["rows"]]
            parts = (document["task"], rows, document["command"], document["failures"], tuple(document["notes"]))
        except (KeyError, TypeError) as error:
            raise FileError(f"{path}: is a card that lacks something ({error})") from error
        return cls(*parts)


def make_card(
    task: BenchTask,
    given: Orderings | None = None,
    *,
    name: str = "yours",
    command: str = "",
    trained: bool = False,
    progress: Callable[[str], None] | None = None,
) -> BenchCard:
    """A card: the method's row, where there is one, beside ours and the paper's.

    The rows that need an essence to be trained are those that come with the package, where the task is one of its own;
    with ``trained`` they are measured anew, which takes PyTorch and minutes. ``progress`` is called with the name of
    each of our methods before its turn.
    """
    report = progress or (lambda _: None)
    chance = task_chance(task)
    rows = [BenchRow("random", "ours", _intervals(chance, task), about="a random ordering, mean of many")]
    notes = list(task.notes)
    if given is not None:
        rows.append(score_row(name, "yours", given, task, chance))
    report("learning")
    stored = [] if trained else load_rows(task.digest)
    for method in _our_methods(task, trained=trained, known={row.method for row in stored}):
        if isinstance(method, str):
            notes.append(method)
            continue
        report(method.name)
        try:
            found = Orderings(_order_blind(task, method.propose))
        except FabulaError as error:
            notes.append(f"{method.name}: {error}")
        else:
            rows.append(score_row(method.name, method.kind, found, task, chance, about=method.about))
    failures = dict(given.failures) if given else {}
    return BenchCard(task.to_dict(), _rank(rows + stored), command, failures, tuple(notes))


def join_cards(cards: Sequence[BenchCard]) -> BenchCard:
    """Several cards of one task as one: our rows of the first, everybody's own rows."""
    first = cards[0]
    for card in cards[1:]:
        if card.task["digest"] != first.task["digest"]:
            raise InputError(
                f"cards of different tasks cannot stand on one page: {first.task['name']} ({first.task['digest']}) "
                f"and {card.task['name']} ({card.task['digest']})"
            )
    rows = [*first.rows, *(row for card in cards[1:] for row in card.rows if row.kind == "yours")]
    return BenchCard(first.task, _rank(rows), first.command, first.failures, first.notes)


def load_rows(digest: str) -> list[BenchRow]:
    """The rows of a task that were measured before and come with the package; none for a task that is not its own."""
    stored = json.loads(files(__package__).joinpath("bench_rows.json").read_text(encoding="utf-8"))
    return [BenchRow.from_dict(each) for each in stored.get(digest, [])]


def task_chance(task: BenchTask) -> Scores:
    """What a random ordering of each test collection scores, mean over some; the same every time."""
    return chance_scores([len(c) for c in task.test], np.random.default_rng((0, 1)), _DRAWS)


def score_row(
    method: str, kind: str, orderings: Orderings, task: BenchTask, chance: Scores, *, about: str = ""
) -> BenchRow:
    """The row of one method; what it did not order counts as chance."""
    absent = [ordering is None for ordering in orderings.found]
    scores = {name: np.where(absent, chance[name], found) for name, found in score_all(orderings.found).items()}
    gain = _interval(scores["spearman"] - chance["spearman"], task)
    return BenchRow(method, kind, _intervals(scores, task), orderings.misses, gain, about)


def _intervals(scores: Scores, task: BenchTask) -> dict[str, Interval]:
    return {name: _interval(values, task) for name, values in scores.items()}


def _interval(values: Floats, task: BenchTask) -> Interval:
    return mean_interval(values, np.random.default_rng((0, 2)), task.groups)


def _rank(rows: list[BenchRow]) -> list[BenchRow]:
    return sorted(rows, key=lambda row: -row.metrics["spearman"].mean)


@dataclass(frozen=True, eq=False)
class _Method:
    """A method to be measured beside others: what it is called, whose it is, what it does."""

    name: str
    kind: str
    about: str
    propose: Propose


def _our_methods(
    task: BenchTask, *, trained: bool, known: Container[str] = (), seed: int = 0
) -> Iterator[_Method | str]:
    """The methods that can do a task, but those known already; a text where one cannot, saying why."""
    if task.name in FAMILIES:
        rng = np.random.default_rng(seed)
        best = FAMILIES[task.name].best
        about = "the order by the model that drew it"
        yield _Method("truth known", "known", about, lambda c: best(c.columns(task.features), rng))
    if task.features:
        some = _some(task.training)
        column, sign = _best_column(some, task.features)
        about = f"by {'rising' if sign > 0 else 'falling'} {column}, chosen on training"
        yield _Method(f"sort by {column}", "ours", about, lambda c: sort_stable(sign * fill_missing(c.column(column))))
        if ARCS not in known:
            essences = [column_essence(c, column) for c in some]
            arcs = learn_arcs(essences, k=min(K, len(essences)), rng=np.random.default_rng(seed))
            about = f"a mixture of {K} arcs over {column}"
            yield _by_arcs(ARCS, about, arcs, lambda c: column_essence(c, column))
        if trained:
            yield from _of_essence(task, seed)
    yield from _package_models(task)


def _order_blind(task: BenchTask, propose: Propose) -> list[Ints | None]:
    """One ordering of each test collection, none of which is shown in its true order."""
    rng = np.random.default_rng((0, 3))
    found: list[Ints | None] = []
    for collection in task.test:
        mixed = rng.permutation(len(collection))
        found.append(np.asarray(mixed[propose(collection.reordered(mixed))], dtype=np.intp))
    return found


def _best_column(collections: Sequence[Collection], names: Sequence[str]) -> tuple[str, float]:
    """The feature, and the direction, that sorts known collections nearest to their true order."""
    rng = np.random.default_rng(0)
    scores = {}
    for name in names:
        found = []
        for collection in collections:
            mixed = rng.permutation(len(collection))
            found.append(spearman(mixed[sort_stable(fill_missing(collection.column(name))[mixed])]))
        scores[name] = float(np.mean(found))
    name = max(scores, key=lambda each: abs(scores[each]))
    return name, 1.0 if scores[name] >= 0 else -1.0


def _of_essence(task: BenchTask, seed: int) -> Iterator[_Method | str]:
    """Ours and the paper's, each trained on the task."""
    from fabula.research.train import preset, train

    parts = divide(task.training, 0.1)
    try:
        model = train(parts, preset("arcs", seed=seed, features=task.features)).model
        if model.arcs is not None:
            about = f"a trained essence and its mixture of {K} arcs"
            yield _by_arcs("arcs, trained", about, model.arcs, lambda c: model.encode(c))
        paper = train(parts, preset("paper", seed=seed, features=task.features, epochs=_PAPER_EPOCHS)).model
    except MissingExtraError as error:
        yield f"arcs, trained; the paper's method: {error}"
        return
    known = [essence[:, 0] for essence in paper.encode_all(_some(task.training))]
    propose = closest_fits(learn_templates(known, k=min(K, len(known)), method="evolution", seed=seed))
    about = f"essence by its appendix A ({_PAPER_EPOCHS} epochs at most), {K} templates evolved, the closest fit"
    yield _Method("the paper's method", "paper", about, lambda c: propose(paper.encode(c)[:, 0], np.array([0, len(c)])))


def _by_arcs(name: str, about: str, arcs: Arcs, essence: Callable[[Collection], Floats]) -> _Method:
    return _Method(name, "ours", about, lambda c: arcs.order(essence(c), alternatives=1)[0].ordering)


def _package_models(task: BenchTask) -> Iterator[_Method | str]:
    """The models that come with the package and can read this task."""
    for name in shipped_models():
        model = load_model(name)
        if not _reads(model, task):
            continue
        seen = count_seen(model, task.test)
        if seen:
            yield f"{name} was trained on {seen:,} of the {len(task.test):,} test collections: its row is no finding"
        about = "sees the whole collection" + (", titles too" if task.titles else "")
        if model.by_item:
            about = f"an essence of {model.dimensions} from {len(model.feature_names)} features"
        yield _Method(name, "ours", f"comes with the package; {about}", partial(_by_model, model))


def _by_model(model: Any, collection: Collection) -> Ints:
    return np.asarray(model.order(collection, alternatives=1)[0].ordering)


def _reads(model: Model, task: BenchTask) -> bool:
    there = [name for name in model.feature_names if name in task.features]
    if PAIRS in model.reads:
        return False
    if not model.by_item:
        return bool(there) or (task.titles and TITLES in model.reads)
    return len(there) == len(model.feature_names)


def _some(collections: Sequence[Collection]) -> list[Collection]:
    """What a column, arcs and templates are learned from: at most so many, evenly spread."""
    return [collections[i] for i in evenly_spaced(len(collections), _MOST)]
