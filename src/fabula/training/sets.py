"""Training a model that sees the whole collection, titles among it: from collections to a model, or on from a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.collection import Collection
from fabula.core.collections import Collections
from fabula.core.fingerprints import Fingerprints, fingerprints_of
from fabula.errors import InputError
from fabula.evaluation.controls import Parts, keep_only, noise_features, shuffle_orders, shuffle_titles
from fabula.evaluation.information import information_gain, mutual_information, suppress_seen_warning
from fabula.models.encoders.set import SetEncoder, SetInputs, SetSpec, as_set
from fabula.models.model import Model
from fabula.training import loop
from fabula.training.audit import NOISE, ORDERS, TITLES, Report, Trained, compact, round_off
from fabula.training.data import ItemPool
from fabula.training.distributed import World, join, same_everywhere
from fabula.training.nets import set_net
from fabula.training.nets.set_net import SetNet
from fabula.training.recipes import SetRecipe

BOTH = "arcs + flow"
SCORERS = {BOTH: None, "arcs": "arcs", "flow": "flow"}
DRAWS = 16  # of negatives, where a result is measured
_BY_ITEM = ("values", "known", "titled", "tokens", "grams", "marks")

Tables = Callable[[SetInputs], tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class SetTraining:
    """Collections of 2 items or more, of whose features any may be missing, and a recipe for a set model."""

    parts: Parts
    spec: SetSpec
    config: SetRecipe
    device: str = "auto"
    begin: Model | None = None
    scorers: tuple[str, ...] = (BOTH,)  # that are measured
    card: Mapping[str, Any] = field(default_factory=dict)  # how the model's card begins
    origin: str = ""  # what the model to begin with is called

    @property
    def controls(self) -> tuple[str, ...]:
        """Noise where there are features, shuffled orders, shuffled titles where there are titles."""
        return (*((NOISE,) if self.spec.features else ()), ORDERS, *((TITLES,) if self.spec.titles else ()))

    def control(self, name: str) -> SetTraining:
        """Noise in place of the features, without titles; shuffled orders; or titles dealt anew, without features.

        A control has but one kind of input: nothing of it may be hidden as if there were another.
        """
        rng, spec = np.random.default_rng((self.config.seed, len(name))), self.spec
        if name == ORDERS:
            return replace(self, parts=self.parts.map(lambda part: shuffle_orders(part, rng)))
        alone = replace(self.config, untitled=0.0, few=0.0)
        if name == TITLES:
            bare = replace(spec, features=(), logged=(), circle="", mode="")
            return replace(self, parts=self.parts.map(lambda part: shuffle_titles(part, rng)), spec=bare, config=alone)
        noise = self.parts.map(
            lambda part: keep_only(noise_features(part, rng, logged=spec.logged), spec.features, titles=False)
        )
        return replace(self, parts=noise, spec=replace(spec, titles=False), config=alone)

    def train(self, *, progress: Report | None = None) -> Trained:
        """Train; measure arcs and flow, together or alone.

        The model to begin with is kept where nothing does better on the validation side. Under ``torchrun`` every
        process calls this on the same: each takes its share of every batch, all get the same result, and the first
        alone calls ``progress``.
        """
        recipe, begin = self.config, self.begin
        training, aside = self.parts.training, self.parts.validation
        if begin is not None:
            read, net = as_set(begin.encoder), set_net.as_net(begin, recipe)
        else:
            read = set_net.learn_inputs(training, self.spec, tokens=recipe.tokens, grams=recipe.grams)
            net = SetNet(read.spec, recipe)
        world = join(self.device)
        same_everywhere(world, set_fingerprint(training))
        pool, decide = (prepare(part, read, device=world.device) for part in (training, aside))
        net = net.to(world.device)
        before = None if begin is None else float(collection_bits(net.eval(), decide, draws=4).mean())
        run = loop.optimise(SetLearner(net, pool, decide, recipe, world, before), progress=progress)
        record = _record(training, aside, recipe, run, begin)
        if world.size > 1:
            record["processes"] = world.size
        model = set_net.as_model(run.best_net(), read, training=record)
        with suppress_seen_warning():
            test = self.parts.test
            found = {n: mutual_information(model, test, draws=DRAWS, scorer=SCORERS[n]) for n in self.scorers}
        gained = None if begin is None else information_gain(model, begin, self.parts.test)
        if BOTH in found:
            history, bits = compact(run.history), round_off(found[BOTH], "bits", "low", "high", "collections")
            model.training["history"] = {"loss": history["loss"], "bits": history["bits"][BOTH]}
            model.card = {**self.card, "bits": bits}
        if gained is not None:
            more = round_off(gained, "mean", "low", "high")
            told = {"bits": more["mean"], "low": more["low"], "high": more["high"], "collections": gained.n}
            model.card |= {"from": self.origin, "gained": told}
        return Trained(model, found, run.history, recipe, run.best_epoch, before, gained)


def _record(
    train: Sequence[Collection], aside: Sequence[Collection], recipe: SetRecipe, run: loop.Run, start: Model | None
) -> dict[str, Any]:
    """What the file says of the training."""
    best = max(run.history, key=lambda epoch: epoch.bits[BOTH])
    names = start.feature_names if start is not None else train[0].feature_names
    before, seen = None if start is None else fingerprints_of(start.training), Fingerprints.of(train, names)
    record: dict[str, Any] = {
        "collections": len(train),
        "set aside": len(aside),
        "fingerprint": set_fingerprint(train),
        "seed": recipe.seed,
        "settings": recipe.to_dict(),
        "seen": (seen if before is None else before | seen).to_dict(),
        "best epoch": {"number": best.epoch, "of": best.epochs, "loss": best.loss, "bits": best.bits[BOTH]},
    }
    return record if start is None else {**record, "from": start.training.get("fingerprint", "")}


class SetLearner(loop.Learner):
    """InfoNCE over the tables of a set net: AdamW over one cycle, a moving average of the weights.

    The net, on the device of the data, changes; it is kept as it came where no epoch has more than ``least`` bits on
    ``aside``.
    """

    def __init__(
        self,
        net: SetNet,
        pool: ItemPool,
        aside: ItemPool,
        recipe: SetRecipe,
        world: World | None = None,
        least: float | None = None,
    ) -> None:
        self._net, self.pool, self.aside, self.recipe = net, pool, aside, recipe
        self.world, self.least = world or World(0, 1, pool.device), -np.inf if least is None else least
        self.epochs, self.size, self.averages = recipe.epochs, len(pool), True
        self.masking = Masking(recipe, net.spec.features, pool.device)
        own = recipe.seed if self.world.size == 1 else loop.seed_of(recipe.seed, self.world.rank)
        self._own, self._draws = own, torch.Generator(pool.device).manual_seed(own)
        self._plan = np.random.default_rng(recipe.seed)

    def make_net(self) -> nn.Module:
        """The net as it came; dropout has no generator of its own."""
        torch.manual_seed(self._own)
        return self._net

    def start(self, net: nn.Module) -> tuple[nn.Module, dict[str, float]]:
        """The net as it came, kept where nothing is better than ``least``."""
        return net, {BOTH: float(self.least)}

    def make_optimizer(self, net: nn.Module) -> torch.optim.Optimizer:
        """AdamW; the vectors of words have their own weight decay."""
        recipe = self.recipe

        def decay(name: str, weight: Tensor) -> float:
            return 0.0 if weight.ndim < 2 else recipe.vector_decay if name.endswith("/vectors") else recipe.decay

        groups = loop.group_by_decay(net, decay)
        optimiser = torch.optim.AdamW(groups, lr=recipe.learning_rate, foreach=True)
        batches = sum(-(-len(group) // recipe.batch) for group in self.pool.by_length.values())
        self._cycle = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, recipe.learning_rate, total_steps=recipe.epochs * batches + 1, pct_start=0.15
        )
        return optimiser

    def pace(self, optimizer: torch.optim.Optimizer, step: int, steps: int) -> None:
        """One cycle of rate and momentum."""
        if step > 1:
            self._cycle.step()

    def follow(self, step: int, steps: int) -> float:
        """A moving average, shorter at first."""
        return 1 - min(self.recipe.averaging, step / (step + 10))

    def plan(self, epoch: int) -> list[tuple[int, Tensor, Tensor]]:
        """Length, numbers (B,) of collections and the items (B, m) taken of each: all once, some cut to parts."""
        plan, drawn, batches = self._plan, list[tuple[int, Tensor]](), []
        for n, chosen in self.pool.by_length.items():
            mixed = chosen[torch.from_numpy(plan.permutation(len(chosen)))]
            drawn.extend((n, part) for part in torch.split(mixed, self.recipe.batch))
        for number in plan.permutation(len(drawn)):
            n, chosen = drawn[number]
            cut = n > 3 and plan.random() < self.recipe.subsequences
            m = int(plan.integers(max(3, n // 2), n)) if cut else n
            order = torch.from_numpy(plan.random((len(chosen), n)).argsort(1)[:, :m])
            batches.append((n, chosen.to(self.pool.device), order.sort(1).values.to(self.pool.device)))
        return batches

    def loss(self, net: nn.Module, batch: tuple[int, Tensor, Tensor]) -> loop.Loss | None:
        """Mean InfoNCE of a batch."""
        n, chosen, steps = batch[0], self.world.share(batch[1]), self.world.share(batch[2])
        if not len(chosen):
            return None
        x = self.masking(SetInputs(**self.pool.gather(chosen, steps, n)), self._draws)
        orderings = loop.permutations(self.recipe.negatives, steps.shape[1], self._draws)
        return loop.Loss(self.contrast(net, x, orderings), len(chosen) / self.recipe.batch, len(chosen))

    def contrast(self, net: nn.Module, x: SetInputs, orderings: Tensor) -> Tensor:
        """Mean InfoNCE of collections in their true order against orderings (N, n)."""
        return -loop.log_share(loop.contrast(net(x), orderings)).mean()

    def bits(self, net: nn.Module) -> dict[str, float]:
        """Mean bits on what was set aside."""
        return {BOTH: float(collection_bits(cast(SetNet, net.eval()), self.aside, draws=4).mean())}


class Masking:
    """Draws what is hidden of each collection of a batch, so that one model serves whatever is known later."""

    def __init__(self, recipe: SetRecipe, features: Sequence[str], device: torch.device) -> None:
        self.recipe = recipe
        rows = [[float(name in group) for name in features] for group in recipe.kept]
        self._kept = torch.tensor(rows or [[0.0] * len(features)], device=device)  # (groups, f)
        self._guessed = torch.tensor([float(name in recipe.guessed) for name in features], device=device)

    def __call__(self, x: SetInputs, generator: torch.Generator) -> SetInputs:
        """The batch with some of its features and titles hidden, and noise on the rest."""
        shown = self._show(len(x.values), generator)[:, None]  # (B, 1, f)
        titled = (_uniform((len(x.values), 1), generator) >= self.recipe.untitled).float()
        noise = torch.randn(x.values.shape, device=x.values.device, generator=generator) * self.recipe.noise
        values = x.values + noise if self.recipe.noise else x.values
        return replace(x, values=values, known=x.known * shown, titled=x.titled * titled)

    def _show(self, count: int, generator: torch.Generator) -> Tensor:
        """1 where a feature of a collection may be seen, (B, f)."""
        each = (_uniform((count, self._kept.shape[1]), generator) >= self.recipe.feature_masking).float()
        drawn = torch.randint(len(self._kept), (count,), device=generator.device, generator=generator)
        kind = _uniform((count, 1), generator)
        few = kind < self.recipe.few
        whole = kind > 1 - (1 - self.recipe.few) / 3  # a third of the rest keeps all it has
        shown = torch.where(whole, torch.ones_like(each), each)
        if self.recipe.guessed:
            shown = shown * (1 - (_uniform((count, 1), generator) < self.recipe.unguessed).float() * self._guessed)
        return torch.where(few, self._kept[drawn], shown)


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, device=generator.device, generator=generator)


def collection_bits(
    tables: Tables, pool: ItemPool, *, negatives: int = 31, draws: int = 8, seed: int = 0
) -> NDArray[np.float64]:
    """The InfoNCE bound of each collection, (collections,) bits: its true ordering against independent uniform ones.

    ``tables``: from a batch to position and flow scores, (B, n, n) each.
    """
    bits = np.zeros(len(pool))
    generator = torch.Generator(pool.device).manual_seed(seed)
    with torch.no_grad():
        for length, part in pool.parts(256):
            positions, flow = tables(SetInputs(**pool.whole(part, length)))
            found = loop.table_bits(positions, flow, negatives, draws, generator)
            bits[part.cpu().numpy()] = found.cpu().numpy()
    return bits


def prepare(collections: Sequence[Collection], read: SetEncoder, *, device: torch.device | str = "cpu") -> ItemPool:
    """Collections in true order as a pool for training or measuring."""
    return set_pool(read_inputs(collections, read), device=device)


def read_inputs(collections: Sequence[Collection], read: SetEncoder) -> list[SetInputs]:
    """Collections as an encoder reads them, each by itself, without the axis of B."""
    found: dict[int, SetInputs] = {}
    for some, x in read.inputs(Collections.of(collections, read.feature_names), whole=True):
        parts = zip(*(getattr(x, name) for name in (*_BY_ITEM, "pairs")), strict=True)
        found |= dict(zip(some.numbers.tolist(), (SetInputs(*own) for own in parts), strict=True))
    return [found[number] for number in range(len(collections))]


def set_pool(inputs: Sequence[SetInputs], *, device: torch.device | str = "cpu") -> ItemPool:
    """Collections of 2 items or more, each as :func:`read_inputs` gives it."""
    if not inputs:
        raise InputError("at least one collection is needed to train or to measure")
    lengths = torch.tensor([len(x.values) for x in inputs])
    if int(lengths.min()) < 2:
        raise InputError("a collection must have at least 2 items to be ordered")
    rows = {name: torch.from_numpy(np.concatenate([getattr(x, name) for x in inputs])) for name in _BY_ITEM}
    rows = {name: row.float() if row.is_floating_point() else row for name, row in rows.items()}
    items = {name: row.to(device) for name, row in rows.items()}
    pairs = torch.from_numpy(np.concatenate([x.pairs.reshape(-1, x.pairs.shape[-1]) for x in inputs])).half()
    return ItemPool(items, lengths, pairs.to(device))


def set_fingerprint(collections: Sequence[Collection]) -> str:
    """What tells data from other data: a digest of the ids, titles and features of collections in their order."""
    digest = hashlib.sha256()
    for collection in collections:
        digest.update(repr((collection.id, [item.title for item in collection.items])).encode())
        digest.update(collection.columns(sorted(collection.feature_names)).astype("<f4").tobytes())
    return digest.hexdigest()[:16]
