"""The net of the direct sequencer: a set encoder without positions, and a decoder that points at the next item."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

LONGEST = 20.0  # the paper's longest collection, the unit of a length


class SequencerNet(nn.Module):
    """Given the set of items and those already placed, how likely each of the others comes next.

    Parameters
    ----------
    inputs
        Numbers per item.
    width, heads, layers
        Of the transformer; as many layers in the encoder as in the decoder.
    dropout
        In every block.
    """

    def __init__(self, inputs: int, *, width: int, heads: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.embed = nn.Linear(2 * inputs, width)
        self.encoder = nn.ModuleList(Block(width, heads, dropout, crossed=False) for _ in range(layers))
        self.start = nn.Parameter(0.02 * torch.randn(width))
        self.place = nn.Sequential(nn.Linear(3, width), nn.GELU(), nn.Linear(width, width))
        self.decoder = nn.ModuleList(Block(width, heads, dropout, crossed=True) for _ in range(layers))
        self.query, self.key = nn.LayerNorm(width), nn.LayerNorm(width)
        self.point = nn.Linear(width, width, bias=False)
        nn.init.zeros_(self.point.weight)  # it starts from no opinion

    def encode(self, features: Tensor) -> Tensor:
        """Items (b, n, f) to what is known of each beside the others, (b, n, width)."""
        apart = features - features.mean(1, keepdim=True)
        hidden: Tensor = self.embed(torch.cat([features, apart], dim=2))
        for block in self.encoder:
            hidden = block(hidden)
        return hidden

    def decode(self, items: Tensor, placed: Tensor) -> Tensor:
        """Logits of the next item at every step; those placed before it have minus infinity.

        Parameters
        ----------
        items
            Shape (b, n, width), from :meth:`encode`.
        placed
            Shape (b, m), m < n: the items placed first, second, ...

        Returns
        -------
        Shape (b, m + 1, n): step j knows the first j placed items.
        """
        b, n, width = items.shape
        m = placed.shape[1]
        chosen = items.gather(1, placed.unsqueeze(2).expand(b, m, width))
        hidden = torch.cat([self.start.expand(b, 1, width), chosen], dim=1) + self.place(
            self._positions(m + 1, n, items)
        )
        for block in self.decoder:
            hidden = block(hidden, items)
        logits = self.query(self.point(hidden)) @ self.key(items).transpose(1, 2) / math.sqrt(width)
        taken = functional.one_hot(placed, n).cumsum(1).bool()  # (b, m, n)
        taken = torch.cat([torch.zeros(b, 1, n, dtype=torch.bool, device=items.device), taken], dim=1)
        masked: Tensor = logits.masked_fill(taken, -torch.inf)
        return masked

    def forward(self, features: Tensor) -> Tensor:
        """Log likelihood of the order in which the items come, (b,), in nats; features (b, n, f)."""
        b, n, _ = features.shape
        truth = torch.arange(n, device=features.device).expand(b, n)
        steps = self.decode(self.encode(features), truth[:, :-1]).log_softmax(2)  # (b, n, n)
        return steps.diagonal(dim1=1, dim2=2).sum(1)

    @staticmethod
    def _positions(steps: int, n: int, like: Tensor) -> Tensor:
        """Where each step stands: from the start, from the end, and how long the collection is; (steps, 3)."""
        j = torch.arange(steps, device=like.device, dtype=like.dtype)
        ends = torch.stack([j, n - 1 - j]) / max(n - 1, 1)
        return torch.cat([ends.T, torch.full_like(j, n / LONGEST).unsqueeze(1)], dim=1)


class Block(nn.Module):
    """Attention among its own, attention to the items where ``crossed``, and two linear layers."""

    def __init__(self, width: int, heads: int, dropout: float, *, crossed: bool) -> None:
        super().__init__()
        self.heads, self.dropout, self.crossed = heads, dropout, crossed
        self.own = nn.Linear(width, 3 * width)
        self.own_out = nn.Linear(width, width)
        if crossed:
            self.ask, self.offer = nn.Linear(width, width), nn.Linear(width, 2 * width)
            self.cross_out, self.cross_norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.own_norm, self.wide_norm = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, hidden: Tensor, items: Tensor | None = None) -> Tensor:
        """Hidden states (b, m, width); in the decoder no step sees the steps after it."""
        q, k, v = self.own(self.own_norm(hidden)).chunk(3, dim=2)
        hidden = hidden + self._drop(self.own_out(self._attend(q, k, v, causal=self.crossed)))
        if items is not None:
            k, v = self.offer(items).chunk(2, dim=2)
            seen = self._attend(self.ask(self.cross_norm(hidden)), k, v, causal=False)
            hidden = hidden + self._drop(self.cross_out(seen))
        inner = functional.gelu(self.wide(self.wide_norm(hidden)), approximate="tanh")
        return hidden + self._drop(self.narrow(inner))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, *, causal: bool) -> Tensor:
        b, m, width = q.shape
        q, k, v = (x.view(b, -1, self.heads, width // self.heads).transpose(1, 2) for x in (q, k, v))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)  # (b, heads, m, width / heads)
        return seen.transpose(1, 2).reshape(b, m, width)

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training)
