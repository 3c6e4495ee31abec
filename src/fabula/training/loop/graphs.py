"""Loss and gradients of a batch as CUDA graphs: one launch where small kernels would wait for Python.

A graph has fixed shapes, so there is one for each number of items; batches must all have one size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from fabula.training.nets.networks import EssenceNet

_WARM_UP = 2  # times a step is run before it is recorded: libraries choose their kernels then


@dataclass(frozen=True, eq=False)
class _Recorded:
    graph: torch.cuda.CUDAGraph
    features: Tensor
    orderings: Tensor
    weight: Tensor
    loss: Tensor


class GraphedStep:
    """Computes the loss of a batch and leaves the gradients in the net's parameters.

    Parameters
    ----------
    net
        On a GPU. Its gradients get buffers that stay.
    loss
        From scores by scorer to one number.
    scale
        The gradients are those of the loss times this.
    """

    def __init__(self, net: EssenceNet, loss: Callable[[dict[str, Tensor]], Tensor], scale: float) -> None:
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
