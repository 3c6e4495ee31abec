"""One model of several kinds of text, or one each: ``python -m benchmarks.pool_texts FOLDER novels speeches poems``.

Each table of the folder is a kind (``novels.parquet``: one row a part in its true order, with ``collection_id``,
``position``, ``text``, ``author``, ``split``). A fifth of the training authors of each is set aside. Bits of these,
N = 1,024, by models of one kind alone; by one model whose weights are those of all kinds and what each kind has besides
(the kind is an input); and by one that does not know the kind. All are held by the same penalty. Nothing of the
validation split is used, but for ``--validation``, which measures there and learns from all authors. The recipe
of `speeches`, which ships, is ``--validation --steps 300 --batch 384 --save FOLDER``; it was drawn by other seeds.
With ``--recover`` one model that does not know the kind is learned, and tells how well it puts collections of 10 to 30
items of each kind back, at several scales of its scores, and `prose` beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from benchmarks.choose_penalty import SIZES, divided
from fabula.core.arrays import Floats, Ints
from fabula.evaluation.intervals import mean_interval
from fabula.evaluation.metrics import METRICS
from fabula.models.model import load_model
from fabula.models.order import likeliest, solvable
from fabula.research.kinds import prepare
from fabula.research.splits import Recipe
from fabula.training.loop import Loss, optimise
from fabula.training.recipes import StepRecipe
from fabula.training.step_models import (
    ChainLearner,
    Example,
    LoglinearNet,
    StepTraining,
    Weights,
    bits_of,
    learn_weights,
    summarise,
)


class PooledLearner(ChainLearner):
    """Weights of all kinds, and those of each besides, in rows; as many examples of each kind in a step."""

    def __init__(self, kinds: Sequence[Sequence[Example]], recipe: StepRecipe) -> None:
        super().__init__([one for own in kinds for one in own], recipe)
        ends = np.cumsum([len(own) for own in kinds])
        self.rows = [np.arange(end - len(own), end) for own, end in zip(kinds, ends, strict=True)]

    def make_net(self) -> nn.Module:
        """All weights zero."""
        return LoglinearNet(np.zeros(len(self.scale) * (1 + len(self.rows))))

    def of_kind(self, array: Floats, kind: int) -> Floats:
        """The weights of a kind, in units of the scale: shape (w,)."""
        table = array.reshape(-1, len(self.scale))
        return np.asarray(table[0] + table[1 + kind])

    def loss(self, net: nn.Module, batch: tuple[int, Ints]) -> Loss:
        """The loss of each kind by itself, whose gradient goes to what all have in common and to its own."""
        step, most = batch[0], self.recipe.batch // len(self.rows)
        gaps = []
        for kind, own in enumerate(self.rows):
            chosen = own[self._rng.permutation(len(own))[:most]]
            single = LoglinearNet(self.of_kind(net.array, kind))
            single.zero_grad()
            told = super().loss(single, (step, chosen)).value - self.recipe.penalty * single.weights.square().sum()
            told.backward()
            gaps.append(-single.weights.grad.numpy())
        gap = np.concatenate([np.sum(gaps, axis=0), *gaps])
        return Loss(self.recipe.penalty * net.weights.square().sum() - net(torch.from_numpy(gap)))


def learn_pooled(kinds: Sequence[Sequence[Example]], recipe: StepRecipe) -> list[Weights]:
    """The weights of each kind, learned together."""
    learner = PooledLearner(kinds, recipe)
    array = optimise(learner).best_net().array
    return [Weights.of(learner.of_kind(array, k) / learner.scale, kinds[0][0]) for k in range(len(kinds))]


def tell(name: str, weights: Weights, examples: Sequence[Example]) -> None:
    """Print the bits of examples by their number of items, intervals by author."""
    told = []
    for size, (low, high) in SIZES.items():
        some = [one for one in examples if low <= len(one) <= high]
        bits = bits_of(some, weights.score, negatives=1023, rng=np.random.default_rng(0))
        found = mean_interval(bits, [one.group for one in some])
        told.append(f"{size} {found.mean:.2f} ({found.low:.2f} to {found.high:.2f}), {found.n}")
    print(f"{name}: " + "; ".join(told), flush=True)


def hold(examples: Sequence[Example]) -> list[Example]:
    """The examples in single precision."""
    return [
        Example(one.standing.astype(np.float32).astype(np.float64), one.pairs.astype(np.float32), one.group)
        for one in examples
    ]


def tell_recovery(name: str, weights: Weights, examples: Sequence[Example]) -> None:
    """Print Spearman and neighbours of what is proposed for shuffled examples of 10 to 30 items, and bits of all."""
    some, orders = [one for one in examples if 10 <= len(one) <= 30], []
    for number, one in enumerate(some):
        mixed = np.random.default_rng(number).permutation(len(one))
        shown = Example(one.standing[mixed], one.pairs[:, mixed][:, :, mixed], one.group)
        orders.append(mixed[likeliest(solvable(weights.energy_of(shown))).ordering])
    spearman = np.mean([METRICS["spearman"](order) for order in orders])
    beside = np.mean([np.mean(np.abs(np.diff(order)) == 1) for order in orders])
    bits = bits_of(examples, weights.score, negatives=1023, rng=np.random.default_rng(0)).mean()
    print(f"{name}: {len(some)} put back, Spearman {spearman:.3f}, neighbours {beside:.1%}; bits of all {bits:.2f}")


def recover(kinds: dict[str, tuple[Sequence[Example], Sequence[Example]]], recipe: StepRecipe) -> None:
    """Learn one model of all kinds; tell what it and `prose` put back."""
    prose, learn = load_model("prose").tensors, [one for own, _ in kinds.values() for one in hold(own)]
    known = Weights(prose["arcs.template"].T.astype(np.float64), prose["reach.weights"].astype(np.float64))
    for name, weights in (("prose", known), ("one model", learn_weights(learn, recipe))):
        for scale in (0.5, 0.7, 0.8, 1.0, 1.25, 1.5):
            scaled = Weights(weights.arcs * scale, weights.reach * scale)
            for kind, (_, aside) in kinds.items():
                tell_recovery(f"{name} x {scale:g}, {kind}", scaled, hold(aside))


def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kinds", nargs="+")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--penalty", type=float, default=0.5)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--validation", action="store_true")
    parser.add_argument("--save", type=Path, help="a folder for the pooled models, one file a kind")
    parser.add_argument("--recover", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    like, parts, learn, aside = load_model("prose"), [], [], []
    for kind in asked.kinds:
        changes = {"features": like.feature_names, "logged": like.config["encoder"]["logged"]}
        steps = prepare(Recipe(asked.folder / f"{kind}.parquet", kind="steps", changes=changes)).trainable
        if not isinstance(steps, StepTraining):
            parser.error(f"{kind}: holds no texts")
        own, others = (steps.examples, steps.held_out) if asked.validation else divided(steps.examples)
        parts.append(steps)
        learn.append(own)
        aside.append(others)
    recipe = StepRecipe(steps=asked.steps, penalty=asked.penalty, batch=asked.batch, seed=asked.seed)
    if asked.recover:
        recover(dict(zip(asked.kinds, zip(learn, aside, strict=True), strict=True)), recipe)
        return
    pooled = learn_pooled(learn, recipe)
    for kind, steps, weights in zip(asked.kinds, parts, pooled, strict=True) if asked.save else ():
        bits = bits_of(steps.held_out, weights.score, negatives=1023, rng=np.random.default_rng(0))
        steps.export(weights, summarise(bits, steps.held_out, 1023)).save(asked.save / f"{kind}.safetensors")
    blind = learn_weights([one for own in learn for one in own], recipe)
    for k, kind in enumerate(asked.kinds):
        tell(f"{kind}, alone", learn_weights(learn[k], recipe), aside[k])
        tell(f"{kind}, pooled with its kind", pooled[k], aside[k])
        tell(f"{kind}, pooled without it", blind, aside[k])


if __name__ == "__main__":
    main()
