import numpy as np
import pytest

torch = pytest.importorskip("torch")


from examples.assess_music import only  # noqa: E402
from examples.learn_from_teachers import Errors, StudentLearner, distill  # noqa: E402
from fabula.errors import InputError  # noqa: E402
from fabula.evaluation.controls import Parts  # noqa: E402
from fabula.models.encoders.set import SetInputs, SetSpec  # noqa: E402
from fabula.training.audit import NOISE, ORDERS, TITLES  # noqa: E402
from fabula.training.loop import optimise  # noqa: E402
from fabula.training.nets.set_net import SetNet, as_net, learn_inputs  # noqa: E402
from fabula.training.recipes import SetRecipe  # noqa: E402
from fabula.training.sets import (  # noqa: E402
    BOTH,
    Masking,
    SetTraining,
    collection_bits,
    prepare,
)

QUICK = SetRecipe(
    epochs=8, batch=32, negatives=64, learning_rate=1e-2, averaging=0.9, dropout=0.0, title_dropout=0.1,
    word_dropout=0.1, tokens=1, grams=1,
)  # fmt: skip


def data_of(albums, seed_albums, small):
    return prepare(albums, learn_inputs(seed_albums, small, tokens=1, grams=1))


def train(training, aside, spec, recipe, begin=None):
    return SetTraining(Parts(training, aside), spec, recipe, begin=begin, scorers=()).train()


def bits(done):
    """Bits on what was set aside."""
    return max(epoch.bits[BOTH] for epoch in done.history)


@pytest.fixture(scope="module")
def trained(albums, small):
    return train(*albums, small, QUICK)


def test_what_is_planted_is_found(trained, albums, planted):
    assert bits(trained) > 2.0
    model = trained.model
    album = planted(1, seed=7)[0]
    tables = model.energy(album)
    rng = np.random.default_rng(0)
    others = [tables.score(rng.permutation(6)) for _ in range(50)]
    assert tables.score(np.arange(6)) > np.mean(others)
    assert tables.positions[0].argmax() == 0  # Intro
    assert tables.positions[-1].argmax() == 5  # Outro


@pytest.mark.parametrize("control", [NOISE, ORDERS, TITLES])
def test_a_control_is_zero(albums, control, small):
    recipe = SetRecipe.from_dict({**QUICK.to_dict(), "epochs": 2, "learning_rate": 1e-3, "untitled": 0.0})
    sets = SetTraining(Parts(*albums), small, recipe)
    assert control in sets.controls
    done = sets.control(control).train()
    assert abs(done.history[-1].bits[BOTH]) < 0.05
    assert abs(done.information[BOTH].bits) < 0.05


def test_training_is_the_same_for_a_seed(albums, small):
    recipe = SetRecipe.from_dict({**QUICK.to_dict(), "epochs": 1})
    one, two = (train(albums[0][:40], albums[1][:20], small, recipe) for _ in range(2))
    for name, tensor in one.model.tensors.items():
        np.testing.assert_array_equal(tensor, two.model.tensors[name])
    assert one.model.training == two.model.training


def test_going_on_from_a_model_never_makes_it_worse(trained, albums):
    recipe = SetRecipe.from_dict({**QUICK.to_dict(), "epochs": 1, "learning_rate": 0.5})
    worse = train(albums[0][:30], albums[1], None, recipe, trained.model)
    assert worse.before == pytest.approx(bits(trained), abs=0.2)
    assert (worse.best_epoch > 0) == (bits(worse) > worse.before)
    if not worse.best_epoch:
        np.testing.assert_array_equal(worse.model.tensors["arcs.template"], trained.model.tensors["arcs.template"])


def test_a_net_learns_from_teachers(trained, albums, small):
    recipe = SetRecipe.from_dict({**QUICK.to_dict(), "epochs": 4, "taught": 1.0})
    read = learn_inputs(albums[0], small, tokens=1, grams=1)
    data, aside = (prepare(part, read) for part in albums)
    columns = torch.tensor([0])
    errors = Errors(columns, torch.zeros(1, 1), torch.zeros(1, 1), torch.tensor([-9.0]), torch.tensor([9.0]))
    given, teachers = (SetNet(read.spec), data, aside, recipe), [as_net(trained.model)]
    learned = optimise(StudentLearner(*given, teachers=teachers, errors=errors, views=[range(len(read.spec.features))]))
    assert max(epoch.bits[BOTH] for epoch in learned.history) > 1.0
    logits = torch.randn(2, 5)
    assert distill(logits, logits + 3) == pytest.approx(0, abs=1e-6)


def test_masking_hides_groups(albums, small):
    data = data_of(albums[0], albums[0], small)
    recipe = SetRecipe(few=1.0, kept=(("tempo",),), untitled=1.0, noise=0.0)
    batch = SetInputs(**data.whole(torch.arange(4), 6))
    hidden = Masking(recipe, small.features, torch.device("cpu"))(batch, torch.Generator().manual_seed(0))
    assert hidden.known[..., 0].sum() == 0
    assert torch.equal(hidden.known[..., 1], batch.known[..., 1])
    assert hidden.titled.sum() == 0
    seen = []
    only(seen.append, [0], titles=False)(batch)
    assert seen[0].known[..., 1].sum() == seen[0].titled.sum() == 0
    assert torch.equal(seen[0].known[..., 0], batch.known[..., 0])


def test_a_model_that_knows_nothing_has_no_bits(albums, small):
    data = data_of(albums[1], albums[0], small)
    found = collection_bits(lambda x: (torch.zeros(len(x.values), 6, 6),) * 2, data)
    np.testing.assert_allclose(found, 0, atol=1e-9)


def test_wrong_settings_are_refused(albums):
    with pytest.raises(InputError, match="no setting 'epoch'"):
        SetRecipe.from_dict({"epoch": 3})
    with pytest.raises(InputError, match="'epochs' must be a whole number of at least 1"):
        SetRecipe(epochs=0)
    with pytest.raises(InputError, match="'dropout' must be a number from 0 to 1"):
        SetRecipe(dropout=2)
    with pytest.raises(InputError, match="'energy' is missing in all"):
        learn_inputs(albums[0][:3], SetSpec(("energy",)), tokens=1, grams=1)
