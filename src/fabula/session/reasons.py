"""Why an item stands where it stands, in a sentence."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.fit import Fit

# feature: what an item is called that has much of it, or little
_WORDS = {
    "loudness": ("loud", "quiet"),
    "duration_ms": ("long", "short"),
    "duration": ("long", "short"),
    "energy": ("energetic", "calm"),
    "tempo": ("fast", "slow"),
    "valence": ("happy", "sad"),
    "danceability": ("danceable", "not danceable"),
    "acousticness": ("acoustic", "electric"),
    "instrumentalness": ("instrumental", "sung"),
    "speechiness": ("spoken", "not spoken"),
    "liveness": ("live", "studio"),
}


def reasons(collection: Collection, essence: Floats, fit: Fit, *, features: tuple[str, ...] = ()) -> list[str]:
    """One sentence per position: what the item is like, and what the arc wants there.

    Parameters
    ----------
    collection
        In the order given.
    essence
        Shape (n,) or (n, d), z-scored, in the order given.
    fit
        The ordering to explain.
    features
        The features the essence was made of; those of the collection where none are named.
    """
    traits = _traits(collection, features or collection.feature_names)
    roles = _roles(fit)
    order = fit.ordering.tolist()
    gaps = (essence[fit.ordering] - fit.targets).tolist() if essence.ndim == 1 else [0.0] * len(order)
    return [
        f"{' and '.join(traits[item]) or 'middling'}: {role}{_distance(gap)}"
        for item, role, gap in zip(order, roles, gaps, strict=True)
    ]


def _traits(collection: Collection, names: tuple[str, ...]) -> list[list[str]]:
    """At most two words per item, for the features in which it stands out most from the others."""
    there = [name for name in names if name in _WORDS and name in collection.feature_names]
    known = [name for name in there if np.isfinite(collection.column(name)).any()]
    if not known or len(collection) < 2:
        return [[] for _ in collection.items]
    values = collection.columns(known)
    spread = np.nanstd(values, axis=0)
    centred = np.where(spread > 0, values - np.nanmean(values, axis=0), 0.0) / np.where(spread > 0, spread, 1.0)
    standing = np.nan_to_num(centred)
    most = np.argsort(-np.abs(standing), axis=1)[:, :2]
    return [
        [_WORDS[known[f]][0 if v > 0 else 1] for f, v in zip(which, values, strict=True) if abs(v) >= 0.4]
        for which, values in zip(most.tolist(), np.take_along_axis(standing, most, axis=1).tolist(), strict=True)
    ]


def _roles(fit: Fit) -> list[str]:
    """What the template wants at each place."""
    curve = fit.targets if fit.targets.ndim == 1 else fit.targets[:, 0]
    n = len(curve)
    if n == 1 or fit.targets.ndim > 1 or np.ptp(curve) == 0:
        return ["opener" if j == 0 else "close" if j == n - 1 else "in between" for j in range(n)]
    slope = np.gradient(curve)
    words = ["on the way up" if s > 0 else "on the way down" for s in slope]
    words[int(np.argmax(curve))], words[int(np.argmin(curve))] = "the height of the arc", "the depth of the arc"
    words[0], words[-1] = _end("opener", curve[0], curve), _end("close", curve[-1], curve)
    return words


def _end(name: str, value: float, curve: Floats) -> str:
    share = (value - curve.min()) / np.ptp(curve)
    return f"{name}, where the arc is {'high' if share > 2 / 3 else 'low' if share < 1 / 3 else 'in the middle'}"


def _distance(gap: float) -> str:
    if abs(gap) < 0.5:
        return ""
    return f" ({abs(gap):.1f} {'above' if gap > 0 else 'below'} it)"
