"""Learning templates: one door to the three methods, and the one by contrast."""

from collections.abc import Sequence, Sized
from dataclasses import asdict, dataclass, fields
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats, Ints, by_length, one_thread
from fabula.core.template import PAPER_KNOTS, TemplateSet, basis, join_essences, name_templates, replace_values
from fabula.errors import InputError, brief, check_count
from fabula.templates.costs import TemplateCosts, as_count, quadratic_costs
from fabula.templates.refinement import EvolutionSettings, Progress, RefinementSettings, evolve, refine

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

# Contrast: the mixture of arcs that tells true orders from shuffled ones, for a given essence.

_CELLS = 1 << 18  # floats held at once
_MOST = 50_000  # collections learned from; more would not change 8 numbers per template
_RACE = 2048  # collections that the starts race on
_RACE_STEPS = 20
_START_SCALE = 0.2

Features = NDArray[np.float32]


@dataclass(frozen=True)
class ContrastSettings:
    """How arcs are learned by contrast."""

    knots: ArrayLike = PAPER_KNOTS  # (q,), rising from 0 to 1
    negatives: int = 31  # shuffled orders each true one is told from; drawn once
    starts: int = 8  # random ones
    steps: int = 200  # that the best start takes at most
    ridge: float = 1.0  # weight of the squares of the parameters, against a log likelihood summed over the collections

    def __post_init__(self) -> None:
        if self.starts < 1 or self.steps < 1 or not self.ridge >= 0:
            got = self.starts, self.steps, self.ridge
            raise InputError(f"contrast needs starts and steps of 1 or more, ridge of 0 or more; got {got}")


def learn_arcs(
    essences: Sequence[ArrayLike],
    k: int = 4,
    *,
    rng: np.random.Generator,
    positions: Sequence[ArrayLike] | None = None,
    settings: ContrastSettings | None = None,
    progress: Progress | None = None,
) -> Arcs:
    """Learn a mixture of k arcs that tells the true orders of collections from shuffled ones.

    Takes essences and positions as ``learn_templates`` does; ``progress(step, steps, loss)`` gets the loss in nats.
    """
    as_count(k, len(essences))
    how = settings or ContrastSettings()
    if len(essences) > _MOST:
        join_essences(essences, positions)  # names the collection that breaks a rule by its own number
        kept = np.sort(rng.choice(len(essences), _MOST, replace=False)).tolist()
        essences = [essences[i] for i in kept]
        positions = None if positions is None else [positions[i] for i in kept]
    features = contrast_features(essences, positions, knots=how.knots, negatives=how.negatives, rng=rng)
    values, weights = contrast(features, k, rng=rng, settings=how, progress=progress)
    return Arcs(TemplateSet(name_templates(how.knots, values)), weights)


def contrast_features(
    essences: Sequence[ArrayLike],
    positions: Sequence[ArrayLike] | None = None,
    *,
    rng: np.random.Generator,
    knots: ArrayLike = PAPER_KNOTS,
    negatives: int = 31,
) -> Features:
    """The q numbers x of every true order and of shuffled ones: shape (m, 1 + negatives, q), the true order first.

    Negatives are independent, uniformly random permutations of the items, which may be the true order by chance.
    """
    if negatives < 1:
        raise InputError(f"contrast needs at least 1 negative; got {negatives}")
    values, u, lengths = join_essences(essences, positions)
    x = np.asarray(knots, dtype=np.float64)
    out = np.empty((len(lengths), 1 + negatives, basis(x, [0.0]).shape[1]), dtype=np.float32)
    for some in by_length(np.cumsum([0, *lengths]), _CELLS // (1 + negatives), axes=1):
        orders = np.repeat(values[some.rows][:, np.newaxis], 1 + negatives, axis=1)  # (collections, 1 + negatives, n)
        orders[:, 1:] = rng.permuted(orders[:, 1:], axis=2)
        out[some.numbers] = orders @ basis(x, u[some.rows.ravel()]).reshape(*some.rows.shape, -1)
    return out


@one_thread()
def contrast(
    features: Features,
    k: int,
    *,
    rng: np.random.Generator,
    settings: ContrastSettings | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats]:
    """The knot values (k, q) and weights (k,) of k arcs with the largest InfoNCE (L-BFGS from several starts)."""
    how = settings or ContrastSettings()
    q = features.shape[2]
    begin = rng.normal(scale=_START_SCALE, size=(how.starts, k * (q + 1)))
    begin[:, k * q :] = 0.0
    few = features if len(features) <= _RACE else features[np.sort(rng.choice(len(features), _RACE, replace=False))]
    raced = [_descend(few, start, k, how.ridge, _RACE_STEPS, None) for start in begin]
    winner = min(raced, key=lambda run: run[1])[0]
    values, weights = _split(_descend(features, winner, k, how.ridge, how.steps, progress)[0], k)
    return values, weights - weights.mean()


def info_nce(features: Features, values: Floats, weights: Floats) -> tuple[float, Floats, Floats]:
    """The InfoNCE loss in nats, mean over collections, and its gradient for values (k, q) and weights (k,)."""
    m, orders, q = features.shape
    k = len(weights)
    loss, slope, push = 0.0, np.zeros((k, q)), np.zeros(k)
    y, w = values.astype(features.dtype), weights.astype(features.dtype)[:, np.newaxis]
    step = max(1, _CELLS // (orders * max(k, q)))
    for i in range(0, m, step):
        part = features[i : i + step].reshape(-1, q)
        scores, share = _mixture(y @ part.T + w)  # (rows * orders,), (k, rows * orders)
        table = scores.reshape(-1, orders)
        top = table.max(axis=1, keepdims=True)
        odds = np.exp(table - top)
        total = odds.sum(axis=1, keepdims=True)
        loss += float((np.log(total) + top - table[:, :1]).sum(dtype=np.float64))
        pull = odds / total
        pull[:, 0] -= 1.0
        share *= pull.reshape(1, -1)
        slope += share @ part
        push += share.sum(axis=1, dtype=np.float64)
    return loss / m, slope / m, push / m


@one_thread()
def information(features: Features, arcs: Arcs) -> Floats:
    """InfoNCE of each collection in bits, shape (m,); their mean is the information about the order."""
    m, orders, q = features.shape
    logits = arcs.templates.values @ features.reshape(-1, q).T + arcs.weights[:, np.newaxis]  # (k, m * orders)
    scores = _mixture(logits)[0].reshape(m, orders)
    top = scores.max(axis=1)
    nats = scores[:, 0] - top - np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1))
    return np.asarray(nats / np.log(2) + np.log2(orders), dtype=np.float64)


def _mixture(logits: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Logsumexp over the templates, the first axis, and each one's share in it. Overwrites the logits."""
    top = logits.max(axis=0)
    logits -= top
    share = np.exp(logits, out=logits)
    total = share.sum(axis=0)
    share /= total
    return np.log(total) + top, share


def _descend(
    features: Features, start: Floats, k: int, ridge: float, steps: int, progress: Progress | None
) -> tuple[Floats, float]:
    """L-BFGS from one start: the parameters, and the loss with the ridge."""
    from scipy.optimize import minimize

    weight, done = ridge / len(features), count(1)

    def objective(parameters: Floats) -> tuple[float, Floats]:
        loss, slope, push = info_nce(features, *_split(parameters, k))
        gradient = np.concatenate([slope.ravel(), push]) + weight * parameters
        return loss + 0.5 * weight * float(parameters @ parameters), gradient

    def record(intermediate_result: "OptimizeResult") -> None:
        if progress is not None:
            progress(next(done), steps, float(intermediate_result.fun))

    options: Any = {"maxiter": steps, "ftol": 1e-7, "gtol": 1e-5}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", callback=record, options=options)
    return np.asarray(found.x, dtype=np.float64), float(found.fun)


def _split(parameters: Floats, k: int) -> tuple[Floats, Floats]:
    return parameters[:-k].reshape(k, -1), parameters[-k:]


Half = tuple[list[Floats], list[Floats]]  # essences and positions of some collections, (n,) each

METHODS: dict[str, tuple[str, ...]] = {  # and the options of each
    "refined": (*(field.name for field in fields(RefinementSettings)), "initial"),
    "evolution": tuple(field.name for field in fields(EvolutionSettings)),
    "contrastive": tuple(field.name for field in fields(ContrastSettings) if field.name != "knots"),
}

_MARGIN = 2.0  # standard errors by which information must exceed that of shuffled collections


def learn_templates(
    essences: Sequence[ArrayLike],
    k: int = 4,
    positions: Sequence[ArrayLike] | None = None,
    method: str = "refined",
    seed: int = 0,
    *,
    knots: ArrayLike = PAPER_KNOTS,
    progress: Progress | None = None,
    **options: Any,
) -> TemplateSet:
    """Learn the k templates that ordered collections follow.

    Parameters
    ----------
    essences
        One array of shape (n,) per collection, in its true order, taken as it is: z-score each with
        :func:`fabula.normalise` where collections differ in scale.
    k
        How many templates, 1 to the number of collections.
    positions
        One array of shape (n,) per collection, in [0, 1]; by default j / (n - 1).
    method
        ``"refined"``: a small squared error, by Lloyd's algorithm from many starts. ``"evolution"``: the same
        aim by the paper's Algorithm 1. ``"contrastive"``: the templates that best tell true orders from shuffled
        ones; they are returned on the scale of a z-scored essence, and those that explain the order are these.
    seed
        Same seed, same templates; contrastive ones on one kind of processor, to three digits on others.
    knots
        Shape (q,), rising from 0 to 1; by default the paper's.
    progress
        Called as ``progress(done, total, cost)``.
    options
        Of the method: ``starts``, ``steps``, ``initial`` (refined); the fields of ``EvolutionSettings``
        (evolution); ``negatives``, ``starts``, ``steps``, ``ridge`` (contrastive).

    Returns
    -------
    TemplateSet
        Named by what the templates look like; those that most collections follow come first, and for
        ``"contrastive"`` those with the largest weight.

    Examples
    --------
    >>> essences = [[0, 1, 2], [0, 1, 2.1], [2, 1, 0]]
    >>> [t.name for t in learn_templates(essences, k=2, knots=[0, 0.5, 1])]
    ['rise', 'fall']
    """
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    unknown = sorted(set(options) - set(METHODS[method]))
    if unknown:
        raise InputError(f"method {method!r} takes the options {', '.join(METHODS[method])}; got {', '.join(unknown)}")
    if not isinstance(essences, Sized):
        raise InputError(f"must be a list of arrays in true order; got {brief(essences)}", field="essences")
    as_count(k, len(essences))
    if not isinstance(seed, np.random.Generator):
        check_count(seed, "seed", least=0)
    rng = np.random.default_rng(seed)
    if method == "contrastive":
        how = ContrastSettings(knots, **options)
        arcs = learn_arcs(essences, k, rng=rng, positions=positions, settings=how, progress=progress)
        heavy = np.argsort(-arcs.weights, kind="stable").tolist()
        return TemplateSet(name_templates(knots, [arcs.templates[i].normalised().values for i in heavy]))
    costs = quadratic_costs(essences, positions, knots=knots)
    return TemplateSet(name_templates(knots, learn_values(costs, k, method, rng=rng, progress=progress, **options)[0]))


@one_thread()
def learn_values(
    costs: TemplateCosts,
    k: int,
    method: str,
    *,
    rng: np.random.Generator,
    progress: Progress | None = None,
    initial: ArrayLike | None = None,
    **options: Any,
) -> tuple[Floats, Ints, float]:
    """Templates (k, q) of least squared error, most followed first; how many follow each (k,); and their cost."""
    if method == "evolution":
        values = evolve(costs, k, rng=rng, settings=EvolutionSettings(**options), progress=progress).values
    else:
        settings = RefinementSettings(**options)
        values = refine(costs, k, rng=rng, settings=settings, initial=initial, progress=progress)[0]
    [label], error = costs.nearest(values[np.newaxis])
    followers = np.bincount(label, minlength=k)
    most = np.argsort(-followers, kind="stable")
    return values[most], followers[most], float(error.mean())


@dataclass(frozen=True)
class CountRow:
    """What k templates explain, on held-out collections and on shuffled ones."""

    k: int
    train_cost: float  # of refined templates on the collections learned from
    cost: float  # and on those held out
    shuffled_cost: float  # the held-out cost when all is learned and measured on shuffled collections
    bits: float  # information of contrastive templates about the order of held-out collections
    bits_error: float  # its standard error
    shuffled_bits: float  # learned and measured on shuffled collections: zero but for chance
    shuffled_bits_error: float
    refined_bits: float  # of the refined templates, as arcs at the temperature that suits them best
    refined_bits_error: float

    @property
    def informative(self) -> bool:
        """Whether the templates tell more about the order than those of shuffled collections, beyond chance."""
        error = float(np.hypot(self.bits_error, self.shuffled_bits_error))
        return self.bits - max(self.shuffled_bits, 0.0) > _MARGIN * error


@dataclass(frozen=True)
class CountTable:
    """A :class:`CountRow` for each number of templates, by rising k."""

    rows: tuple[CountRow, ...]
    ceiling: float  # the most bits that could be measured with the negatives used
    learned_from: int  # collections
    held_out: int

    @property
    def suggestion(self) -> int | None:
        """The smallest k within one standard error of the most informative; None when no k tells anything."""
        informative_rows = [row for row in self.rows if row.informative]
        if not informative_rows:
            return None
        best = max(informative_rows, key=lambda row: row.bits)
        return next(row.k for row in informative_rows if row.bits >= best.bits - best.bits_error)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        rows = [{**asdict(row), "informative": row.informative} for row in self.rows]
        return {**asdict(self), "rows": rows, "suggested": self.suggestion}


def choose_count(
    essences: Sequence[ArrayLike],
    counts: Sequence[int] = (1, 2, 3, 4, 5, 6),
    *,
    rng: np.random.Generator,
    positions: Sequence[ArrayLike] | None = None,
    held_out: float = 0.2,
    progress: Progress | None = None,
) -> CountTable:
    """Measure on held-out collections what each number of templates explains.

    Takes essences, z-scored, and positions as :func:`learn_templates` does; calls ``progress(done, total, bits)``.
    Collections that depend on each other (by one creator) should not be divided by chance: measure those with a split
    of your own.
    """
    values, u, lengths = join_essences(essences, positions)
    cuts = np.cumsum(lengths)[:-1]
    train, test = _set_apart(np.split(values, cuts), np.split(u, cuts), held_out, rng)
    for k in counts:
        as_count(k, len(train[0]))
    if not counts:
        raise InputError("at least one number of templates is needed; got none")
    bare = ([rng.permutation(essence) for essence in train[0]], train[1])
    bare_test = ([rng.permutation(essence) for essence in test[0]], test[1])
    rows: list[CountRow] = []
    for k in sorted(set(counts)):
        real, shuffled = _measure(train, test, k, rng), _measure(bare, bare_test, k, rng)
        rows.append(CountRow(k, *real[:2], shuffled[1], *real[2:4], *shuffled[2:4], *real[4:]))
        if progress is not None:
            progress(len(rows), len(set(counts)), rows[-1].bits)
    return CountTable(tuple(rows), float(np.log2(1 + ContrastSettings.negatives)), len(train[0]), len(test[0]))


def temper(templates: TemplateSet, features: Features) -> Arcs:
    """Templates as arcs of equal weight, at the temperature with the most information about these orders."""
    from scipy.optimize import minimize_scalar

    def arcs(log_scale: float) -> Arcs:
        scaled = [replace_values(t, t.values * np.exp(log_scale)) for t in templates]
        return Arcs(TemplateSet(scaled), np.zeros(len(scaled)))

    found = minimize_scalar(
        lambda x: -float(information(features, arcs(x)).mean()), bounds=(-9.0, 3.0), method="bounded"
    )
    return arcs(float(found.x))


def _set_apart(
    essences: list[Floats], positions: list[Floats], held_out: float, rng: np.random.Generator
) -> tuple[Half, Half]:
    if not 0.0 < held_out < 1.0:
        raise InputError(f"must lie between 0 and 1; got {held_out}", field="held_out")
    if len(essences) < 4:
        raise InputError(f"at least 4 collections are needed, so that some can be held out; got {len(essences)}")
    shuffled = rng.permutation(len(essences)).tolist()
    size = min(max(2, round(held_out * len(essences))), len(essences) - 2)
    halves = (sorted(shuffled[size:]), sorted(shuffled[:size]))
    train, test = (([essences[i] for i in half], [positions[i] for i in half]) for half in halves)
    return train, test


def _measure(
    train: Half, test: Half, k: int, rng: np.random.Generator
) -> tuple[float, float, float, float, float, float]:
    """Cost on train and test; bits of contrastive and of refined templates on test, each with its error."""
    values, cost = refine(quadratic_costs(*train), k, rng=rng)
    templates = TemplateSet(name_templates(PAPER_KNOTS, values))
    arcs = learn_arcs(train[0], k, rng=rng, positions=train[1])
    seen, unseen = (contrast_features(*half, rng=rng) for half in (train, test))
    by_contrast = information(unseen, arcs)
    by_fit = information(unseen, temper(templates, seen[:4096]))
    return (cost, templates.cost(*test), *_mean_and_error(by_contrast), *_mean_and_error(by_fit))


def _mean_and_error(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
