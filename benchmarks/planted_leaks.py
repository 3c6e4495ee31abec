"""Leaks planted in synthetic collections, and whether each is caught; and how often healthy ones are accused.

python -m benchmarks.planted_leaks                 # the table in docs/honesty.md, about ten minutes on one core
python -m benchmarks.planted_leaks --sets 20 --audits 4
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
import torch
from torch import Tensor

from benchmarks.planted import MORE_PLANTS, PLANTS, Plant, Sides, healthy
from fabula.core.collection import Collection, Item
from fabula.evaluation.controls import Parts, noise_features, shuffle_orders
from fabula.evaluation.leaks import find_leaks
from fabula.research.splits import overlap
from fabula.training.audit import AuditReport, AuditRow, audit
from fabula.training.item_models import EssenceTraining
from fabula.training.nets.essence_net import BilstmScorerNet, EssenceNet
from fabula.training.published_bug import measure_loss
from fabula.training.recipes import TrainingConfig, preset

ALL = "all"
NULL = preset("arcs", epochs=12, batch=32, widths=(16,), draws=2)
PEEKING = preset(
    "paper", encoder="identity", features=("x",), learning_rate=3e-2, epochs=4, scorer_hidden=16, scorer_layers=1
)


class ReadsPadding(BilstmScorerNet):
    """Reads one position too far, into padding that holds the true first item."""

    def forward(self, sequences: Tensor) -> Tensor:
        b, N, n, _ = sequences.shape
        framed = self.frame(sequences.flatten(0, 1)).view(b, N, n + 2, -1)
        padding = framed[:, :1, 1:2].expand(b, N, 1, -1)
        return self.read(torch.cat([framed, padding], dim=2).flatten(0, 1)).view(b, N)


class MisplacesEnd(BilstmScorerNet):
    """Writes the end token over the item that is truly last, wherever a sequence has it."""

    def forward(self, sequences: Tensor) -> Tensor:
        b, N, n, _ = sequences.shape
        framed = self.frame(sequences.flatten(0, 1)).view(b, N, n + 2, -1)
        truly_last = (sequences == sequences[:, :1, -1:]).all(-1, keepdim=True)  # (b, N, n, 1)
        items = torch.where(truly_last, self.end.expand_as(framed[:, :, 1:-1]), framed[:, :, 1:-1])
        whole = torch.cat([framed[:, :, :1], items, framed[:, :, -1:]], dim=2)
        return self.read(whole.flatten(0, 1)).view(b, N)


def accused(sides: Sides) -> list[str]:
    """What the guard and the look at both sides say of a set, by whom."""
    training, held_out = sides
    found = [("titles" if not leak.columns else "columns", str(leak)) for leak in find_leaks(training)]
    shared = overlap(training, held_out)
    return sorted({by for by, _ in found} | {"both sides" for _ in shared})


def caught(plants: dict[str, Plant], sets: int, seed: int) -> tuple[dict[str, Counter[str]], int]:
    """Of each planted leak by whom it is caught, and in how many sets; and how many healthy sets are accused.

    What a healthy set is accused of does not count as caught.
    """
    found: dict[str, Counter[str]] = {name: Counter() for name in plants}
    false = 0
    for number in range(sets):
        sides = healthy(np.random.default_rng((seed, number)))
        before = set(accused(sides))
        false += bool(before)
        for which, (name, plant) in enumerate(plants.items()):
            told = set(accused(plant(sides, np.random.default_rng((seed, number, which))))) - before
            found[name].update([*told, *([ALL] if told else [])])
    return found, false


def peeks(scorer: type[BilstmScorerNet], seed: int) -> AuditReport:
    """The controls of a recipe whose scorer peeks and is measured by its own loss."""
    rng = np.random.default_rng(seed)
    noise = _noise(rng, 480)
    parts, config = Parts(noise[:360], noise[360:]), preset_with(PEEKING, seed)

    def make(settings: TrainingConfig, shape: tuple[int, ...], pool: object) -> EssenceNet:
        net = EssenceNet(settings, shape)
        net.add_module("bilstm", scorer(settings))
        return net

    controls = {
        "noise features": parts.map(lambda part: noise_features(part, rng)),
        "shuffled orders": parts.map(lambda part: shuffle_orders(part, rng)),
    }
    rows = []
    for name, data in controls.items():
        found = measure_loss(data, config, make)
        rows.append(AuditRow(name, scorer.__name__, found.mean, found.low, found.high, found.n))
    return AuditReport(rows)


def preset_with(config: TrainingConfig, seed: int) -> TrainingConfig:
    """The same with another seed."""
    return TrainingConfig.from_dict({**config.to_dict(), "seed": seed})


def null_audit(seed: int, count: int = 120) -> AuditReport:
    """The audit of collections in whose order nothing is to be learned: as small as a user's table may be."""
    rng = np.random.default_rng(seed)
    noise = _noise(rng, count, names=("x", "y", "z"))
    held = max(40, count // 10)
    return audit(EssenceTraining(Parts(noise[held:], noise[:held]).nest(), preset_with(NULL, seed), "cpu"))


def _noise(rng: np.random.Generator, count: int, names: tuple[str, ...] = ("x",)) -> list[Collection]:
    lengths = rng.integers(4, 12, count)
    return [
        Collection(str(i), [Item(str(j)) for j in range(n)], rng.normal(size=(n, len(names))), names)
        for i, n in enumerate(lengths)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200, help="synthetic sets for each leak, and healthy ones")
    parser.add_argument("--audits", type=int, default=200, help="audits of healthy null sets")
    parser.add_argument("--peeks", type=int, default=10, help="audits of each scorer that peeks")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    found, false = caught({**PLANTS, **MORE_PLANTS}, chosen.sets, 1)
    print(f"| planted leak | caught, of {chosen.sets} sets | by |\n|---|---|---|")
    for name, by in found.items():
        who = ", ".join(f"{each} ({many})" for each, many in by.most_common() if each != ALL)
        print(f"| {name} | {by[ALL]} | {who} |")
    print(f"healthy sets accused: {false} of {chosen.sets}", flush=True)
    for name, scorer in (("by padding", ReadsPadding), ("by end token", MisplacesEnd)):
        reports = [peeks(scorer, seed) for seed in range(chosen.peeks)]
        low = min(row.bits for report in reports for row in report.controls)
        many = sum(not report.ok for report in reports)
        print(f"| {name} | {many} of {chosen.peeks} | controls, {low:.2f} bits and more |", flush=True)
    audits = [null_audit(seed) for seed in range(chosen.audits)]
    leaks, few = sum(not each.ok for each in audits), sum(each.ok and not each.judged for each in audits)
    bits = np.mean([row.bits for each in audits for row in each.rows])
    print(f"audits of 120 null collections: {leaks} of {chosen.audits} cry leak, {few} refuse; mean {bits:+.4f} bits")


if __name__ == "__main__":
    main()
