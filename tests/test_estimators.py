"""Estimators in the manner of scikit-learn: its own checks, and what they are for."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import fabula
from fabula.errors import InputError
from fabula.estimators import EssenceEncoder, TemplateLearner

# Which of scikit-learn's checks do not apply, and why.
ZSCORED = {"check_clustering": "rows of two values, z-scored, tell nothing but which of the two is larger"}
QUICK = {"epochs": 1, "widths": [4], "negatives": 3}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (TemplateLearner(n_templates=2), ZSCORED),
        (TemplateLearner(n_templates=3, normalised=False), {}),
        (EssenceEncoder(settings=QUICK, stretch=8), {}),
    ],
    ids=["templates", "templates as they are", "essence"],
)
def test_scikit_learns_own_checks(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert [name for name, found in status.items() if found == "failed"] == []
    assert [name for name, found in status.items() if found == "xfail"] == list(expected)
    assert sum(found == "passed" for found in status.values()) > 35


def bundles(rng, count=40, n=6):
    """Rows that rise and rows that fall."""
    rising = np.linspace(-1, 1, n) + 0.2 * rng.normal(size=(count, n))
    return np.concatenate([rising, -rising])


def test_templates_are_those_of_learn_templates(rng):
    X = bundles(rng)
    learner = TemplateLearner(n_templates=2).fit(X)
    essences = [fabula.normalise(row) for row in X]
    same = fabula.learn_templates(essences, k=2)
    np.testing.assert_array_equal(learner.templates_.values, same.values)
    np.testing.assert_allclose(learner.transform(X), same.errors(essences))
    assert learner.inertia_ == pytest.approx(same.cost(essences))
    assert -learner.score(X) == pytest.approx(same.cost(essences))
    assert len(set(learner.predict(X)[:40])) == len(set(learner.predict(X)[40:])) == 1
    np.testing.assert_array_equal(learner.predict(X), learner.labels_)


def test_collections_of_different_lengths_and_positions(rng):
    X = [np.sort(rng.normal(size=n)) for n in (4, 7, 9, 5)]
    u = [np.sort(np.concatenate([[0, 1], rng.uniform(size=len(x) - 2)])) for x in X]
    learner = TemplateLearner(n_templates=1).fit(X, positions=u)
    essences = [fabula.normalise(x) for x in X]
    np.testing.assert_array_equal(learner.templates_.values, fabula.learn_templates(essences, k=1, positions=u).values)
    assert learner.transform(X, positions=u).shape == (4, 1)


def test_in_a_search_and_a_pipeline(rng):
    found = GridSearchCV(TemplateLearner(), {"n_templates": [1, 2]}, cv=2).fit(rng.permutation(bundles(rng)))
    assert found.best_params_ == {"n_templates": 2}
    steps = make_pipeline(StandardScaler(), TemplateLearner(2)).fit(bundles(rng))
    assert steps.get_feature_names_out().tolist() == ["templatelearner0", "templatelearner1"]


def falling(rng, count=40, n=5):
    X = rng.normal(size=(count, n, 2)) + np.stack([np.linspace(3, 0, n), np.zeros(n)], axis=1)
    return X.reshape(-1, 2), np.repeat(np.arange(count), n)


def test_essence_is_that_of_its_model(rng):
    X, groups = falling(rng)
    encoder = EssenceEncoder(settings={"epochs": 15, "learning_rate": 0.03}).fit(X, groups=groups)
    essence = encoder.transform(X, groups=groups)
    np.testing.assert_allclose(essence[:5], encoder.model_.encode(X[:5]))
    assert encoder.score(*falling(rng)[:1], groups=groups) > 0.5
    alone = encoder.transform(X)  # each row by itself: an affine map of the essence within a collection
    np.testing.assert_allclose(fabula.normalise(alone[:5]), essence[:5, 0], atol=1e-9)
    assert abs(alone.mean()) < 1e-9
    mixed = rng.permutation(5)
    assert fabula.evaluate([mixed[encoder.order(X[:5][mixed])]]).spearman > 0
    np.testing.assert_array_equal(clone(encoder).fit(X, groups=groups).transform(X), alone)


@pytest.mark.slow
def test_cross_validation_is_by_collections_or_refused(rng):
    X, groups = falling(rng, 36)
    encoder = EssenceEncoder(settings={"epochs": 40, "learning_rate": 0.03})
    cv = GroupKFold(3)
    scores = cross_val_score(encoder, X, groups, groups=groups, cv=cv)
    by_hand = [
        clone(encoder).fit(X[a], groups=groups[a]).score(X[b], groups=groups[b]) for a, b in cv.split(X, groups=groups)
    ]
    np.testing.assert_allclose(scores, by_hand)
    assert min(scores) > 0.5
    with pytest.raises(ValueError, match="which rows are a collection"):
        cross_val_score(encoder, X, groups=groups, cv=cv)


def test_mistakes_are_one_line(rng):
    X, _ = falling(rng, 4)
    with pytest.raises(InputError, match=r"groups must say the collection of each of the 20 rows; got shape \(3,\)"):
        EssenceEncoder().fit(X, groups=[1, 2, 3])
    with pytest.raises(InputError, match="every group has one row"):
        EssenceEncoder().fit(X, groups=np.arange(20))
    with pytest.raises(InputError, match="which rows are a collection"):
        EssenceEncoder().fit(X)
    with pytest.raises(InputError, match="the same value in all rows"):
        EssenceEncoder(stretch=4).fit(np.ones((20, 2)))
    with pytest.raises(InputError, match="n_templates must be a whole number of at least 1; got 0"):
        TemplateLearner(0).fit(X)


def test_without_scikit_learn_there_is_one_clear_line():
    code = "import sys; sys.modules['sklearn'] = None; import fabula.estimators"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr.splitlines()[-1].endswith(
        "an estimator needs sklearn, which is not installed: pip install 'fabula[sklearn]'"
    )
