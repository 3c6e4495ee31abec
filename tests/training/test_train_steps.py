import numpy as np
import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.collection import Terms
from fabula.models.model import load_model
from fabula.training.recipes import StepRecipe
from fabula.training.step_models import (
    Example,
    bits_of,
    learn_lexicon,
    learn_neighbours,
    learn_weights,
    neighbour_scores,
    neighbour_sums,
    noise,
    shuffle,
    spans,
)


def examples(count, n=10):
    """Collections that rise in one feature, and in which neighbours are close."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        rise = np.linspace(-1.5, 1.5, n)[:, np.newaxis] + rng.normal(0, 0.5, (n, 1))
        near = -np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / 3 + rng.normal(0, 1, (n, n))
        found.append(Example(np.concatenate([rise, rng.normal(size=(n, 1))], axis=1), near[np.newaxis]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "low", "high"), [(None, 2, 5), (shuffle, -1.0, 0.4), (noise, -1.0, 0.4)])
def test_an_order_that_is_there_is_learned_and_its_controls_are_zero(spoil, low, high):
    rng = np.random.default_rng(1)
    train, held = (spoil(one, rng) if spoil else one for one in (examples(16), examples(12)))
    weights = learn_weights(train, StepRecipe(steps=24, batch=12, chains=3, penalty=0.1))
    assert low < bits_of(held, weights.score, negatives=31, rng=rng).mean() < high


def test_the_weights_do_not_depend_on_the_number_of_processes():
    recipe = StepRecipe(steps=3, batch=6, chains=2)
    alone, shared = (learn_weights(examples(8), recipe, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(alone.arcs, shared.arcs)
    np.testing.assert_array_equal(alone.reach, shared.reach)


def test_weights_of_neighbours_are_where_the_loss_is_least():
    """Against its slope, written out: what true orders have less what all have by their shares."""
    own, near, hold = examples(30), np.array([0.3]), 0.05
    weights = learn_neighbours(own, negatives=15, rng=np.random.default_rng(3), near=near, hold=hold)
    rng, slope = np.random.default_rng(3), np.zeros(len(weights))
    for one in own:
        sums = neighbour_sums(one, np.argsort(rng.random((15, len(one))), axis=1))
        shares = np.exp(sums @ weights)
        slope += (shares @ sums / shares.sum() - sums[0]) / len(own)
    slope += 2 * hold * (weights - near)
    np.testing.assert_allclose(slope, 0, atol=1e-5)
    assert bits_of(own, neighbour_scores(weights), negatives=31, rng=rng).mean() > 1


def test_windows_lie_inside_the_collection():
    for n in (6, 20, 45, 200):
        found = spans(n, np.random.default_rng(0))
        assert all(span.start >= 0 and span.stop <= n for span in found)
        assert (range(n) in found) == (n <= 80)


def test_the_lexicon_knows_which_words_open_and_judges_no_one_by_himself():
    from scipy import sparse

    rng = np.random.default_rng(0)
    found = []
    for k in range(24):
        counts = rng.poisson(3, (10, 3)).astype(float)
        counts[:, 0] += np.arange(10, 0, -1)  # fewer and fewer
        found.append((f"author {k}", Terms("en", ("once", "and", "sea"), sparse.csr_array(counts), np.full(10, 100.0))))
    lexicon = learn_lexicon(found)
    weights = dict(zip(lexicon.words["en"], lexicon.weights["en"][:, 0], strict=True))
    assert weights["once"] == min(weights.values()) < 0
    assert not np.allclose(lexicon.without["author 0"]["en"], lexicon.weights["en"])
    assert lexicon.leanings(found[0][1], 10, "author 0")[:, 0].argmax() > 4


@pytest.mark.slow
def test_a_folder_of_books_is_trained_on(tmp_path):
    rng = np.random.default_rng(0)
    for book in range(8):
        folder = tmp_path / "books" / f"book {book}"
        folder.mkdir(parents=True)
        for number in range(7):
            people = [f"Name{chr(97 + number + k)}{book}" for k in range(3)]
            lines = [
                f"Then {who} saw {rng.choice(people)} and {number * 'very '}well." for who in people for _ in range(4)
            ]
            (folder / f"{number + 1:02}.txt").write_text(" ".join(lines))
    out = tmp_path / "mine.safetensors"
    how = ["--kind", "steps", "--set", "steps=6", "--set", "batch=6", "-o", str(out)]
    found = CliRunner().invoke(cli, ["train", str(tmp_path / "books"), *how])
    assert found.exit_code == 0, found.output
    assert "arcs + flow + reach" in found.output
    assert load_model(out).card["collections"] > 0
