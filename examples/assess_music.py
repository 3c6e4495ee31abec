"""How good a set model is on collections it was not trained on: bits by what is known, proposals, and the obvious."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fabula.core.collection import Collection
from fabula.evaluation.intervals import mean_interval
from fabula.models.encoders.set import SetInputs
from fabula.models.titles import TITLE_PAIRS, words_of
from fabula.training.data import ItemPool
from fabula.training.sets import Tables, collection_bits

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Fingerprints:
    """What may be seen of items: some columns of the features, and titles or not."""

    features: tuple[int, ...]
    titles: bool


def fingerprints_of(features: Sequence[str]) -> dict[str, Fingerprints]:
    """The usual cases by name: all is known, what a folder of music tells, no titles, and less."""
    folder = tuple(features.index(name) for name in ("duration_ms", "loudness") if name in features)
    length = tuple(features.index(name) for name in ("duration_ms",) if name in features)
    heard = tuple(i for i, name in enumerate(features) if name.startswith("heard_"))
    whole = tuple(i for i in range(len(features)) if i not in heard)
    both = {
        "a folder of sound, heard": Fingerprints((*folder, *heard), titles=True),
        "a folder of sound, heard, without titles": Fingerprints((*folder, *heard), titles=False),
    }
    return {
        "all inputs": Fingerprints(whole, titles=True),
        **(both if heard else {}),
        "duration, loudness and titles": Fingerprints(folder, titles=True),
        "features without titles": Fingerprints(whole, titles=False),
        "duration and titles": Fingerprints(length, titles=True),
        "duration and loudness": Fingerprints(folder, titles=False),
        "titles alone": Fingerprints((), titles=True),
    }


def interval(values: NDArray[np.float64], groups: NDArray[Any]) -> dict[str, float]:
    """Mean with its 95 % interval over groups (artists).

    Examples
    --------
    >>> interval(np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]))
    {'mean': 1.0, 'low': 1.0, 'high': 1.0, 'n': 3}
    """
    found = mean_interval(values, groups.tolist())
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def only(tables: Tables, features: Sequence[int], *, titles: bool = True) -> Tables:
    """The tables of a net that is shown nothing but some features, and titles or not."""

    def limit(x: SetInputs) -> tuple[Tensor, Tensor]:
        shown = torch.zeros(x.known.shape[-1], device=x.known.device)
        shown[list(features)] = 1.0
        return tables(replace(x, known=x.known * shown, titled=x.titled * float(titles)))

    return limit


@dataclass(frozen=True, eq=False)
class OwnedPool(ItemPool):
    """Items of many collections, and whom each collection is by, as a number: ``groups`` (collections,)."""

    groups: Ints = field(default_factory=lambda: np.empty(0, np.int64))


def bits_by_inputs(tables: Tables, data: OwnedPool, features: Sequence[str], **settings: Any) -> dict[str, Any]:
    """Bits with their intervals for each usual case of what is known; of all inputs also by length and without flow."""
    groups, found = data.groups, dict[str, Any]()
    for name, seen in fingerprints_of(features).items():
        bits = collection_bits(only(tables, seen.features, titles=seen.titles), data, **settings)
        found[name] = interval(bits, groups)
        if name == "all inputs":
            lengths = data.lengths.numpy()
            cases = {"3 to 6": lengths < 7, "7 to 10": (lengths > 6) & (lengths < 11), "11 to 20": lengths > 10}
            found["by length"] = {k: interval(bits[c], groups[c]) for k, c in cases.items() if c.any()}
    arcs = collection_bits(lambda x: (tables(x)[0], torch.zeros_like(tables(x)[1])), data, **settings)
    return {**found, "all inputs, arcs alone": interval(arcs, groups)}


def agreement(orderings: Sequence[Ints]) -> dict[str, float]:
    """How orderings of items that stand in true order agree with it: Spearman's rho, opener, close, neighbours kept."""
    rho = [_spearman(order) for order in orderings]
    pairs = [np.mean(np.diff(order) == 1) for order in orderings]
    return {
        "spearman": float(np.mean(rho)),
        "opener": float(np.mean([order[0] == 0 for order in orderings])),
        "close": float(np.mean([order[-1] == len(order) - 1 for order in orderings])),
        "neighbours": float(np.mean(pairs)),
    }


def obvious(
    orderings: Sequence[Ints], collections: Sequence[Collection], data: ItemPool
) -> dict[str, dict[str, float | None]]:
    """In how many albums Intro comes first, Outro last, a part before the next, of those where they truly do."""
    kept: dict[str, list[bool]] = {"intro first": [], "outro last": [], "parts in order": []}
    for number, (order, collection) in enumerate(zip(orderings, collections, strict=True)):
        titles = [words_of(item.title) for item in collection.items]
        if "intro" in titles[0]:
            kept["intro first"].append(bool(order[0] == 0))
        if "outro" in titles[-1]:
            kept["outro last"].append(bool(order[-1] == len(order) - 1))
        parts = _parts_in_order(data, number)
        if len(parts):
            place = np.argsort(order)
            kept["parts in order"].append(bool((place[parts[:, 0]] < place[parts[:, 1]]).all()))
    return {k: {"albums": len(v), "share": float(np.mean(v)) if v else None} for k, v in kept.items()}


def _parts_in_order(data: ItemPool, number: int) -> Ints:
    """Pairs (p, 2) of items of which the second is the next part of the first and stands behind it in truth."""
    n = int(data.lengths[number])
    pairs = data.whole(torch.tensor([number], device=data.device), n)["pairs"][0]  # (n, n, k)
    table = pairs[..., TITLE_PAIRS.index("next part")].cpu().numpy()
    first, second = np.nonzero(table)
    return np.stack([first, second], axis=1)[first < second]


def _spearman(order: Ints) -> float:
    n = len(order)
    return float(1 - 6 * np.sum((order - np.arange(n)) ** 2) / (n * (n**2 - 1)))


def mean_tables(nets: Sequence[Callable[[Any], Any]]) -> Tables:
    """The mean of several nets' tables."""

    def tables(x: Any) -> tuple[torch.Tensor, torch.Tensor]:
        found = [net(x) for net in nets]
        return torch.stack([t[0] for t in found]).mean(0), torch.stack([t[1] for t in found]).mean(0)

    return tables


def figures(report: Mapping[str, Any]) -> str:
    """A line of bits: all inputs, and what a folder of music tells."""
    return ", ".join(f"{name} {value['mean']:.3f}" for name, value in report.items() if "mean" in value)


CONTROLS = ("noise", "shuffled", "titles shuffled")


def spoil(data: ItemPool, control: str, seed: int = 0) -> ItemPool:
    """Data of which the order tells nothing: a net that is trained on it must know 0 bits.

    ``"noise"``: features are drawn at random and titles hidden. ``"shuffled"``: the items of each collection are put in
    a random order. ``"titles shuffled"``: titles are dealt anew among the items of each, and features hidden.
    """
    generator, items = torch.Generator().manual_seed(seed), dict(data.items)
    if control == "noise":
        noise = torch.randn(data.values.shape, generator=generator).to(data.values)
        hidden = {"values": noise * items["known"], "titled": torch.zeros_like(items["titled"])}
        return replace(data, items={**items, **hidden})
    rows = torch.arange(len(data.values), device=data.device)
    cells = torch.arange(int((data.lengths**2).sum()), device=data.device)
    firsts, corners = (torch.cumsum(each, 0) - each for each in (data.lengths, data.lengths**2))
    for n, chosen in data.by_length.items():
        order, steps = torch.rand((len(chosen), n), generator=generator).argsort(1), torch.arange(n)
        first, corner = firsts[chosen][:, None], corners[chosen][:, None, None]
        rows[first + steps] = (first + order).to(data.device)
        cells[corner + steps[:, None] * n + steps] = (corner + order[:, :, None] * n + order[:, None]).to(data.device)
    moved = {name: items[name][rows] for name in ("titled", "tokens", "grams", "marks")}
    more = ("values", "known") if control == "shuffled" else ()
    moved |= {name: items[name][rows] for name in more} or {"known": torch.zeros_like(items["known"])}
    return replace(data, items={**items, **moved}, pairs=None if data.pairs is None else data.pairs[cells])
