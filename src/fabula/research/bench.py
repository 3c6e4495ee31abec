"""A run of the benchmark: questions to a method, its row beside ours and the paper's, and the card that says it all."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arcs import Arcs
from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.core.files.writing import write_whole
from fabula.core.ordering import Ints
from fabula.errors import FabulaError, FileError, InputError, MissingExtraError
from fabula.evaluation.information import count_seen
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.evaluation.metrics import METRICS, spearman
from fabula.models.file import AnyModel, load_model, shipped_models
from fabula.models.model import Model
from fabula.models.sets.model import SetModel
from fabula.research.bench_programs import (
    MethodFailedError,
    Program,
    Question,
    TimeLimits,
    WrongAnswerError,
    ask_all,
    read_answers,
    training_lines,
)
from fabula.research.bench_tasks import FAMILIES, BenchTask
from fabula.research.recovery import closest_fits, evenly_spaced
from fabula.templates.contrast import learn_arcs
from fabula.templates.learn import learn_templates
from fabula.version import __version__

# What orderings score: every metric with its interval, drawn over those who made the collections.

SHOWN = ("spearman", "kendall", "first", "last", "neighbours", "edit")
_DRAWS = 32  # random orderings that make up chance

Scores = dict[str, Floats]  # metric -> (collections,)


@dataclass(frozen=True)
class BenchRow:
    """One method on a task.

    Attributes
    ----------
    method
        What it is called.
    kind
        ``"yours"``, ``"ours"``, ``"paper"`` or ``"known"``: what somebody who knows the truth could do.
    metrics
        Each metric's mean over the test collections, with its 95 % interval.
    failed
        Questions that count as a random ordering.
    gain
        Spearman's rho less that of chance, paired by collection.
    about
        What it does, in one line.
    """

    method: str
    kind: str
    metrics: Mapping[str, Interval]
    failed: int = 0
    gain: Interval | None = None
    about: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Orderings:
    """A method's orderings in the true numbering, None where it failed, and why it did."""

    found: Sequence[Ints | None]
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many it did not give."""
        return sum(each is None for each in self.found)


def scores_of(orderings: Orderings, chance: Scores) -> Scores:
    """Metric -> score of each collection; chance where there is no ordering."""
    return {
        name: np.array([chance[name][i] if o is None else metric(o) for i, o in enumerate(orderings.found)])
        for name, metric in METRICS.items()
    }


def chance_scores(task: BenchTask, seed: int = 0) -> Scores:
    """What a random ordering of each test collection scores, mean over some; the same every time."""
    rng = np.random.default_rng((seed, 1))
    drawn = [[rng.permutation(len(collection)) for collection in task.test] for _ in range(_DRAWS)]
    return {
        name: np.mean([[metric(order) for order in orders] for orders in drawn], axis=0)
        for name, metric in METRICS.items()
    }


def score_row(
    method: str, kind: str, orderings: Orderings, task: BenchTask, chance: Scores, *, about: str = ""
) -> BenchRow:
    """The row of one method."""
    scores, groups = scores_of(orderings, chance), task.groups
    intervals = {name: _interval(values, groups) for name, values in scores.items()}
    gain = _interval(scores["spearman"] - chance["spearman"], groups)
    return BenchRow(method, kind, intervals, orderings.failed, gain, about)


def chance_row(task: BenchTask, chance: Scores) -> BenchRow:
    """The row that everything is compared with."""
    intervals = {name: _interval(values, task.groups) for name, values in chance.items()}
    return BenchRow("random", "ours", intervals, about="a random ordering, mean of many")


def _interval(values: Floats, groups: Sequence[str]) -> Interval:
    return mean_interval(values, np.random.default_rng((0, 2)), groups)


# The rows of this package and of the paper on a task; each learns from the training collections alone.

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
    from fabula.studies.splits import divide

    learned, aside = divide(task.training, 0.1)
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
        seen = count_seen(model, task.test)
        if seen:
            yield f"{name} was trained on {seen:,} of the {len(task.test):,} test collections: its row is no finding"
        if isinstance(model, SetModel):
            about = "comes with the package; sees the whole collection" + (", titles too" if task.titles else "")
            yield Ours(name, "ours", about, lambda c, m=model: m.order(c, alternatives=1)[0].ordering)  # type: ignore[misc]
        elif isinstance(model, Model):
            about = f"comes with the package; an essence of {model.dimensions} from {len(model.feature_names)} features"
            yield Ours(name, "ours", about, lambda c, m=model: m.order(c, alternatives=1)[0].ordering)  # type: ignore[misc]


def _reads(model: AnyModel, task: BenchTask) -> bool:
    there = [name for name in model.feature_names if name in task.features]
    if isinstance(model, SetModel):
        return bool(there) or (task.titles and model.spec.titles)
    return isinstance(model, Model) and len(there) == len(model.feature_names)


def measured(task: BenchTask, method: Ours, rng: np.random.Generator) -> Orderings | str:
    """A method's orderings, or why it cannot give any."""
    try:
        return hidden_orderings(task, method.propose, rng)
    except FabulaError as error:
        return f"{method.name}: {error}"


def _some(collections: Sequence[Collection]) -> list[Collection]:
    """What a column, arcs and templates are learned from: at most so many, evenly spread."""
    return [collections[i] for i in evenly_spaced(len(collections), _MOST)]


def _filled(values: Floats) -> Floats:
    known = np.isfinite(values)
    return np.where(known, values, values[known].mean() if known.any() else 0.0)


FORMAT = "fabula-bench-order"
VERSION = 1
_CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

Report = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class BenchCard:
    """What came of a run.

    Attributes
    ----------
    task
        What was asked: name, digest of the test, numbers of collections, features, rule of the split.
    rows
        The methods, from the highest Spearman's rho.
    command
        How the method was called; empty where there was none.
    failures
        Why questions count as a random ordering, and how many.
    notes
        What one should know.
    """

    task: dict[str, Any]
    rows: list[BenchRow]
    command: str = ""
    failures: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def save(self, path: str | Path) -> Path:
        """Write the card as JSON, whole or not at all."""
        return write_whole(path, self.text())

    def text(self) -> str:
        """The card as JSON."""
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "fabula": __version__, "task": self.task}
        document |= {"command": self.command, "failures": self.failures, "notes": list(self.notes)}
        document |= {"rows": [row.to_dict() for row in self.rows]}
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
            rows = [_row(each) for each in document["rows"]]
            told = (document["task"], rows, document["command"], document["failures"], tuple(document["notes"]))
        except (KeyError, TypeError) as error:
            raise FileError(f"{path}: is a card that lacks something ({error})") from error
        return cls(*told)


def run_program(
    task: BenchTask,
    method: str,
    *,
    patience: TimeLimits | None = None,
    rng: np.random.Generator | None = None,
    progress: Report | None = None,
) -> Orderings:
    """Ask a method about every test collection.

    Parameters
    ----------
    task
        What to ask.
    method
        A command line, or ``module:function``.
    patience
        How long it may take.
    rng
        Shuffles and names the items; by default fresh randomness, so that nobody can know it.
    progress
        Called after each question.
    """
    drawn = np.random.default_rng() if rng is None else rng
    program = Program(command_of(method), training_lines(task), patience or TimeLimits())
    found: dict[int, Any] = {}
    failures: dict[str, int] = {}
    try:
        asked = sorted(enumerate(ask_all(task, drawn)), key=lambda pair: int(pair[1].id[1:]))
        for number, (i, question) in enumerate(asked):
            try:
                found[i] = program.ask(question)
            except MethodFailedError as error:
                failures[str(error)] = failures.get(str(error), 0) + 1
            if progress is not None:
                progress(number + 1, len(asked), f"{sum(failures.values())} failed")
    finally:
        program.close()
    return Orderings([found.get(i) for i in range(len(task.test))], failures)


def command_of(method: str) -> list[str]:
    """The program and its arguments; a Python function becomes a program that asks it.

    Examples
    --------
    >>> command_of("python mine.py --fast")
    ['python', 'mine.py', '--fast']
    >>> command_of("mine:order")[1:]
    ['-m', 'fabula.research.bench_programs', 'mine:order']
    """
    if _CALLABLE.fullmatch(method):
        return [sys.executable, "-m", "fabula.research.bench_programs", method]
    try:
        parts = shlex.split(method)
    except ValueError as error:
        raise InputError(f"the method is no command line: {error}") from error
    if not parts:
        raise InputError("the method is empty: give a command, or module:function")
    return parts


def read_orderings(path: str | Path, questions: Sequence[Question]) -> Orderings:
    """The answers of a file to questions that were written before."""
    answers = read_answers(path)
    unknown = sorted(set(answers) - {question.id for question in questions})
    if unknown:
        raise FileError(f"{path}: answers a question {unknown[0]!r} that was not asked")
    found: list[Any] = []
    failures: dict[str, int] = {}
    for question in questions:
        try:
            if question.id not in answers:
                raise WrongAnswerError("no answer")
            found.append(question.ordering(answers[question.id]))
        except WrongAnswerError as error:
            found.append(None)
            failures[str(error)] = failures.get(str(error), 0) + 1
    return Orderings(found, failures)


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

    Parameters
    ----------
    task
        What was asked.
    given
        The method's orderings.
    name, command
        What the method is called, and how it was.
    trained
        Whether the rows that need an essence to be trained are measured anew, which takes PyTorch and minutes; else
        they are those that come with the package, where the task is one of its own.
    progress
        Called with the name of each of our methods before its turn.
    """
    report = progress or (lambda _: None)
    chance = chance_scores(task)
    rows = [chance_row(task, chance)]
    notes = list(task.notes)
    if given is not None:
        rows.append(score_row(name, "yours", given, task, chance))
    report("learning")
    stored = [] if trained else stored_rows(task.digest)
    for method in our_methods(task, trained=trained, known={row.method for row in stored}):
        if isinstance(method, str):
            notes.append(method)
            continue
        report(method.name)
        found = measured(task, method, np.random.default_rng((0, 3)))
        if isinstance(found, str):
            notes.append(found)
        else:
            rows.append(score_row(method.name, method.kind, found, task, chance, about=method.about))
    rows += stored
    rows.sort(key=lambda row: -row.metrics["spearman"].mean)
    return BenchCard(task.to_dict(), rows, command, dict(given.failures) if given else {}, tuple(notes))


def stored_rows(digest: str) -> list[BenchRow]:
    """The rows of a task that were measured before and come with the package; none for a task that is not its own."""
    stored = json.loads(files(__package__).joinpath("bench_rows.json").read_text(encoding="utf-8"))
    return [_row(each) for each in stored.get(digest, [])]


def joined(cards: Sequence[BenchCard]) -> BenchCard:
    """Several cards of one task as one: our rows of the first, everybody's own rows."""
    first = cards[0]
    for card in cards[1:]:
        if card.task["digest"] != first.task["digest"]:
            raise InputError(
                f"cards of different tasks cannot stand on one page: {first.task['name']} ({first.task['digest']}) "
                f"and {card.task['name']} ({card.task['digest']})"
            )
    rows = list(first.rows)
    rows += [row for card in cards[1:] for row in card.rows if row.kind == "yours"]
    rows.sort(key=lambda row: -row.metrics["spearman"].mean)
    return BenchCard(first.task, rows, first.command, first.failures, first.notes)


def _row(document: dict[str, Any]) -> BenchRow:
    metrics = {name: Interval(**document["metrics"][name]) for name in METRICS}
    gain = None if document["gain"] is None else Interval(**document["gain"])
    return BenchRow(document["method"], document["kind"], metrics, document["failed"], gain, document.get("about", ""))
