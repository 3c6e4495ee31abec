from itertools import pairwise

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.collections import Collections
from fabula.errors import InputError, ModelError
from fabula.models.model import Model
from fabula.models.order import explain

FEATURES = ("loudness", "key", "mode", "duration_ms")


def test_an_items_essence_does_not_depend_on_the_order(model, features, titles):
    essence, rng = model.encode(features, titles, "Hope"), np.random.default_rng(1)
    for _ in range(5):
        order = rng.permutation(len(titles))
        mixed = model.encode(features[order], [titles[i] for i in order], "Hope")
        np.testing.assert_allclose(mixed, essence[order], atol=1e-5)


def test_an_items_essence_depends_on_the_others(model, features):
    essence = model.encode(features)
    features[-1, 0] += 6
    assert np.abs(model.encode(features)[0] - essence[0]).max() > 1e-4


def test_what_is_missing_is_masked(model, features, titles):
    features[:, 0] = np.nan
    hidden = model.encode(features, titles)
    features[:, 0] = np.inf
    np.testing.assert_array_equal(model.encode(features, titles), hidden)
    assert model.encode(None, titles).shape == (6, model.dimensions)
    assert np.isfinite(model.encode(np.full((1, 4), np.nan))).all()


def test_titles_that_are_track_numbers_tell_nothing(model, features):
    bare = model.energy(features)
    for numbered in ("{}", "{:02}", "Track {}", "{:02}.", "A{}", "Pista {:02}"):
        tables = model.energy(features, [numbered.format(i) for i in range(1, 7)])
        np.testing.assert_array_equal(tables.positions, bare.positions)
        np.testing.assert_array_equal(tables.flow, bare.flow)


def test_a_number_before_a_title_tells_nothing(model, features, titles):
    plain = model.energy(features, titles, "Hope")
    numbered = [f"{i:02} - {title}" for i, title in enumerate(titles, start=1)]
    np.testing.assert_array_equal(model.energy(features, numbered, "Hope").positions, plain.positions)


def test_the_last_item_counts(model, features, titles):
    order = np.arange(6)
    tables = model.energy(features, titles)
    swapped = [0, 1, 2, 3, 5, 4]
    assert tables.score(order) != tables.score(swapped)
    changed = features.copy()
    changed[-1, 3] *= 2
    assert model.energy(changed, titles).score(order) != tables.score(order)


def test_scores_are_sums_over_the_tables(model, features, titles):
    tables = model.energy(features, titles)
    order = [3, 1, 0, 5, 4, 2]
    total = sum(tables.positions[item, place] for place, item in enumerate(order))
    total += sum(tables.flow[a, b] for a, b in pairwise(order))
    assert model.score(features, [order], titles) == pytest.approx([total])
    assert not np.diag(tables.flow).any()


def test_a_collection_is_read_by_name(model, features, titles):
    items = [Item(str(i), title, artist="Me") for i, title in enumerate(titles)]
    given = Collection("1", items, features[:, ::-1], FEATURES[::-1], title="Hope")
    expected = model.encode(features, titles, "Hope", ["Me"] * 6)
    np.testing.assert_array_equal(model.encode(given), expected)
    fewer = Collection("2", items[:3], features[:3, :1], ("loudness",))
    many = model.encode_all([given, fewer, given])
    np.testing.assert_allclose(many[2], expected, atol=1e-5)
    assert many[1].shape == (3, model.dimensions)


def test_reasons_name_what_is_known(model, features, titles):
    items = [Item(str(i), title) for i, title in enumerate(titles)]
    reasons = explain(model, [5, 4, 3, 2, 1, 0], Collection("1", items, features, FEATURES))
    assert reasons.groups == (*FEATURES, "title")
    assert reasons.by_group.shape == reasons.after_by_group.shape == (6, 5)
    assert reasons.by_group[2, 0] == pytest.approx(0, abs=1e-12)  # its loudness is not known
    assert reasons.by_group[3, 4] == pytest.approx(0, abs=1e-12)  # it has no title
    assert reasons.after_by_group[2, 0] == pytest.approx(0, abs=1e-12)
    assert np.abs(reasons.by_group).max() > 0.01
    assert np.abs(reasons.after_by_group).max() > 0.01
    assert reasons.after[5] == 0  # nothing stands before it
    assert reasons.before[0] == 0
    alone = explain(model, [0], Collection("1", [Item("a")], features[:1], FEATURES))
    assert alone.groups == FEATURES


@pytest.mark.parametrize("layers", [0, 1])
def test_a_thing_left_out_of_an_item_is_as_if_it_were_not_known(random_model, features, layers):
    """Of a net in which the others do not hear of it: of no more than a layer, that sees no one beside the rest."""
    model = random_model(layers=layers, titles=False, tokens=0, grams=0)
    model.tensors["input.weight"][:, 3:9] = 0.0  # how an item stands out from the others, and its rank among them
    groups = ("loudness", "key", "duration_ms")
    whole, *less = model.encoder.leave_out(_inputs(model, features), [[name] for name in groups])
    np.testing.assert_allclose(whole.essence, _essence(model, features), atol=1e-12)
    for name, left in zip(groups, less, strict=True):
        flow = np.asarray(model.energy_of(left)[0].flow)
        for item in range(6):
            unknown = features.copy()
            unknown[item, FEATURES.index(name)] = np.nan
            np.testing.assert_allclose(left.essence[0, item], _essence(model, unknown)[0, item], atol=1e-12)
            if layers == 0:
                np.testing.assert_allclose(flow[:, item], model.energy(unknown).flow[:, item], atol=1e-12)


def test_a_thing_left_out_of_an_item_alone_is_as_if_it_were_not_known(model, features):
    features = features[:1]
    groups = [["title"], ["loudness"], ["loudness", "title"]]
    _, untitled, quiet, bare = model.encoder.leave_out(_inputs(model, features, "The End"), groups)
    np.testing.assert_allclose(untitled.essence, _essence(model, features, ""), atol=1e-12)
    features[0, 0] = np.nan
    np.testing.assert_allclose(quiet.essence, _essence(model, features, "The End"), atol=1e-12)
    np.testing.assert_allclose(bare.essence, _essence(model, features, ""), atol=1e-12)


def _inputs(model, features, title=""):
    items = [Item(str(i), title) for i in range(len(features))]
    return next(model.encoder.inputs(Collections.of([Collection("1", items, features, FEATURES)], FEATURES)))[1]


def _essence(model, features, title=""):
    return model.encoder.encode_inputs(_inputs(model, features, title)).essence


def test_wrong_tensors_are_refused(model):
    spec, words = model.encoder.spec, model.encoder.vocabulary
    for change, told in (
        ({"arcs.template": np.zeros((12, 5))}, "'arcs.template' must have shape"),
        ({"arcs.template": np.full((12, 6), np.nan)}, "finite"),
        ({"transform.deviation": np.zeros(4)}, "above 0"),
        ({"other": np.zeros(1)}, "'other' is not one"),
    ):
        with pytest.raises(ModelError, match=told):
            Model(spec.config(), {**model.tensors, **change}, words)
    with pytest.raises(ModelError, match="is missing"):
        Model(spec.config(), {}, words)
    with pytest.raises(ModelError, match="vocabulary"):
        Model(spec.config(), model.tensors)


def test_wrong_inputs_are_refused(model, features):
    with pytest.raises(InputError, match="one per item: 6; got 1"):
        model.encode(features, ["a"])
    album = Collection("1", [Item(str(i)) for i in range(6)], features, FEATURES)
    with pytest.raises(InputError, match="titles must be texts, one per item: 6; got 1"):
        model.encode(album, ["x"])
    with pytest.raises(InputError, match="features, titles or both"):
        model.encode(None)


def test_a_model_without_titles_ignores_them(random_model, features, titles):
    plain = random_model(titles=False, tokens=0, grams=0, biased=False)
    np.testing.assert_array_equal(plain.encode(features, titles), plain.encode(features))
