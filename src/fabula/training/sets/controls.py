"""Controls: data in which nothing is to be learned, made from real data; trained on it, a net must know 0 bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import torch
from torch import Tensor

from fabula.errors import InputError
from fabula.training.sets.data import SetData

Control = Literal["noise", "shuffled", "titles shuffled"]
CONTROLS: tuple[Control, ...] = get_args(Control)


def controlled(data: SetData, control: Control, seed: int = 0) -> SetData:
    """Data of which the order tells nothing.

    Parameters
    ----------
    control
        ``"noise"``: features are drawn at random and titles hidden. ``"shuffled"``: the items of each collection
        are put in a random order. ``"titles shuffled"``: titles are dealt anew among the items of each collection,
        and features hidden: who has which title tells nothing then.

    Examples
    --------
    >>> controlled.__name__
    'controlled'
    """
    generator = torch.Generator().manual_seed(seed)
    if control == "noise":
        noise = torch.randn(data.values.shape, generator=generator).to(data.values)
        return replace(data, values=noise * data.known, titled=torch.zeros_like(data.titled))
    if control not in CONTROLS:
        raise InputError(f"a control is one of {', '.join(CONTROLS)}; got {control!r}")
    items, cells = _shuffle(data, generator)
    moved = {name: getattr(data, name)[items] for name in ("titled", "tokens", "grams", "marks")}
    moved["pairs"] = data.pairs[cells]
    if control == "shuffled":
        return replace(data, values=data.values[items], known=data.known[items], **moved)
    return replace(data, known=torch.zeros_like(data.known), **moved)


def _shuffle(data: SetData, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Where each item, and each cell of the tables, is taken from: within its own collection."""
    device = data.values.device
    items = torch.arange(len(data.values), device=device)
    cells = torch.arange(len(data.pairs), device=device)
    for n, chosen in data.by_length().items():
        order = torch.rand((len(chosen), n), generator=generator).argsort(1).to(device)  # (B, n)
        steps = torch.arange(n, device=device)
        items[data.starts[chosen][:, None] + steps] = data.starts[chosen][:, None] + order
        into = data.pair_starts[chosen][:, None, None] + steps[:, None] * n + steps
        cells[into] = data.pair_starts[chosen][:, None, None] + order[:, :, None] * n + order[:, None]
    return items, cells
