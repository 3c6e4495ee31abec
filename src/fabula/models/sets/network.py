"""The forward pass of a set model in NumPy: items that see each other, never their order; arcs and flow over them.

Shapes: B collections, n items, f features, w the width, d the dimensions of the essence. ``t`` are the tensors by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fabula.models.sets.basis import position_basis
from fabula.models.sets.inputs import Array, Ids, SetInputs
from fabula.models.sets.spec import SetSpec

Tensors = Mapping[str, Array]
LEAST_DEVIATION = 0.1  # of a feature within a collection: items that hardly differ are not blown up
SIZE = 3.0  # the logarithm of the number of items is divided by this


class Known(NamedTuple):
    """What is known of the items (B, n, inputs) and of each two of them (B, n, n, inputs)."""

    items: Array
    pairs: Array


def describe(t: Tensors, x: SetInputs, spec: SetSpec) -> Known:
    """What the encoder and the flow scorer take in, from what is known of the items."""
    parts: list[tuple[Array, Array]] = []
    if spec.plain:
        columns = list(spec.plain)
        parts.append(_numbers(x.values[..., columns], x.known[..., columns]))
    if spec.circle:
        parts.append(_keys(x, spec))
    if spec.titles:
        parts.append(_titles(t, x))
    size = np.full((*x.values.shape[:2], 1), np.log(x.values.shape[1]) / SIZE, dtype=np.float32)
    items = np.concatenate([*(part[0] for part in parts), size], axis=-1)
    return Known(items, np.concatenate([part[1] for part in parts], axis=-1))


def _numbers(z: Array, known: Array) -> tuple[Array, Array]:
    """Features (B, n, f) as they are, within the collection, by rank, and whether known; and their differences."""
    count = known.sum(axis=1, keepdims=True)
    mean = (z * known).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    centred = (z - mean) * known
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / np.maximum(count, 1))
    within = centred / np.maximum(deviation, np.float32(LEAST_DEVIATION))
    both = known[:, :, np.newaxis] * known[:, np.newaxis]  # (B, n, n, f)
    wide = (z[:, np.newaxis] - z[:, :, np.newaxis]) * both  # what comes after less what comes before
    near = (within[:, np.newaxis] - within[:, :, np.newaxis]) * both
    rank = np.sign(wide).sum(axis=1) / np.maximum(count - 1, 1)
    items = np.concatenate([z * known, within, rank, known], axis=-1)
    return items, np.concatenate([near, np.abs(near), np.abs(wide), both], axis=-1)


def _keys(x: SetInputs, spec: SetSpec) -> tuple[Array, Array]:
    """Where a key stands on the circle of fifths: (B, n, 3), and the step between two (B, n, n, 3)."""
    column = spec.features.index(spec.circle)
    pitch, known = x.values[..., column], x.known[..., column]
    if spec.mode:  # a minor key stands with its relative major, three semitones up
        mode = spec.features.index(spec.mode)
        pitch = pitch + 3 * x.known[..., mode] * (x.values[..., mode] < 0)
    angle = pitch * np.float32(7 * 2 * np.pi / 12)
    cos, sin = np.cos(angle) * known, np.sin(angle) * known
    items = np.stack([cos, sin, known], axis=-1)
    before, after = (slice(None), slice(None), np.newaxis), (slice(None), np.newaxis)
    along = cos[before] * cos[after] + sin[before] * sin[after]
    across = cos[before] * sin[after] - sin[before] * cos[after]
    return items, np.stack([along, across, known[before] * known[after]], axis=-1)


def _titles(t: Tensors, x: SetInputs) -> tuple[Array, Array]:
    """Vectors and marks of the titles (B, n, ...), and what relates two of them (B, n, n, ...)."""
    titled = x.titled[..., np.newaxis]
    tokens = pooled(t["tokens.vectors"], x.tokens, t["tokens.weights"]) * titled
    grams = pooled(t["grams.vectors"], x.grams) * titled
    marks = x.marks * titled
    mean = marks.sum(axis=1, keepdims=True) / np.maximum(titled.sum(axis=1, keepdims=True), 1)
    both = titled[:, :, np.newaxis] * titled[:, np.newaxis]  # (B, n, n, 1)
    pairs = x.pairs * both
    seen = [pairs.max(axis=1), pairs.mean(axis=1), pairs.max(axis=2)]
    items = np.concatenate([tokens, grams, marks, (marks - mean) * titled, titled, *seen], axis=-1)
    return items, np.concatenate([pairs, both], axis=-1)


def pooled(vectors: Array, ids: Ids, weights: Array | None = None) -> Array:
    """The mean of the vectors (v, s) of each item's ids (B, n, k), weighed where there are weights (v,)."""
    from scipy.sparse import csr_array

    flat = ids.reshape(-1, ids.shape[-1])
    there = flat > 0
    entries = flat[there]
    count = there.sum(axis=1)
    weight = np.ones(len(entries), np.float32) if weights is None else np.exp(weights[entries])
    table = csr_array((weight, entries, np.concatenate([[0], np.cumsum(count)])), shape=(len(flat), len(vectors)))
    total = table @ np.ones(len(vectors), np.float32)
    mean = (table @ vectors) / np.maximum(total, np.float32(1e-6))[:, np.newaxis]
    return np.asarray(mean.reshape(*ids.shape[:-1], -1), dtype=np.float32)


def encode(t: Tensors, x: SetInputs, spec: SetSpec) -> tuple[Array, Array]:
    """The essence (B, n, d), and what the net over pairs makes of each two items (B, n, n, pair width)."""
    known = describe(t, x, spec)
    pair = np.maximum(_linear(t, "pairs", known.pairs), 0)
    hidden = _linear(t, "input", known.items)
    for layer in range(spec.layers):
        at = f"layers.{layer}"
        bias = _linear(t, f"{at}.bias", pair).transpose(0, 3, 1, 2) if spec.biased else None  # (B, heads, n, n)
        hidden = hidden + _attention(t, at, _norm(t, f"{at}.before", hidden), bias, spec.heads)
        inner = np.maximum(_linear(t, f"{at}.up", _norm(t, f"{at}.between", hidden)), 0)
        hidden = hidden + _linear(t, f"{at}.down", inner)
    return _linear(t, "essence", _norm(t, "output", hidden)), pair


def position_scores(t: Tensors, essence: Array, count: int, positions: Array | None = None) -> Array:
    """How much each item likes each position: (B, n, m), from the template of the arcs."""
    template = t["arcs.template"].T @ position_basis(count, positions)  # (d, m)
    return np.asarray(essence @ template, dtype=np.float32)


def flow_scores(t: Tensors, essence: Array, pair: Array, spec: SetSpec) -> Array:
    """How well each item (row) is followed by each other (column): (B, n, n), zero on the diagonal."""
    before, after = essence @ t["flow.from"], essence @ t["flow.to"]  # (B, n, rank)
    scores = before @ after.transpose(0, 2, 1) / np.float32(np.sqrt(spec.rank))
    scores = scores + _linear(t, "flow.pair", pair)[..., 0]
    return np.asarray(scores * (1 - np.eye(scores.shape[-1], dtype=np.float32)), dtype=np.float32)


def _attention(t: Tensors, at: str, x: Array, bias: Array | None, heads: int) -> Array:
    """Every item looks at every item, (B, n, w) to (B, n, w); there are no positions."""
    count, n, width = x.shape
    split = _linear(t, f"{at}.attention", x).reshape(count, n, 3, heads, width // heads)
    query, key, value = split.transpose(2, 0, 3, 1, 4)  # (B, heads, n, w / heads) each
    logits = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // heads))
    logits = logits if bias is None else logits + bias
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(count, n, width)
    return _linear(t, f"{at}.mixed", mixed)


def _linear(t: Tensors, name: str, x: Array) -> Array:
    weight = t[f"{name}.weight"]
    flat = x.reshape(-1, x.shape[-1]) @ weight.T  # one product, however many axes there are
    flat += t[f"{name}.bias"]
    return np.asarray(flat.reshape(*x.shape[:-1], len(weight)))


def _norm(t: Tensors, name: str, x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-5))
    return np.asarray(centred / scale * t[f"{name}.weight"] + t[f"{name}.bias"])
