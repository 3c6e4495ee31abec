"""Hiding what is known while training, so that one model serves whatever is known later."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from fabula.training.sets.data import Batch
from fabula.training.sets.recipe import SetRecipe


class Masking:
    """Draws what is hidden of each collection of a batch.

    Parameters
    ----------
    recipe
        How often what is hidden.
    features
        The names of the columns.
    device
        Where the batches are.
    """

    def __init__(self, recipe: SetRecipe, features: Sequence[str], device: torch.device) -> None:
        self.recipe = recipe
        rows = [[float(name in group) for name in features] for group in recipe.kept]
        self._kept = torch.tensor(rows or [[0.0] * len(features)], device=device)  # (groups, f)

    def __call__(self, x: Batch, generator: torch.Generator) -> Batch:
        """The batch with some of its features and titles hidden, and noise on the rest."""
        shown = self._shown(len(x.values), generator)[:, None]  # (B, 1, f)
        titled = (_drawn((len(x.values), 1), generator) >= self.recipe.untitled).float()
        noise = torch.randn(x.values.shape, device=x.values.device, generator=generator) * self.recipe.noise
        values = x.values + noise if self.recipe.noise else x.values
        return x._replace(values=values, known=x.known * shown, titled=x.titled * titled)

    def _shown(self, count: int, generator: torch.Generator) -> Tensor:
        """1 where a feature of a collection may be seen, (B, f)."""
        each = (_drawn((count, self._kept.shape[1]), generator) >= self.recipe.feature_masking).float()
        drawn = torch.randint(len(self._kept), (count,), device=generator.device, generator=generator)
        kind = _drawn((count, 1), generator)
        few = kind < self.recipe.few
        whole = kind > 1 - (1 - self.recipe.few) / 3  # a third of the rest keeps all it has
        return torch.where(few, self._kept[drawn], torch.where(whole, torch.ones_like(each), each))


def only(x: Batch, features: Sequence[int], *, titles: bool) -> Batch:
    """A batch of which nothing but some features, and titles or not, is known."""
    shown = torch.zeros(x.known.shape[-1], device=x.known.device)
    shown[list(features)] = 1.0
    return x._replace(known=x.known * shown, titled=x.titled * float(titles))


def _drawn(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, device=generator.device, generator=generator)
