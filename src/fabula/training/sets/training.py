"""Training of a set model from ordered collections, from the beginning or on from a model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.fingerprints import Fingerprints, fingerprints_of
from fabula.errors import InputError
from fabula.models.sets.model import SetModel
from fabula.models.sets.spec import SetSpec
from fabula.training.loop.distributed import join, same_everywhere
from fabula.training.sets.controls import Control, controlled
from fabula.training.sets.data import SetData
from fabula.training.sets.export import as_model, as_net
from fabula.training.sets.loop import Epoch, Report, fit_net
from fabula.training.sets.measuring import collection_bits
from fabula.training.sets.nets import Dropout, SetNet
from fabula.training.sets.preparing import artist_of, learn_inputs, picked, prepare
from fabula.training.sets.recipe import SetRecipe

ASIDE = 0.08  # share of the artists that decides when to stop


@dataclass(frozen=True, eq=False)
class TrainedSet:
    """A trained set model.

    Attributes
    ----------
    model
        Ready to be saved.
    epochs
        How the training went; bits are those on the collections set aside.
    before
        Bits of the model it went on from, on the collections set aside; None where it began anew.
    """

    model: SetModel
    epochs: tuple[Epoch, ...]
    before: float | None

    @property
    def bits(self) -> float:
        """Bits on the collections set aside."""
        return max((epoch.bits for epoch in self.epochs), default=self.before or 0.0)

    @property
    def gained(self) -> float:
        """Bits it has more than the model it went on from, on the collections set aside; 0 where it gained nothing."""
        return max(self.bits - self.before, 0.0) if self.before is not None else self.bits


def train_sets(
    train: Sequence[Collection],
    aside: Sequence[Collection] | None = None,
    spec: SetSpec | None = None,
    recipe: SetRecipe | None = None,
    *,
    start: SetModel | None = None,
    teachers: Sequence[SetModel] = (),
    control: Control | None = None,
    device: str = "auto",
    report: Report | None = None,
) -> TrainedSet:
    """Train a set model.

    Under ``torchrun`` every process calls this with the same arguments: each takes its share of every batch, all get
    the same result, and the first alone calls ``report``.

    Parameters
    ----------
    train
        Collections in true order, of 2 items or more. Features are taken by name; any may be missing.
    aside
        What decides when to stop, of other artists; by default 8 % of the artists are set aside from ``train``.
    spec
        What it is made of; by default all features of the first collection, and titles. With ``start``, its own.
    recipe
        The settings.
    start
        A model to go on from; kept as it is where nothing does better on what was set aside.
    teachers
        Models with the same inputs whose mean opinion it learns from.
    control
        Train on data in which nothing is to be learned, instead.
    device
        ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
    """
    recipe = recipe or SetRecipe()
    if not train:
        raise InputError("at least one collection is needed to train")
    if aside is None:
        train, aside = set_aside(train, recipe.seed)
    dropout = Dropout(recipe.dropout, recipe.title_dropout, recipe.word_dropout)
    if start is not None:
        read = (start.spec, start.tensors["transform.mean"], start.tensors["transform.deviation"], start.vocabulary)
        net = as_net(start, dropout)
    else:
        read = learn_inputs(train, spec or SetSpec(train[0].feature_names), tokens=recipe.tokens, grams=recipe.grams)
        net = SetNet(read[0], recipe.seed, dropout)
    with join(device) as world:
        same_everywhere(world, fingerprint(train))
        parts: list[SetData] = [prepare(part, *read).to(world.device) for part in (train, aside)]
        if control:
            parts = [controlled(part, control, recipe.seed + i) for i, part in enumerate(parts)]
        net = net.to(world.device)
        before = float(collection_bits(net.eval(), parts[1], draws=4).mean()) if start is not None else None
        taught_by = [as_net(teacher).to(world.device).eval() for teacher in teachers]
        best, epochs = fit_net(
            net, parts[0], parts[1], recipe, world=world, teachers=taught_by, report=report, least=before
        )
    record = _record(train, aside, recipe, epochs, start, control)
    if world.size > 1:
        record["processes"] = world.size
    return TrainedSet(as_model(best, *read[1:], training=record), tuple(epochs), before)


def set_aside(collections: Sequence[Collection], seed: int = 0) -> tuple[list[Collection], list[Collection]]:
    """Collections to train on and those of some artists set aside, at least one each."""
    artists = sorted({artist_of(collection) for collection in collections})
    if len(artists) < 2:
        raise InputError("collections of at least 2 artists are needed to set some aside; give those to set aside")
    count = min(max(1, round(ASIDE * len(artists))), len(artists) - 1)
    drawn = np.random.default_rng(seed).choice(len(artists), count, replace=False)
    chosen = {artists[i] for i in drawn}
    rest = [collection for collection in collections if artist_of(collection) not in chosen]
    return rest, [collection for collection in collections if artist_of(collection) in chosen]


def fingerprint(collections: Sequence[Collection]) -> str:
    """What tells data from other data: a digest of the ids, titles and features of collections in their order."""
    digest = hashlib.sha256()
    for collection in collections:
        digest.update(repr((collection.id, [item.title for item in collection.items])).encode())
        digest.update(picked(collection, sorted(collection.feature_names)).astype("<f4").tobytes())
    return digest.hexdigest()[:16]


def _seen(train: Sequence[Collection], start: SetModel | None) -> Fingerprints:
    """What it was trained on, and what the model it goes on from was."""
    names = start.spec.features if start is not None else train[0].feature_names
    before = None if start is None else fingerprints_of(start.training)
    seen = Fingerprints.of(train, names)
    return seen if before is None else before | seen


def _record(
    train: Sequence[Collection],
    aside: Sequence[Collection],
    recipe: SetRecipe,
    epochs: Sequence[Epoch],
    start: SetModel | None,
    control: str | None,
) -> dict[str, Any]:
    """What the file says of the training."""
    best = max(epochs, key=lambda epoch: epoch.bits)
    record: dict[str, Any] = {
        "collections": len(train),
        "set aside": len(aside),
        "fingerprint": fingerprint(train),
        "seed": recipe.seed,
        "settings": recipe.to_dict(),
        "seen": _seen(train, start).to_dict(),
        "best epoch": {key: value for key, value in asdict(best).items() if key != "seconds"},
    }
    if start is not None:
        record["from"] = start.training.get("fingerprint", "")
    if control:
        record["control"] = control
    return record
