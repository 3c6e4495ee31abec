"""The training loop: epochs over batches, validation after each, the best state kept, checkpoints written.

It knows a learner, which has a net, batches, a loss and a measure of what the net knows, and nothing of what they mean.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fabula.training.checkpoint import Checkpoint, Progress, Run, RunningMean, take_up, write_checkpoint
from fabula.training.distributed import World

_WARM_UP = 2  # times a step is run before it is recorded: libraries choose their kernels then


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss of a batch: its gradients are those of ``value`` times ``scale``; ``value`` stands for ``count``."""

    value: Tensor
    scale: float = 1.0
    count: float = 1.0


class Learner(ABC):
    """What is trained, on what, and how: all that the loop asks for."""

    world: World  # the processes that share each batch
    epochs: int
    size: int  # what the sum of the losses of an epoch is divided by
    patience: int = 0  # epochs without a better validation before it stops; 0: goes to the end
    clip: float = 1.0  # longest gradient; 0: any
    averages: bool = True  # a running mean of the weights is validated and kept, rather than the weights
    amp: str = "none"  # products on a GPU: "tf32" or "none"
    data: str = ""  # fingerprint of the collections, which a checkpoint must agree with
    settings: Mapping[str, Any] = {}

    @abstractmethod
    def make_net(self) -> nn.Module:
        """The net, and the seed of what is random before the first epoch."""

    @abstractmethod
    def make_optimizer(self, net: nn.Module) -> torch.optim.Optimizer:
        """What changes the weights."""

    @abstractmethod
    def plan(self, epoch: int) -> Sequence[Any]:
        """The batches of an epoch, counted from 1."""

    @abstractmethod
    def loss(self, net: nn.Module, batch: Any) -> Loss | None:
        """The loss of this process's share of a batch; None where it has none."""

    def bits(self, net: nn.Module) -> dict[str, float]:
        """What a net knows, by scorer; nothing where the last state is kept, whatever it knows."""
        return {}

    def worth(self, bits: Mapping[str, float]) -> float:
        """What decides which state is kept."""
        return sum(bits.values())

    def start(self, net: nn.Module) -> tuple[nn.Module, dict[str, float]]:
        """The net that is kept where no epoch is better, and what it knows."""
        return net, {}

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 1."""
        return 1.0

    def pace(self, optimizer: torch.optim.Optimizer, step: int, steps: int) -> None:
        """Set the optimiser's rate for a step."""
        for group in optimizer.param_groups:
            group["lr"] = self.rate(step, steps)

    def follow(self, step: int, steps: int) -> float:
        """How far the mean of the weights goes towards the weights after a step."""
        return 1.0

    def gradients(self, net: nn.Module, batch: Any) -> Tensor:
        """Leave the gradients of a batch in the net; the sum of its losses."""
        net.zero_grad(set_to_none=True)
        found = self.loss(net, batch)
        if found is None:  # a batch may have fewer collections than there are processes
            return torch.zeros((), device=self.world.device)
        torch.autograd.backward(found.value * found.scale)
        return found.value.detach() * found.count


def optimise(
    learner: Learner, *, checkpoint: Checkpoint | None = None, progress: Callable[[Progress], None] | None = None
) -> Run:
    """Train a net; the state that does best on validation is its ``best``. Reports come from the first process."""
    world = learner.world
    cuda = [world.device] if world.device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda), precision(learner.amp, world.device):
        run = start_run(learner)
        if checkpoint is not None:
            take_up(checkpoint, run, learner.settings, learner.data, world)
        first, began = run.epoch, time.monotonic()
        while run.epoch < learner.epochs and not (learner.patience and run.epoch - run.best_epoch >= learner.patience):
            loss = run_epoch(run, learner)
            run.epoch += 1
            seen = learner.bits(run.mean.net)
            bits = dict(zip(seen, world.agree(list(seen.values())), strict=True))
            _keep_best(run, learner, bits)
            left = (time.monotonic() - began) / (run.epoch - first) * (learner.epochs - run.epoch)
            run.history.append(Progress(run.epoch, learner.epochs, loss, bits, left))
            if checkpoint is not None and world.first:
                write_checkpoint(checkpoint.path, run, learner.settings, learner.data)
            if progress is not None and world.first:
                progress(run.history[-1])
    return run


def start_run(learner: Learner) -> Run:
    """A run before its first epoch."""
    net = learner.make_net().to(learner.world.device)
    kept, bits = learner.start(net)
    best = {name: tensor.clone() for name, tensor in kept.state_dict().items()}
    return Run(net, RunningMean(net, apart=learner.averages), learner.make_optimizer(net), 0, 0, bits, best)


def run_epoch(run: Run, learner: Learner) -> float:
    """One pass over the batches of an epoch; the mean loss."""
    total = torch.zeros((), device=learner.world.device)
    plan = learner.plan(run.epoch + 1)
    steps = learner.epochs * len(plan)
    run.net.train()
    for step, batch in enumerate(plan, start=run.epoch * len(plan) + 1):
        learner.pace(run.optimizer, step, steps)
        total += _step(run, learner, batch)
        run.mean.update(learner.follow(step, steps))
    return float(learner.world.sum(total)) / learner.size


def _step(run: Run, learner: Learner, batch: Any) -> Tensor:
    """One step of the optimiser; the sum of the losses of the batch before it."""
    losses: list[Tensor] = []

    def gradients() -> float:  # an optimiser that searches along a line asks more than once
        losses.append(learner.gradients(run.net, batch))
        learner.world.sum_gradients(run.net.parameters())
        if learner.clip:
            torch.nn.utils.clip_grad_norm_(run.net.parameters(), learner.clip)
        return losses[-1]  # type: ignore[return-value]

    run.optimizer.step(gradients)
    return losses[0]


def _keep_best(run: Run, learner: Learner, bits: dict[str, float]) -> None:
    if not bits or learner.worth(bits) > learner.worth(run.best_bits):
        run.best_epoch, run.best_bits = run.epoch, bits
        for name, tensor in run.mean.net.state_dict().items():
            run.best[name].copy_(tensor)


def seed_of(*parts: int) -> int:
    """A seed that follows from numbers, such as the seed of the run and an epoch."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> np.uint64(1))


@contextmanager
def precision(amp: str, device: torch.device) -> Iterator[None]:
    """Products in TF32 or in single precision on a GPU; what was set before is set again after.

    Half precisions are no choice: the z-score of the essence magnifies their rounding beyond the gradients.
    """
    if device.type != "cuda":
        yield
        return
    backends: Any = torch.backends
    switches = [backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn]
    before = [switch.fp32_precision for switch in switches]
    try:
        for switch in switches:
            switch.fp32_precision = "ieee" if amp == "none" else "tf32"
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.fp32_precision = value


@dataclass(frozen=True, eq=False)
class _Recorded:
    graph: torch.cuda.CUDAGraph
    features: Tensor
    orderings: Tensor
    weight: Tensor
    loss: Tensor


class GraphedStep:
    """Loss and gradients of a batch as CUDA graphs: one launch where small kernels would wait for Python.

    A graph has fixed shapes, so there is one for each number of items; batches must all have one size. The gradients,
    those of the loss times ``scale``, get buffers that stay.
    """

    def __init__(self, net: nn.Module, loss: Callable[[Any], Tensor], scale: float) -> None:
        self._net, self._loss, self._scale = net, loss, scale
        self._recorded: dict[tuple[int, ...], _Recorded] = {}
        for parameter in net.parameters():
            parameter.grad = torch.zeros_like(parameter)
        self._grads: list[Tensor] = [p.grad for p in net.parameters() if p.grad is not None]

    def __call__(self, features: Tensor, orderings: Tensor, weight: float) -> Tensor:
        """The loss, times ``weight``, of features (b, n, f[, s]) in orderings (b, N, n); valid until the next call."""
        key = (*features.shape, *orderings.shape)
        if key not in self._recorded:
            self._recorded[key] = self._record(features.clone(), orderings.clone())
        held = self._recorded[key]
        held.features.copy_(features)
        held.orderings.copy_(orderings)
        held.weight.fill_(weight)
        held.graph.replay()
        return held.loss

    def _record(self, features: Tensor, orderings: Tensor) -> _Recorded:
        weight = torch.ones((), device=features.device)
        aside = torch.cuda.Stream(features.device)  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                self._step(features, orderings, weight)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        others = next(iter(self._recorded.values()), None)  # all share their memory: only one runs at a time
        with torch.cuda.graph(graph, pool=others.graph.pool() if others else None):
            loss = self._step(features, orderings, weight)
        return _Recorded(graph, features, orderings, weight, loss)

    def _step(self, features: Tensor, orderings: Tensor, weight: Tensor) -> Tensor:
        torch._foreach_zero_(self._grads)
        loss = self._loss(self._net(features, orderings)) * weight
        (loss * self._scale).backward()  # type: ignore[no-untyped-call]
        return loss.detach()
