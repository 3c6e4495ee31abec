"""The training loop: epochs over batches, validation after each, the best state kept, checkpoints written.

It knows a net that scores features in orderings, and nothing of what the features mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fabula.training.config import TrainingConfig
from fabula.training.data.batches import Pool, draw_orderings, filling, plan_epoch, take, whole_batches
from fabula.training.loop.checkpoint import Checkpoint, take_up, write_checkpoint
from fabula.training.loop.distributed import World
from fabula.training.loop.graphs import GraphedStep
from fabula.training.loop.loss import info_nce, to_bits
from fabula.training.loop.optimiser import learning_rate, precision
from fabula.training.loop.run import Progress as Progress
from fabula.training.loop.run import Run, seed_of, start_run
from fabula.training.nets.networks import EssenceNet

Draw = Callable[[int, int, int, torch.Generator], Tensor]
_VALIDATION_SEED = 20_240_229  # the same negatives every time, so that epochs compare
_MOST_FILLING = 1.5  # times as many collections in an epoch
_SEQUENCES_AT_ONCE = 1 << 15  # scored together when validating


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be trained.

    Attributes
    ----------
    make_net
        Makes the net; called with a seeded random state.
    pool, validation
        What to train on, and what decides which epoch is kept.
    data
        Fingerprint of the training collections, kept in checkpoints.
    draw
        Draws the orderings to be told apart, the true one first.
    """

    make_net: Callable[[], EssenceNet]
    pool: Pool
    validation: Pool
    data: str = ""
    draw: Draw = draw_orderings


def optimise(
    task: Task,
    config: TrainingConfig,
    world: World,
    *,
    checkpoint: Checkpoint | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Train a net; the state that does best on the validation pool is its ``best``.

    Parameters
    ----------
    task
        What to train.
    config, world
        How, and with which processes.
    checkpoint
        Where to keep the run after each epoch, and to take it up.
    progress
        Called after each epoch, in the first process.
    """
    cuda = [world.device] if world.device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda), precision(config.amp, world.device):
        run = start_run(task.make_net, config, world.device)
        if checkpoint is not None:
            take_up(checkpoint, run, config, task.data, world)
        first, began = run.epoch, time.monotonic()
        while run.epoch < config.epochs and not _waited_enough(run, config):
            loss = run_epoch(run, task.pool, config, world, task.draw)
            run.epoch += 1
            seen = validation_bits(run.mean.net, task.validation, config, task.draw)
            bits = dict(zip(config.scorers, world.agree(list(seen.values())), strict=True))
            _keep_best(run, bits, config)
            left = (time.monotonic() - began) / (run.epoch - first) * (config.epochs - run.epoch)
            run.history.append(Progress(run.epoch, config.epochs, loss, bits, left))
            if checkpoint is not None and world.first:
                write_checkpoint(checkpoint.path, run, config, task.data)
            if progress is not None and world.first:
                progress(run.history[-1])
    return run


def run_epoch(run: Run, pool: Pool, config: TrainingConfig, world: World, draw: Draw = draw_orderings) -> float:
    """One pass over the pool; the mean loss. Its randomness follows from seed, epoch and rank alone."""
    plans = torch.Generator().manual_seed(seed_of(config.seed, run.epoch + 1, 0))
    draws = torch.Generator(world.device).manual_seed(seed_of(config.seed, run.epoch + 1, 1 + world.rank))
    torch.manual_seed(seed_of(config.seed, run.epoch + 1, 1 + world.size + world.rank))  # dropout
    graphs = _uses_graphs(pool, config, world)
    plan = plan_epoch(
        pool, config.batch, plans, subsequences=config.subsequences, shortest=config.shortest, fill=graphs
    )
    largest = max(len(batch.starts) for batch in plan)
    if graphs and run.graphed is None:
        run.graphed = GraphedStep(run.net, lambda scores: weighted_loss(scores, config), 1.0 / largest)
    total = torch.zeros((), device=world.device)
    run.net.train()
    for number, batch in enumerate(plan, start=run.epoch * len(plan) + 1):
        mine = replace(batch, starts=world.share(batch.starts))
        if len(mine.starts):
            orderings = draw(len(mine.starts), config.sequences, batch.kept, draws)
            total += _gradients(
                run, config, take(pool, mine, draws), orderings, weight=batch.weight, scale=1.0 / largest
            )
        else:  # fewer collections than processes
            run.optimizer.zero_grad(set_to_none=True)
        world.sum_gradients(run.net.parameters())
        _step(run, config, number, config.epochs * len(plan))
    return float(world.sum(total)) / len(pool)


def _uses_graphs(pool: Pool, config: TrainingConfig, world: World) -> bool:
    """Graphs need batches of one size: they are for one GPU, and where filling batches up costs little."""
    one_gpu = world.device.type == "cuda" and world.size == 1
    return config.graphs and one_gpu and filling(pool, config.batch) <= _MOST_FILLING


def _gradients(
    run: Run, config: TrainingConfig, features: Tensor, orderings: Tensor, *, weight: float, scale: float
) -> Tensor:
    """The loss of a batch, times its weight; leaves the gradients in the net."""
    if run.graphed is not None:
        return run.graphed(features, orderings, weight)
    run.optimizer.zero_grad(set_to_none=True)
    loss = weight * weighted_loss(run.net(features, orderings), config)
    (loss * scale).backward()  # type: ignore[no-untyped-call]
    return loss.detach()


def weighted_loss(scores: dict[str, Tensor], config: TrainingConfig) -> Tensor:
    """The losses of all collections and scorers, summed: every collection weighs the same in every batch."""
    losses = [w * info_nce(scores[name]).sum() for name, w in zip(config.scorers, config.scorer_weights, strict=True)]
    return torch.stack(losses).sum()


def _step(run: Run, config: TrainingConfig, number: int, steps: int) -> None:
    if config.clip:
        torch.nn.utils.clip_grad_norm_(run.net.parameters(), config.clip)
    for group in run.optimizer.param_groups:
        group["lr"] = learning_rate(config, number, steps)
    run.optimizer.step()
    run.mean.update(number)


def validation_bits(
    net: EssenceNet, pool: Pool, config: TrainingConfig, draw: Draw = draw_orderings
) -> dict[str, float]:
    """Bits by scorer on a pool (Equation 2 of the paper), with the same negatives at every call."""
    means = validation_losses(net, pool, config, draw).mean(0).tolist()
    return {name: to_bits(loss, config.sequences) for name, loss in zip(config.scorers, means, strict=True)}


@torch.no_grad()
def validation_losses(net: EssenceNet, pool: Pool, config: TrainingConfig, draw: Draw = draw_orderings) -> Tensor:
    """The loss of each collection of a pool under each scorer, mean over the draws: (collections, scorers)."""
    generator = torch.Generator(pool.values.device).manual_seed(_VALIDATION_SEED)
    losses: list[Tensor] = []
    net.eval()
    for batch in whole_batches(pool, max(1, _SEQUENCES_AT_ONCE // (config.draws * config.sequences))):
        b = len(batch.starts)
        drawn = [draw(b, config.sequences, batch.length, generator) for _ in range(config.draws)]
        scores = net.score(net.encode(take(pool, batch)), torch.cat(drawn, dim=1))  # (b, draws * N)
        by_scorer = [info_nce(scores[name].double().view(b * config.draws, -1)) for name in config.scorers]
        losses.append(torch.stack([loss.view(b, -1).mean(1) for loss in by_scorer], dim=1))
    return torch.cat(losses)


def _keep_best(run: Run, bits: dict[str, float], config: TrainingConfig) -> None:
    def worth(of: dict[str, float]) -> float:
        return sum(w * of[name] for name, w in zip(config.scorers, config.scorer_weights, strict=True))

    if worth(bits) > worth(run.best_bits):
        run.best_epoch, run.best_bits = run.epoch, bits
        for name, tensor in run.mean.net.state_dict().items():
            run.best[name].copy_(tensor)


def _waited_enough(run: Run, config: TrainingConfig) -> bool:
    return bool(config.patience) and run.epoch - run.best_epoch >= config.patience
