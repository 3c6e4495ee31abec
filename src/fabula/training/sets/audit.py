"""The audit of a set model: the same recipe on the real collections and on controls that must come out zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabula.evaluation.controls import keep_only, noise_features, shuffle_orders, shuffle_titles
from fabula.evaluation.information import mutual_information, suppress_seen_warning
from fabula.evaluation.parts import Parts
from fabula.models.sets.spec import SetSpec
from fabula.training.audit import CONTROLS, TITLES, AuditReport, AuditRow
from fabula.training.sets.loop import Epoch
from fabula.training.sets.recipe import SetRecipe
from fabula.training.sets.training import train_sets

SCORERS = {"arcs + flow": None, "arcs": "arcs", "flow": "flow"}
NOISE, ORDERS = CONTROLS


def audit_sets(
    parts: Parts,
    spec: SetSpec,
    recipe: SetRecipe,
    *,
    device: str = "auto",
    controls_only: bool = False,
    progress: Callable[[str, Epoch], None] | None = None,
) -> AuditReport:
    """Train on the real collections and on the controls; report the bits of arcs and flow, together and alone.

    The controls: noise in place of the features, without titles; shuffled orders; and, where titles are read, titles
    dealt anew among the items of each collection, without features.

    Parameters
    ----------
    parts
        What is learned from, what decides, and what is measured on.
    spec, recipe, device
        As :func:`fabula.training.sets.training.train_sets` takes them; every training follows the same recipe.
    controls_only
        Leave the real collections out.
    progress
        Called after each epoch with the name of the data and where it stands.
    """
    rows: list[AuditRow] = []
    for name in ("real", *_controls(spec))[controls_only:]:
        data, made_of, how = _posed(name, parts, spec, recipe)
        report = None if progress is None else _named(progress, name)
        done = train_sets(data.training, data.validation, made_of, how, device=device, report=report)
        for label, scorer in SCORERS.items():
            with suppress_seen_warning():
                info = mutual_information(done.model, data.test, draws=16, scorer=scorer)
            rows.append(AuditRow(name, label, info.bits, info.low, info.high, info.collections))
    return AuditReport(rows)


def _controls(spec: SetSpec) -> tuple[str, ...]:
    """The controls that suit what a model reads."""
    return (*((NOISE,) if spec.features else ()), ORDERS, *((TITLES,) if spec.titles else ()))


def _posed(name: str, parts: Parts, spec: SetSpec, recipe: SetRecipe) -> tuple[Parts, SetSpec, SetRecipe]:
    """The data as it is or as a control has it, what is made of it, and how.

    A control has but one kind of input: nothing of it may be hidden as if there were another.
    """
    rng = np.random.default_rng((recipe.seed, len(name)))
    alone = replace(recipe, untitled=0.0, few=0.0)
    if name == NOISE:
        changed = parts.map(
            lambda part: keep_only(noise_features(part, rng, logged=spec.logged), spec.features, titles=False)
        )
        return changed, replace(spec, titles=False), alone
    if name == TITLES:
        bare = replace(spec, features=(), logged=(), circle="", mode="")
        return parts.map(lambda part: shuffle_titles(part, rng)), bare, alone
    if name == ORDERS:
        return parts.map(lambda part: shuffle_orders(part, rng)), spec, recipe
    return parts, spec, recipe


def _named(progress: Callable[[str, Epoch], None], name: str) -> Callable[[Epoch], None]:
    return lambda epoch: progress(name, epoch)
