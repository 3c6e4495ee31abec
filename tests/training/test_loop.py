from dataclasses import replace

import numpy as np
import pytest
import torch

from fabula.errors import FileError
from fabula.training.data import ItemPool, draw_orderings, fit_transform, make_pool
from fabula.training.distributed import World
from fabula.training.item_models import EssenceLearner, sum_losses, validation_bits, validation_losses
from fabula.training.loop import GraphedStep, optimise
from fabula.training.nets.essence_net import EssenceNet
from fabula.training.recipes import TrainingConfig, preset, resolve

SMALL = TrainingConfig(widths=(8,), scorer_hidden=4, epochs=6, batch=8, negatives=7, learning_rate=1e-2, dropout=0.1)
ALONE = World(0, 1, torch.device("cpu"))


def learner_of(make, config=SMALL, *, data="", draw=draw_orderings, world=ALONE):
    collections, validation = make(40), make(12, seed=1)
    transform = fit_transform(collections, collections[0].feature_names, ())
    settings = resolve(config, transform.item_shape)
    pools = [make_pool(part, transform, world.device) for part in (collections, validation)]
    return EssenceLearner(lambda: EssenceNet(settings, transform.item_shape), *pools, settings, world, data, draw)


def run_of(make, config=SMALL, *, data="", **options):
    return optimise(learner_of(make, config, data=data), **options)


def same(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


def test_a_seed_decides_everything_and_leaves_the_global_state_alone(make):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one = run_of(make)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    two = run_of(make)
    other = run_of(make, preset("default", **{**SMALL.to_dict(), "seed": 1}))
    assert same(one.net.state_dict(), two.net.state_dict())
    assert [p.bits for p in one.history] == [p.bits for p in two.history]
    assert not same(one.net.state_dict(), other.net.state_dict())


def interrupt_after(epochs: int):
    def progress(where):
        if where.epoch == epochs:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_an_interrupted_run_goes_on_as_if_nothing_had_happened(make, tmp_path, ema):
    config = preset("default", **{**SMALL.to_dict(), "ema": ema, "dropout": 0.3})
    whole = run_of(make, config)
    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        run_of(make, config, checkpoint=path, progress=interrupt_after(3))
    epochs = []
    resumed = run_of(make, config, checkpoint=path, progress=lambda where: epochs.append(where.epoch))
    assert epochs == [4, 5, 6]
    assert same(resumed.net.state_dict(), whole.net.state_dict())
    assert same(resumed.best.state_dict(), whole.best.state_dict())
    assert (resumed.best_epoch, resumed.best_bits) == (whole.best_epoch, whole.best_bits)
    assert [(p.loss, p.bits) for p in resumed.history] == [(p.loss, p.bits) for p in whole.history]
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_the_last_whole_epoch(make, tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    config = preset("default", **{**SMALL.to_dict(), "epochs": 2})
    with pytest.raises(KeyboardInterrupt):
        run_of(make, config, checkpoint=path, progress=interrupt_after(1))
    before = path.read_bytes()

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fabula.training.loop.info_nce", broken)
    with pytest.raises(KeyboardInterrupt):
        run_of(make, config, checkpoint=path)
    assert path.read_bytes() == before


def test_a_finished_run_resumes_to_itself(make, tmp_path):
    path = tmp_path / "run.safetensors"
    done = run_of(make, checkpoint=path)
    again = run_of(make, checkpoint=path)
    assert same(again.best.state_dict(), done.best.state_dict())
    assert len(again.history) == SMALL.epochs


def test_a_foreign_checkpoint_is_refused(make, tmp_path):
    path = tmp_path / "run.safetensors"
    run_of(make, checkpoint=path, data="abc")
    with pytest.raises(FileError, match=r"other settings \(batch, seed\)"):
        run_of(
            make,
            preset("default", **{**SMALL.to_dict(), "seed": 3, "batch": 4}),
            checkpoint=path,
            data="abc",
        )
    with pytest.raises(FileError, match="other collections"):
        run_of(make, checkpoint=path, data="xyz")
    path.write_bytes(b"nonsense")
    with pytest.raises(FileError, match="cannot be read as a training checkpoint"):
        run_of(make, checkpoint=path)
    with pytest.raises(FileError, match="cannot be read"):
        run_of(make, checkpoint=tmp_path)


def test_progress_tells_epoch_loss_bits_and_time(make):
    seen = []
    run_of(make, progress=seen.append)
    assert [p.epoch for p in seen] == [1, 2, 3, 4, 5, 6]
    assert all(p.epochs == 6 and p.loss > 0 and set(p.bits) == {"arcs", "bilstm"} for p in seen)
    assert seen[-1].seconds_left == 0 < seen[0].seconds_left
    assert seen[-1].loss < seen[0].loss


def test_the_best_epoch_is_kept_and_patience_ends_a_run(make):
    config = preset("paper", widths=(8,), scorer_hidden=4, epochs=60, patience=2, learning_rate=0.03, negatives=7)
    run = run_of(make, config)
    best = max(run.history, key=lambda p: p.bits["bilstm"])
    assert (run.best_epoch, run.best_bits) == (best.epoch, best.bits)
    assert run.epoch == best.epoch + 2 < 60


def test_knowing_nothing_is_a_candidate(make):
    """Where every epoch is worse than no opinion, no opinion is what is kept: exactly 0 bits."""
    config = preset("default", **{**SMALL.to_dict(), "learning_rate": 1.0, "clip": 0.0, "epochs": 2, "ema": 0.0})
    collections, validation = make(12, rise=0.0), make(12, seed=1, rise=0.0)
    transform = fit_transform(collections, collections[0].feature_names, ())
    settings = resolve(config, transform.item_shape)
    pools = [make_pool(part, transform, ALONE.device) for part in (collections, validation)]
    run = optimise(EssenceLearner(lambda: EssenceNet(settings, (3,)), *pools, settings, ALONE))
    assert all(sum(p.bits.values()) < 0 for p in run.history)
    assert run.best_epoch == 0
    assert validation_bits(run.best, pools[1], settings) == pytest.approx({"arcs": 0, "bilstm": 0}, abs=1e-6)


def test_validation_losses_are_those_of_each_collection(make):
    """Against a double loop over collections and draws with the same orderings."""
    collections = make(5, lengths=(4,))
    transform = fit_transform(collections, collections[0].feature_names, ())
    torch.manual_seed(0)
    net = EssenceNet(resolve(SMALL, (3,)), (3,)).eval()
    pool = make_pool(collections, transform, ALONE.device)
    generator = torch.Generator().manual_seed(20_240_229)
    draws = [draw_orderings(5, 8, 4, generator) for _ in range(SMALL.draws)]
    essence = net.encode(pool.values.view(5, 4, 3))
    for column, name in enumerate(SMALL.scorers):
        for i in range(5):
            losses = []
            for orderings in draws:
                scores = [net.get_submodule(name)(essence[i][o].view(1, 1, 4, 1)).item() for o in orderings[i]]
                losses.append(np.log(np.exp(scores).sum()) - scores[0])
            assert validation_losses(net, pool, SMALL)[i, column].item() == pytest.approx(np.mean(losses), abs=1e-5)


def groups_of(net, config):
    nothing = ItemPool({"values": torch.zeros(0, 3)}, torch.tensor([3]))
    return EssenceLearner(lambda: net, nothing, nothing, config, ALONE).make_optimizer(net).param_groups


def test_weight_decay_falls_where_it_should():
    net = EssenceNet(resolve(preset("paper"), (5, 4)), (5, 4))
    names = {id(p): name for name, p in net.named_parameters()}
    for group in groups_of(net, preset("paper")):
        for parameter in group["params"]:
            assert group["weight_decay"] == (0.0 if names[id(parameter)].startswith("encoder.") else 1e-5)
    plain = EssenceNet(resolve(SMALL, (3,)), (3,))
    groups = groups_of(plain, SMALL)
    decayed = {id(p) for g in groups if g["weight_decay"] for p in g["params"]}
    assert {n for n, p in plain.named_parameters() if id(p) in decayed} >= {"encoder.0.weight", "bilstm.out.weight"}
    assert not {n for n, p in plain.named_parameters() if id(p) in decayed} & {"arcs.values", "encoder.0.bias"}
    assert sum(len(g["params"]) for g in groups) == len(list(plain.parameters()))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_graphs_give_the_gradients_of_plain_steps(make):

    config = resolve(preset("default", **{**SMALL.to_dict(), "dropout": 0.0, "feature_noise": 0.0}), (3,))
    config = preset("default", **{**config.to_dict(), "feature_dropout": 0.0, "readout_dropout": 0.0})
    torch.manual_seed(0)
    plain, recorded = (EssenceNet(config, (3,)).cuda() for _ in range(2))
    recorded.load_state_dict(plain.state_dict())
    step = GraphedStep(recorded, lambda scores: sum_losses(scores, config), 0.5)
    for n in (4, 6, 4, 6):
        features, orderings = torch.randn(5, n, 3).cuda(), torch.rand(5, 8, n).argsort(2).cuda()
        plain.zero_grad()
        loss = 0.3 * sum_losses(plain(features, orderings), config)
        (0.5 * loss).backward()
        assert step(features, orderings, 0.3).item() == pytest.approx(loss.item(), rel=1e-4)
        for one, two in zip(plain.parameters(), recorded.parameters(), strict=True):
            assert torch.allclose(one.grad, two.grad, atol=1e-4)


def test_graphs_are_for_one_gpu_and_batches_of_like_size():
    even, uneven = ([3] * 256 + [4] * count for count in (250, 3))
    gpu, config = World(0, 1, torch.device("cuda")), preset("default")

    def uses(lengths, world=gpu, **changes):
        pool = ItemPool({}, torch.tensor(lengths))
        return EssenceLearner(lambda: None, pool, pool, replace(config, **changes), world).graphs

    assert uses(even)
    assert not uses(uneven)
    assert uses(uneven, batch=3)
    assert not uses(even, graphs=False)
    assert not uses(even, World(0, 2, torch.device("cuda")))
    assert not uses(even, World(0, 1, torch.device("cpu")))
