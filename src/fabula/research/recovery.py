"""Order recovery: every way of ordering asked for one ordering of each collection, without seeing the true one.

Equal items keep the order in which they come, and here they come in the true order: each collection is shuffled
before it is shown to any method, and what comes back is mapped to the true numbering.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats, Ints, normalise
from fabula.core.collection import Collection, Evidence
from fabula.core.fit import fit
from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError
from fabula.evaluation import information
from fabula.evaluation.controls import keep_only
from fabula.evaluation.information import Information
from fabula.evaluation.metrics import score_all, single_features
from fabula.media.medium import find_evidence
from fabula.media.registry import measure_if_held
from fabula.models.config import PAIRS, TITLES
from fabula.models.encoders.measures import as_measures
from fabula.models.model import Model
from fabula.models.order import Rule, likeliest, search_orderings, solvable
from fabula.models.scorers import SCORERS, sequence_scorers
from fabula.models.scorers.reach import MOST_DRAWN
from fabula.research.splits import Split, narrow
from fabula.templates.learn import learn_arcs, learn_templates

if TYPE_CHECKING:
    from fabula.training.sequencer import Sequencer

CHANCE = "chance"
SORTED = "sorted essence"
PAPER = "squared-error templates"
ARCS = "mixture of arcs"
SEARCHES = {kind: f"{kind} search" for kind in sequence_scorers() if not SCORERS[kind].exact}
DIRECT = "direct transformer"
PROPOSED = "proposed order"
LIKELIEST = "likeliest order"
METHODS = (SORTED, PAPER, ARCS, *SEARCHES.values(), PROPOSED, LIKELIEST, DIRECT)  # those that learn, in results

_MOST = 4000  # collections that a column, arcs and templates are learned from, at most
_RULES: dict[str, Rule] = {PROPOSED: "agreeing", LIKELIEST: "likeliest"}
_SECONDS = 0.5  # to search in, where a collection has too many items to be solved
_HARM = 0.01  # bits below zero that are told
_DOUBTED = 160  # collections by which inputs are doubted; an eighth of that where items are looked into

S = TypeVar("S", Collection, Floats)  # what is shown to a method
Orderings = Sequence[Ints | None]  # None where a method was not asked
Report = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Methods:
    """What the ways of ordering work with."""

    model: Model | None = None  # what gives the essence; a set or step model gives orders instead
    by: str | None = None  # or a column; one of them
    templates: TemplateSet | None = None  # in place of the squared-error templates learned from the rest
    sequencer: "Sequencer | None" = None  # a direct sequencer, where it takes part
    search: int = 0  # on how many collections to search under the model's most detailed scorer, which is slow
    k: int = 4  # templates, and arcs where there is no model, that are learned


def recover(
    split: Split, features: Sequence[str], methods: Methods, *, seed: int = 0, progress: Report | None = None
) -> dict[str, Orderings]:
    """Method -> one ordering of each held-out collection in the true numbering; no method sees the true order.

    ``features`` are those to sort by, each alone; ``progress`` is called with the name of each method before its turn.
    """
    report = progress or (lambda _: None)
    rng = np.random.default_rng(seed)
    report("features")
    single = single_features(narrow(split.held_out, features) if features else [], rng)
    found: dict[str, Orderings] = {name: list(orderings) for name, orderings in single.items()}
    model = methods.model
    if model is not None and not model.by_item:
        report(PROPOSED)
        looks = PAIRS in model.reads
        found |= step_orderings(model, split.held_out, seed) if looks else set_orderings(model, split.held_out, rng)
    else:
        found |= _by_essence(split, methods, rng, seed, report)
    if methods.sequencer is not None:
        report(DIRECT)
        found[DIRECT] = direct_orderings(methods.sequencer, split.held_out, rng)
    return found


def _by_essence(
    split: Split, methods: Methods, rng: np.random.Generator, seed: int, report: Report
) -> dict[str, Orderings]:
    """What a model's essence, or a column, makes of each held-out collection."""
    found: dict[str, Orderings] = {}
    learned_from = draw_evenly(split.training)
    model = methods.model
    essences, known = (
        [column_essence(c, str(methods.by)) for c in part] if model is None else scalar_essences(model, part)
        for part in (split.held_out, learned_from)
    )
    count = min(methods.k, len(known))
    apart = split.training is not split.held_out  # else what is learned here would be measured on the same
    if known[0].ndim == 1:
        if apart:
            found[SORTED] = order_blind(essences, rng, partial(map, sort_one_way(known)))
        report(PAPER)
        fitted = methods.templates or (learn_templates(known, k=count, seed=seed) if apart else None)
        if fitted is not None:
            found[PAPER] = order_blind(essences, rng, partial(map, closest_fit(fitted)))
    arcs = None if model is None else model.arcs
    if model is None and apart:
        arcs = learn_arcs(known, k=count, rng=np.random.default_rng(seed))
    if arcs is not None:
        report(ARCS)
        found[ARCS] = order_blind(essences, rng, partial(likeliest_orders, arcs))
    kind = None if model is None else searchable(model)
    if methods.search and model is not None and kind is not None:
        report(SEARCHES[kind])
        found[SEARCHES[kind]] = on_subset(lambda some: search_scorer(model, some, rng), essences, methods.search)
    return found


def direct_orderings(sequencer: "Sequencer", collections: Sequence[Collection], rng: np.random.Generator) -> Orderings:
    """Orderings of the direct sequencer, each collection shuffled before it sees it."""
    from fabula.training.sequencer import sequence_all

    return order_blind(collections, rng, partial(sequence_all, sequencer))


def shuffle_all(shown: Sequence[S], rng: np.random.Generator) -> tuple[list[Ints], list[S]]:
    """An order for each collection, or essence (n,) or (n, d), and each in that order."""
    mixed = [rng.permutation(len(each)) for each in shown]
    found = []
    for order, each in zip(mixed, shown, strict=True):
        found.append(each.reordered(order) if isinstance(each, Collection) else each[order])
    return mixed, found


def order_blind(
    shown: Sequence[S], rng: np.random.Generator, propose: Callable[[list[S]], Iterable[Ints]]
) -> list[Ints]:
    """Ask for an ordering of each, shown in an order that tells nothing; in the true numbering."""
    mixed, blind = shuffle_all(shown, rng)
    return [order[placed] for order, placed in zip(mixed, propose(blind), strict=True)]


def likeliest_orders(arcs: Arcs, essences: Sequence[Floats]) -> list[Ints]:
    """The likeliest ordering of each essence (n,) or (n, d) under a mixture of arcs."""
    offsets = np.cumsum([0, *map(len, essences)])
    return np.split(arcs.order_many(np.concatenate(essences), offsets)[0], offsets[1:-1])


def sort_one_way(known: Sequence[Floats]) -> Callable[[Floats], Ints]:
    """Sort by the essence, up or down: whichever is nearer to the true orders of known collections, (n,) each."""
    slope = sum(float(np.linspace(-1, 1, len(each)) @ each) for each in known)
    sign = -1.0 if slope < 0 else 1.0
    return lambda essence: np.argsort(sign * essence, kind="stable")


def closest_fit(templates: Iterable[Template]) -> Callable[[Floats], Ints]:
    """The paper's pipeline with one proposal: of the fits to all templates the one with the least squared error."""
    kept = list(templates)

    def propose(essence: Floats) -> Ints:
        fits = (fit(essence, template) for template in kept)
        return min(fits, key=lambda each: float((each.deviations**2).mean())).ordering

    return propose


def searchable(model: Model) -> str | None:
    """The kind of scorer to search under: the most detailed one, where its best orderings cannot be computed."""
    kind = model.most_detailed
    return kind if kind in SEARCHES else None


def search_scorer(model: Model, essences: Sequence[Floats], rng: np.random.Generator) -> Orderings:
    """The best orderings that a search under a model's scorer finds; slow."""
    kind = searchable(model)

    def score(sequences: Floats) -> Floats:
        return np.asarray(model.score(sequences, kind))

    def propose(essence: Floats) -> Ints:
        return search_orderings(score, essence.reshape(len(essence), -1), alternatives=1)[0].ordering

    return order_blind(essences, rng, partial(map, propose))


def on_subset(orderings: Callable[[Sequence[Floats]], Orderings], values: Sequence[Floats], most: int) -> Orderings:
    """A slow method asked about ``most`` collections, evenly spread; None for the others."""
    chosen = evenly_spaced(len(values), most)
    found: list[Ints | None] = [None] * len(values)
    for i, ordering in zip(chosen, orderings([values[i] for i in chosen]), strict=True):
        found[i] = ordering
    return found


def evenly_spaced(count: int, most: int) -> list[int]:
    """At most so many of ``count`` numbers from 0, evenly spread.

    >>> evenly_spaced(10, 4)
    [0, 3, 6, 9]
    """
    return [int(i) for i in np.unique(np.linspace(0, count - 1, min(most, count)).astype(int))]


def draw_evenly(collections: Sequence[Collection], most: int = _MOST) -> list[Collection]:
    """At most so many collections, evenly spread."""
    return [collections[i] for i in evenly_spaced(len(collections), most)]


def chance_scores(lengths: Sequence[int], rng: np.random.Generator, draws: int) -> dict[str, Floats]:
    """Metric -> mean score of some random orderings of each collection, (collections,)."""
    found = [score_all([rng.permutation(n) for n in lengths]) for _ in range(draws)]
    return {name: np.mean([each[name] for each in found], axis=0) for name in found[0]}


def column_essence(collection: Collection, column: str) -> Floats:
    """A column as the essence, z-scored; a missing value stands at the mean."""
    return normalise(fill_missing(collection.column(column)))


def scalar_essences(model: Model, collections: Sequence[Collection]) -> list[Floats]:
    """The essence of each collection, (n,) where the model has one dimension, else (n, d)."""
    return [e[:, 0] if e.shape[1] == 1 else e for e in model.encode_all(collections)]


def fill_missing(values: ArrayLike) -> Floats:
    """Values (n,) with the mean of the others where one is missing, 0 where all are."""
    array = np.asarray(values, dtype=np.float64)
    known = np.isfinite(array)
    return np.where(known, array, array[known].mean() if known.any() else 0.0)


# By a set model, which sees each collection whole: what it proposes, and the likeliest order.


def set_orderings(model: Model, collections: Sequence[Collection], rng: np.random.Generator) -> dict[str, Orderings]:
    """Both orderings of each collection in the true numbering, its items shuffled before the model sees them."""
    mixed, shown = shuffle_all(collections, rng)
    found: dict[str, Orderings] = {}
    for name, rule in _RULES.items():
        ordered = model.order_many(shown, rule=rule, seconds=_SECONDS)
        found[name] = [order[ordering] for order, ordering in zip(mixed, ordered, strict=True)]
    return found


# By a step model, which looks into the items themselves: what it proposes, and its bits.


def measure_split(split: Split, *, training: bool = True) -> Split:
    """A split whose collections hold their texts or the like, measured; those to train on, where that is asked for."""
    held_out = [measure_if_held(c)[0] for c in split.held_out]
    learned = split.training
    if learned is split.held_out:
        learned = held_out
    elif training:
        learned = [measure_if_held(c)[0] for c in learned]
    return replace(split, training=learned, held_out=held_out)


def look_at(model: Model, collection: Collection) -> Evidence:
    """What a collection's medium finds in its items, or else in the steps between what was measured of them."""
    found = find_evidence(collection, measure_if_held(collection)[1])
    if not any(name in found.pairs for name in as_measures(model.encoder).pair_names):
        raise InputError(f"{collection.id}: the model needs items that can be looked at, such as texts")
    return found


def propose_steps(model: Model, collection: Collection) -> Ints:
    """The ordering that a step model proposes for a collection, (n,): what `fabula order` proposes of it, too."""
    return likeliest(solvable(model.energy(collection, evidence=look_at(model, collection)))).ordering


def step_orderings(model: Model, collections: Sequence[Collection], seed: int = 0) -> dict[str, Orderings]:
    """The ordering proposed for each collection in the true numbering, its items shuffled before they are looked at.

    How each is shuffled goes by its number and the seed alone, whatever else is measured of the same collections.
    """
    found = list[Ints]()
    propose = partial(propose_steps, model)
    for number, collection in enumerate(collections):
        found += order_blind([collection], np.random.default_rng(seed + number), partial(map, propose))
    return {PROPOSED: found}


# What a model tells about the order, and which of its inputs tells it.


def _look_at_all(model: Model, collections: Sequence[Collection]) -> Iterator[tuple[Collection, Evidence]]:
    """Each collection, measured, and what a step model sees in its items."""
    return ((measured, look_at(model, measured)) for measured in (measure_if_held(c)[0] for c in collections))


def _blind(evidence: Evidence, name: str) -> Evidence:
    """The same without one table of pairs."""
    return replace(evidence, pairs={known: pair for known, pair in evidence.pairs.items() if known != name})


def mutual_information(
    model: Model,
    collections: Sequence[Collection],
    negatives: int = 31,
    draws: int = 4,
    seed: int = 0,
    scorer: str | None = None,
) -> Information:
    """How much a model tells about the order of collections, in bits each: the InfoNCE bound.

    Parameters
    ----------
    model
        Any, shipped or your own.
    collections
        In their true order, none of them trained on: where the model's own record says otherwise, a
        :class:`fabula.errors.SeenWarning` is given. For a model of texts their items hold the text.
    negatives
        Permutations against each true order.
    draws
        How often they are drawn; the results are averaged.
    seed
        Of the permutations.
    scorer
        The kind that scores; by default the most detailed one, a bilstm before arcs. Of a set model ``"arcs"``
        leaves flow out, and ``"flow"`` leaves arcs out; a model of pairs has but one.

    Returns
    -------
    Information
        ``bits`` with their 95 % interval over those who made the collections, ``low`` and ``high``, and ``ceiling``.
    """
    if not (isinstance(model, Model) and PAIRS in model.reads):
        return information.mutual_information(model, collections, negatives, draws, seed, scorer)
    if scorer is not None:
        raise InputError(f"this model scores by all it sees at once; got {scorer!r}", field="scorer")
    energies = (model.energy(c, evidence=seen) for c, seen in _look_at_all(model, collections))
    return information.mutual_information(model, collections, negatives, draws, seed, energies=energies)


def bits_by_scorer(model: Model, collections: Sequence[Collection], seed: int) -> dict[str, Information]:
    """What a model tells about the order of collections: by each scorer, and by all at once where it has that."""
    if PAIRS in model.reads:
        some = [c for c in collections if len(c) <= MOST_DRAWN]
        name = " + ".join(model.scorers) if model.reaches else "flow"
        return {name: mutual_information(model, some, seed=seed)} if some else {}
    scorers: dict[str, str | None] = {kind: kind for kind in model.scorers}
    if not model.by_item:
        scorers = {" + ".join(model.scorers): None, **scorers}
    return {name: mutual_information(model, collections, seed=seed, scorer=kind) for name, kind in scorers.items()}


def doubt_bits(model: Model, collections: Sequence[Collection], found: Mapping[str, Information]) -> tuple[str, ...]:
    """A note where bits are below zero, or more than half of what could be told: what is left without each input."""
    most = max(found.values(), key=lambda info: info.bits / info.ceiling, default=None)
    if most is not None and most.bits < -_HARM:
        return (f"it knows less than nothing of the order here ({most.bits:.2f} bits): do not order by it",)
    if most is None or most.bits <= most.ceiling / 2:
        return ()
    some = draw_evenly(collections, _DOUBTED)
    left: dict[str, float] = {}
    if PAIRS in model.reads:
        some = [c for c in some if len(c) <= MOST_DRAWN][: _DOUBTED // 8]
        looked = list(_look_at_all(model, some))
        for name in as_measures(model.encoder).pair_names:
            energies = (model.energy(c, evidence=_blind(seen, name)) for c, seen in looked)
            left[name] = information.mutual_information(model, some, draws=1, energies=energies).bits
    else:
        there = some[0].feature_names
        used = [name for name in model.feature_names if name in there]
        cases = {name: keep_only(some, set(there) - {name}, titles=True) for name in used}
        if TITLES in model.reads:
            cases["the titles"] = keep_only(some, there, titles=False)
        left = {name: mutual_information(model, without, draws=1).bits for name, without in cases.items()}
    told = ", ".join(f"{bits:.2f} without {name}" for name, bits in sorted(left.items(), key=lambda one: one[1])[:3])
    share = f"{most.bits:.2f} bits are more than half of the {most.ceiling:.2f} that could be told"
    return (f"SUSPICIOUS until explained: {share}{f'; {told}' if told else ''}",)
