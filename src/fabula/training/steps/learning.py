"""The weights of a step model by maximum likelihood: true orders are held against those the model itself draws.

The likelihood of an ordering has a denominator over n! orderings. Its gradient needs only what orderings drawn from
the model have on average, and those come from Markov chains that walk on from step to step while the weights change
(persistent contrastive divergence: Tieleman, 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection

import numpy as np

from fabula.core.energy import ALWAYS, FUNCTIONS, KERNELS, Energy, position_basis, sum_pairs
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.sampling import Walk
from fabula.training.steps.examples import Example

_NEARLY = 0.8  # of the size of the largest, for an example to walk with it
_TOGETHER = 1_500_000  # numbers in the tables of what walks together


@dataclass(frozen=True)
class StepRecipe:
    """How the weights are learned.

    Attributes
    ----------
    steps
        Of the weights.
    batch
        Examples in a step.
    chains
        Walks per example.
    learning_rate
        Of Adam, on weights in units of their sums' deviation.
    penalty
        On the squares of these weights.
    seed
        Of everything that is drawn.
    """

    steps: int = 300
    batch: int = 256
    chains: int = 4
    learning_rate: float = 0.05
    penalty: float = 0.01
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Weights:
    """``arcs``, shape (f + 4, 12), and ``reach``, shape (k, 7)."""

    arcs: Floats
    reach: Floats

    def energy_of(self, one: Example) -> Energy:
        """What every ordering of an example scores."""
        n = len(one)
        at = one.standing @ self.arcs @ position_basis(n).astype(np.float64)
        return Energy(at, reach=np.tensordot(self.reach.T, one.pairs, axes=1))


def learn_weights(
    examples: Sequence[Example],
    recipe: StepRecipe,
    *,
    jobs: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> Weights:
    """The weights under which the true orders of examples are likeliest.

    Parameters
    ----------
    examples
        Of the same features and pairs.
    recipe
        How.
    jobs
        Processes side by side.
    report
        Called with the steps done and all steps.

    Examples
    --------
    >>> up = Example(np.linspace(-1.5, 1.5, 8)[:, np.newaxis], np.zeros((0, 8, 8)))
    >>> weights = learn_weights([up] * 8, StepRecipe(steps=20, batch=8))
    >>> bool(bits_of([up], weights, negatives=31, rng=np.random.default_rng(0))[0] > 2)
    True
    """
    rng = np.random.default_rng(recipe.seed)
    scale = _scales(examples, rng)
    kept = np.ones(len(scale), dtype=bool)
    kept[examples[0].standing.shape[1] * FUNCTIONS :] = _varying(examples[0]).ravel()
    weights, momentum, size, mean = np.zeros((4, len(scale)))
    with _Workers(examples, recipe, jobs) as workers:
        for step in range(recipe.steps):
            slope = workers.slope(_shaped(weights / scale, examples[0]), rng) / scale
            slope = np.where(kept, slope - 2 * recipe.penalty * weights, 0.0)
            momentum, size = 0.8 * momentum + 0.2 * slope, 0.98 * size + 0.02 * slope**2
            even = momentum / (1 - 0.8 ** (step + 1)), np.sqrt(size / (1 - 0.98 ** (step + 1)))
            weights = weights + recipe.learning_rate * _cooling(step / recipe.steps) * even[0] / (even[1] + 1e-4)
            if step >= 0.75 * recipe.steps:
                mean += weights / (recipe.steps - np.ceil(0.75 * recipe.steps))
            if report is not None:
                report(step + 1, recipe.steps)
    return _shaped(mean / scale, examples[0])


def bits_of(examples: Sequence[Example], weights: Weights, *, negatives: int, rng: np.random.Generator) -> Floats:
    """Information about the order, in bits, of each of some examples: at most log2(negatives + 1). Shape (c,).

    It is log2(N) + log2(share of the true order's likelihood among its N - 1 random negatives' and its own).
    """
    found = []
    for one in examples:
        n, scores = len(one), weights.energy_of(one)
        parts = [scores.score(np.argsort(rng.random((count, n)), axis=1)) for count in _parts(negatives, n)]
        lead = np.append(np.concatenate(parts) - scores.score(np.arange(n)[np.newaxis]), 0.0)
        found.append(np.log2(negatives + 1) - np.logaddexp.reduce(lead) / np.log(2))
    return np.array(found)


def _parts(count: int, n: int) -> list[int]:
    """A number in parts that do not take too much memory at once."""
    most = max(1, 2_000_000 // (n * n))
    return [min(most, count - start) for start in range(0, count, most)]


def _cooling(done: float) -> float:
    return 1.0 if done < 0.5 else 2 * (1 - done) + 0.02


def _varying(one: Example) -> np.ndarray:
    """Which weights of kernels matter: a table that is the same both ways adds up to the same in every order."""
    even = np.array([np.allclose(table, table.T, atol=1e-6) for table in one.pairs], dtype=bool)
    found = np.ones((len(one.pairs), KERNELS), dtype=bool)
    found[even, ALWAYS] = False
    return found


def _shaped(flat: Floats, one: Example) -> Weights:
    f, k = one.standing.shape[1], len(one.pairs)
    return Weights(flat[: f * FUNCTIONS].reshape(f, FUNCTIONS), flat[f * FUNCTIONS :].reshape(k, KERNELS))


def sums_of(one: Example, orderings: np.ndarray) -> Floats:
    """What the weights are multiplied with, for each of some orderings (r, n): shape (r, (f + 4) * 12 + k * 7)."""
    basis = position_basis(len(one)).astype(np.float64)
    arcs = np.einsum("rnf,bn->rfb", one.standing[orderings], basis, optimize=True)
    reach = sum_pairs(one.pairs, orderings)
    return np.concatenate([arcs.reshape(len(orderings), -1), reach.reshape(len(orderings), -1)], axis=1)


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


class _Chains:
    """The walks of some examples, and the slopes they give."""

    def __init__(self, examples: Sequence[Example], recipe: StepRecipe, seed: int) -> None:
        self.examples, self.chains = examples, recipe.chains
        self.rng = np.random.default_rng((recipe.seed, seed))
        self.orders = [np.argsort(self.rng.random((recipe.chains, len(one))), axis=1) for one in examples]
        self.true = [sums_of(one, np.arange(len(one))[np.newaxis])[0] for one in examples]

    def slope(self, weights: Weights, chosen: Sequence[int]) -> Floats:
        """The sum over some examples of what the true order has more than those drawn."""
        total = np.zeros(weights.arcs.size + weights.reach.size)
        for pack in _packs(chosen, [len(one) for one in self.examples]):
            walk = Walk([weights.energy_of(self.examples[i]) for i in pack], self.chains)
            walked = walk.round(np.concatenate([_filled(self.orders[i], walk.n) for i in pack]), 1.0, self.rng)
            for i, orders in zip(pack, walked.reshape(len(pack), self.chains, walk.n), strict=True):
                self.orders[i] = orders[:, : len(self.examples[i])]
                total += self.true[i] - sums_of(self.examples[i], self.orders[i]).mean(axis=0)
        return total


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


def _filled(orders: Ints, n: int) -> Ints:
    """Orderings filled up to n items with some that stay at the end."""
    more = np.arange(orders.shape[1], n)
    return np.concatenate([orders, np.broadcast_to(more, (len(orders), len(more)))], axis=1)


class _Workers:
    """The examples shared out among processes; with one job, none is started."""

    def __init__(self, examples: Sequence[Example], recipe: StepRecipe, jobs: int) -> None:
        self.count, self.batch = len(examples), min(recipe.batch, len(examples))
        by_size = sorted(range(self.count), key=lambda i: -len(examples[i]))
        jobs = max(1, min(jobs, self.count))
        self.shares = [by_size[start::jobs] for start in range(jobs)]
        self.place = {i: (job, at) for job, share in enumerate(self.shares) for at, i in enumerate(share)}
        self.own: _Chains | None = None
        self.pipes: list[Connection] = []
        if jobs == 1:
            self.own = _Chains([examples[i] for i in by_size], recipe, 0)
            return
        for job, share in enumerate(self.shares):
            mine, other = Pipe()
            arguments = (other, [examples[i] for i in share], recipe, job)
            Process(target=_serve, args=arguments, daemon=True).start()
            self.pipes.append(mine)

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in self.pipes:
            pipe.send(None)
            pipe.close()

    def slope(self, weights: Weights, rng: np.random.Generator) -> Floats:
        """The mean slope over a batch."""
        chosen = rng.permutation(self.count)[: self.batch]
        asked: list[list[int]] = [[] for _ in self.shares]
        for i in chosen.tolist():
            job, at = self.place[i]
            asked[job].append(at)
        if self.own is not None:
            return self.own.slope(weights, asked[0]) / self.batch
        for pipe, share in zip(self.pipes, asked, strict=True):
            pipe.send((weights, share))
        return np.asarray(np.sum([pipe.recv() for pipe in self.pipes], axis=0) / self.batch)


def _serve(pipe: Connection, examples: Sequence[Example], recipe: StepRecipe, job: int) -> None:
    """One process: slopes for weights, until there are no more."""
    chains = _Chains(examples, recipe, job)
    while (asked := pipe.recv()) is not None:
        pipe.send(chains.slope(*asked))
