"""The benchmark of ordering methods: a method's row beside ours and the paper's, and the card that says it all.

A question that was not answered, not in time, or not with a permutation counts as a random ordering does on average;
how many there were stands beside the figures. Our methods learn from the training collections alone.
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.files import json_text, write_whole
from fabula.core.template import Template
from fabula.errors import FabulaError, FileError, InputError, MissingExtraError
from fabula.evaluation.controls import divide, share_of
from fabula.evaluation.information import count_seen, makers
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.evaluation.metrics import METRICS, RANGES, score_all, spearman
from fabula.models.config import PAIRS, TITLES
from fabula.models.model import load_model, shipped_models
from fabula.research.bench_programs import Orderings, read_document
from fabula.research.recovery import (
    chance_scores,
    closest_fit,
    column_essence,
    draw_evenly,
    fill_missing,
    measure_split,
    order_blind,
    propose_steps,
)
from fabula.research.splits import Side, narrow, read_split, usable_features
from fabula.sources.fma.albums import read_fma
from fabula.templates.learn import learn_arcs, learn_templates
from fabula.version import __version__

# What a method is asked: training collections in their true order, and test collections whose order it must find.

TRAINING, TEST = 400, 200  # collections
SHORTEST, LONGEST = 5, 12  # items
HILL = Template([0, 0.25, 0.7, 1], [0.4, -1.2, 1.6, 0.6], "dip and peak")
_NEAR = 0.45  # the parameter of Mallows' model: each step away from the centre is that much less likely
WALK, START, DRIFT = 0.35, 0.3, 0.25  # how far a walker errs at each step, where it starts, and where it goes
NOISE = 0.5  # on the hill
TASKS = 1  # version of the tasks: another one where a test, or what a method is shown, changes
DRAWN = "drawn by numpy's default_rng, seeded by the CRC-32 of the name (fabula.research.bench); CC0"
HELD_OUT = 0.2  # of a table that does not say how it is split
FMA = "fma"

Half = Literal["open", "sealed"]


@dataclass(frozen=True, eq=False)
class BenchTask:
    """One task."""

    name: str
    about: str
    training: Sequence[Collection]  # in true order, one number per feature and item
    test: Sequence[Collection]
    rule: str  # how the two were told apart
    titles: bool = False  # whether a method is shown titles
    texts: bool = False  # whether it is shown what the items say
    source: str = ""  # where the data come from, and under which licence
    half: str = ""  # which half of the test this is: open, to develop by, or sealed, to report; empty: all of it
    notes: tuple[str, ...] = ()  # what one should know, for example which columns were left out

    @property
    def features(self) -> tuple[str, ...]:
        """The features a method is shown."""
        return self.test[0].feature_names

    @property
    def groups(self) -> list[str]:
        """Who made each test collection; intervals are drawn over them."""
        return makers(self.test)

    @cached_property
    def chance(self) -> Mapping[str, Floats]:
        """What a random ordering of each test collection scores, mean over some; the same every time."""
        return chance_scores([len(c) for c in self.test], np.random.default_rng((0, 1)), _DRAWS)

    @property
    def digest(self) -> str:
        """Sixteen digits that tell this task from others: features, titles where shown, and order of the test."""
        digest = hashlib.sha256("\0".join(self.features).encode())
        for collection in self.test:
            shown = [item.title for item in collection.items] if self.titles else []
            shown += [text_of(item) for item in collection.items] if self.texts else []
            digest.update(repr((collection.id, len(collection), shown)).encode("utf-8", "backslashreplace"))
            digest.update(np.ascontiguousarray(collection.features, dtype="<f8").tobytes())
        return digest.hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """What a card says of it."""
        return {
            "name": self.name,
            "version": TASKS,
            "about": self.about,
            "source": self.source,
            "half": self.half,
            "digest": self.digest,
            "training": len(self.training),
            "test": len(self.test),
            "groups": len(set(self.groups)),
            "features": list(self.features),
            "titles": self.titles,
            "texts": self.texts,
            "rule": self.rule,
        }


def family_task(name: str) -> BenchTask:
    """A task whose truth is known, by name."""
    if name not in FAMILIES:
        raise InputError(
            f"there is no task {name!r}; there are: {', '.join(FAMILIES)}, {FMA} (with --fma FOLDER), or any table"
        )
    about, draw = FAMILIES[name]
    rng, made = np.random.default_rng(zlib.crc32(name.encode())), list[Collection]()
    for number in range(TRAINING + TEST):
        n = int(rng.integers(SHORTEST, LONGEST + 1))
        items = [Item(f"{number}-{j}") for j in range(n)]
        made.append(Collection(f"{name}-{number}", items, draw(n, rng).round(6), ["a", "b", "c"]))
    rule = "drawn by code, always the same"
    return BenchTask(name, about, made[:TRAINING], made[TRAINING:], rule, source=DRAWN)


def take_half(task: BenchTask, half: Half) -> BenchTask:
    """One half of a test, by a digest of who made each collection: to develop by, or to report once.

    >>> halves = [take_half(family_task("arc"), half) for half in ("open", "sealed")]
    >>> [len(each.test) for each in halves], halves[0].digest == halves[1].digest
    ([95, 105], False)
    """
    kept = [c for c, by in zip(task.test, task.groups, strict=True) if (share_of(by) < 0.5) == (half == "open")]
    if not kept:
        raise InputError(f"{task.name}: there is no test collection in the {half} half")
    return replace(task, test=kept, half=half)


def text_of(item: Item) -> str:
    """What an item says, empty where it holds no text."""
    return str(item.details.get("text", ""))


def table_task(
    path: str | Path,
    *,
    where: Mapping[str, str] | None = None,
    titles: bool = False,
    texts: bool = False,
    side: Side | None = None,
) -> BenchTask:
    """A task from a table of ordered collections, one row an item; with ``texts`` a column ``text`` is shown.

    A column ``split`` is followed: what it calls validation is to be ordered, or the ``side`` that is named. Without
    one a fifth is held out by a stable digest of the creator's name, or of
    the collection's where there are none. Columns that follow the order themselves are left out.
    """
    split = read_split(path, where=where, held_out=HELD_OUT, side=side)
    if texts:
        if not any(text_of(item) for item in split.held_out[0].items):
            raise InputError(f"{path}: has no column text to show")
        split = measure_split(split)
    names, notes = usable_features(split.training) if split.training[0].feature_names else ((), ())
    if not names and not titles:
        raise InputError(f"{path}: has no column of numbers to go by; show titles, or add one")
    training, test = (narrow(part, names) for part in (split.training, split.held_out))
    about, found = f"the table {Path(path).name}", (*split.notes, *notes)
    return BenchTask(Path(path).stem, about, training, test, split.rule, titles, texts, notes=found)


def fma_task(folder: str | Path, *, titles: bool = False) -> BenchTask:
    """FMA's own split, test against training: the mean of each of librosa's features, and the duration."""
    reading = read_fma(folder)
    training, test = (  # the first statistic of every feature is its mean: (n, f, s) -> (n, f)
        [replace(c, features=c.features[:, :, 0].astype(np.float64)) for c in reading.of(split)]
        for split in ("training", "test")
    )
    if not training or not test:
        raise InputError(
            f"{folder}: has {len(training)} collections to train on and {len(test)} to test; both need some"
        )
    about = "the Free Music Archive dataset, means of librosa's features"
    source = "Defferrard et al., FMA: A Dataset for Music Analysis, ISMIR 2017; metadata under CC BY 4.0"
    return BenchTask(FMA, about, training, test, "FMA's own split", titles, source=source, notes=reading.notes)


# Models that draw the features (n, f) of n items in their true order.


def _plackett_luce(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    utility = 1.2 * rows[:, 0] - 0.6 * rows[:, 1]
    return rows[np.argsort(-(utility + rng.gumbel(size=n)), kind="stable")]


def _mallows(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    order: list[int] = []
    for item in np.argsort(rows[:, 0]):  # repeated insertion: k places from the end cost k steps
        chances = _NEAR ** np.arange(len(order) + 1)
        back = int(rng.choice(len(chances), p=chances / chances.sum()))
        order.insert(len(order) - back, int(item))
    return rows[order]


def _arc(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    rows[:, 0] = HILL.samples(n) + NOISE * rng.normal(size=n)
    return rows


def _opener(n: int, rng: np.random.Generator) -> Floats:
    rows = rng.normal(size=(n, 3))
    weights = np.exp(1.5 * rows[:, 0])
    first = int(rng.choice(n, p=weights / weights.sum()))
    rest = rng.permutation(np.delete(np.arange(n), first))
    return rows[[first, *rest]]


def _walk(n: int, rng: np.random.Generator) -> Floats:
    rows = np.empty((n, 3))
    rows[0] = START * rng.normal(size=3)
    for j in range(1, n):
        rows[j] = rows[j - 1] + WALK * rng.normal(size=3) + DRIFT
    return rows


FAMILIES: dict[str, tuple[str, Callable[[int, np.random.Generator], Floats]]] = {
    "plackett-luce": ("Plackett-Luce: the next item is drawn by a utility of two of three features", _plackett_luce),
    "mallows": ("Mallows: few inversions from the order by one of three features", _mallows),
    "arc": ("one feature follows a dip and a peak, with noise", _arc),
    "opener": ("only the opener is chosen, by one feature; the rest is random", _opener),
    "walk": ("a drifting walk: neighbours are close", _walk),
}


FORMAT = "fabula-bench-order"
VERSION = 1
SHOWN = ("spearman", "kendall", "first", "last", "neighbours", "edit")
ARCS = "arcs"
K = 4  # templates, and arcs
_DRAWS = 32  # random orderings that make up chance
_PAPER_EPOCHS = 30  # of its 100: it stops by itself after ten without a gain

Scores = Mapping[str, Floats]  # metric -> (collections,)
Method = tuple[str, str, str, Callable[[Collection], Ints]]  # its name, whose, what it does, how
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
    def from_dict(cls, document: Mapping[str, Any]) -> "BenchRow":
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
        return json_text(document, indent=1) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> "BenchCard":
        """Read a card back."""
        what = f"card of version {VERSION} that fabula bench-order wrote"
        document = read_document(path, what, format=FORMAT, version=VERSION)
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
    rows = [BenchRow("random", "ours", _intervals(task.chance, task), about="a random ordering, mean of many")]
    notes = list(task.notes)
    if given is not None:
        rows.append(score_row(name, "yours", given, task))
    report("learning")
    kept = load_rows(task.digest)
    rows += [row for row in kept if row.kind == "known"]
    stored = [row for row in kept if row.kind != "known" and not trained]
    for method in _our_methods(task, trained=trained, known={row.method for row in stored}):
        if isinstance(method, str):
            notes.append(method)
            continue
        called, kind, about, propose = method
        report(called)
        try:
            orders = order_blind(task.test, np.random.default_rng((0, 3)), partial(map, propose))
        except FabulaError as error:
            notes.append(f"{called}: {error}")
        else:
            rows.append(score_row(called, kind, Orderings(orders), task, about=about))
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


def score_row(method: str, kind: str, orderings: Orderings, task: BenchTask, *, about: str = "") -> BenchRow:
    """The row of one method; what it did not order counts as chance."""
    absent = [ordering is None for ordering in orderings.found]
    scores = {name: np.where(absent, task.chance[name], found) for name, found in score_all(orderings.found).items()}
    gain = mean_interval(scores["spearman"] - task.chance["spearman"], task.groups)
    return BenchRow(method, kind, _intervals(scores, task), orderings.misses, gain, about)


def _intervals(scores: Scores, task: BenchTask) -> dict[str, Interval]:
    return {name: mean_interval(values, task.groups, within=RANGES[name]) for name, values in scores.items()}


def _rank(rows: list[BenchRow]) -> list[BenchRow]:
    return sorted(rows, key=lambda row: -row.metrics["spearman"].mean)


def _our_methods(task: BenchTask, *, trained: bool, known: Container[str]) -> Iterator[Method | str]:
    """The methods that can do a task, but those known already; a text where one cannot, saying why."""
    if task.features:
        some = draw_evenly(task.training)
        column, sign = _best_column(some, task.features)
        about = f"by {'rising' if sign > 0 else 'falling'} {column}, chosen on training"
        yield (f"sort by {column}", "ours", about, lambda c: sort_stable(sign * fill_missing(c.column(column))))
        if ARCS not in known:
            essences = [column_essence(c, column) for c in some]
            arcs = learn_arcs(essences, k=min(K, len(essences)), rng=np.random.default_rng(0))
            about = f"a mixture of {K} arcs over {column}"
            yield _by_arcs(ARCS, about, arcs, lambda c: column_essence(c, column))
        if trained:
            yield from _of_essence(task)
    yield from _package_models(task)


def _best_column(collections: Sequence[Collection], names: Sequence[str]) -> tuple[str, float]:
    """The feature, and the direction, that sorts known collections nearest to their true order."""
    rng = np.random.default_rng(0)
    scores = {}
    for name in names:
        values = [fill_missing(collection.column(name)) for collection in collections]
        orders = order_blind(values, rng, partial(map, sort_stable))
        scores[name] = float(np.mean([spearman(order) for order in orders]))
    name = max(scores, key=lambda each: abs(scores[each]))
    return name, 1.0 if scores[name] >= 0 else -1.0


def _of_essence(task: BenchTask) -> Iterator[Method | str]:
    """Ours and the paper's, each trained on the task."""
    from fabula.research.train import preset, train

    parts = divide(task.training, 0.1)
    try:
        model = train(parts, preset("arcs", features=task.features)).model
        if model.arcs is not None:
            about = f"a trained essence and its mixture of {K} arcs"
            yield _by_arcs("arcs, trained", about, model.arcs, lambda c: model.encode(c))
        paper = train(parts, preset("paper", features=task.features, epochs=_PAPER_EPOCHS)).model
    except MissingExtraError as error:
        yield f"arcs, trained; the paper's method: {error}"
        return
    known = [essence[:, 0] for essence in paper.encode_all(draw_evenly(task.training))]
    propose = closest_fit(learn_templates(known, k=min(K, len(known)), method="evolution"))
    about = f"essence by its appendix A ({_PAPER_EPOCHS} epochs at most), {K} templates evolved, the closest fit"
    yield ("the paper's method", "paper", about, lambda c: propose(paper.encode(c)[:, 0]))


def _by_arcs(name: str, about: str, arcs: Arcs, essence: Callable[[Collection], Floats]) -> Method:
    return (name, "ours", about, lambda c: arcs.order(essence(c), alternatives=1)[0].ordering)


def _package_models(task: BenchTask) -> Iterator[Method | str]:
    """The models that come with the package and can read this task."""
    for name in shipped_models():
        model = load_model(name)
        there = [column for column in model.feature_names if column in task.features]
        if PAIRS in model.reads:
            reads = task.texts
        elif model.by_item:
            reads = len(there) == len(model.feature_names)
        else:
            reads = bool(there) or (task.titles and TITLES in model.reads)
        if not reads:
            continue
        seen = count_seen(model, task.test)
        if seen:
            yield f"{name} was trained on {seen:,} of the {len(task.test):,} test collections: its row is no finding"
        about = "reads the texts" if PAIRS in model.reads else "sees the whole collection"
        about += ", titles too" if task.titles and TITLES in model.reads else ""
        if model.by_item:
            about = f"an essence of {model.dimensions} from {len(model.feature_names)} features"
        yield (name, "ours", f"comes with the package; {about}", partial(_by_model, model))


def _by_model(model: Any, collection: Collection) -> Ints:
    if PAIRS in model.reads:
        return propose_steps(model, collection)
    return np.asarray(model.order(collection, alternatives=1)[0].ordering)
