"""The lexicon: which terms stand at the beginning of a collection, and which at its end, by ridge regression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.collection import Terms
from fabula.models.encoders.measures import stand_out

MOST_TERMS = 2000  # of a language
FEWEST = 8  # collections of a language to learn from
PENALTY = 10_000.0
FOLDS = 6  # collections are judged by a lexicon learned without those of their group


@dataclass(frozen=True, eq=False)
class Lexicon:
    """What terms say of the position."""

    words: dict[str, tuple[str, ...]]  # language -> its terms
    weights: dict[str, Floats]  # language -> (w, 4), learned from all collections
    without: dict[str, dict[str, Floats]]  # group -> language -> (w, 4), without the fold of that group

    @property
    def tensor(self) -> Floats:
        """The weights of all languages, one below the other."""
        return np.concatenate([self.weights[language] for language in self.words] or [np.zeros((0, 4))])

    def leanings(self, terms: Terms | None, n: int, group: str) -> Floats:
        """What terms say of n items, shape (n, 4); by what was learned without the group, where it took part."""
        words = self.words.get("" if terms is None else terms.language, ())
        if terms is None or not words:
            return np.zeros((n, 4))
        weights = self.without.get(group, self.weights)[terms.language]
        return stand_out(_rows(terms, words) @ weights, np.zeros(4, dtype=bool))


def learn_lexicon(collections: Sequence[tuple[str, Terms]], *, seed: int = 0) -> Lexicon:
    """Learn which terms stand where from the terms of whole collections in their true order, each with its group."""
    words: dict[str, tuple[str, ...]] = {}
    weights: dict[str, Floats] = {}
    without: dict[str, dict[str, Floats]] = {}
    for language in sorted({terms.language for _, terms in collections if terms.language}):
        own = [(group, terms) for group, terms in collections if terms.language == language]
        if len(own) < FEWEST:
            continue
        words[language] = frequent([terms for _, terms in own])
        groups = sorted({group for group, _ in own})
        fold = {group: k % FOLDS for k, group in enumerate(np.random.default_rng(seed).permutation(groups).tolist())}
        sums = _sum_folds([(fold[group], terms) for group, terms in own], words[language])
        width = len(words[language])
        weights[language] = _ridge(sums.values(), width)
        parts = {k: _ridge((one for j, one in sums.items() if j != k), width) for k in sums}
        for group in groups:
            without.setdefault(group, {})[language] = parts[fold[group]]
    for group in without:
        without[group] = weights | without[group]
    return Lexicon(words, weights, without)


def frequent(collections: Sequence[Terms]) -> tuple[str, ...]:
    """The terms that stand in a tenth of the items of most collections."""
    counted: Counter[str] = Counter()
    for terms in collections:
        items = np.bincount(terms.counts.indices, minlength=len(terms.names))
        least = max(2.0, 0.1 * len(terms.totals))
        counted.update(terms.names[k] for k in np.flatnonzero(items >= least).tolist())
    return tuple(term for term, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TERMS])


def _rows(terms: Terms, words: Sequence[str]) -> Floats:
    return stand_out(terms.rates(words), np.zeros(len(words), dtype=bool))


def _goals(n: int) -> Floats:
    """What is learned of n positions: how late, how near to an end, the opening and the close; shape (n, 4)."""
    j, u = np.arange(n), np.linspace(-1, 1, n)
    goals = np.stack([u, u**2, np.exp(-j / 1.5), np.exp(-(n - 1 - j) / 1.5)], axis=1)
    return np.asarray(goals - goals.mean(axis=0))


def _sum_folds(collections: Sequence[tuple[int, Terms]], words: Sequence[str]) -> dict[int, Floats]:
    """Fold -> products of its rows with themselves and with the goals, (w, w + 4); all rows are never held at once."""
    width = len(words)
    found: dict[int, Floats] = {}
    for fold, terms in collections:
        rows = _rows(terms, words)
        sums = found.setdefault(fold, np.zeros((width, width + 4)))
        sums[:, :width] += rows.T @ rows
        sums[:, width:] += rows.T @ _goals(len(rows))
    return found


def _ridge(folds: Iterable[Floats], width: int) -> Floats:
    """Ridge regression from the sums (w, w + 4) of some folds, or none: shape (w, 4)."""
    total = sum(folds, np.zeros((width, width + 4)))
    return np.asarray(np.linalg.solve(total[:, :width] + PENALTY * np.eye(width), total[:, width:]))
