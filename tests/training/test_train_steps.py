import numpy as np

from fabula.training.steps import Example, bits_of, noise, shuffled, train_steps


def examples(count, n=10):
    """Collections that rise in one feature, and in which neighbours are close."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        rise = np.linspace(-1.5, 1.5, n)[:, np.newaxis] + rng.normal(0, 0.5, (n, 1))
        near = -np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / 3 + rng.normal(0, 1, (n, n))
        found.append(Example(np.concatenate([rise, rng.normal(size=(n, 1))], axis=1), near[np.newaxis]))
    return found


def test_an_order_that_is_there_is_learned_and_its_controls_are_zero():
    rng = np.random.default_rng(1)
    train, held = examples(80), examples(40)
    for spoil, low, high in ((None, 2.5, 5), (shuffled, -0.5, 0.2), (noise, -0.5, 0.2)):
        kept, other = (spoil(one, rng) if spoil else one for one in (train, held))
        weights = train_steps(kept, negatives=31, penalty=0.1, rng=rng)
        assert low < bits_of(other, weights, negatives=31, rng=rng).mean() < high


def test_without_weights_there_are_no_bits():
    assert np.allclose(bits_of(examples(3), np.zeros(25), negatives=31, rng=np.random.default_rng(0)), 0)
