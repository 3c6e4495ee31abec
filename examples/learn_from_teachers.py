"""Training a set model on the albums and on the mean opinion of teachers, with features that are only estimates.

Used by `train_music_model.py`; what comes of it is a net as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
from assess_music import only
from torch import Tensor, nn
from torch.nn import functional

from fabula.models.encoders.set import SetInputs
from fabula.training import loop
from fabula.training.nets.set_net import SetNet
from fabula.training.recipes import SetRecipe
from fabula.training.sets import BOTH, Masking, SetLearner, collection_bits

Stacked = tuple[SetNet, dict[str, Tensor]]  # one of some nets of a kind, and the weights of all, (nets, ...) each


@dataclass(frozen=True, eq=False)
class Errors:
    """How far estimates stray from what is expected of them, drawn anew for every batch; all standardised.

    ``columns`` (k,) of the features; ``items``, ``shared`` (k, k): factors L of the covariances L L' of what is drawn
    for every item and for every collection; ``low``, ``high`` (k,): bounds of an estimate.
    """

    columns: Tensor
    items: Tensor
    shared: Tensor
    low: Tensor
    high: Tensor

    def stray(self, values: Tensor, generator: torch.Generator) -> Tensor:
        """Values (B, n, f) with errors in the columns that are estimates."""
        count, n, _ = values.shape
        drawn = torch.randn((count, n + 1, len(self.columns)), device=values.device, generator=generator)
        errors = drawn[:, :n] @ self.items.T + drawn[:, n:] @ self.shared.T
        strayed = values.index_select(-1, self.columns) + errors
        return values.index_copy(-1, self.columns, torch.minimum(torch.maximum(strayed, self.low), self.high))


class ErringMasking(Masking):
    """Hides as any other does, and lets estimates err."""

    def __init__(self, recipe: SetRecipe, features: Sequence[str], device: torch.device, errors: Errors) -> None:
        super().__init__(recipe, features, device)
        self.errors = errors

    def __call__(self, x: SetInputs, generator: torch.Generator) -> SetInputs:
        """The batch as any other hides it, its estimates with errors under the noise."""
        hidden = super().__call__(replace(x, values=torch.zeros_like(x.values)), generator)
        return replace(hidden, values=self.errors.stray(x.values, generator) + hidden.values)


class StudentLearner(SetLearner):
    """Learns from collections and from the mean opinion of ``teachers``, none or more, by ``recipe.taught``.

    ``errors`` are those of features that are estimates; the best epoch is the one with most bits over the ``views``,
    each the features that may be seen; all where there are none.
    """

    def __init__(
        self,
        *given: Any,
        teachers: Sequence[SetNet] = (),
        errors: Errors | None = None,
        views: Sequence[Sequence[int]] = (),
    ) -> None:
        super().__init__(*given)
        specs = {teacher.spec for teacher in teachers}
        self._teachers = [_stack([teacher for teacher in teachers if teacher.spec == spec]) for spec in specs]
        self.views = views
        if errors is not None:
            self.masking = ErringMasking(self.recipe, self._net.spec.features, self.pool.device, errors)

    def contrast(self, net: nn.Module, x: SetInputs, orderings: Tensor) -> Tensor:
        """Mean InfoNCE of a batch, and its distance from the teachers' opinion."""
        logits = loop.contrast(net(x), orderings)
        loss = -loop.log_share(logits).mean()
        if not self._teachers:
            return loss
        with torch.no_grad():
            opinion = torch.cat([_opinions(group, x, orderings) for group in self._teachers]).mean(0)
        weight = self.recipe.taught
        return (1 - weight) * loss + weight * distill(logits, opinion)

    def bits(self, net: nn.Module) -> dict[str, float]:
        """Mean bits on what was set aside, over the views."""
        whole = cast(SetNet, net.eval())
        seen = [only(whole, view) for view in self.views] or [whole]
        return {BOTH: float(np.mean([collection_bits(each, self.aside, draws=4).mean() for each in seen]))}


def distill(logits: Tensor, opinion: Tensor) -> Tensor:
    """Divergence of a net's probabilities over the orderings from its teachers' (Hinton et al. 2015)."""
    return functional.kl_div(logits.log_softmax(-1), opinion.log_softmax(-1), log_target=True, reduction="batchmean")


def _stack(nets: Sequence[SetNet]) -> Stacked:
    """Nets of one kind as one, so that they need no more steps than one does."""
    own = [dict(net.named_parameters()) for net in nets]
    return nets[0].eval(), {name: torch.stack([each[name].detach() for each in own]) for name in own[0]}


def _opinions(stacked: Stacked, x: SetInputs, orderings: Tensor) -> Tensor:
    """Logits (nets, B, 1 + N) of each net."""
    net, weights = stacked
    positions, flow = torch.vmap(lambda own: torch.func.functional_call(net, own, (x,)))(weights)
    logits = loop.contrast((positions.flatten(0, 1), flow.flatten(0, 1)), orderings)
    return logits.view(*positions.shape[:2], -1)
