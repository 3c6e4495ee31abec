"""A direct sequencer to compare with: a small transformer that, item by item, predicts what comes next."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.files import read_bytes, write_whole
from fabula.errors import FabulaError, InputError, ModelError
from fabula.evaluation.information import makers
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.media.music.tracks import LOGGED
from fabula.models.config import PlainSettings, Ranges
from fabula.models.file import read_tensors
from fabula.models.scorers.bilstm import LONGEST
from fabula.models.transform import Transform
from fabula.training.data import ItemPool, Rows, check_collections, fit_transform, make_pool, plan_epoch, take
from fabula.training.distributed import World, join
from fabula.training.loop import Learner, Loss, Progress, optimise, seed_of

_AT_ONCE = 1 << 13  # items scored together, beams counted


class SequencerNet(nn.Module):
    """Given the set of items and those already placed, how likely each of the others comes next.

    A set encoder without positions, and a decoder that points at the next item.
    """

    def __init__(self, item_shape: tuple[int, ...], config: "SequencerConfig") -> None:
        super().__init__()
        width, block = config.width, partial(TransformerBlock, config.width, config.heads, config.dropout)
        self.embed = nn.Linear(2 * math.prod(item_shape), width)
        self.encoder = nn.ModuleList(block(crossed=False) for _ in range(config.layers))
        self.start = nn.Parameter(0.02 * torch.randn(width))
        self.place = nn.Sequential(nn.Linear(3, width), nn.GELU(), nn.Linear(width, width))
        self.decoder = nn.ModuleList(block(crossed=True) for _ in range(config.layers))
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
        """Logits (b, m + 1, n) of the next item at every step, from items (b, n, width) and those placed (b, m), m < n.

        Step j knows the first j placed items; those placed before it have minus infinity.
        """
        b, n, width = items.shape
        m = placed.shape[1]
        chosen = items.gather(1, placed.unsqueeze(2).expand(b, m, width))
        hidden = torch.cat([self.start.expand(b, 1, width), chosen], dim=1)
        # Where each step stands: from the start, from the end, and how long the collection is; (m + 1, 3).
        j = torch.arange(m + 1, device=items.device, dtype=items.dtype)
        ends = torch.stack([j, n - 1 - j]) / max(n - 1, 1)
        hidden = hidden + self.place(torch.cat([ends.T, torch.full_like(j, n / LONGEST).unsqueeze(1)], dim=1))
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


class TransformerBlock(nn.Module):
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


@dataclass(frozen=True)
class SequencerConfig(PlainSettings):
    """How the direct sequencer is made and trained."""

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
        counts: Ranges = {(1, inf): "width heads layers batch", (0, inf): "epochs seed"}
        self.check({**counts, (0, 0.99): "dropout", (1e-9, inf): "learning_rate"})
        if self.width % self.heads:
            raise InputError(f"width must be a multiple of heads; got {self.width} and {self.heads}")


@dataclass(frozen=True, eq=False)
class Sequencer:
    """A trained direct sequencer."""

    net: SequencerNet
    transform: Transform
    config: SequencerConfig
    bits: float  # what it tells about the order of the validation collections, mean over them
    history: tuple[float, ...] = field(repr=False)


def train_sequencer(
    collections: Sequence[Collection],
    validation: Sequence[Collection],
    config: SequencerConfig | None = None,
    *,
    device: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> Sequencer:
    """Train the direct sequencer to predict the next item; validation decides which epoch is kept."""
    how = config or SequencerConfig()
    check_collections(collections, role="training")
    check_collections(validation, role="validation")
    transform = fit_transform(collections, tuple(how.features or collections[0].feature_names), how.logged, how.bound)
    world = join(device)
    pool, held_out = (make_pool(part, transform, world.device) for part in (collections, validation))
    run = optimise(SequencerLearner(pool, held_out, how, world), progress=progress)
    history = (0.0, *(epoch.bits["order"] for epoch in run.history))
    return Sequencer(run.best_net(), transform, how, max(history), history)


@torch.no_grad()
def sequence_all(model: Sequencer, collections: Sequence[Collection], beam: int = 8) -> list[Ints]:
    """The likeliest orderings that a beam search finds, whatever the order given; equal items keep theirs."""
    if beam < 1:
        raise InputError(f"a beam keeps at least 1 beginning; got {beam}")
    out: list[Ints] = [np.zeros(len(c), dtype=np.intp) for c in collections]
    net = model.net.eval()
    pool = make_pool(collections, model.transform, net.start.device)  # by rising length
    numbers = np.argsort([len(c) for c in collections], kind="stable")
    for rows, features in _by_length(pool, beam):
        b, n, _ = features.shape
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
        for row, ordering in zip(numbers[rows.cpu().numpy()], placed[:, 0].cpu().numpy(), strict=True):
            out[row] = ordering.astype(np.intp)
    return out


@torch.no_grad()
def bits_of_each(net: SequencerNet, pool: ItemPool) -> Floats:
    """Bits a net tells about the order of each collection of a pool, (collections,): log2 n! + log2 p(true order)."""
    net.eval()
    bits = np.zeros(len(pool))
    for rows, features in _by_length(pool):
        n = features.shape[1]
        bits[rows.cpu().numpy()] = (net(features).double().cpu().numpy() + math.lgamma(n + 1)) / math.log(2)
    return bits


def information_bits(model: Sequencer, collections: Sequence[Collection]) -> Interval:
    """Bits the sequencer tells about the order of collections, with their 95 % interval.

    Without negatives there is no ceiling at log2 N; the mean of log2 n! is the only one.
    """
    pool = make_pool(collections, model.transform, model.net.start.device)  # by rising length
    return mean_interval(bits_of_each(model.net, pool), makers(sorted(collections, key=len)))


def _by_length(pool: ItemPool, beam: int = 1) -> Iterator[tuple[Tensor, Tensor]]:
    """Collections of one length together, some at a time: their numbers, and their features (b, n, f)."""
    for length, chosen in pool.parts(max(1, _AT_ONCE // (max(pool.by_length) * beam))):
        yield chosen, pool.whole(chosen, length)["values"].flatten(2)


class SequencerLearner(Learner):
    """Predicting the next item: the likelihood of the true order, best by what it tells about that of validation."""

    averages = False
    size = 1

    def __init__(self, pool: ItemPool, validation: ItemPool, config: SequencerConfig, world: World) -> None:
        self.pool, self.validation, self.config, self.world = pool, validation, config, world
        self.epochs, self.clip = config.epochs, config.clip
        self._planning = torch.Generator().manual_seed(seed_of(config.seed, 1))
        self._drawing = torch.Generator(pool.device).manual_seed(seed_of(config.seed, 2))

    def make_net(self) -> nn.Module:
        """The net, its weights by the seed."""
        torch.manual_seed(seed_of(self.config.seed, 0))
        return SequencerNet(self.pool.values.shape[1:], self.config)

    def start(self, net: nn.Module) -> tuple[nn.Module, dict[str, float]]:
        """The net before any training tells nothing."""
        return net, {"order": 0.0}

    def make_optimizer(self, net: nn.Module) -> torch.optim.Optimizer:
        """AdamW."""
        return torch.optim.AdamW(net.parameters(), lr=self.config.learning_rate, weight_decay=self.config.decay)

    def plan(self, epoch: int) -> list[Rows]:
        """Every collection once."""
        how = self.config
        return plan_epoch(self.pool, how.batch, self._planning, subsequences=how.subsequences, shortest=how.shortest)

    def loss(self, net: nn.Module, batch: Rows) -> Loss:
        """Minus the log likelihood of the true order by its length, with noise on the features."""
        features = take(self.pool, batch, self._drawing).flatten(2)
        noise = torch.randn(features.shape, device=features.device, generator=self._drawing)
        return Loss(-(net(features + self.config.feature_noise * noise).mean() / batch.kept))

    def rate(self, step: int, steps: int) -> float:
        """A linear rise, then down along a cosine."""
        done, config = step / (steps + 1), self.config
        rise = min(1.0, done / config.warmup) if config.warmup else 1.0
        return config.learning_rate * rise * (0.5 + 0.5 * math.cos(math.pi * done))

    def bits(self, net: nn.Module) -> dict[str, float]:
        """The mean over the collections of validation."""
        return {"order": float(bits_of_each(cast(SequencerNet, net), self.validation).mean())}


# The file of a direct sequencer: safetensors, its header says what it is.

FORMAT = "fabula-sequencer"
VERSION = 1


def save_sequencer(path: str | Path, model: Sequencer) -> Path:
    """Write a direct sequencer, whole or not at all."""
    from safetensors.torch import save

    transform = model.transform
    document = {
        "format": FORMAT,
        "version": VERSION,
        "config": asdict(model.config),
        "features": {
            "names": list(transform.feature_names), "logged": list(transform.logged),
            "mean": transform.mean.tolist(), "deviation": transform.deviation.tolist(), "bound": transform.bound,
        },
        "bits": model.bits,
        "history": list(model.history),
    }  # fmt: skip
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.net.state_dict().items()}
    return write_whole(path, save(tensors, metadata={"fabula": json.dumps(document)}))


def load_sequencer(path: str | Path) -> Sequencer:
    """Read what :func:`save_sequencer` wrote."""
    try:
        tensors, metadata = read_tensors(read_bytes(path))
        document = json.loads(metadata["fabula"])
        kind, version = document["format"], document["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: is not a sequencer file of fabula") from error
    if (kind, version) != (FORMAT, VERSION):
        raise ModelError(f"{path}: is a {kind} of version {version!r}, not a {FORMAT} of version {VERSION}")
    known = {each.name for each in fields(SequencerConfig)}
    try:
        said: dict[str, Any] = document["features"]
        settings: dict[str, Any] = {name: value for name, value in document["config"].items() if name in known}
        config = SequencerConfig(**settings)
        names, logged = tuple(said["names"]), tuple(said["logged"])
        transform = Transform(names, logged, np.array(said["mean"]), np.array(said["deviation"]), said["bound"])
        net = SequencerNet(transform.item_shape, config)
        net.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tensors.items()})
        return Sequencer(net.eval(), transform, config, float(document["bits"]), tuple(document["history"]))
    except (FabulaError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ModelError(f"{path}: is a broken sequencer ({' '.join(str(error).split())[:200]})") from error
