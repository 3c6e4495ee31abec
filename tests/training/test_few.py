"""Few collections: what is learned by heart of them is not said, and what holds of others is."""

import numpy as np
import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.training.item_models import split_folds


def made(count, slope, seed, features=3):
    """Collections of eight items by makers of two each, whose first feature rises by so much."""
    rng = np.random.default_rng(seed)
    names = [f"f{k}" for k in range(features)]
    found = []
    for i in range(count):
        rows = rng.normal(size=(8, features))
        rows[:, 0] += np.linspace(0, slope, 8)
        found.append(Collection(f"{seed}-{i}", [Item(str(j), artist=f"maker {i // 2}") for j in range(8)], rows, names))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 30])
def test_of_nothing_little_is_said(count):
    """What a line learns by heart of thirty collections of noise had -0.1 to -0.3 bits on others."""
    bits = [
        fabula.train(
            (made(count, 0.0, 2 * seed), made(60, 0.0, 2 * seed + 1)), fabula.training.preset("arcs", epochs=30)
        )
        for seed in range(3)
    ]
    assert np.mean([done.information["arcs"].bits for done in bits]) > -0.02
    silent = [done for done in bits if done.trained.best_epoch == 0]
    assert silent
    assert all(done.information["arcs"].bits == pytest.approx(0, abs=1e-6) for done in silent)
    told = f"nothing that holds of others could be learned from {len(silent[0].split.training):,} collections"
    assert any(note.startswith(told) for note in silent[0].notes)


@pytest.mark.slow
def test_what_holds_of_others_is_said():
    done = fabula.train((made(30, 3.0, 0), made(40, 3.0, 1)), fabula.training.preset("arcs", epochs=60))
    assert done.information["arcs"].bits > 1.0
    assert done.trained.best_epoch == 60
    assert not any("could be learned" in note for note in done.notes)


@pytest.mark.parametrize("count", [1, 3, 12, 31])
def test_each_collection_is_apart_once_and_nobody_on_both_sides(count):
    collections = made(count, 0.0, 0, features=1)
    times = dict.fromkeys((c.id for c in collections), 0)
    for known, apart in split_folds(collections):
        assert len(known) + len(apart) == count
        for c in apart:
            times[c.id] += 1
        if count >= 12:
            assert not {c.maker for c in known} & {c.maker for c in apart}
    assert set(times.values()) == ({1} if count > 1 else {0})
