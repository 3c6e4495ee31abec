"""The lexicon: which terms stand at the beginning of a collection, and which at its end, by ridge regression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.models.steps.evidence import Terms
from fabula.models.steps.tables import standing

MOST_TERMS = 2000  # of a language
FEWEST = 8  # collections of a language to learn from
PENALTY = 10_000.0
FOLDS = 6  # collections are judged by a lexicon learned without those of their group


@dataclass(frozen=True, eq=False)
class Lexicon:
    """What terms say of the position.

    Attributes
    ----------
    words
        Language -> its terms.
    weights
        Language -> shape (w, 4), learned from all collections.
    without
        Group -> language -> shape (w, 4), learned without the fold of that group.
    """

    words: dict[str, tuple[str, ...]]
    weights: dict[str, Floats]
    without: dict[str, dict[str, Floats]]

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
        return standing(_rows(terms, words) @ weights, np.zeros(4, dtype=bool))


def learn_lexicon(collections: Sequence[tuple[str, Terms]], *, seed: int = 0) -> Lexicon:
    """Learn which terms stand where from whole collections in their true order.

    Parameters
    ----------
    collections
        Group, and the terms of the items.
    seed
        Of the folds.
    """
    words: dict[str, tuple[str, ...]] = {}
    weights: dict[str, Floats] = {}
    without: dict[str, dict[str, Floats]] = {}
    for language in sorted({terms.language for _, terms in collections if terms.language}):
        own = [(group, terms) for group, terms in collections if terms.language == language]
        if len(own) < FEWEST:
            continue
        words[language] = frequent([terms for _, terms in own])
        rows = [_rows(terms, words[language]) for _, terms in own]
        goals = [_goals(len(one)) for one in rows]
        of = np.concatenate([np.full(len(one), k) for k, one in enumerate(rows)])
        groups = sorted({group for group, _ in own})
        fold = dict(zip(np.random.default_rng(seed).permutation(groups).tolist(), _cycle(len(groups)), strict=True))
        folds = np.array([fold[group] for group, _ in own])[of]
        table, wanted = np.concatenate(rows), np.concatenate(goals)
        kernel = table @ table.T
        weights[language] = _ridge(table, wanted, kernel, folds >= 0)
        parts = [_ridge(table, wanted, kernel, folds != k) for k in range(FOLDS)]
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
    return standing(terms.rates(words), np.zeros(len(words), dtype=bool))


def _goals(n: int) -> Floats:
    """What is learned of n positions: how late, how near to an end, the opening and the close; shape (n, 4)."""
    j, u = np.arange(n), np.linspace(-1, 1, n)
    goals = np.stack([u, u**2, np.exp(-j / 1.5), np.exp(-(n - 1 - j) / 1.5)], axis=1)
    return np.asarray(goals - goals.mean(axis=0))


def _ridge(rows: Floats, goals: Floats, kernel: Floats, kept: np.ndarray) -> Floats:
    """Ridge regression in its dual form, for more terms than rows: shape (w, 4)."""
    dual = np.linalg.solve(kernel[np.ix_(kept, kept)] + PENALTY * np.eye(int(kept.sum())), goals[kept])
    return np.asarray(rows[kept].T @ dual)


def _cycle(count: int) -> list[int]:
    return [k % FOLDS for k in range(count)]
