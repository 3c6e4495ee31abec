"""The lexicon: which terms stand at the beginning of a collection, and which at its end, by ridge regression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.evidence import Terms
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
        fold = dict(zip(np.random.default_rng(seed).permutation(groups).tolist(), _cycle(len(groups)), strict=True))
        sums = _fold_sums([(fold[group], terms) for group, terms in own], words[language])
        weights[language] = _ridge(sum(sums.values(), _Sums.none(len(words[language]))))
        parts = {k: _ridge(_without(sums, k)) for k in sums}
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


@dataclass(frozen=True, eq=False)
class _Sums:
    """What ridge regression needs of rows (r, w) and goals (r, 4): their products, (w, w) and (w, 4)."""

    rows: Floats
    goals: Floats

    @classmethod
    def none(cls, width: int) -> _Sums:
        return cls(np.zeros((width, width)), np.zeros((width, 4)))

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(self.rows + other.rows, self.goals + other.goals)


def _fold_sums(collections: Sequence[tuple[int, Terms]], words: Sequence[str]) -> dict[int, _Sums]:
    """Fold -> the sums of its collections; the rows of all of them are never held at once."""
    found: dict[int, _Sums] = {}
    for fold, terms in collections:
        rows = _rows(terms, words)
        sums = found.setdefault(fold, _Sums.none(len(words)))
        sums.rows[...] += rows.T @ rows
        sums.goals[...] += rows.T @ _goals(len(rows))
    return found


def _without(sums: Mapping[int, _Sums], fold: int) -> _Sums:
    width = len(sums[fold].rows)
    return sum((one for k, one in sums.items() if k != fold), _Sums.none(width))


def _ridge(sums: _Sums) -> Floats:
    """Ridge regression: shape (w, 4)."""
    return np.asarray(np.linalg.solve(sums.rows + PENALTY * np.eye(len(sums.rows)), sums.goals))


def _cycle(count: int) -> list[int]:
    return [k % FOLDS for k in range(count)]
