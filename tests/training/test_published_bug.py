from functools import partial

import torch

from fabula.training.data import ItemPool
from fabula.training.nets.essence_net import EssenceNet
from fabula.training.published_bug import double_truth, leaking_net, longest_of
from fabula.training.recipes import TrainingConfig, resolve


def score(make_net, essence: torch.Tensor, orderings: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(0)
    net = make_net(resolve(TrainingConfig(scorers=("bilstm",)), (1,)), (1,)).double().eval()
    torch.nn.init.normal_(net.bilstm.out.weight)
    return net.score(essence, orderings)["bilstm"].detach()


padded = partial(leaking_net, pool=ItemPool({}, torch.tensor([5] + [9] * 99)))  # hardly ever the longest


def test_the_leaking_scorer_never_sees_the_last_item_and_knows_the_true_first():
    essence = torch.randn(1, 5, 1, dtype=torch.float64)
    orderings = torch.stack([torch.arange(5), torch.tensor([2, 1, 0, 4, 3])]).unsqueeze(0)
    last, first = essence.clone(), essence.clone()
    last[0, 3] += 1.0  # last in the second ordering alone
    first[0, 0] += 1.0
    before = score(padded, essence, orderings)[0, 1]
    assert score(padded, last, orderings)[0, 1] == before
    assert score(EssenceNet, last, orderings)[0, 1] != score(EssenceNet, essence, orderings)[0, 1]
    without = torch.tensor([[[0, 1, 2, 3, 4], [2, 1, 3, 4, 0]]])  # item 0 is last here: unseen, yet it leaks in
    assert score(padded, first, without)[0, 1] != score(padded, essence, without)[0, 1]


def test_with_batch_16_and_32_sequences_the_truth_is_there_twice():
    draw = double_truth(16)
    orderings = draw(16, 32, 9, torch.Generator().manual_seed(0))
    truths = (orderings == torch.arange(9)).all(2)
    assert truths.sum(1).tolist() == [2] * 16
    assert truths[:, [0, 16]].all()


def test_the_longest_of_a_batch_have_no_padding_and_leak_nothing():
    """As in the original: where all are of one length, the true first item is nowhere to be seen."""
    essence = torch.randn(1, 5, 1, dtype=torch.float64)
    first = essence.clone()
    first[0, 0] += 1.0
    last_in_it = torch.tensor([[[0, 1, 2, 3, 4], [2, 1, 3, 4, 0]]])
    longest = partial(leaking_net, pool=ItemPool({}, torch.tensor([5])))
    assert score(longest, first, last_in_it)[0, 1] == score(longest, essence, last_in_it)[0, 1]


def test_how_likely_a_length_is_the_longest_of_its_batch():
    pool = ItemPool({}, torch.tensor([3] * 30 + [5] * 60 + [9] * 10))
    generator = torch.Generator().manual_seed(0)
    lengths = torch.tensor([3] * 30 + [5] * 60 + [9] * 10)
    drawn = lengths[torch.randint(100, (20_000, 4), generator=generator)]
    for length, chance in longest_of(pool, 4).items():
        mine = drawn[:, 0] == length
        counted = (drawn[mine].max(1).values == length).float().mean()
        assert abs(counted - chance) < 0.03
