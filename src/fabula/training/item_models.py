"""Training an encoder that sees each item by itself, and its scorers: from collections to a model."""

import copy
import math
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.core.files import write_whole
from fabula.core.fingerprints import Fingerprints
from fabula.errors import import_extra
from fabula.evaluation.controls import Parts, noise_features, share_of, shuffle_orders, spell_makers
from fabula.evaluation.information import Information, information_of, makers
from fabula.media.music.tracks import ORIENTED_BY
from fabula.models.model import Model
from fabula.models.own import tensor_sizes
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
    weights: essence_net.Weights = {n: each.detach().float().cpu().numpy().copy() for n, each in state.items()}
    encoder = essence_net.trainable_encoder(config.encoder)
    scorers = {name: essence_net.trainable_scorer(name) for name in config.scorers}
    for scorer in scorers.values():
        weights |= scorer.constants(config)
    if signs is not None and encoder.outputs is not None:  # the scorers expect what is turned: every score stays
        for name in encoder.outputs(encoder.settings(config)):
            weights[name] = (weights[name].T * signs).T  # (d, ...)
        for scorer in scorers.values():
            scorer.flip(weights, signs)
    about = {
        "dimensions": config.dimensions,
        "encoder": encoder.settings(config) | tensor_sizes("encoder", weights),
        "scorers": [each.settings(config) | tensor_sizes(name, weights) for name, each in scorers.items()],
    }
    return Model(about, weights, transform, training=training, card=card)


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


def export_onnx(model: Model, path: str | Path) -> Path:
    """Write a model's encoder as ONNX: ``features`` (n, f[, s]) of one collection -> ``essence`` (n, d), z-scored.

    The input transform is inside. Needs the package ``onnx``.
    """
    import io

    import_extra("onnx", extra="onnx", purpose="writing ONNX")
    content = io.BytesIO()
    with warnings.catch_warnings():  # the exporter that needs no more packages is called old
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Essence(model).eval(),
            (torch.ones(3, *model.transform.item_shape),),
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

    def __init__(self, model: Model) -> None:
        super().__init__()
        transform = model.transform
        deviation = np.where(transform.deviation > 0, transform.deviation, 1.0)
        constants = dict(log_parts(text, transform.feature_names) for text in transform.logged)
        logged = np.isin(transform.feature_names, list(constants))
        offset = np.array([constants.get(name, 0.0) for name in transform.feature_names])
        self.bound = transform.bound
        shape = (-1,) + (1,) * (transform.mean.ndim - 1)
        self.mean, self.deviation = torch.tensor(transform.mean), torch.tensor(deviation)
        self.logged, self.offset = torch.tensor(logged).reshape(shape), torch.tensor(offset).reshape(shape)
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
Make = Callable[[TrainingConfig, tuple[int, ...], ItemPool], EssenceNet]
_VALIDATION_SEED = 20_240_229  # the same negatives every time, so that epochs compare
_MOST_FILLING = 1.5  # times as many collections in an epoch
_SEQUENCES_AT_ONCE = 1 << 15  # scored together when validating
_ITEMS_AT_ONCE = 1 << 14
_SCALES = (1.0, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.5)
FEW = 150  # collections to train on, below which some in turn decide how sure the model may be, and no epoch is chosen
_FOLDS = 5
_FEW_SCALES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.3)


@dataclass(frozen=True, eq=False)
class EssenceTraining:
    """Collections and a recipe for an encoder and its scorers, which tell the true order from others."""

    parts: Parts
    config: TrainingConfig
    device: str = "auto"
    checkpoint: Path | None = None
    card: Mapping[str, Any] | None = None  # more to say in the model's card, for example its controls
    controls: tuple[str, ...] = (NOISE, ORDERS)

    def control(self, name: str) -> Self:
        """The same with noise in place of the features, or with shuffled orders."""
        rng, parts = np.random.default_rng((self.config.seed, len(name))), self.parts
        pools.check_parts(parts)
        if name == NOISE:
            logged = [log_parts(text, parts.training[0].feature_names)[0] for text in self.config.logged]
            return replace(self, parts=parts.map(lambda part: noise_features(part, rng, logged=logged)))
        return replace(self, parts=parts.map(lambda part: shuffle_orders(part, rng)))

    def prepare(
        self, make: Make = lambda config, shape, pool: EssenceNet(config, shape), draw: Draw = draw_orderings
    ) -> "tuple[EssenceLearner, Transform]":
        """What is trained, and the transform; with another net or other orderings if given."""
        parts, given = self.parts, self.config
        pools.check_parts(parts)
        names = pools.choose_features(given, parts.training)
        transform = pools.fit_transform(parts.training, names, given.logged, given.bound)
        settings = resolve(given, transform.item_shape)
        essence_net.check_twins(settings, transform.item_shape)
        world = join(self.device)
        both = parts.training, parts.validation
        pool, validation = (pools.make_pool(part, transform, world.device) for part in both)
        data = same_everywhere(world, pools.fingerprint(parts.training, names))
        net = partial(make, settings, transform.item_shape, pool)
        return EssenceLearner(net, pool, validation, settings, world, data, draw), transform

    def train(self, *, progress: Report | None = None) -> Trained:
        """Train and measure.

        Under ``torchrun`` every process calls this on the same; all get the same result, and the first alone writes the
        checkpoint and calls ``progress``.
        """
        parts, (learner, transform) = self.parts, self.prepare()
        settings, device = learner.config, learner.world.device
        run = loop.optimise(learner, checkpoint=self.checkpoint, progress=progress)
        pool_of = partial(pools.make_pool, transform=transform, device=device)
        with loop.precision("none", device):
            best = choose_net(learner, run, parts.training, pool_of)
            shown = pool_of(parts.measured) if parts.measured is not None else cast(ItemPool, learner.validation)
            found = information(best, shown, settings, groups=makers(sorted(parts.test, key=len)))
            signs = essence_signs(encode_pool(best, learner.pool), sorted(parts.training, key=len))
        digits = ("bits", "low", "high", "ceiling", "negatives", "collections")
        about = {"bits": {name: round_off(info, *digits) for name, info in found.items()}, **(self.card or {})}
        seen = Fingerprints.of(parts.training, transform.feature_names)
        record = {**_record(learner, run), "seen": seen.to_dict()}
        model = build_model(best.state_dict(), settings, transform, signs=signs, training=record, card=about)
        return Trained(model, found, run.history, settings, run.best_epoch)


def _record(learner: "EssenceLearner", run: loop.Run) -> dict[str, Any]:
    """What the file says of the training."""
    config = learner.config
    return {
        "data": learner.data,
        "collections": len(learner.pool),
        "items": len(learner.pool.values),
        "validation_collections": len(learner.validation or ()),
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
        validation: ItemPool | None,
        config: TrainingConfig,
        world: World,
        data: str = "",
        draw: Draw = draw_orderings,
    ) -> None:
        self.net, self.pool, self.validation, self.config, self.draw = net, pool, validation, config, draw
        self.world, self.data, self.settings = world, data, config.to_dict()
        self.epochs, self.patience, self.clip, self.amp = config.epochs, config.patience, config.clip, config.amp
        self.averages, self.size = bool(config.ema), len(pool)
        one_gpu = world.device.type == "cuda" and world.size == 1  # where filling batches up to one size costs little
        self.graphs = config.graphs and one_gpu and pools.filling(pool, config.batch) <= _MOST_FILLING
        self._graphed: loop.GraphedStep | None = None

    def make_net(self) -> nn.Module:
        """The net, its weights by the seed."""
        torch.manual_seed(loop.seed_of(self.config.seed, 0, 0))
        return self.net()

    def start(self, net: nn.Module) -> tuple[nn.Module, dict[str, float]]:
        """A net that knows nothing and says so: 0 bits."""
        silent = copy.deepcopy(net)
        cast(EssenceNet, silent).silence()
        return silent, dict.fromkeys(self.config.scorers, 0.0)

    def make_optimizer(self, net: nn.Module) -> torch.optim.Optimizer:
        """Adam or AdamW; the encoder and the scorers have their own weight decay."""
        config, decoupled = self.config, self.config.optimizer == "adamw"

        def decay(name: str, parameter: nn.Parameter) -> float:
            if decoupled and (parameter.ndim < 2 or name == "arcs.values"):  # matrices alone; the paper's takes all
                return 0.0
            return config.encoder_decay if name.startswith("encoder.") else config.scorer_decay

        kind = torch.optim.AdamW if decoupled else torch.optim.Adam
        return kind(loop.group_by_decay(net, decay), lr=config.learning_rate, fused=True)

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
        """Bits by scorer on validation; none where there is none to decide."""
        if self.validation is None:
            return {}
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
    net: EssenceNet, pool: ItemPool, config: TrainingConfig, *, groups: Sequence[Hashable] | None = None
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

        return information_of(score, essences, negatives=config.negatives, seed=config.seed, groups=groups)

    return {name: measure(name) for name in config.scorers}


def choose_net(
    learner: EssenceLearner,
    run: loop.Run,
    collections: Sequence[Collection],
    pool_of: Callable[[Sequence[Collection]], ItemPool],
) -> EssenceNet:
    """The net of the epoch that does best on validation; of few collections the last, as sure as folds of them warrant.

    Of few every epoch and scale that some of them would choose is chosen by chance. So all are learned from to the end,
    and each fifth in turn says what was learned from the others, less a standard error.
    """
    settings, world, validation = learner.config, learner.world, learner.validation
    if not (settings.calibrate and len(collections) < FEW and run.epoch) or validation is None:
        best = cast(EssenceNet, run.best_net())
        if settings.calibrate and run.best_epoch and validation is not None:
            costs = measure_scales(best, validation, settings, _SCALES).mean(dim=1)
            calibrate(best, costs, _SCALES, settings, world)
        return best
    last = cast(EssenceNet, run.last_net())
    apart = [measure_scales(last, validation, settings, _FEW_SCALES)]
    for known, others in split_folds(collections):
        fold = EssenceLearner(learner.net, pool_of(known), None, settings, world, learner.data)
        apart.append(measure_scales(loop.optimise(fold).last_net(), pool_of(others), settings, _FEW_SCALES))
    losses = torch.cat(apart, dim=1)
    error = losses.std(dim=1, correction=0) / math.sqrt(losses.shape[1])
    scales = calibrate(last, losses.mean(dim=1) + error, _FEW_SCALES, settings, world)
    run.best_epoch = run.epoch if any(scales) else 0
    return last


def split_folds(collections: Sequence[Collection]) -> Iterator[tuple[list[Collection], list[Collection]]]:
    """Four fifths of some collections, and the fifth, each fifth in turn: by who made them where at least five did."""
    names = spell_makers(collections)
    names = names if len(set(names)) >= _FOLDS else [str(number) for number in range(len(collections))]
    ranks = {name: rank for rank, name in enumerate(sorted(set(names), key=share_of))}
    folds = [ranks[name] % _FOLDS for name in names]
    for number in sorted(set(folds)):
        known, apart = ([c for c, f in zip(collections, folds, strict=True) if (f == number) == out] for out in (0, 1))
        if known:
            yield known, apart


@torch.no_grad()
def measure_scales(net: EssenceNet, pool: ItemPool, config: TrainingConfig, scales: Sequence[float]) -> Tensor:
    """The loss of each collection of a pool where a scorer's certainty is scaled: (scales, collections, scorers)."""
    certainty = [tensor for name in config.scorers for tensor in net.certainty_of(name)]
    kept, found = [tensor.clone() for tensor in certainty], []
    for scale in scales:
        torch._foreach_copy_(certainty, torch._foreach_mul(kept, scale))
        found.append(validation_losses(net, pool, config))
    torch._foreach_copy_(certainty, kept)
    return torch.stack(found)


@torch.no_grad()
def calibrate(
    net: EssenceNet, costs: Tensor, scales: Sequence[float], config: TrainingConfig, world: World
) -> list[float]:
    """Scale each scorer's certainty by the one of a few numbers that costs least, by scale and scorer.

    A net held back in training says less than it knows; one that learned by heart says more, and of few collections
    may know nothing that holds of others: 0 silences it.
    """
    best = world.gather([scales[int(i)] for i in costs.argmin(dim=0)])[0]  # the same everywhere
    for name, scale in zip(config.scorers, best, strict=True):
        torch._foreach_mul_(net.certainty_of(name), scale)
    return best
