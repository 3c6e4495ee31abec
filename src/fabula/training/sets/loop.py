"""The loop: AdamW over one cycle, a moving average of the weights, the best of it by collections set aside."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fabula.training.loop.distributed import World
from fabula.training.loop.run import seed_of
from fabula.training.sets.data import Batch, SetData
from fabula.training.sets.loss import contrast, info_nce, permutations, taught
from fabula.training.sets.masking import Masking
from fabula.training.sets.measuring import collection_bits
from fabula.training.sets.nets import SetNet
from fabula.training.sets.recipe import SetRecipe

Report = Callable[["Epoch"], None]


@dataclass(frozen=True)
class Epoch:
    """How far a training is: its number, of how many, the mean loss, bits on what was set aside, seconds so far."""

    number: int
    of: int
    loss: float
    bits: float
    seconds: float


def fit_net(
    net: SetNet,
    train: SetData,
    aside: SetData,
    recipe: SetRecipe,
    *,
    world: World | None = None,
    teachers: Sequence[SetNet] = (),
    report: Report | None = None,
    least: float | None = None,
) -> tuple[SetNet, list[Epoch]]:
    """Train a net; returns the average of its weights that did best on what was set aside, and all epochs.

    Parameters
    ----------
    net
        On the device of the data; its weights change.
    train, aside
        What is learned from, and what decides when it was best.
    world
        The processes that share each batch; this one alone by default.
    teachers
        Nets whose mean opinion it learns from as well.
    least
        Bits below which the net is kept as it came.
    """
    device, began = train.values.device, time.monotonic()
    world = world or World(0, 1, device)
    own = recipe.seed if world.size == 1 else seed_of(recipe.seed, world.rank)
    torch.manual_seed(own)  # dropout has no generator of its own
    generator = torch.Generator(device).manual_seed(own)
    masking = Masking(recipe, net.spec.features, device)
    plan = np.random.default_rng(recipe.seed)
    total = recipe.epochs * sum(-(-len(group) // recipe.batch) for group in train.by_length().values())
    optimiser, schedule = _optimiser(net, recipe, total)
    average, best, epochs = copy.deepcopy(net).eval(), copy.deepcopy(net).eval(), list[Epoch]()
    step, most = 0, -np.inf if least is None else least
    for number in range(1, recipe.epochs + 1):
        net.train()
        losses = torch.zeros((), device=device)
        for drawn, taken in _batches(train, recipe, plan):
            chosen, steps = world.share(drawn), world.share(taken)
            optimiser.zero_grad(set_to_none=True)
            if len(chosen):  # a batch may have fewer collections than there are processes
                x = masking(train.gather(chosen, steps), generator)
                orderings = permutations(recipe.negatives, steps.shape[1], generator)
                loss = _loss(net, x, orderings, teachers, recipe.taught)
                torch.autograd.backward(loss * (len(chosen) / recipe.batch))
                losses += loss.detach() * len(chosen)
            world.sum_gradients(net.parameters())
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)
            optimiser.step()
            schedule.step()
            step += 1
            _follow(average, net, min(recipe.averaging, step / (step + 10)))
        [bits] = world.agree([float(collection_bits(average, aside, draws=4).mean())])
        if bits > most:
            best, most = copy.deepcopy(average), bits
        mean = float(world.sum(losses)) / len(train)
        epochs.append(Epoch(number, recipe.epochs, mean, bits, time.monotonic() - began))
        if report and world.first:
            report(epochs[-1])
    return best, epochs


def _loss(net: SetNet, x: Batch, orderings: Tensor, teachers: Sequence[SetNet], weight: float) -> Tensor:
    positions, flow = net(x)
    logits = contrast(positions, flow, orderings)
    if not teachers:
        return info_nce(logits)
    with torch.no_grad():
        tables = [teacher(x) for teacher in teachers]
        opinion = torch.stack([contrast(positions, flow, orderings) for positions, flow in tables]).mean(0)
    return (1 - weight) * info_nce(logits) + weight * taught(logits, opinion)


def _batches(data: SetData, recipe: SetRecipe, plan: np.random.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Numbers (B,) of collections of one length and the items (B, m) taken of each, in random order of the batches."""
    device = data.values.device
    drawn: list[tuple[int, Tensor]] = []
    for n, chosen in data.by_length().items():
        mixed = chosen[torch.from_numpy(plan.permutation(len(chosen))).to(device)]
        drawn.extend((n, part) for part in torch.split(mixed, recipe.batch))
    for number in plan.permutation(len(drawn)):
        n, chosen = drawn[number]
        m = n
        if n > 3 and plan.random() < recipe.subsequences:
            m = int(plan.integers(max(3, n // 2), n))
        order = torch.from_numpy(plan.random((len(chosen), n)).argsort(1)[:, :m]).to(device)
        yield chosen, order.sort(1).values


def _optimiser(
    net: SetNet, recipe: SetRecipe, total: int
) -> tuple[torch.optim.AdamW, torch.optim.lr_scheduler.OneCycleLR]:
    shared: dict[float, list[Tensor]] = {}
    for name, weight in net.named_parameters():
        vector = recipe.vector_decay if name.endswith("/vectors") else recipe.decay
        shared.setdefault(vector if weight.ndim > 1 else 0.0, []).append(weight)
    groups = [{"params": weights, "weight_decay": decay} for decay, weights in shared.items()]
    optimiser = torch.optim.AdamW(groups, lr=recipe.learning_rate, foreach=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, recipe.learning_rate, total_steps=total + 1, pct_start=0.15
    )
    return optimiser, schedule


@torch.no_grad()
def _follow(average: SetNet, net: SetNet, keep: float) -> None:
    """Move the average of the weights towards the weights."""
    torch._foreach_lerp_(list(average.parameters()), list(net.parameters()), 1 - keep)
