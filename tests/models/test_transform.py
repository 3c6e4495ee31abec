import numpy as np
import pytest

from fabula.errors import InputError
from fabula.models.transform import Transform, log_parts


def fit(features, names, logged=()):
    """The transform that gives all items at once mean 0 and deviation 1."""
    values = np.array(features, dtype=np.float64)
    for text in logged:
        name, offset = log_parts(text, names)
        values[:, names.index(name)] = np.log(values[:, names.index(name)] + offset)
    return Transform(names, logged, np.nanmean(values, axis=0), np.nanstd(values, axis=0))


def test_training_items_get_mean_0_and_deviation_1():
    rng = np.random.default_rng(0)
    features = np.exp(rng.normal(size=(200, 3)))
    out = fit(features, ["a", "b", "c"], ["b"]).apply(features)
    assert np.allclose(out.mean(axis=0), 0)
    assert np.allclose(out.std(axis=0), 1)
    logs = np.log(features[:, 1])
    assert np.allclose(out[:, 1], (logs - logs.mean()) / logs.std())


def test_missing_values_are_left_out_of_the_fit_and_count_as_the_mean():
    t = fit([[1.0, 5.0], [3.0, np.nan], [np.nan, 7.0]], ["a", "b"])
    assert t.mean.tolist() == [2.0, 6.0]
    assert t.deviation.tolist() == [1.0, 1.0]
    assert t.apply([[np.nan, 8.0]]).tolist() == [[0.0, 2.0]]


def test_missing_is_allowed_where_the_logarithm_is_taken():
    t = fit([[1.0], [np.e], [np.nan]], ["a"], ["a"])
    assert np.allclose(t.apply([[np.e**2], [np.nan]]), [[3.0], [0.0]])


def test_a_constant_feature_is_shifted_only():
    t = fit([[4.0], [4.0]], ["a"])
    assert t.apply([[4.0], [6.0]]).tolist() == [[0.0], [2.0]]


def test_features_of_several_numbers_each():
    rng = np.random.default_rng(1)
    features = rng.random((50, 4, 3)) + 0.1
    t = fit(features, list("abcd"), ["c"])
    out = t.apply(features)
    assert t.item_shape == (4, 3)
    assert out.shape == features.shape
    assert np.allclose(out.mean(axis=0), 0)
    assert np.allclose(out[:, 2], (np.log(features[:, 2]) - t.mean[2]) / t.deviation[2])


def test_the_input_is_not_changed():
    features = np.array([[1.0], [2.0]])
    Transform(["a"], ["a"], [0.0], [1.0]).apply(features)
    assert features.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([[1.0, 0.0]], "feature 'b' must be above 0 .*got 0.0, item 0"),
        ([[1.0, 2.0], [1.0, -3.0]], "feature 'b' must be above 0 .*got -3.0, item 1"),
        ([[np.inf, 1.0]], "feature 'a' must be finite.*item 0"),
        ([[1.0]], r"shape \(n, 2, ...\)"),
        ([[[1.0], [1.0]]], r"shape \(n, 2\); got \(1, 2, 1\)"),
    ],
)
def test_refuses_features(features, message):
    with pytest.raises(InputError, match=message):
        Transform(["a", "b"], ["b"], [0.0, 0.0], [1.0, 1.0]).apply(features)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "a"], [], [0, 0], [1, 1]), "different texts"),
        (([], [], [], []), "one or more"),
        ((["a"], ["b"], [0], [1]), "logged features must be among"),
        ((["a"], [], [0, 0], [1, 1]), "needs a mean"),
        ((["a"], [], [0], [[1]]), "needs a mean"),
        ((["a"], [], [np.nan], [1]), "must be finite"),
        ((["a"], [], [0], [-1]), "not below 0"),
    ],
)
def test_refuses_a_broken_transform(arguments, message):
    with pytest.raises(InputError, match=message):
        Transform(*arguments)


def test_a_constant_before_the_logarithm():
    t = fit([[0.0], [0.98], [np.nan]], ("speech",), ("speech+0.02",))
    assert np.allclose(t.apply([[0.0], [0.98]]), [[-1], [1]])
    assert np.allclose(t.mean, np.log([0.02, 1.0]).mean())
    with pytest.raises(
        InputError, match=r"feature 'speech' must be above -0\.02 \(its logarithm is taken\); got -0\.5"
    ):
        t.apply([[-0.5]])
    for wrong in ("other+0.02", "speech+x", "speech+-1", "speech+inf"):
        with pytest.raises(InputError, match="logged features must be among the feature names"):
            Transform(("speech",), (wrong,), [0.0], [1.0])


def test_a_bound_keeps_the_order_and_hardly_touches_the_middle():
    t = Transform(("x",), (), [0.0], [1.0], bound=4.0)
    x = np.array([[-50.0], [-8.0], [-1.0], [0.0], [1.0], [8.0], [50.0]])
    y = t.apply(x)[:, 0]
    assert (np.diff(y) > 0).all()
    assert np.abs(y).max() <= 4.0
    assert abs(y[4] - 1) < 0.03
    with pytest.raises(InputError, match="bound of a transform must be 0"):
        Transform(("x",), (), [0.0], [1.0], bound=-1)
