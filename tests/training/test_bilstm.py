import importlib.util
import sys

import pytest
import torch

from fabula.training.bilstm import Bilstm

pytest.importorskip("triton")

from fabula.training import fused


@pytest.fixture
def interpreted(monkeypatch):
    """The kernels run by Triton's interpreter, which needs no GPU."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    spec = importlib.util.find_spec("fabula.training.fused_kernels")
    copy = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, copy)
    spec.loader.exec_module(copy)
    monkeypatch.setattr(fused, "fused_kernels", copy)


@pytest.mark.parametrize(("channels", "hidden", "layers", "m", "count"), [(7, 16, 2, 5, 4), (1, 32, 1, 70, 3)])
@pytest.mark.parametrize("started", [False, True])
def test_the_kernels_do_what_an_lstm_does(interpreted, channels, hidden, layers, m, count, started):
    torch.manual_seed(0)
    net = Bilstm(channels, hidden, layers)
    steps = torch.randn(m, count, channels, requires_grad=True)
    start = tuple(torch.randn(2 * layers, m, hidden, requires_grad=True) for _ in range(2)) if started else None
    inputs = [steps, *(start or ()), *net.parameters()]
    expected = net.read(steps, start)
    pull = [torch.randn_like(each) for each in expected]
    wanted = torch.autograd.grad(expected, inputs, pull)
    found = net.read_fused(steps, start)
    got = torch.autograd.grad(found, inputs, pull)
    for one, two in zip([*found, *got], [*expected, *wanted], strict=True):
        assert torch.allclose(one, two, atol=2e-5, rtol=1e-5)
    with torch.no_grad():
        assert torch.equal(net.read_fused(steps, start)[0], found[0])


def test_no_gradients_where_none_are_asked_for(interpreted):
    net = Bilstm(3, 16, 1)
    outputs, _ = net.read_fused(torch.randn(2, 4, 3))
    outputs.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once"):
        outputs.sum().backward()


def test_dropout_falls_between_layers_in_training_alone(interpreted):
    torch.manual_seed(0)
    steps = torch.randn(3, 5, 2)
    net = Bilstm(2, 16, 2, dropout=0.9).train()
    assert not torch.equal(net.read_fused(steps)[0], net.read_fused(steps)[0])
    assert torch.allclose(net.eval().read_fused(steps)[0], net.read(steps)[0], atol=1e-6)
    one = Bilstm(2, 16, 1, dropout=0.9).train()
    assert torch.equal(one.read_fused(steps)[0], one.read_fused(steps)[0])
