"""How often intervals over creators hold the truth, and how often tests and audits of nothing cry.

    python -m benchmarks.coverage                 # the tables in docs/honesty.md, some minutes on one core

Collections of one creator are alike: a share of what each scores (``ALIKE``) is the creator's. Each creator has eight
collections; a dominant one has as many as all the others together. The truth is known: the mean over all creators.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import kstest

from fabula.evaluation.intervals import compare_scores, mean_interval
from fabula.training.audit import CONTROLS, AuditReport, AuditRow

Floats = NDArray[np.float64]
CREATORS = (5, 10, 20, 100)
ALIKE = 0.3  # of the variance of what is drawn, that of creators
EACH = 8  # collections of a creator
RUNS = 2000
NEGATIVES = 31


@dataclass(frozen=True)
class Cell:
    """What is measured: from normal numbers to values, the mean of these, and what they lie within."""

    name: str
    values: Callable[[Floats], Floats]
    truth: float
    within: tuple[float, float] = (-math.inf, math.inf)

    def __str__(self) -> str:
        return self.name


def _bits(z: Floats) -> Floats:
    """Bits near their ceiling of five, with a tail to the left: five less an exponential of mean one and a half."""
    return np.asarray(5 + 1.5 * np.log(ndtr(z)))


CELLS = (
    Cell("rank correlation", lambda z: np.asarray(np.tanh(0.25 + 0.4 * z)), 0.0, (-1.0, 1.0)),
    Cell("bits", _bits, 3.5, (-math.inf, 5.0)),
    Cell("opener, 25 %", lambda z: (ndtr(z) < 0.25).astype(float), 0.25, (0.0, 1.0)),
    Cell("direction, 85 %", lambda z: (ndtr(z) < 0.85).astype(float), 0.85, (0.0, 1.0)),
)


def draw(creators: int, *, dominant: bool, rng: np.random.Generator) -> tuple[Floats, list[int]]:
    """Standard normal numbers of collections, alike within creators, and who made each."""
    sizes = [EACH * (creators - 1) if dominant and not k else EACH for k in range(creators)]
    who = np.repeat(np.arange(creators), sizes)
    z = math.sqrt(ALIKE) * rng.normal(size=creators)[who] + math.sqrt(1 - ALIKE) * rng.normal(size=len(who))
    return z, who.tolist()


def hold(cell: Cell, creators: int, *, dominant: bool, runs: int) -> float:
    """The share of intervals that hold the truth."""
    truth = cell.truth or float(cell.values(np.random.default_rng(0).normal(size=4_000_000)).mean())
    held = 0
    for run in range(runs):
        z, who = draw(creators, dominant=dominant, rng=np.random.default_rng((creators, dominant, run, len(cell.name))))
        found = mean_interval(cell.values(z), who, within=cell.within)
        held += found.low <= truth <= found.high
    return held / runs


def null_p_values(creators: int, *, dominant: bool, runs: int, grouped: bool = True) -> Floats:
    """P of paired tests between two ways that are alike, over creators or as if each collection were by another."""
    found = []
    for run in range(runs):
        z, who = draw(creators, dominant=dominant, rng=np.random.default_rng((creators, dominant, run, 1)))
        scores = {"a": z, "b": np.zeros(len(z))}
        [test] = compare_scores(scores, [("a", "b")], groups=who if grouped else None)
        found.append(test.p)
    return np.array(found)


def false_alarms(collections: int, spread: float, runs: int) -> tuple[float, float]:
    """Shares of audits of nothing that cry leak, and that refuse to judge: scores of orders are noise of a spread."""
    cried = refused = 0
    for run in range(runs):
        rng = np.random.default_rng((collections, run, 2))
        rows = []
        for name in CONTROLS:
            scores = spread * rng.normal(size=(collections, 4, NEGATIVES + 1))
            lead = scores - scores[:, :1, :1]  # the truth is the same in every draw
            lead[:, :, 0] = 0.0
            bits = (math.log(NEGATIVES + 1) - np.log(np.exp(lead).sum(axis=2))).mean(axis=1) / math.log(2)
            found = mean_interval(bits)
            rows.append(AuditRow(name, "arcs", found.mean, found.low, found.high, collections))
        report = AuditReport(rows)
        cried, refused = cried + (not report.ok), refused + (not report.judged)
    return cried / runs, refused / runs


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    print("| | " + " | ".join(f"{c} creators | one dominant" for c in CREATORS) + " |\n" + "|---" * 9 + "|")
    for cell in CELLS:
        shares = [hold(cell, c, dominant=d, runs=runs) for c in CREATORS for d in (False, True)]
        print(f"| {cell.name}: held, % | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)
    null = [null_p_values(c, dominant=d, runs=runs) for c in CREATORS for d in (False, True)]
    for most in (0.05, 0.01):
        print(f"| p of nothing below {most}, % | " + " | ".join(f"{100 * np.mean(p < most):.1f}" for p in null) + " |")
    print(
        "| the same, p of KS against uniform | " + " | ".join(f"{kstest(p, 'uniform').pvalue:.2f}" for p in null) + " |"
    )
    print("\naudits of nothing")
    for collections in (20, 40, 200):
        for spread in (0.1, 0.3, 1.0):
            cried, refused = false_alarms(collections, spread, runs)
            print(
                f"{collections} collections, scores spread by {spread}: {cried:.1%} cry leak, {refused:.1%} refuse",
                flush=True,
            )


if __name__ == "__main__":
    main()
