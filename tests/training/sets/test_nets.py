"""The nets against the forward pass in NumPy, and what the loss makes of their tables."""

from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from fabula.core.collection import Collection, Item  # noqa: E402
from fabula.core.collections import Collections  # noqa: E402
from fabula.models.encoders.set import SetEncoder, SetInputs  # noqa: E402
from fabula.models.titles import Vocabulary  # noqa: E402
from fabula.training.loop import contrast, log_share, ordering_scores, permutations  # noqa: E402
from fabula.training.nets.set_net import SetNet, as_model, as_net, learn_inputs  # noqa: E402
from fabula.training.recipes import SetRecipe  # noqa: E402
from fabula.training.sets import prepare  # noqa: E402


@pytest.mark.parametrize("changes", [{}, {"biased": False}, {"circle": ""}, {"titles": False, "tokens": 0, "grams": 0}])
@pytest.mark.parametrize("known", [1.0, 0.5, 0.0])
def test_numpy_is_torch(musical_model, changes, known):
    model, rng = musical_model(**changes), np.random.default_rng(3)
    features = np.stack(
        [rng.normal(-8, 3, 6), rng.integers(0, 12, 6), rng.integers(0, 2, 6), rng.uniform(9e4, 4e5, 6)], 1
    )
    features[rng.random(features.shape) > known] = np.nan
    titles = ["Intro", "Hope (Part 1)", "Hope (Part 2)", "", "Rain", "The End"]
    items = [Item(str(i), title, artist="Rain") for i, title in enumerate(titles)]
    album = Collection("1", items, features, model.feature_names, title="Hope")
    encoder = model.encoder
    _, inputs = next(encoder.inputs(Collections.of([album])))
    with torch.no_grad():
        net = as_net(model).eval()
        batch = SetInputs(**prepare([album], encoder).whole(torch.tensor([0]), 6))
        essence, tables = net.encode(batch)[0], net(batch)
    np.testing.assert_allclose(encoder.encode_inputs(inputs).essence, essence, atol=1e-5)
    energy = model.energy_of(encoder.encode_inputs(inputs))
    for numpy, other in zip((energy.positions, energy.flow), tables, strict=True):
        np.testing.assert_allclose(numpy, other, atol=1e-5)


def test_scores_of_orderings_are_sums_over_the_tables():
    generator = torch.Generator().manual_seed(0)
    positions, flow = torch.randn((2, 3, 5, 5), generator=generator)
    orderings = permutations(7, 5, generator)
    found = ordering_scores(positions, flow, orderings)
    for b in range(3):
        for k, order in enumerate(orderings.tolist()):
            total = sum(positions[b, item, place] for place, item in enumerate(order))
            total += sum(flow[b, i, j] for i, j in pairwise(order))
            assert found[b, k] == pytest.approx(float(total), abs=1e-5)
    logits = contrast((positions, flow), torch.arange(5)[None])
    assert -log_share(logits).mean() == pytest.approx(np.log(2), abs=1e-6)  # the true ordering against itself


def test_weights_begin_the_same_for_a_seed(small):
    one, two, other = (SetNet(small, SetRecipe(seed=seed)) for seed in (1, 1, 2))
    assert torch.equal(one.tensor("input.weight"), two.tensor("input.weight"))
    assert not torch.equal(one.tensor("input.weight"), other.tensor("input.weight"))


def test_a_part_of_a_collection_is_gathered_with_its_tables(small, planted):
    albums = planted(3)
    data = prepare(albums, learn_inputs(albums, small, tokens=1, grams=1))
    batch = data.gather(torch.tensor([1]), torch.tensor([[0, 2, 5]]), 6)
    whole = data.whole(torch.tensor([1]), 6)
    assert torch.equal(batch["values"], whole["values"][:, [0, 2, 5]])
    assert torch.equal(batch["pairs"], whole["pairs"][:, [0, 2, 5]][:, :, [0, 2, 5]])


def test_a_model_made_from_a_net_makes_the_net_again(small):
    net = SetNet(small, SetRecipe(seed=4))
    model = as_model(
        net, SetEncoder(small, {"transform.mean": np.zeros(2), "transform.deviation": np.ones(2)}, Vocabulary((), ()))
    )
    for name, weight in as_net(model).named_parameters():
        assert torch.allclose(weight, dict(net.named_parameters())[name], atol=1e-3)
