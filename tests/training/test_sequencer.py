import math
from itertools import permutations

import numpy as np
import pytest
import torch

from fabula.core.collection import Collection, Item
from fabula.errors import InputError, ModelError
from fabula.training.sequencer import (
    SequencerConfig,
    SequencerNet,
    information_bits,
    load_sequencer,
    save_sequencer,
    sequence_all,
    train_sequencer,
)

SMALL = SequencerConfig(width=16, heads=2, layers=1, epochs=6, batch=8, learning_rate=1e-2)


def lively_net(inputs: int = 3) -> SequencerNet:
    torch.manual_seed(0)
    net = SequencerNet((inputs,), SequencerConfig(width=16, heads=2, layers=2, dropout=0.0)).eval()
    with torch.no_grad():
        net.point.weight.normal_()
    return net


def test_likelihoods_of_all_orders_sum_to_one():
    net = lively_net()
    features = torch.randn(4, 3)
    orders = torch.stack([features[list(order)] for order in permutations(range(4))])
    with torch.no_grad():
        total = net(orders).exp().sum().item()
    assert total == pytest.approx(1.0, abs=1e-5)


def test_the_likelihood_of_an_order_does_not_depend_on_how_the_set_is_given():
    net = lively_net()
    features = torch.randn(1, 6, 3)
    mixed = torch.randperm(6)
    with torch.no_grad():
        here = net.decode(net.encode(features), torch.tensor([[2, 0]]))[0, -1]
        back = torch.argsort(mixed)
        there = net.decode(net.encode(features[:, mixed]), back[torch.tensor([[2, 0]])])[0, -1]
    torch.testing.assert_close(there[back], here)


def test_a_step_sees_what_was_placed_and_nothing_after_it():
    net = lively_net()
    items = net.encode(torch.randn(1, 5, 3))
    with torch.no_grad():
        one = net.decode(items, torch.tensor([[1, 2, 3]]))[0]
        other = net.decode(items, torch.tensor([[1, 4, 3]]))[0]
    torch.testing.assert_close(one[:2], other[:2])
    assert not torch.allclose(one[3][0], other[3][0])
    assert one[2].isneginf().tolist() == [False, True, True, False, False]


@pytest.mark.slow
def test_it_learns_a_rise_and_orders_collections_given_in_any_order(make):
    albums = make(120, rise=2.0)
    made = train_sequencer(albums[:90], albums[90:], SMALL, device="cpu")
    assert made.bits > 1.0
    assert made.history[0] == 0.0
    rng = np.random.default_rng(0)
    rho = []
    for album in albums[90:]:
        mixed = rng.permutation(len(album))
        found = mixed[sequence_all(made, [album.reordered(mixed)])[0]]
        assert np.array_equal(found, sequence_all(made, [album])[0])
        rho.append(np.corrcoef(found, np.arange(len(album)))[0, 1])
    assert np.mean(rho) > 0.7


def test_the_same_seed_gives_the_same_on_a_cpu(make):
    albums = make(30)
    one, two = (train_sequencer(albums[:20], albums[20:], SMALL, device="cpu") for _ in range(2))
    assert one.history == two.history
    assert all(torch.equal(a, b) for a, b in zip(one.net.parameters(), two.net.parameters(), strict=True))


def test_noise_tells_nothing(make):
    albums = make(60, rise=0.0)
    made = train_sequencer(albums[:40], albums[40:], SMALL, device="cpu")
    assert 0.0 <= made.bits < 0.15


def nats(made, album):
    """The log likelihood of the order of one album, asked by itself."""
    features = torch.from_numpy(made.transform.apply(album.features)).float().flatten(1)
    with torch.no_grad():
        return float(made.net.eval()(features[None])[0])


def test_bits_are_the_likelihood_against_chance(make):
    albums = make(40)
    made = train_sequencer(albums[:30], albums[30:], SMALL, device="cpu")
    found = information_bits(made, albums[30:])
    plain = np.mean([(math.log(math.factorial(len(c))) + nats(made, c)) / math.log(2) for c in albums[30:]])
    assert found.mean == pytest.approx(plain)
    assert found.mean == pytest.approx(made.bits, abs=1e-4)
    assert found.low < found.mean < found.high


def test_a_wide_beam_finds_the_likeliest_of_all_orders(make):
    albums = make(40, lengths=(5,))
    made = train_sequencer(albums[:30], albums[30:], SMALL, device="cpu")
    for album in albums[30:34]:
        found = sequence_all(made, [album], beam=120)[0]
        orders = [album.reordered(list(order)) for order in permutations(range(5))]
        best = max(orders, key=lambda order: nats(made, order))
        assert [i.id for i in album.reordered(found).items] == [i.id for i in best.items]


def test_one_item_and_many_lengths_together(make):
    albums = make(20)
    made = train_sequencer(albums[:15], albums[15:], SMALL, device="cpu")
    single = Collection("one", [Item("a")], np.zeros((1, 3)), ("energy", "loudness", "tempo"))
    found = sequence_all(made, [single, *albums[15:]], beam=3)
    assert [sorted(o.tolist()) for o in found] == [list(range(len(c))) for c in (single, *albums[15:])]


def test_it_takes_features_that_are_arrays(make):
    albums = make(12, statistics=4)
    made = train_sequencer(albums[:9], albums[9:], SequencerConfig(width=8, heads=1, layers=1, epochs=1), device="cpu")
    assert sorted(sequence_all(made, [albums[0]])[0].tolist()) == list(range(len(albums[0])))


def test_a_file_brings_it_back(make, tmp_path):
    albums = make(20)
    made = train_sequencer(albums[:15], albums[15:], SMALL, device="cpu")
    again = load_sequencer(save_sequencer(tmp_path / "s.safetensors", made))
    assert again.config == made.config
    assert again.history == made.history
    assert [nats(again, album) for album in albums] == [nats(made, album) for album in albums]


def test_what_is_no_sequencer_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ModelError, match="is not a sequencer file"):
        load_sequencer(path)


@pytest.mark.parametrize(
    ("wrong", "words"), [({"width": 10, "heads": 4}, "multiple of heads"), ({"batch": 0}, "batch")]
)
def test_settings_are_checked(wrong, words):
    with pytest.raises(InputError, match=words):
        SequencerConfig(**wrong)


def test_an_empty_beam_is_refused(make):
    albums = make(6)
    made = train_sequencer(albums[:4], albums[4:], SequencerConfig(width=8, heads=1, layers=1, epochs=0), device="cpu")
    with pytest.raises(InputError, match="at least 1 beginning"):
        sequence_all(made, [albums[0]], beam=0)
