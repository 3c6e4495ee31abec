"""Training a model of measures and pairs: the weights under which the true orders of collections are likeliest.

Texts: arcs over what each item has, flow and reach over all pairs. The likelihood of an ordering has a denominator
over n! orderings; its gradient needs only what orderings drawn from the model have on average, and those come from
Markov chains that walk on from step to step while the weights change (persistent contrastive divergence: Tieleman,
2008). Neighbours alone, as of pictures: few weights, found by InfoNCE against random orderings, a convex problem.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Terms
from fabula.core.energy import ALWAYS, FUNCTIONS, KERNELS, Energy, position_basis, sum_pairs
from fabula.core.sampling import Walk
from fabula.errors import InputError
from fabula.evaluation.information import Information, info_nce_bits, summarise_bits
from fabula.evaluation.intervals import mean_interval
from fabula.models.encoders.measures import leanings, stand_out
from fabula.training.audit import NOISE, ORDERS, Report, Trained
from fabula.training.distributed import World
from fabula.training.loop import Learner, Loss, Progress, info_nce, optimise
from fabula.training.recipes import StepRecipe

WINDOWS = ((20, 12), (10, 15))  # items in a window, and items from one to the next
LONGEST = 80  # items of a whole collection
RIDGE = 1e-4  # on weights that nothing holds
NEGATIVES = 31  # beside each true order, where bits of neighbours are told; the ceiling is 5
DRAWS = 8  # of them, whose mean is told
FOLDS = 10
HOLD = 256.0  # by the number of collections: how firmly weights are held near to known ones; chosen on series set aside
_NEARLY = 0.8  # of the size of the largest, for an example to walk with it
_TOGETHER = 1_500_000  # numbers in the tables of what walks together
_ALONE = World(0, 1, torch.device("cpu"))


@dataclass(frozen=True, eq=False)
class Example:
    """Some items in their true order: a whole collection, or a window of it, as if there were no other items."""

    standing: Floats  # (n, f): how far each item stands out, as the encoder of measures says it
    pairs: NDArray[np.floating]  # (k, n, n): the tables over all pairs
    group: str = ""  # who made it: what belongs together when collections are set aside or drawn again

    def __len__(self) -> int:
        return len(self.standing)


def spans(n: int, rng: np.random.Generator) -> list[range]:
    """Which rows of a collection of n items make examples: all of them, and windows."""
    found = [range(n)] if n <= LONGEST else []
    for length, stride in WINDOWS:
        first = int(rng.integers(0, 5))
        found += [range(start, start + length) for start in range(first, n - length + 1, stride) if length < n]
    return found


def shuffle(examples: Sequence[Example], rng: np.random.Generator) -> list[Example]:
    """The same with their items in a random order: a control, of which nothing may be known."""
    drawn = ((one, rng.permutation(len(one))) for one in examples)
    return [Example(one.standing[order], one.pairs[:, order][:, :, order], one.group) for one, order in drawn]


def noise(examples: Sequence[Example], rng: np.random.Generator) -> list[Example]:
    """The same with random numbers for what was measured: a control, of which nothing may be known."""
    return [
        Example(rng.standard_normal(one.standing.shape), rng.standard_normal(one.pairs.shape), one.group)
        for one in examples
    ]


SPOIL = {NOISE: noise, ORDERS: shuffle}  # the controls


def bits_of(
    examples: Sequence[Example], scores: Callable[[Example, Ints], Floats], *, negatives: int, rng: np.random.Generator
) -> Floats:
    """Information about the order, in bits, of each of some examples: at most log2(negatives + 1). Shape (c,).

    It is log2(N) + log2(share of the true order's likelihood among its N - 1 random negatives' and its own). ``scores``
    gives the scores (r,) of orderings (r, n) of an example, as :meth:`Weights.score` does.
    """
    found = np.empty(len(examples))
    for i, one in enumerate(examples):
        n = len(one)
        most = max(1, 2_000_000 // (n * n))  # at once, for the memory
        counts = [min(most, negatives - start) for start in range(0, negatives, most)]
        others = np.concatenate([scores(one, np.argsort(rng.random((count, n)), axis=1)) for count in counts])
        found[i] = info_nce_bits(scores(one, np.arange(n)[np.newaxis]), others[np.newaxis, np.newaxis]).item()
    return found


@dataclass(frozen=True, eq=False)
class Weights:
    """``arcs``, shape (f, 12), and ``reach``, shape (k, 7)."""

    arcs: Floats
    reach: Floats

    @classmethod
    def of(cls, flat: Floats, one: Example) -> "Weights":
        """Weights in a row, (f * 12 + k * 7,), for examples such as one."""
        f, k = one.standing.shape[1], len(one.pairs)
        return cls(flat[: f * FUNCTIONS].reshape(f, FUNCTIONS), flat[f * FUNCTIONS :].reshape(k, KERNELS))

    def energy_of(self, one: Example) -> Energy:
        """What every ordering of an example scores."""
        at = one.standing @ self.arcs @ position_basis(len(one)).astype(np.float64)
        return Energy(at, reach=np.tensordot(self.reach.T, one.pairs, axes=1))

    def score(self, one: Example, orderings: Ints) -> Floats:
        """Scores (r,) of orderings (r, n) of an example."""
        return np.asarray(self.energy_of(one).score(orderings))


@dataclass(frozen=True, eq=False)
class StepTraining:
    """Examples and a recipe for a model of measures and pairs; held out are whole collections."""

    examples: Sequence[Example]
    held_out: Sequence[Example]
    config: StepRecipe
    export: Callable[[Weights, Information], Any]  # makes the model of the weights and the bits of those held out
    negatives: int = 1023  # random orders beside each true one where bits are told
    jobs: int = 1  # processes side by side
    controls: tuple[str, ...] = (NOISE, ORDERS)

    def control(self, name: str) -> "StepTraining":
        """The same with noise for what was measured, or with shuffled orders."""
        rng = np.random.default_rng((self.config.seed, len(name)))
        train, held = (SPOIL[name](part, rng) for part in (self.examples, self.held_out))
        return replace(self, examples=train, held_out=held)

    def train(self, *, progress: Report | None = None) -> Trained:
        """Learn the weights; measure all scorers together on what is held out."""
        weights = learn_weights(self.examples, self.config, jobs=self.jobs, progress=progress)
        bits = bits_of(self.held_out, weights.score, negatives=self.negatives, rng=np.random.default_rng(0))
        info = summarise(bits, self.held_out, self.negatives)
        return Trained(self.export(weights, info), {"arcs + flow + reach": info}, [], self.config)


def summarise(bits: Floats, examples: Sequence[Example], negatives: int, draws: int = 1) -> Information:
    """Bits (c,) of examples with the interval of their mean over those who made them."""
    lengths = np.array([len(one) for one in examples])
    groups = [one.group for one in examples]
    return replace(summarise_bits(bits[:, np.newaxis], lengths, groups, negatives), draws=draws)


def learn_weights(
    examples: Sequence[Example], recipe: StepRecipe, *, jobs: int = 1, progress: Report | None = None
) -> Weights:
    """The weights under which the true orders of examples are likeliest; the same with any number of ``jobs``.

    ``progress`` is called after each step, which is an epoch here.
    """
    with ExitStack() as stack:
        run: Callable[..., Any] = map
        if jobs > 1:
            pool = ProcessPoolExecutor(jobs, initializer=_keep, initargs=(examples,))
            run = stack.enter_context(pool).map
        learner = ChainLearner(examples, recipe, run)
        net = optimise(learner, progress=progress).best_net()
    return Weights.of(net.array / learner.scale, examples[0])


class LoglinearNet(nn.Module):
    """A scorer that is linear in sums over an ordering (items by position, pairs by distance), in double precision.

    Sums (..., w) -> scores (...); ``start`` (w,): the first weights.
    """

    def __init__(self, start: NDArray[np.float64]) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.from_numpy(np.array(start, dtype=np.float64)))

    def forward(self, sums: Tensor) -> Tensor:
        """Scores of orderings by their sums."""
        return sums @ self.weights

    @property
    def array(self) -> NDArray[np.float64]:
        """The weights, (w,)."""
        return self.weights.detach().cpu().numpy().copy()


class ChainLearner(Learner):
    """Maximum likelihood of the true orders, held against orders that chains draw from the model itself.

    An epoch is one step; there is no validation, and what is kept is the mean of the weights over the last quarter.
    The weights are in units of their sums' deviation between random orders.
    """

    size = 1
    clip = 0.0
    world = _ALONE

    def __init__(self, examples: Sequence[Example], recipe: StepRecipe, run: Callable[..., Any] = map) -> None:
        self.examples, self.recipe, self._run = examples, recipe, run
        self.epochs = recipe.steps
        self._rng = np.random.default_rng(recipe.seed)
        self.scale = _scales(examples, self._rng)
        one = examples[0]  # a table that is the same both ways adds up to the same in every order
        matters = np.ones((len(one.pairs), KERNELS), dtype=bool)
        matters[[np.allclose(table, table.T, atol=1e-6) for table in one.pairs], ALWAYS] = False
        arcs = np.ones(one.standing.shape[1] * FUNCTIONS, dtype=bool)
        self._varying = np.concatenate([arcs, matters.ravel()])
        self._orders = [np.argsort(self._rng.random((recipe.chains, len(one))), axis=1) for one in examples]
        _keep(examples)

    def make_net(self) -> nn.Module:
        """All weights zero."""
        return LoglinearNet(np.zeros(len(self.scale)))

    def make_optimizer(self, net: nn.Module) -> torch.optim.Optimizer:
        """Adam with a short memory."""
        return torch.optim.Adam(net.parameters(), betas=(0.8, 0.98), eps=1e-4)

    def rate(self, step: int, steps: int) -> float:
        """Even for half of the steps, then down to a fiftieth."""
        done = (step - 1) / steps
        return self.recipe.learning_rate * (1.0 if done < 0.5 else 2 * (1 - done) + 0.02)

    def follow(self, step: int, steps: int) -> float:
        """The mean of the last quarter."""
        return 1 / max(1, step - int(np.ceil(0.75 * steps)))

    def plan(self, epoch: int) -> list[tuple[int, Ints]]:
        """One batch: the number of the step, and which examples."""
        return [(epoch, self._rng.permutation(len(self.examples))[: self.recipe.batch])]

    def loss(self, net: nn.Module, batch: tuple[int, Ints]) -> Loss:
        """What drawn orders score more than true ones, and the penalty; its gradient is that of the likelihood."""
        step, chosen = batch
        flat = cast(LoglinearNet, net).array / self.scale
        packs = list(_packs(chosen.tolist(), [len(one) for one in self.examples]))
        walk = partial(_walk, Weights.of(flat, self.examples[0]))
        seeds = [(self.recipe.seed, step, number) for number in range(len(packs))]
        total = np.zeros(len(flat))
        walks = self._run(walk, packs, [[self._orders[i] for i in pack] for pack in packs], seeds)
        for pack, (gap, orders) in zip(packs, walks, strict=True):
            total += gap
            for i, order in zip(pack, orders, strict=True):
                self._orders[i] = order
        gap = np.where(self._varying, total / self.scale / len(chosen), 0.0)
        weights = cast(LoglinearNet, net).weights
        return Loss(self.recipe.penalty * weights.square().sum() - net(torch.from_numpy(gap)))


_HELD: list[Sequence[Example]] = []  # of this process


def _keep(examples: Sequence[Example]) -> None:
    """Keep the examples of a training in this process."""
    _HELD[:] = [examples]


def _walk(
    weights: Weights, pack: Sequence[int], orders: Sequence[Ints], seed: tuple[int, ...]
) -> tuple[Floats, list[Ints]]:
    """Let the chains of some examples walk on: what the true orders have more than those drawn, and these."""
    examples, chains = [_HELD[0][i] for i in pack], len(orders[0])
    walk = Walk([weights.energy_of(one) for one in examples], chains)
    start = np.tile(np.arange(walk.n), (len(pack), chains, 1))  # filled up with some that stay at the end
    for row, own in zip(start, orders, strict=True):
        row[:, : own.shape[1]] = own
    walked = walk.round(start.reshape(-1, walk.n), 1.0, np.random.default_rng(seed)).reshape(start.shape)
    found = [own[:, : len(one)] for own, one in zip(walked, examples, strict=True)]
    total = np.zeros(weights.arcs.size + weights.reach.size)
    for one, own in zip(examples, found, strict=True):
        sums = sums_of(one, np.concatenate([np.arange(len(one))[np.newaxis], own]))
        total += sums[0] - sums[1:].mean(axis=0)
    return total, found


def _packs(chosen: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Examples that walk together: of nearly the same size, and not too many for the memory."""
    pack: list[int] = []
    for i in sorted(chosen, key=lambda i: -sizes[i]):
        most = sizes[pack[0]] if pack else 0
        if pack and (sizes[i] < _NEARLY * most or (len(pack) + 1) * most**3 > _TOGETHER):
            yield pack
            pack = []
        pack.append(i)
    if pack:
        yield pack


def sums_of(one: Example, orderings: Ints) -> Floats:
    """What the weights are multiplied with, for each of some orderings (r, n): shape (r, f * 12 + k * 7)."""
    basis = position_basis(len(one)).astype(np.float64)  # (12, n)
    arcs = np.einsum("rnf,bn->rfb", one.standing[orderings], basis, optimize=True)
    reach = sum_pairs(one.pairs, orderings)
    return np.concatenate([each.reshape(len(orderings), -1) for each in (arcs, reach)], axis=1)


def _scales(examples: Sequence[Example], rng: np.random.Generator) -> Floats:
    """How much the sums differ between random orders, in deviations."""
    some = [examples[i] for i in rng.permutation(len(examples))[:200]]
    two = [np.stack([rng.permutation(len(one)) for _ in range(2)]) for one in some]
    differences = [np.diff(sums_of(one, orders), axis=0) for one, orders in zip(some, two, strict=True)]
    spread: Floats = np.asarray(np.concatenate(differences).std(axis=0))
    arcs = examples[0].standing.shape[1] * FUNCTIONS
    for part in (slice(0, arcs), slice(arcs, None)):
        if spread[part].size:
            spread[part] = np.maximum(spread[part], 0.02 * spread[part].max() + 1e-6)
    return spread


def learn_neighbours(
    examples: Sequence[Example],
    *,
    negatives: int,
    rng: np.random.Generator,
    near: Floats | None = None,
    hold: float = RIDGE,
) -> Floats:
    """The weights (k,) of flow between neighbours.

    They minimise the mean of -log(share of the true order's likelihood among its negatives'), a convex problem. They
    are held near to ``near`` (k,) by ``hold``: by default hardly, to none; so few need no more where collections are
    many.
    """
    drawn = [neighbour_sums(one, np.argsort(rng.random((negatives, len(one))), axis=1)) for one in examples]
    sums = torch.from_numpy(np.stack(drawn))  # (c, r, w): what each ordering has, the true one first
    centre = np.zeros(len(examples[0].pairs)) if near is None else near
    net = LoglinearNet(centre)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def cost() -> float:
        optimizer.zero_grad()
        away = net.weights - torch.from_numpy(centre)
        loss = info_nce(net(sums)).mean() + (hold * away.square()).sum()
        torch.autograd.backward(loss)
        return loss  # type: ignore[return-value]

    optimizer.step(cost)  # type: ignore[no-untyped-call]
    return net.array


def neighbour_sums(one: Example, orderings: Ints) -> Floats:
    """Sums over neighbours of the true order and of orderings (r, n): (r + 1, k)."""
    orders = np.concatenate([np.arange(len(one))[np.newaxis], orderings])
    return np.asarray(one.pairs[:, orders[:, :-1], orders[:, 1:]].sum(axis=2).T, dtype=np.float64)


def neighbour_scores(weights: Floats) -> Callable[[Example, Ints], Floats]:
    """How weights (k,) score orderings, for :func:`bits_of`."""
    return lambda one, orderings: np.asarray(neighbour_sums(one, orderings)[1:] @ weights)


@dataclass(frozen=True, eq=False)
class NeighbourTraining:
    """Examples of which the flow between neighbours is learned; each maker's are set aside in turn."""

    examples: Sequence[Example]
    export: Callable[[Floats, Mapping[str, Any]], Any]  # makes the model of the weights and of what was found
    negatives: int = 127  # random orders beside each true one in training
    seed: int = 0
    near: Floats | None = None  # weights of a known model, (k,), held near the more firmly the fewer examples
    controls: tuple[str, ...] = (NOISE, ORDERS)

    def control(self, name: str) -> "NeighbourTraining":
        """The same with noise for what was measured, or with shuffled orders."""
        rng = np.random.default_rng((self.seed, len(name)))
        return replace(self, examples=SPOIL[name](self.examples, rng))

    def train(self, *, progress: Report | None = None) -> Trained:
        """Learn the weights of all, and measure with each maker's collections set aside."""
        bits, beaten, known = self._cross(progress)
        groups = [one.group for one in self.examples]
        gained = None if self.near is None else mean_interval(bits - known, groups)
        more: dict[str, Any] = {"collections": len(groups), "makers": len(set(groups))}
        more |= {"bits": mean_interval(bits, groups), "beaten": mean_interval(beaten, groups), "gained": gained}
        model = self.export(self._learn(self.examples), more)
        info = summarise(bits, self.examples, NEGATIVES, DRAWS)
        config = {"seed": self.seed, "negatives": self.negatives}
        return Trained(model, {"flow": info}, [], config, gained=gained, more=more)

    def _learn(self, examples: Sequence[Example]) -> Floats:
        rng = np.random.default_rng(self.seed)
        hold = RIDGE if self.near is None else HOLD / len(examples)
        return learn_neighbours(examples, negatives=self.negatives, rng=rng, near=self.near, hold=hold)

    def _cross(self, progress: Report | None) -> Floats:
        """Of each, set aside: bits, the share of shuffles beaten, bits under the known weights (0: none); (3, c)."""
        makers = sorted({one.group for one in self.examples})
        if len(makers) < 2:
            raise InputError("collections of at least two makers are needed, so that some can be set aside")
        np.random.default_rng(self.seed).shuffle(makers)
        fold = {maker: k % FOLDS for k, maker in enumerate(makers)}
        count = min(FOLDS, len(makers))
        bits, beaten, known = found = np.zeros((3, len(self.examples)))
        for k in range(count):
            held = [i for i, one in enumerate(self.examples) if fold[one.group] == k]
            weights = self._learn([one for one in self.examples if fold[one.group] != k])
            own = [self.examples[i] for i in held]
            bits[held] = _mean_bits(own, weights, (self.seed, k))
            known[held] = 0.0 if self.near is None else _mean_bits(own, self.near, (self.seed, k))
            beaten[held] = [share_beaten(one, weights, np.random.default_rng((self.seed, k))) for one in own]
            if progress is not None:
                progress(Progress(k + 1, count, 0.0, {}, 0.0))
        return found


def _mean_bits(examples: Sequence[Example], weights: Floats, seed: tuple[int, int]) -> Floats:
    """Bits of each, the mean of several draws: shape (c,)."""
    rng, score = np.random.default_rng(seed), neighbour_scores(weights)
    drawn = [bits_of(examples, score, negatives=NEGATIVES, rng=rng) for _ in range(DRAWS)]
    return np.asarray(np.mean(drawn, axis=0))


def share_beaten(one: Example, weights: Floats, rng: np.random.Generator, count: int = 400) -> float:
    """The share of shuffles that the true order beats by flow alone; half of a tie counts."""
    scores = neighbour_sums(one, np.argsort(rng.random((count, len(one))), axis=1)) @ weights
    lead = scores[0] - scores[1:]
    return float((lead > 1e-9).mean() + 0.5 * (np.abs(lead) <= 1e-9).mean())


# The lexicon: which terms stand at the beginning of a collection, and which at its end, by ridge regression.

MOST_TERMS = 2000  # of a language
FEWEST_OF_A_LANGUAGE = 8  # collections of a language to learn from
PENALTY = 10_000.0
LEXICON_FOLDS = 6  # collections are judged by a lexicon learned without those of their group


@dataclass(frozen=True, eq=False)
class Lexicon:
    """What terms say of the position."""

    words: dict[str, tuple[str, ...]]  # language -> its terms
    weights: dict[str, Floats]  # language -> (w, 4), learned from all collections
    without: dict[str, dict[str, Floats]]  # group -> language -> (w, 4), without the fold of that group

    @property
    def tensor(self) -> Floats:
        """The weights of all languages, one below the other."""
        return np.concatenate([self.weights[language] for language in self.words] or [np.zeros((0, 4))])

    def leanings(self, terms: Terms | None, n: int, group: str) -> Floats:
        """What terms say of n items, shape (n, 4); by what was learned without the group, where it took part."""
        return leanings(terms, self.words, self.without.get(group, self.weights), n)


def learn_lexicon(collections: Sequence[tuple[str, Terms]]) -> Lexicon:
    """Learn which terms stand where from the terms of whole collections in their true order, each with its group."""
    words: dict[str, tuple[str, ...]] = {}
    weights: dict[str, Floats] = {}
    without: dict[str, dict[str, Floats]] = {}
    for language in sorted({terms.language for _, terms in collections if terms.language}):
        own = [(group, terms) for group, terms in collections if terms.language == language]
        if len(own) < FEWEST_OF_A_LANGUAGE:
            continue
        words[language] = frequent([terms for _, terms in own])
        groups = sorted({group for group, _ in own})
        mixed = np.random.default_rng(0).permutation(groups).tolist()
        fold = {group: k % LEXICON_FOLDS for k, group in enumerate(mixed)}
        width = len(words[language])
        sums: dict[int, Floats] = {}  # fold -> products of its rows with themselves and the goals; not all rows at once
        for group, terms in own:
            rows = stand_out(terms.rates(words[language]))
            found = sums.setdefault(fold[group], np.zeros((width, width + 4)))
            found[:, :width] += rows.T @ rows
            found[:, width:] += rows.T @ _goals(len(rows))
        weights[language] = _ridge(sums.values(), width)
        parts = {k: _ridge((one for j, one in sums.items() if j != k), width) for k in sums}
        for group in groups:
            without.setdefault(group, {})[language] = parts[fold[group]]
    for group in without:
        without[group] = weights | without[group]
    return Lexicon(words, weights, without)


def frequent(collections: Sequence[Terms]) -> tuple[str, ...]:
    """The terms that stand in a tenth of the items of most collections."""
    counted: Counter[str] = Counter()
    for terms in collections:
        items = np.bincount(terms.counts.indices, minlength=len(terms.names))
        least = max(2.0, 0.1 * len(terms.totals))
        counted.update(terms.names[k] for k in np.flatnonzero(items >= least).tolist())
    return tuple(term for term, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TERMS])


def _goals(n: int) -> Floats:
    """What is learned of n positions: how late, how near to an end, the opening and the close; shape (n, 4)."""
    j, u = np.arange(n), np.linspace(-1, 1, n)
    goals = np.stack([u, u**2, np.exp(-j / 1.5), np.exp(-(n - 1 - j) / 1.5)], axis=1)
    return np.asarray(goals - goals.mean(axis=0))


def _ridge(folds: Iterable[Floats], width: int) -> Floats:
    """Ridge regression from the sums (w, w + 4) of some folds, or none: shape (w, 4)."""
    total = sum(folds, np.zeros((width, width + 4)))
    return np.asarray(np.linalg.solve(total[:, :width] + PENALTY * np.eye(width), total[:, width:]))
