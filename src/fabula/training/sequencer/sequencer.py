"""A direct sequencer to compare with: a small transformer that, item by item, predicts what comes next.

It needs no essence and no template. What it learns is the likelihood of whole orderings, so its information about the
order needs no negatives: ``log2 n! + log2 p(true order)`` bits, a lower bound on average.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import InputError
from fabula.evaluation.intervals import Interval, bootstrap
from fabula.media.music.tracks import LOGGED
from fabula.models.transform import Transform
from fabula.training.data.batches import Pool, plan_epoch, take, whole_batches
from fabula.training.data.dataset import check_collections, fit_transform, make_pool
from fabula.training.loop.distributed import join
from fabula.training.loop.run import seed_of
from fabula.training.sequencer.nets import SequencerNet

_AT_ONCE = 1 << 13  # items scored together, beams counted


@dataclass(frozen=True)
class SequencerConfig:
    """How the direct sequencer is made and trained.

    Examples
    --------
    >>> SequencerConfig(epochs=3).width
    64
    """

    features: tuple[str, ...] = ()  # none: all that the first collection has
    logged: tuple[str, ...] = LOGGED
    bound: float = 4.0  # the most deviations from the mean that are seen; 0: any
    width: int = 64
    heads: int = 4
    layers: int = 2
    dropout: float = 0.1
    feature_noise: float = 0.1  # deviation of noise on the standardised features
    subsequences: float = 0.5  # part of the batches cut to random order-preserving subsequences
    shortest: float = 0.5
    batch: int = 64
    learning_rate: float = 2e-3
    decay: float = 1e-2
    warmup: float = 0.1
    clip: float = 1.0
    epochs: int = 12
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("width", "heads", "layers", "batch"):
            if getattr(self, name) < 1:
                raise InputError(f"sequencer setting {name!r} must be at least 1; got {getattr(self, name)!r}")
        if self.width % self.heads:
            raise InputError(f"width must be a multiple of heads; got {self.width} and {self.heads}")
        if self.epochs < 0 or not 0 <= self.dropout < 1 or not self.learning_rate > 0:
            raise InputError(
                "a sequencer needs epochs of 0 or more, a dropout from 0 to below 1 and a learning rate above 0; "
                f"got {self.epochs}, {self.dropout} and {self.learning_rate}"
            )


@dataclass(frozen=True, eq=False)
class Sequencer:
    """A trained direct sequencer.

    Attributes
    ----------
    net, transform, config
        What it is made of.
    bits
        What it tells about the order of the validation collections, mean over them.
    history
        The same after each epoch; the first is before any training, 0 bits.
    """

    net: SequencerNet
    transform: Transform
    config: SequencerConfig
    bits: float
    history: tuple[float, ...] = field(repr=False)


def train_sequencer(
    collections: Sequence[Collection],
    validation: Sequence[Collection],
    config: SequencerConfig | None = None,
    *,
    device: str = "auto",
    progress: Callable[[int, int, float], None] | None = None,
) -> Sequencer:
    """Train the direct sequencer to predict the next item.

    Parameters
    ----------
    collections, validation
        Ordered collections of 2 items or more; those of validation decide which epoch is kept.
    config
        How.
    device
        ``"auto"`` (a GPU if there is one), ``"cpu"`` or ``"cuda"``.
    progress
        Called as ``progress(epoch, epochs, bits)``.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> rows = np.sort(np.random.default_rng(0).normal(size=(60, 4, 1)), axis=1)  # every collection rises
    >>> albums = [Collection(str(i), [Item(str(j)) for j in range(4)], row, ["energy"]) for i, row in enumerate(rows)]
    >>> small = SequencerConfig(width=16, layers=1, epochs=30, batch=16, learning_rate=1e-2)
    >>> made = train_sequencer(albums[:50], albums[50:], small, device="cpu")
    >>> made.bits > 1
    True
    >>> sequence(made, albums[0].reordered([2, 0, 3, 1]))
    array([1, 3, 0, 2])
    """
    how = config or SequencerConfig()
    check_collections(collections, role="training")
    check_collections(validation, role="validation")
    transform = fit_transform(collections, tuple(how.features or collections[0].feature_names), how.logged, how.bound)
    with join(device) as world:
        pool, held_out = (make_pool(part, transform, world.device) for part in (collections, validation))
        torch.manual_seed(seed_of(how.seed, 0))
        net = make_net(how, transform).to(world.device)
        history = _optimise(net, pool, held_out, how, progress)
    return Sequencer(net.eval(), transform, how, max(history), tuple(history))


def sequence(model: Sequencer, collection: Collection, beam: int = 8) -> Ints:
    """The likeliest ordering of a collection that a beam search finds; it does not depend on the order given.

    Equal items keep their order.
    """
    return sequence_all(model, [collection], beam)[0]


def sequence_all(model: Sequencer, collections: Sequence[Collection], beam: int = 8) -> list[Ints]:
    """Orderings of many collections, those of one length searched together.

    Parameters
    ----------
    model
        From :func:`train_sequencer`.
    collections
        With the features it was trained on.
    beam
        How many beginnings are kept at each step; 1 takes the likeliest next item each time.
    """
    if beam < 1:
        raise InputError(f"a beam keeps at least 1 beginning; got {beam}")
    out: list[Ints] = [np.zeros(len(c), dtype=np.intp) for c in collections]
    for rows, features in _by_length(model, collections, beam):
        for row, ordering in zip(rows, _beam_search(model.net, features, beam), strict=True):
            out[row] = ordering
    return out


def log_likelihoods(model: Sequencer, collections: Sequence[Collection]) -> Floats:
    """Log likelihood of the order in which the items of each collection come, in nats; shape (collections,)."""
    out = np.zeros(len(collections))
    with torch.no_grad():
        for rows, features in _by_length(model, collections, 1):
            out[rows] = model.net(features).double().cpu().numpy()
    return out


def information_bits(model: Sequencer, collections: Sequence[Collection]) -> Interval:
    """Bits the sequencer tells about the order of collections, with their 95 % interval.

    Without negatives there is no ceiling at log2 N; the mean of log2 n! is the only one.
    """
    chance = np.array([math.lgamma(len(c) + 1) for c in collections])
    return bootstrap((log_likelihoods(model, collections) + chance) / math.log(2), np.random.default_rng(0))


def _by_length(model: Sequencer, collections: Sequence[Collection], beam: int) -> Iterator[tuple[list[int], Tensor]]:
    """Collections of one length together, some at a time: their numbers, and their features (b, n, f)."""
    device = model.net.start.device
    groups: dict[int, list[int]] = {}
    for number, collection in enumerate(collections):
        groups.setdefault(len(collection), []).append(number)
    for n, members in groups.items():
        size = max(1, _AT_ONCE // (n * beam))
        for start in range(0, len(members), size):
            rows = members[start : start + size]
            values = [model.transform.apply(collections[i].columns(model.transform.feature_names)) for i in rows]
            stacked = np.stack(values).astype(np.float32).reshape(len(rows), n, -1)
            yield rows, torch.from_numpy(stacked).to(device)


@torch.no_grad()
def _beam_search(net: SequencerNet, features: Tensor, beam: int) -> Ints:
    """Features (b, n, f) to orderings (b, n)."""
    b, n, _ = features.shape
    net.eval()
    items = net.encode(features)
    placed = torch.zeros(b, 1, 0, dtype=torch.long, device=features.device)  # (b, beams, m)
    scores = torch.zeros(b, 1, device=features.device)
    for _ in range(n):
        beams, m = placed.shape[1:]
        known = items.repeat_interleave(beams, dim=0)
        steps = net.decode(known, placed.reshape(b * beams, m))[:, -1].log_softmax(1)  # (b * beams, n)
        total = (scores.unsqueeze(2) + steps.view(b, beams, n)).flatten(1)
        scores, best = total.topk(min(beam, beams * (n - m)), dim=1)
        kept = placed.gather(1, (best // n).unsqueeze(2).expand(-1, -1, m))
        placed = torch.cat([kept, (best % n).unsqueeze(2)], dim=2)
    return np.asarray(placed[:, 0].cpu().numpy(), dtype=np.intp)


def make_net(config: SequencerConfig, transform: Transform) -> SequencerNet:
    """The net a config describes, for items of the transform's shape."""
    return SequencerNet(
        math.prod(transform.item_shape),
        width=config.width,
        heads=config.heads,
        layers=config.layers,
        dropout=config.dropout,
    )


def _optimise(
    net: SequencerNet,
    pool: Pool,
    held_out: Pool,
    config: SequencerConfig,
    progress: Callable[[int, int, float], None] | None,
) -> list[float]:
    """Bits on validation after each epoch; the net is left in its best state, which may be the first."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=config.learning_rate, weight_decay=config.decay)
    planning = torch.Generator().manual_seed(seed_of(config.seed, 1))
    drawing = torch.Generator(pool.values.device).manual_seed(seed_of(config.seed, 2))
    history, best, step = [0.0], copy.deepcopy(net.state_dict()), 0
    for epoch in range(1, config.epochs + 1):
        net.train()
        plan = plan_epoch(pool, config.batch, planning, subsequences=config.subsequences, shortest=config.shortest)
        for batch in plan:
            step += 1
            _set_rate(optimizer, config, step, config.epochs * len(plan))
            features = take(pool, batch, drawing).flatten(2)
            noise = torch.randn(features.shape, device=features.device, generator=drawing)
            loss = -(net(features + config.feature_noise * noise).mean() / batch.kept)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), config.clip)
            optimizer.step()
        history.append(_bits(net, held_out))
        if history[-1] > max(history[:-1]):
            best = copy.deepcopy(net.state_dict())
        if progress is not None:
            progress(epoch, config.epochs, history[-1])
    net.load_state_dict(best)
    return history


def _set_rate(optimizer: torch.optim.Optimizer, config: SequencerConfig, step: int, steps: int) -> None:
    """A linear rise, then down along a cosine."""
    done = step / (steps + 1)
    rise = min(1.0, done / config.warmup) if config.warmup else 1.0
    for group in optimizer.param_groups:
        group["lr"] = config.learning_rate * rise * (0.5 + 0.5 * math.cos(math.pi * done))


@torch.no_grad()
def _bits(net: SequencerNet, pool: Pool) -> float:
    """Mean over collections of log2 n! + log2 p(true order)."""
    net.eval()
    total = 0.0
    for batch in whole_batches(pool, max(1, _AT_ONCE // max(pool.groups))):
        likelihoods = net(take(pool, batch).flatten(2))
        total += float(likelihoods.sum()) + len(batch.starts) * math.lgamma(batch.length + 1)
    return total / len(pool) / math.log(2)
