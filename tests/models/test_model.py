import pickle
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabula.core.collection import Collection, Item
from fabula.errors import InputError, ModelError
from fabula.models.encoders import ENCODERS
from fabula.models.model import Model, load_model
from fabula.models.own import OWN_ENCODERS, Encoder, register
from fabula.models.transform import Transform


def some_features(n, f=5, seed=0):
    return np.exp(np.random.default_rng(seed).normal(size=(n, f)))


def as_collection(features, names, name="x"):
    return Collection(name, [Item(str(i)) for i in range(len(features))], features, names)


@pytest.mark.parametrize("d", [1, 4])
def test_essence_is_z_scored_within_the_collection(make_model, d):
    essence = make_model(d).encode(some_features(9))
    assert essence.shape == (9, d)
    assert np.allclose(essence.mean(axis=0), 0)
    assert np.allclose(essence.std(axis=0), 1)


def test_a_single_item_has_a_zero_essence_and_one_order(make_model):
    for scorers in (("bilstm",), ("arcs",)):
        model = make_model(2, scorers=scorers)
        assert model.encode(some_features(1)).tolist() == [[0.0, 0.0]]
        fits = model.order(some_features(1))
        assert [f.ordering.tolist() for f in fits] == [[0]]


@pytest.mark.parametrize("n", [2, 3, 17, 500, 1025])
def test_items_that_are_alike_have_a_zero_essence(make_model, n):
    features = np.repeat(some_features(1), n, axis=0)
    assert not make_model(3).encode(features).any()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12))
def test_essence_follows_its_item(seed, n):
    from_seed = np.random.default_rng(seed)
    model = identity_model(3)
    features, order = from_seed.normal(size=(n, 3)), from_seed.permutation(n)
    assert np.allclose(model.encode(features)[order], model.encode(features[order]))


def identity_model(d):
    config = {"dimensions": d, "encoder": {"kind": "identity"}, "scorers": []}
    return Model(config, {}, Transform([f"f{i}" for i in range(d)], [], np.full(d, 2.0), np.full(d, 3.0)))


def test_identity_takes_the_features_as_they_are():
    features = np.array([[1.0, 5.0], [3.0, 5.0]])
    assert identity_model(2).encode(features).tolist() == [[-1.0, 0.0], [1.0, 0.0]]


def test_the_paper_encoder_takes_three_axes(make_model):
    encoder = {"kind": "bilstm", "hidden": 6, "layers": 2}
    model = make_model(2, encoder=encoder, item_shape=(10, 7))
    features = np.exp(np.random.default_rng(0).normal(size=(4, 10, 7)))
    assert model.encode(features).shape == (4, 2)
    with pytest.raises(ModelError, match=r"shape \(n, 10, 7\), n at least 1; got \(4, 10\)"):
        model.encode(features[:, :, 0])


def test_a_collection_gives_its_features_by_name(make_model):
    model = make_model()
    features = some_features(6)
    shuffled = [3, 1, 0, 4, 2]
    collection = as_collection(
        np.column_stack([features[:, shuffled], np.ones(6)]), [*(f"f{i}" for i in shuffled), "other"]
    )
    assert np.array_equal(model.encode(collection), model.encode(features))


def test_encode_all_is_encode_of_each(make_model):
    model = make_model(4)
    blocks = [some_features(n, seed=n) for n in (3, 1, 8, 2)]
    mixed = [blocks[0], as_collection(blocks[1], model.feature_names), *blocks[2:]]
    together = model.encode_all(mixed)
    assert [len(e) for e in together] == [3, 1, 8, 2]
    assert all(np.allclose(e, model.encode(b), atol=1e-9) for e, b in zip(together, blocks, strict=True))
    assert model.encode_all([]) == []


@pytest.mark.parametrize("scorer", ["bilstm", "arcs"])
def test_the_energies_of_many_score_as_each_sequence_does(make_model, scorer):
    model = make_model(4)
    blocks = [some_features(n, seed=n) for n in (3, 4, 3)]
    for energy, block in zip(model.energies(blocks, scorer), blocks, strict=True):
        orders = np.array([np.arange(len(block)), np.arange(len(block))[::-1]])
        essence = model.encode(block)
        np.testing.assert_allclose(energy.score(orders), model.score(essence[orders], scorer), rtol=1e-5)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((3, 4)), r"shape \(n, 5\), n at least 1; got \(3, 4\)"),
        (np.ones((3, 5, 2)), r"got \(3, 5, 2\)"),
        (np.ones((0, 5)), r"n at least 1; got \(0, 5\)"),
        (np.ones(5), r"got \(5,\)"),
        (as_collection(np.ones((2, 2)), ["f1", "f9"], "mine"), "'mine' lacks 4 of the 5 .*: f0, f2, f3, f4$"),
    ],
)
def test_features_that_do_not_fit_the_model(make_model, features, message):
    with pytest.raises(ModelError, match=message):
        make_model().encode(features)


def test_features_that_are_no_numbers(make_model):
    with pytest.raises(InputError, match="features must be an array of numbers"):
        make_model().encode([["a"] * 5])


def test_a_refused_value_names_its_collection_and_item(make_model):
    good, bad = some_features(3), some_features(3)
    bad[1, 0] = -1.0
    with pytest.raises(InputError, match=r"collection '2': feature 'f0' must be above 0 .*item 1"):
        make_model().encode_all([good, bad])


@pytest.mark.parametrize("scorer", ["bilstm", "arcs"])
def test_score_of_one_and_of_many(make_model, scorer):
    model = make_model(2)
    sequences = np.random.default_rng(0).normal(size=(7, 5, 2))
    many = model.score(sequences, scorer)
    assert many.shape == (7,)
    assert many.dtype == np.float64
    assert [model.score(s, scorer) for s in sequences] == pytest.approx(many.tolist(), abs=1e-6)
    assert isinstance(model.score(sequences[0], scorer), float)
    assert model.score(sequences[:0], scorer).shape == (0,)


def test_a_scalar_sequence_may_be_flat(make_model):
    model = make_model(1)
    assert model.score([1.0, -1.0, 0.0]) == model.score([[1.0], [-1.0], [0.0]])


def test_the_default_scorer_is_the_arcs(make_model):
    sequence = [0.5, -1.0, 0.5]
    both, lstm = make_model(), make_model(scorers=("bilstm",))
    assert both.scorers == ("bilstm", "arcs")
    assert both.score(sequence) == both.score(sequence, "arcs") == both.arcs.score(sequence)
    assert lstm.arcs is None
    assert lstm.score(sequence) == lstm.score(sequence, "bilstm")


@pytest.mark.parametrize("scorer", ["bilstm", "arcs"])
def test_the_score_sees_every_item(make_model, scorer):
    model = make_model(1)
    sequence = np.linspace(-1, 1, 6)
    for item in range(6):
        changed = sequence.copy()
        changed[item] += 1
        assert abs(model.score(changed, scorer) - model.score(sequence, scorer)) > 1e-4


@pytest.mark.parametrize(
    ("sequence", "error", "message"),
    [
        ([1.0, 2.0], ModelError, r"shape \(n, 2\) or \(m, n, 2\); got \(2,\)"),
        (np.ones((4, 3)), ModelError, r"got \(4, 3\)"),
        (np.ones((2, 0, 2)), ModelError, r"got \(2, 0, 2\)"),
        (np.ones((1, 1, 1, 2)), ModelError, "got"),
        ([[1.0, np.nan]], InputError, "must be finite"),
    ],
)
def test_sequences_that_cannot_be_scored(make_model, sequence, error, message):
    with pytest.raises(error, match=message):
        make_model(2).score(sequence)


def test_an_unknown_scorer_is_named(make_model):
    with pytest.raises(ModelError, match="no scorer 'arcs'; it has: bilstm"):
        make_model(scorers=("bilstm",)).score([1.0], "arcs")
    with pytest.raises(ModelError, match="no scorer: it gives an essence only"):
        make_model(scorers=()).order(some_features(3))


@pytest.mark.parametrize("scorers", [("arcs",), ("bilstm",)])
@pytest.mark.parametrize("d", [1, 2])
def test_orderings_are_distinct_and_likeliest_first(make_model, scorers, d):
    model = make_model(d, scorers=scorers)
    features = some_features(6)
    fits = model.order(features, alternatives=5)
    assert len({tuple(f.ordering) for f in fits}) == 5
    scores = [f.score for f in fits]
    assert scores == sorted(scores, reverse=True)
    essence = model.encode(features)
    assert scores == pytest.approx([model.score(essence[f.ordering]) for f in fits], abs=1e-5)
    assert all(f.exact == (scorers == ("arcs",)) for f in fits)


def test_arcs_order_exactly_for_their_template(make_model):
    model = make_model(1, scorers=("arcs",))
    features = some_features(5)
    essence = model.encode(features)[:, 0]
    for fit in model.order(features, alternatives=3):
        best = max(float(fit.targets @ essence[list(p)]) for p in permutations(range(5)))
        assert float(fit.targets @ essence[fit.ordering]) == pytest.approx(best)


@pytest.mark.parametrize("scorers", [("arcs",), ("bilstm",)])
def test_fixed_items_keep_their_place(make_model, scorers):
    for fit in make_model(1, scorers=scorers).order(some_features(7), fixed={0: 4, -1: 2}):
        assert fit.ordering[0] == 4
        assert fit.ordering[-1] == 2
        assert sorted(fit.ordering) == list(range(7))


def test_a_model_is_checked_tensor_by_tensor(make_model):
    model = make_model()

    def rebuilt(**changes):
        tensors = {name: t for name, t in (model.tensors | changes).items() if t is not None}
        return Model(model.config, tensors, model.transform)

    with pytest.raises(ModelError, match=r"tensor 'bilstm.start' is missing"):
        rebuilt(**{"bilstm.start": None})
    with pytest.raises(ModelError, match=r"tensor 'extra' is not one of"):
        rebuilt(extra=np.ones(1))
    with pytest.raises(ModelError, match=r"'bilstm.start' must have shape \(1,\); got \(2,\)"):
        rebuilt(**{"bilstm.start": np.ones(2)})
    with pytest.raises(ModelError, match=r"'encoder.0.bias' must be finite"):
        rebuilt(**{"encoder.0.bias": np.full(16, np.nan)})
    with pytest.raises(ModelError, match=r"arcs of the model break a rule: .*rise from 0 to 1"):
        rebuilt(**{"arcs.knots": np.zeros(5)})


def test_a_card_holds_what_json_holds():
    transform = Transform(["a"], [], [0.0], [1.0])
    config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []}
    model = Model(config, {}, transform, card={"bits": np.float64(0.5), "lengths": np.arange(2)})
    assert model.card == {"bits": 0.5, "lengths": [0, 1]}
    for broken in ({"bits": float("nan")}, {"bits": object()}):
        with pytest.raises(ModelError, match="card must hold finite numbers"):
            Model(config, {}, transform, card=broken)


@pytest.mark.parametrize("name", ["albums", "audio", "music", "prose"])
def test_a_model_goes_to_another_process(name):
    model = load_model(name)
    again = pickle.loads(pickle.dumps(model))
    assert again.config == model.config
    assert all(np.array_equal(again.tensors[name], tensor) for name, tensor in model.tensors.items())


def test_so_does_one_with_an_encoder_of_ones_own(monkeypatch):
    for registry in (ENCODERS, OWN_ENCODERS):  # which have it no more afterwards
        monkeypatch.setitem(registry, "halves", None)
    register(Encoder("halves", net=lambda shape, d: None, encode=lambda weights, items: items / 2))
    config = {"dimensions": 1, "encoder": {"kind": "halves", "tensors": {}}, "scorers": []}
    model = Model(config, {"encoder.signs": [-1.0]}, Transform(("energy",), (), [0.0], [1.0]))
    again = pickle.loads(pickle.dumps(model))
    assert again.encode([[1.0], [3.0]], raw=True).tolist() == [[-0.5], [-1.5]]


def test_what_is_given_for_orderings_and_titles_is_checked():
    albums, music = load_model("albums"), load_model("music")
    features = np.ones((3, len(albums.feature_names)))
    for wrong in ([0, 0, 0], [-1, -2, -3], [0.5, 1.5, 2.5], [0, 1, 7], [], [[0, 1], [2]], [[[0, 1, 2]]]):
        with pytest.raises(InputError, match="ordering"):
            albums.score(features, wrong)
    assert albums.score(features, np.array([[0, 1, 2], [2, 1, 0]], dtype=np.uint8)).shape == (2,)
    plain = music.encode(None, ["Intro", "The End"])
    for alike in (np.array(["Intro", "The End"]), ("Intro", "The End")):
        np.testing.assert_array_equal(music.encode(None, alike), plain)
    np.testing.assert_array_equal(music.encode(None, ["Intro", float("nan")]), music.encode(None, ["Intro", ""]))
    for wrong in ([1, 2], "abc"):
        with pytest.raises(InputError, match="titles must be texts, one per item"):
            music.encode(np.ones((2, len(music.feature_names))), wrong)
    for wrong in ("4", None, 0, 1.5):
        with pytest.raises(InputError, match="alternatives"):
            albums.order(features, alternatives=wrong)
    with pytest.raises(InputError, match="fixed: must be items by position"):
        albums.order(features, fixed=[(0, 1)])
