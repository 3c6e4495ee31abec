import math
from itertools import permutations

import numpy as np
import pytest

from fabula.core.arrays import normalise
from fabula.core.collection import Collection, Item
from fabula.core.energy import Energy
from fabula.errors import InputError
from fabula.evaluation import information
from fabula.evaluation.controls import noise_features, shuffle_orders
from fabula.evaluation.information import information_of, mutual_information
from fabula.evaluation.intervals import mean_interval


class Essence:
    """A model of one feature: its z-score is the essence; ``score`` is the test's."""

    by_item = True
    most_detailed = "arcs"

    def __init__(self, score):
        self._score = score
        self.asked = set()

    def encode_all(self, collections):
        return [normalise(c.column("energy")).reshape(-1, 1) for c in collections]

    def score(self, sequence, scorer=None):
        self.asked.add(scorer)
        return self._score(sequence)


def gibbs(a):
    return lambda sequences: sequences[:, :, 0] @ a(sequences.shape[1])


def slope(n):
    return np.linspace(-0.8, 0.8, n)


def draw_family(n, count, rng):
    """Essences in an order drawn from p(order) ~ exp(sum_j a_j s_order[j]), and the exact information of each."""
    orders = np.array(list(permutations(range(n))))
    essences, bits = [], []
    for _ in range(count):
        s = normalise(rng.normal(size=n))
        p = np.exp(s[orders] @ slope(n))
        p /= p.sum()
        bits.append(math.log2(len(orders)) + float((p * np.log2(p)).sum()))
        essences.append(s[orders[rng.choice(len(orders), p=p)]][:, np.newaxis])
    return essences, float(np.mean(bits))


@pytest.mark.parametrize("n", [3, 5])
def test_many_negatives_find_the_exact_information(n):
    essences, truth = draw_family(n, 1200, np.random.default_rng(n))
    info = information_of(gibbs(slope), essences, negatives=1023, draws=1)
    assert 0.4 < truth < 3
    assert info.low < truth < info.high
    assert info.high - info.low < 0.3


@pytest.mark.slow
def test_few_negatives_give_less_and_never_more():
    essences, truth = draw_family(5, 4000, np.random.default_rng(7))
    few = information_of(gibbs(slope), essences, negatives=3, draws=4)
    some = information_of(gibbs(slope), essences, negatives=31, draws=4)
    assert few.bits < some.bits
    assert few.bits < truth
    assert some.low < truth


def test_lengths_are_told_apart():
    rng = np.random.default_rng(0)
    short, long = draw_family(3, 30, rng)[0], draw_family(5, 20, rng)[0]
    info = information_of(gibbs(slope), [*short, *long, np.zeros((1, 1))], negatives=31)
    assert {n: each.count for n, each in info.per_length.items()} == {1: 1, 3: 30, 5: 20}
    assert info.collections == 51
    assert info.per_length[1].bits == 0
    assert info.per_length[3].ceiling == pytest.approx(math.log2(6))
    assert info.per_length[5].ceiling == 5
    assert info.ceiling == pytest.approx((30 * math.log2(6) + 20 * 5) / 51)
    assert info.bits == pytest.approx(sum(each.bits * each.count for each in info.per_length.values()) / 51)


def test_is_its_plain_reference():
    """The same draws, one collection and one draw at a time."""
    rng = np.random.default_rng(3)
    essences = [rng.normal(size=(4, 2)) for _ in range(6)]

    def score(sequences):
        return (sequences * np.arange(8).reshape(4, 2)).sum(axis=(1, 2))

    info = information_of(score, essences, negatives=7, draws=3, seed=5)
    again = np.random.default_rng(5).permuted(np.tile(np.arange(4), (6, 21, 1)), axis=2).reshape(6, 3, 7, 4)
    bits = []
    for essence, draws in zip(essences, again, strict=True):
        for negatives in draws:
            scores = [score(essence[np.newaxis])[0], *(score(essence[o][np.newaxis])[0] for o in negatives)]
            bits.append(math.log2(8) + math.log2(math.exp(scores[0]) / sum(map(math.exp, scores))))
    assert info.bits == pytest.approx(np.mean(bits))


def test_batches_do_not_change_a_score(monkeypatch):
    essences = draw_family(4, 40, np.random.default_rng(0))[0]
    whole = information_of(gibbs(slope), essences, negatives=9, draws=2)
    monkeypatch.setattr(information, "_SEQUENCES", 19)  # one collection at a time, whose sequences need two parts
    seen = []

    def score(sequences):
        seen.append(len(sequences))
        return gibbs(slope)(sequences)

    parts = information_of(score, essences, negatives=15, draws=2)
    assert max(seen) <= 19
    assert parts.collections == whole.collections
    assert abs(parts.bits - whole.bits) < 0.3


def test_a_perfect_scorer_reaches_the_ceiling_and_no_more():
    essences = [np.arange(8.0)[:, np.newaxis]] * 50
    info = information_of(lambda s: 100 * (s[:, :, 0] @ np.arange(8.0)), essences)
    assert info.ceiling == 5
    assert info.bits == pytest.approx(5, abs=0.01)
    assert information_of(lambda s: 100 * (s[:, :, 0] @ np.arange(3.0)), [np.arange(3.0)] * 50).bits < math.log2(6)


def test_a_scorer_that_says_nothing_gives_zero_exactly():
    info = information_of(lambda s: np.zeros(len(s)), [np.ones((6, 1))] * 5)
    assert (info.bits, info.low, info.high) == (0, 0, 0)


def noisy_albums(count=3000):
    rng = np.random.default_rng(11)
    out = []
    for number in range(count):
        n = int(rng.integers(3, 12))
        rising = np.linspace(-1, 1, n) + rng.normal(size=n)
        out.append(Collection(str(number), [Item(str(i)) for i in range(n)], rising[:, np.newaxis], ["energy"]))
    return out


@pytest.mark.slow
def test_an_honest_model_finds_nothing_in_the_controls_at_any_scale():
    albums = noisy_albums()
    rng = np.random.default_rng(0)
    controls = [noise_features(albums, rng), shuffle_orders(albums, rng)]
    assert mutual_information(Essence(gibbs(slope)), albums).low > 0.1
    for scale in (1.0, 0.3, 0.1, 0.03):
        model = Essence(lambda s, scale=scale: scale * gibbs(slope)(s))
        assert all(mutual_information(model, control).bits < 0.02 for control in controls)
    assert all(abs(mutual_information(model, control).bits) < 0.02 for control in controls)


def test_a_sure_scorer_pays_for_it_on_a_control():
    assert (
        mutual_information(Essence(gibbs(slope)), shuffle_orders(noisy_albums(500), np.random.default_rng(0))).high < 0
    )


def test_a_leak_is_caught_by_both_controls():
    """A model whose scorer can look up the true opener, as a wrong padding slot would let it."""

    class Leaky(Essence):
        def encode_all(self, collections):
            essences = super().encode_all(collections)
            self.openers = {np.sort(e[:, 0]).tobytes(): e[0, 0] for e in essences}
            return essences

        def score(self, sequence, scorer=None):
            first = np.array([self.openers[np.sort(s[:, 0]).tobytes()] for s in sequence])
            return -np.abs(sequence[:, 0, 0] - first)

    albums = noisy_albums(150)
    rng = np.random.default_rng(0)
    assert mutual_information(Leaky(None), noise_features(albums, rng)).low > 0.02
    assert mutual_information(Leaky(None), shuffle_orders(albums, rng)).low > 0.02


def test_asks_the_most_detailed_scorer():
    model = Essence(gibbs(slope))
    model.most_detailed = "bilstm"
    mutual_information(model, noisy_albums(3))
    assert model.asked == {"bilstm"}
    mutual_information(model, noisy_albums(3), scorer="arcs")
    assert model.asked == {"bilstm", "arcs"}


def test_a_seed_gives_the_same_and_another_does_not():
    essences = draw_family(5, 50, np.random.default_rng(0))[0]
    one, two, other = (information_of(gibbs(slope), essences, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert one.bits != other.bits


def test_the_interval_is_that_of_a_mean():
    rng = np.random.default_rng(0)
    values = rng.normal(3.0, 2.0, size=2500)
    found = mean_interval(values)
    half = 1.96 * values.std() / 50
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.012)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        found = mean_interval(rng.exponential(size=80))
        hits += found.low < 1 < found.high
    assert 176 <= hits <= 199


def test_one_collection_has_a_point_for_an_interval():
    info = information_of(gibbs(slope), [np.arange(4.0)])
    assert info.low == pytest.approx(info.bits)
    assert info.high == pytest.approx(info.bits)


@pytest.mark.parametrize(
    ("score", "arguments", "message"),
    [
        (lambda s: np.full(len(s), np.nan), {}, "must be finite"),
        (lambda s: s[:, 0, 0] * np.inf, {}, "must be finite"),
        (lambda s: np.zeros(1), {}, "one number per sequence"),
        (gibbs(slope), {"negatives": 0}, "at least 1; got 0 and 4"),
        (gibbs(slope), {"draws": 0}, "at least 1; got 31 and 0"),
    ],
)
def test_refuses(score, arguments, message):
    with pytest.raises(InputError, match=message):
        information_of(score, [np.arange(1.0, 4.0)] * 2, **arguments)


def test_refuses_no_collections_and_unordered_ones():
    with pytest.raises(InputError, match="at least one collection"):
        mutual_information(Essence(gibbs(slope)), [])
    lost = noisy_albums(1)[0]
    with pytest.raises(InputError, match="collection '0' is not ordered"):
        mutual_information(Essence(gibbs(slope)), [lost.reordered(range(len(lost)))])


class Tables:
    """A model whose scores are sums over tables: items like their true position as much as the test says."""

    by_item = False

    def __init__(self, liking, flow=0.0):
        self.liking, self.flow = liking, flow

    def energies(self, collections, scorer=None):
        return [Energy(self.liking * np.eye(len(c)), self.flow * np.eye(len(c), k=1)) for c in collections]


def titled(count, n, artist=""):
    items = [Item(f"{i}", artist=artist) for i in range(n)]
    return [Collection(str(number), items) for number in range(count)]


def test_tables_are_measured_like_a_scorer_that_sums_them():
    n, liking, flow = 5, 0.7, 0.4
    essence = np.eye(n)

    def score(sequences):
        order = sequences.argmax(axis=2)
        stands = (order == np.arange(n)).sum(axis=1)
        return liking * stands + flow * (np.diff(order, axis=1) == 1).sum(axis=1)

    by_scorer = information_of(score, [essence] * 400, draws=16)
    by_tables = mutual_information(Tables(liking, flow), titled(400, n), draws=16)
    assert by_tables.bits == pytest.approx(by_scorer.bits, abs=0.02)
    assert by_tables.ceiling == by_scorer.ceiling
    assert by_tables.per_length[n].count == 400


def test_collections_by_one_artist_count_together():
    class Mixed(Tables):
        def energies(self, collections, scorer=None):
            signs = [1.0 if c.id < "5" else -0.3 for c in collections]
            return [Energy(s * 2 * np.eye(len(c))) for s, c in zip(signs, collections, strict=True)]

    alone, half = titled(10, 5), [*titled(5, 5, "One"), *titled(10, 5, "Two")[5:]]
    narrow, wide = (mutual_information(Mixed(0), each) for each in (alone, half))
    assert (narrow.groups, wide.groups) == (10, 2)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)  # there are two creators, and they differ
    assert narrow.noise is not None
    assert 0 < narrow.noise < narrow.high - narrow.low
    assert mutual_information(Mixed(0), alone, draws=1).noise is None


def test_tables_need_collections_and_an_order():
    with pytest.raises(InputError, match="at least one collection"):
        mutual_information(Tables(1.0), [])
    with pytest.raises(InputError, match="negatives: must be at least 1; got 0"):
        mutual_information(Tables(1.0), titled(2, 3), negatives=0)


@pytest.mark.parametrize("constant", [0.3, 7.1, 100.1])
def test_sums_that_are_equal_but_for_their_rounding_tell_nothing(constant):
    """A model that was silenced adds the same numbers in another order: no 6e-16 bits, no -0."""
    parts = constant / np.arange(1, 12)
    others = np.array([np.random.default_rng(k).permutation(parts).cumsum()[-1] for k in range(62)])
    assert len(set(others)) > 1
    bits = information.info_nce_bits(np.array([parts.cumsum()[-1]]), others.reshape(1, 2, 31))
    assert (bits == 0).all()
    assert not np.signbit(bits).any()
