"""Families of orders whose information is known: does the interval that is reported hold the truth as often as it says?

    python -m benchmarks.known_truth                      # the table in docs/honesty.md, minutes on one core
    python -m benchmarks.known_truth --items 6 --sequences 32 --runs 50

Every collection has the same n values, each order is drawn from the family, and the scorer is the family's own
likelihood. The truth is the InfoNCE value at N sequences, by Monte Carlo over scores of 100,000 collections or more,
which for these families can be drawn without the collections measured. Strengths fall with n, so that there are about
two bits to be known at any n and no estimate stands at its ceiling.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fabula.evaluation.information import information_of

Floats = NDArray[np.float64]
Generator = np.random.Generator
_NATS = 1.4  # to be known of an order, to second order in the strength
_LIBRARY = 200_000  # scores of true orders and of random ones


@dataclass(frozen=True, eq=False)
class Family:
    """Orders of n items.

    Attributes
    ----------
    draw
        From a generator to the values of one collection in true order, (n,).
    score
        Of sequences (m, n, 1): their log likelihood, but for a constant, (m,).
    true_scores, random_scores
        From a generator and a number to as many scores, of true orders and of random ones.
    """

    draw: Callable[[Generator], Floats]
    score: Callable[[Floats], Floats]
    true_scores: Callable[[Generator, int], Floats]
    random_scores: Callable[[Generator, int], Floats]


def plackett_luce(n: int) -> Family:
    """Each position is filled by one of the items left, with a chance that goes with its worth."""
    harmonic = sum(1 / k for k in range(1, n + 1))
    worth = math.sqrt(2 * _NATS / (n - harmonic)) * _quantiles(n)

    def true_orders(rng: Generator, count: int) -> Floats:
        keys = worth + rng.gumbel(size=(count, n))
        return worth[np.argsort(-keys, axis=1)]

    def score(sequences: Floats) -> Floats:
        left = np.cumsum(np.exp(sequences[:, ::-1, 0]), axis=1)  # worth of the items not yet placed
        return np.asarray(-np.log(left).sum(axis=1))

    def scores(rows: Callable[[Generator, int], Floats]) -> Callable[[Generator, int], Floats]:
        return lambda rng, count: _in_parts(lambda size: score(rows(rng, size)[:, :, np.newaxis]), count)

    random = scores(lambda rng, count: rng.permuted(np.tile(worth, (count, 1)), axis=1))
    return Family(lambda rng: true_orders(rng, 1)[0], score, scores(true_orders), random)


def mallows(n: int) -> Family:
    """Orders near one order: each inversion makes them less likely by the same factor."""
    theta = math.sqrt(2 * _NATS / (n * (n - 1) * (2 * n + 5) / 72))
    chances = [np.exp(-theta * np.arange(j + 1)) / np.exp(-theta * np.arange(j + 1)).sum() for j in range(n)]

    def draw(rng: Generator) -> Floats:
        order: list[int] = []
        for j in range(n):  # repeated insertion: so many places from the end
            order.insert(j - int(rng.choice(j + 1, p=chances[j])), j)
        return np.array(order, dtype=np.float64)

    def score(sequences: Floats) -> Floats:
        rows = sequences[:, :, 0].astype(np.int16 if n > 127 else np.int8)
        inversions = np.zeros(len(rows))
        for j in range(1, n):
            inversions += (rows[:, :j] > rows[:, j : j + 1]).sum(axis=1)
        return -theta * inversions

    def true_scores(rng: Generator, count: int) -> Floats:
        return -theta * sum(rng.choice(j + 1, size=count, p=chances[j]) for j in range(n)).astype(np.float64)

    def random_scores(rng: Generator, count: int) -> Floats:
        return -theta * sum(rng.integers(0, j + 1, size=count) for j in range(n)).astype(np.float64)

    return Family(draw, score, true_scores, random_scores)


def first_item_only(n: int) -> Family:
    """One item is likelier to open than another; the rest comes as it comes."""
    worth = 2.0 * _quantiles(n)
    chance = np.exp(worth) / np.exp(worth).sum()

    def draw(rng: Generator) -> Floats:
        first = int(rng.choice(n, p=chance))
        return np.concatenate([worth[[first]], rng.permutation(np.delete(worth, first))])

    return Family(
        draw,
        lambda sequences: np.asarray(sequences[:, 0, 0]),
        lambda rng, count: rng.choice(worth, size=count, p=chance),
        lambda rng, count: rng.choice(worth, size=count),
    )


FAMILIES = {"Plackett-Luce": plackett_luce, "Mallows": mallows, "first item only": first_item_only}


def true_bits(family: Family, sequences: int, rng: Generator) -> float:
    """The InfoNCE value at N sequences: the mean over orders and negatives of log2 N + log2 of the truth's share."""
    collections = max(100_000, 8_000_000 // sequences)
    truths, others = family.true_scores(rng, _LIBRARY), family.random_scores(rng, _LIBRARY)
    total = 0.0
    step = max(1, 2_000_000 // sequences)
    for start in range(0, collections, step):
        size = min(step, collections - start)
        mine = rng.choice(truths, size)
        apart = rng.choice(others, (size, sequences - 1)) - mine[:, np.newaxis]
        total += float((math.log(sequences) - np.log1p(np.exp(apart).sum(axis=1))).sum())
    return total / collections / math.log(2)


@dataclass(frozen=True)
class Covered:
    """How often intervals held the truth, and how far they and their middles were off."""

    truth: float
    mean: float
    width: float
    share: float


def coverage(family: Family, sequences: int, collections: int, runs: int, seed: int) -> Covered:
    """Measure samples of a family with the estimator that everything prints, and count the intervals that hold."""
    truth = true_bits(family, sequences, np.random.default_rng((seed, 0)))
    found = []
    for run in range(runs):
        rng = np.random.default_rng((seed, 1, run))
        essences = [family.draw(rng) for _ in range(collections)]
        found.append(information_of(family.score, essences, negatives=sequences - 1, draws=1, seed=run))
    held = np.mean([info.low <= truth <= info.high for info in found])
    width = float(np.mean([info.high - info.low for info in found]))
    return Covered(truth, float(np.mean([info.bits for info in found])), width, float(held))


def _quantiles(n: int) -> Floats:
    return np.array([NormalDist().inv_cdf((i + 0.5) / n) for i in range(n)])


def _in_parts(make: Callable[[int], Floats], count: int, size: int = 20_000) -> Floats:
    return np.concatenate([make(min(size, count - start)) for start in range(0, count, size)])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[3, 6, 20, 100])
    parser.add_argument("--sequences", type=int, nargs="+", default=[2, 32, 1024], help="the true order among so many")
    parser.add_argument("--collections", type=int, default=40, help="measured in a run")
    parser.add_argument("--runs", type=int, default=200)
    chosen = parser.parse_args()
    head = ("family", "n", "N", "true bits", "mean estimate", "mean width", "intervals that hold")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name, make in FAMILIES.items():
        for n in chosen.items:
            family = make(n)
            for sequences in chosen.sequences:
                got = coverage(family, sequences, chosen.collections, chosen.runs, seed=n * 10_000 + sequences)
                row = f"| {name} | {n} | {sequences:,} | {got.truth:.3f} | {got.mean:.3f} | {got.width:.2f} |"
                print(f"{row} {got.share:.1%} |", flush=True)


if __name__ == "__main__":
    main()
