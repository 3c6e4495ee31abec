"""Training an encoder that sees each item by itself, and its scorers: from collections to a model."""

import copy
import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.core.files import write_whole
from fabula.core.fingerprints import Fingerprints
from fabula.errors import import_extra
from fabula.evaluation.controls import Parts, noise_features, shuffle_orders
from fabula.evaluation.information import Information, information_of, makers
from fabula.media.music.tracks import ORIENTED_BY
from fabula.models.model import Model
from fabula.models.transform import Transform, log_parts
from fabula.training import data as pools, loop
from fabula.training.audit import NOISE, ORDERS, Report, Trained, compact, round_off
from fabula.training.data import ItemPool, Rows, draw_orderings
from fabula.training.distributed import World, join, same_everywhere
from fabula.training.nets import essence_net
from fabula.training.nets.essence_net import EssenceNet
from fabula.training.recipes import TrainingConfig, resolve
from fabula.version import __version__

# Between nets and models that need no PyTorch: weights to models of every kind and back, what they read, ONNX.


def model_config(config: TrainingConfig, weights: Mapping[str, NDArray[Any]] | None = None) -> dict[str, Any]:
    """What the model file says of the nets; ``config`` with its encoder decided, the weights where they are known."""
    known = weights or {}
    encoder = essence_net.trainable_encoder(config.encoder)
    scorers = [essence_net.trainable_scorer(name) for name in config.scorers]
    return {
        "dimensions": config.dimensions,
        "encoder": encoder.describe(encoder.settings(config), known),
        "scorers": [scorer.describe(scorer.settings(config), known) for scorer in scorers],
    }


def build_model(
    state: Mapping[str, Tensor],
    config: TrainingConfig,
    transform: Transform,
    *,
    signs: NDArray[np.float32] | None = None,
    training: Mapping[str, Any] | None = None,
    card: Mapping[str, Any] | None = None,
) -> Model:
    """The model of a trained net, with dimensions of its essence turned upside down where ``signs`` (d,) says -1."""
    weights = {name: tensor.detach().float().cpu().numpy() for name, tensor in state.items()}
    for name in config.scorers:
        weights |= essence_net.trainable_scorer(name).constants(config)
    if signs is not None:
        weights = flip(weights, config, signs)
    return Model(model_config(config, weights), weights, transform, training=training, card=card)


def essence_signs(essences: Sequence[Floats], collections: Sequence[Collection]) -> NDArray[np.float32]:
    """Shape (d,): -1 where the essences (n, d) of collections fall with :data:`ORIENTED_BY`, else 1."""
    total = np.zeros(essences[0].shape[1])
    for essence, collection in zip(essences, collections, strict=True):
        if ORIENTED_BY in collection.feature_names:
            guide = collection.column(ORIENTED_BY).reshape(len(collection), -1).mean(axis=1)
            known = np.isfinite(guide)
            if known.any():
                total += (guide - guide[known].mean())[known] @ essence[known]
    return np.where(total < 0, -1.0, 1.0).astype(np.float32)


def flip(
    weights: Mapping[str, NDArray[Any]], config: TrainingConfig, signs: NDArray[np.float32]
) -> essence_net.Weights:
    """Turn dimensions of the essence upside down and let the scorers expect that: every score stays."""
    out: essence_net.Weights = {name: np.array(tensor) for name, tensor in weights.items()}
    encoder = essence_net.trainable_encoder(config.encoder)
    if encoder.outputs is None:
        return out
    for name in encoder.outputs(encoder.settings(config)):
        out[name] = (out[name].T * signs).T  # (d, ...)
    for name in config.scorers:
        essence_net.trainable_scorer(name).flip(out, signs)
    return out


def export_onnx(model: Model, path: str | Path) -> Path:
    """Write a model's encoder as ONNX: ``features`` (n, f[, s]) of one collection -> ``essence`` (n, d), z-scored.

    The input transform is inside. Needs the package ``onnx``.
    """
    import io

    import_extra("onnx", extra="onnx", purpose="writing ONNX")
    encoder = _Essence(model).eval()
    example = torch.ones(3, *model.transform.item_shape)
    content = io.BytesIO()
    with warnings.catch_warnings():  # the exporter that needs no more packages is called old
        warnings.simplefilter("ignore")
        torch.onnx.export(
            encoder,
            (example,),
            content,  # type: ignore[arg-type]
            dynamo=False,
            input_names=["features"],
            output_names=["essence"],
            dynamic_axes={"features": {0: "items"}, "essence": {0: "items"}},
            opset_version=17,
        )
    return write_whole(path, content.getvalue())


class _Essence(nn.Module):
    """A model's transform and encoder as one net over the items of one collection."""

    mean: Tensor
    deviation: Tensor
    logged: Tensor
    offset: Tensor

    def __init__(self, model: Model) -> None:
        super().__init__()
        transform = model.transform
        deviation = np.where(transform.deviation > 0, transform.deviation, 1.0)
        constants = dict(log_parts(text, transform.feature_names) for text in transform.logged)
        logged = np.isin(transform.feature_names, list(constants))
        offset = np.array([constants.get(name, 0.0) for name in transform.feature_names])
        self.bound = transform.bound
        shape = (-1,) + (1,) * (transform.mean.ndim - 1)
        self.register_buffer("mean", torch.tensor(transform.mean))
        self.register_buffer("deviation", torch.tensor(deviation))
        self.register_buffer("logged", torch.tensor(logged).reshape(shape))
        self.register_buffer("offset", torch.tensor(offset).reshape(shape))
        settings = model.config["encoder"]
        encoder = essence_net.trainable_encoder(settings["kind"])
        self.encoder = encoder.make(settings, transform.item_shape, model.dimensions, 0.0)
        state = {
            n.removeprefix("encoder."): torch.tensor(t) for n, t in model.tensors.items() if n.startswith("encoder.")
        }
        self.encoder.load_state_dict(state)

    def forward(self, features: Tensor) -> Tensor:
        values = features.double()
        values = torch.where(self.logged, torch.where(self.logged, values + self.offset, 1.0).log(), values)
        values = (values - self.mean) / self.deviation
        values = self.bound * torch.tanh(values / self.bound) if self.bound else values
        values = torch.where(values.isnan(), 0.0, values).float()
        return essence_net.zscore(self.encoder(values).unsqueeze(0)).squeeze(0)


Draw = Callable[[int, int, int, torch.Generator], Tensor]
_VALIDATION_SEED = 20_240_229  # the same negatives every time, so that epochs compare
_MOST_FILLING = 1.5  # times as many collections in an epoch
_SEQUENCES_AT_ONCE = 1 << 15  # scored together when validating
_ITEMS_AT_ONCE = 1 << 14
_SCALES = (1.0, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.5)


@dataclass(frozen=True, eq=False)
class EssenceTraining:
    """Collections and a recipe for an essence, as :func:`train` takes them."""

    parts: Parts
    config: TrainingConfig
    device: str = "auto"
    checkpoint: loop.Checkpoint | None = None
    card: Mapping[str, Any] | None = None
    controls: tuple[str, ...] = (NOISE, ORDERS)

    def control(self, name: str) -> "EssenceTraining":
        """The same with noise in place of the features, or with shuffled orders."""
        rng, parts = np.random.default_rng((self.config.seed, len(name))), self.parts
        pools.check_parts(parts)
        if name == NOISE:
            logged = [log_parts(text, parts.training[0].feature_names)[0] for text in self.config.logged]
            return replace(self, parts=parts.map(lambda part: noise_features(part, rng, logged=logged)))
        return replace(self, parts=parts.map(lambda part: shuffle_orders(part, rng)))

    def train(self, *, progress: Report | None = None) -> Trained:
        """Train and measure."""
        options: dict[str, Any] = {"device": self.device, "checkpoint": self.checkpoint, "card": self.card}
        return train(self.parts, self.config, progress=progress, **options)


def train(
    parts: Parts,
    config: TrainingConfig | None = None,
    *,
    device: str = "auto",
    checkpoint: loop.Checkpoint | None = None,
    progress: Report | None = None,
    card: Mapping[str, Any] | None = None,
) -> Trained:
    """Train an encoder and its scorers to tell the true order of collections from others.

    Under ``torchrun`` every process calls this with the same arguments; all get the same result, and the first alone
    writes the checkpoint and calls ``progress``. ``card``: more to say in the model's card, for example its controls.
    """
    given = config or TrainingConfig()
    pools.check_parts(parts)
    names = pools.choose_features(given, parts.training)
    transform = pools.fit_transform(parts.training, names, given.logged, given.bound)
    settings = resolve(given, transform.item_shape)
    essence_net.check_twins(settings, transform.item_shape)
    with join(device) as world:
        pool = pools.make_pool(parts.training, transform, world.device)
        validation = pools.make_pool(parts.validation, transform, world.device)
        data = same_everywhere(world, pools.fingerprint(parts.training, names))
        learner = EssenceLearner(
            lambda: EssenceNet(settings, transform.item_shape), pool, validation, settings, world, data
        )
        run = loop.optimise(learner, checkpoint=checkpoint, progress=progress)
        best = run.best_net()
        with loop.precision("none", world.device):
            if settings.calibrate and run.best_epoch:
                calibrate(best, validation, settings, world)
            shown = validation if parts.measured is None else pools.make_pool(parts.measured, transform, world.device)
            found = information(best, shown, settings, groups=makers(sorted(parts.test, key=len)))
            signs = essence_signs(encode_pool(best, pool), sorted(parts.training, key=len))
    digits = ("bits", "low", "high", "ceiling", "negatives", "collections")
    about = {"bits": {name: round_off(info, *digits) for name, info in found.items()}, **(card or {})}
    record = {**_record(learner, run), "seen": Fingerprints.of(parts.training, names).to_dict()}
    model = build_model(best.state_dict(), settings, transform, signs=signs, training=record, card=about)
    return Trained(model, found, run.history, settings, run.best_epoch)


def _record(learner: "EssenceLearner", run: loop.Run) -> dict[str, Any]:
    """What the file says of the training."""
    config = learner.config
    return {
        "data": learner.data,
        "collections": len(learner.pool),
        "items": len(learner.pool.values),
        "validation_collections": len(learner.validation),
        "preset": config.preset,
        "seed": config.seed,
        "epochs": run.epoch,
        "best_epoch": run.best_epoch,
        "history": compact(run.history),
        "processes": learner.world.size,
        "settings": config.to_dict(),
        "fabula": __version__,
        "torch": str(torch.__version__),
    }


class EssenceLearner(loop.Learner):
    """Telling the true order of collections from others, by the essence of each item.

    An epoch's randomness follows from seed, epoch and rank alone. ``net`` makes the net, with a seeded random state;
    ``data`` is the fingerprint for checkpoints; ``draw`` draws the orderings to be told apart, the true one first.
    """

    def __init__(
        self,
        net: Callable[[], EssenceNet],
        pool: ItemPool,
        validation: ItemPool,
        config: TrainingConfig,
        world: World,
        data: str = "",
        draw: Draw = draw_orderings,
    ) -> None:
        self._net, self.pool, self.validation, self.config, self.draw = net, pool, validation, config, draw
        self.world, self.data, self.settings = world, data, config.to_dict()
        self.epochs, self.patience, self.clip, self.amp = config.epochs, config.patience, config.clip, config.amp
        self.averages, self.size = bool(config.ema), len(pool)
        self.graphs = use_graphs(pool, config, world)
        self._graphed: loop.GraphedStep | None = None

    def make_net(self) -> nn.Module:
        """The net, its weights by the seed."""
        torch.manual_seed(loop.seed_of(self.config.seed, 0, 0))
        return self._net()

    def start(self, net: nn.Module) -> tuple[nn.Module, dict[str, float]]:
        """A net that knows nothing and says so: 0 bits."""
        silent = copy.deepcopy(net)
        cast(EssenceNet, silent).silence()
        return silent, dict.fromkeys(self.config.scorers, 0.0)

    def make_optimizer(self, net: nn.Module) -> torch.optim.Optimizer:
        """Adam or AdamW; the encoder and the scorers have their own weight decay."""
        kind = torch.optim.AdamW if self.config.optimizer == "adamw" else torch.optim.Adam
        groups = loop.group_by_decay(net, self._decay)
        return kind(groups, lr=self.config.learning_rate, fused=True)

    def _decay(self, name: str, parameter: nn.Parameter) -> float:
        # Decoupled decay is for weight matrices; the paper's Adam takes all.
        if self.config.optimizer == "adamw" and (parameter.ndim < 2 or name == "arcs.values"):
            return 0.0
        return self.config.encoder_decay if name.startswith("encoder.") else self.config.scorer_decay

    def plan(self, epoch: int) -> list[Rows]:
        """Every collection once; the seeds of what the epoch draws are set."""
        seed, world, config = self.config.seed, self.world, self.config
        plans = torch.Generator().manual_seed(loop.seed_of(seed, epoch, 0))
        self._draws = torch.Generator(world.device).manual_seed(loop.seed_of(seed, epoch, 1 + world.rank))
        torch.manual_seed(loop.seed_of(seed, epoch, 1 + world.size + world.rank))  # dropout
        cut = {"subsequences": config.subsequences, "shortest": config.shortest}
        plan = pools.plan_epoch(self.pool, config.batch, plans, fill=self.graphs, **cut)
        self._scale = 1.0 / max(len(batch.chosen) for batch in plan)
        return plan

    def loss(self, net: nn.Module, batch: Rows) -> loop.Loss | None:
        """The losses of all collections and scorers, summed: every collection weighs the same in every batch."""
        drawn = self._draw(batch)
        if drawn is None:
            return None
        return loop.Loss(batch.weight * sum_losses(net(*drawn), self.config), self._scale)

    def gradients(self, net: nn.Module, batch: Rows) -> Tensor:
        """Gradients of a batch; as CUDA graphs where they serve."""
        if not self.graphs:
            return super().gradients(net, batch)
        if self._graphed is None:
            self._graphed = loop.GraphedStep(net, lambda scores: sum_losses(scores, self.config), self._scale)
        features, orderings = cast(tuple[Tensor, Tensor], self._draw(batch))
        return self._graphed(features, orderings, batch.weight)

    def _draw(self, batch: Rows) -> tuple[Tensor, Tensor] | None:
        """Features (b, n, f[, s]) and orderings (b, N, n) of this process's share of a batch."""
        mine = replace(batch, chosen=self.world.share(batch.chosen))
        if not len(mine.chosen):
            return None
        orderings = self.draw(len(mine.chosen), self.config.sequences, batch.kept, self._draws)
        return pools.take(self.pool, mine, self._draws), orderings

    def bits(self, net: nn.Module) -> dict[str, float]:
        """Bits by scorer on validation."""
        return validation_bits(cast(EssenceNet, net), self.validation, self.config, self.draw)

    def worth(self, bits: Mapping[str, float]) -> float:
        """The bits of the scorers by their weights."""
        config = self.config
        return sum(w * bits[name] for name, w in zip(config.scorers, config.scorer_weights, strict=True))

    def rate(self, step: int, steps: int) -> float:
        """As the schedule says."""
        return learning_rate(self.config, step, steps)

    def follow(self, step: int, steps: int) -> float:
        """An exponential mean; early steps are forgotten sooner."""
        return 1.0 - min(self.config.ema, (1 + step) / (10 + step))


def learning_rate(config: TrainingConfig, step: int, steps: int) -> float:
    """The rate of a step, counted from 1: a linear rise, then constant or along a cosine to 0.

    >>> config = TrainingConfig(learning_rate=1.0, warmup=0.5)
    >>> [round(learning_rate(config, step, 4), 3) for step in (1, 2, 3, 4)]
    [0.427, 0.5, 0.146, 0.0]
    """
    done = step / steps
    rise = min(1.0, done / config.warmup) if config.warmup else 1.0
    fall = 0.5 + 0.5 * math.cos(math.pi * done) if config.schedule == "cosine" else 1.0
    return config.learning_rate * rise * fall


def use_graphs(pool: ItemPool, config: TrainingConfig, world: World) -> bool:
    """Whether graphs serve: on one GPU, and where filling batches up to one size costs little."""
    one_gpu = world.device.type == "cuda" and world.size == 1
    return config.graphs and one_gpu and pools.filling(pool, config.batch) <= _MOST_FILLING


def sum_losses(scores: Mapping[str, Tensor], config: TrainingConfig) -> Tensor:
    """InfoNCE of all collections, (b, N) scores by scorer, summed with the scorers' weights."""
    losses = [
        w * loop.info_nce(scores[name]).sum() for name, w in zip(config.scorers, config.scorer_weights, strict=True)
    ]
    return torch.stack(losses).sum()


def validation_bits(
    net: EssenceNet, pool: ItemPool, config: TrainingConfig, draw: Draw = draw_orderings
) -> dict[str, float]:
    """Bits by scorer on a pool (Equation 2 of the paper), with the same negatives at every call."""
    means = validation_losses(net, pool, config, draw).mean(0).tolist()
    return {name: loop.to_bits(loss, config.sequences) for name, loss in zip(config.scorers, means, strict=True)}


@torch.no_grad()
def validation_losses(net: EssenceNet, pool: ItemPool, config: TrainingConfig, draw: Draw = draw_orderings) -> Tensor:
    """The loss of each collection of a pool under each scorer, mean over the draws: (collections, scorers)."""
    generator = torch.Generator(pool.device).manual_seed(_VALIDATION_SEED)
    losses: list[Tensor] = []
    net.eval()
    for length, chosen in pool.parts(max(1, _SEQUENCES_AT_ONCE // (config.draws * config.sequences))):
        b = len(chosen)
        drawn = [draw(b, config.sequences, length, generator) for _ in range(config.draws)]
        scores = net.score(net.encode(pool.whole(chosen, length)["values"]), torch.cat(drawn, dim=1))  # (b, draws * N)
        by_scorer = [loop.info_nce(scores[name].double().view(b * config.draws, -1)) for name in config.scorers]
        losses.append(torch.stack([loss.view(b, -1).mean(1) for loss in by_scorer], dim=1))
    return torch.cat(losses)


@torch.no_grad()
def encode_pool(net: EssenceNet, pool: ItemPool) -> list[Floats]:
    """The essence of every collection of a pool, (n, d) each, z-scored, by rising length."""
    net.eval()
    essences: list[Floats] = []
    for length, chosen in pool.parts(max(1, _ITEMS_AT_ONCE // max(pool.by_length))):
        essences.extend(net.encode(pool.whole(chosen, length)["values"]).double().cpu().numpy())
    return essences


def information(
    net: EssenceNet, pool: ItemPool, config: TrainingConfig, *, draws: int = 4, groups: Sequence[Hashable] | None = None
) -> dict[str, Information]:
    """Bits with their interval on a pool, by scorer; the estimator is the one that measures finished models.

    ``groups``: whom each collection of the pool is by, in its order; each by somebody else by default.
    """
    essences = encode_pool(net, pool)

    def measure(name: str) -> Information:
        @torch.no_grad()
        def score(sequences: Floats) -> Floats:
            rows: Tensor = torch.as_tensor(sequences, dtype=torch.float32, device=pool.device)
            return np.asarray(net.get_submodule(name)(rows.unsqueeze(1)).squeeze(1).double().cpu().numpy())

        options = {"negatives": config.negatives, "draws": draws, "seed": config.seed}
        return information_of(score, essences, groups=groups, **options)

    return {name: measure(name) for name in config.scorers}


@torch.no_grad()
def calibrate(net: EssenceNet, pool: ItemPool, config: TrainingConfig, world: World) -> None:
    """Scale each scorer's certainty by the one of a few numbers that gives the most bits on a pool.

    A net held back in training says less than it knows; one that learned by heart says more.
    """
    kept = {name: [tensor.clone() for tensor in net.certainty_of(name)] for name in config.scorers}
    bits = {}
    for scale in _SCALES:
        _scale(net, kept, dict.fromkeys(config.scorers, scale))
        bits[scale] = validation_bits(net, pool, config)
    best = [max(_SCALES, key=lambda scale: bits[scale][name]) for name in config.scorers]
    _scale(net, kept, dict(zip(config.scorers, world.agree(best), strict=True)))


def _scale(net: EssenceNet, kept: dict[str, list[Tensor]], scales: dict[str, float]) -> None:
    for name, tensors in kept.items():
        for tensor, original in zip(net.certainty_of(name), tensors, strict=True):
            tensor.copy_(original * scales[name])
