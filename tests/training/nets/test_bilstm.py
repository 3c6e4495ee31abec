import importlib.util
import sys

import pytest
import torch

from fabula.training.nets.essence_net import LstmStack

pytest.importorskip("triton")

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from fabula.training.nets import essence_net as bilstm, triton_lstm as fused


@pytest.fixture
def interpreted(monkeypatch):
    """The kernels run by Triton's interpreter, which needs no GPU."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    spec = importlib.util.find_spec("fabula.training.nets.triton_lstm")
    copy = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, copy)
    spec.loader.exec_module(copy)


@pytest.mark.parametrize(
    ("channels", "hidden", "layers", "m", "count"),
    [(7, 16, 2, 5, 4), pytest.param(1, 32, 1, 70, 3, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("started", [False, True])
def test_the_kernels_do_what_an_lstm_does(interpreted, channels, hidden, layers, m, count, started):
    torch.manual_seed(0)
    net = LstmStack(channels, hidden, layers)
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
    net = LstmStack(3, 16, 1)
    outputs, _ = net.read_fused(torch.randn(2, 4, 3))
    outputs.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once"):
        outputs.sum().backward()


def test_dropout_falls_between_layers_in_training_alone(interpreted):
    torch.manual_seed(0)
    steps = torch.randn(2, 4, 2)
    net = LstmStack(2, 16, 2, dropout=0.9).train()
    assert not torch.equal(net.read_fused(steps)[0], net.read_fused(steps)[0])
    assert torch.allclose(net.eval().read_fused(steps)[0], net.read(steps)[0], atol=1e-6)
    one = LstmStack(2, 16, 1, dropout=0.9).train()
    assert torch.equal(one.read_fused(steps)[0], one.read_fused(steps)[0])


@pytest.mark.parametrize(("hidden", "card", "fits"), [(128, (9, 0), True), (32, (7, 5), False), (20, (9, 0), False)])
def test_what_the_kernels_cannot_do_the_library_does(monkeypatch, hidden, card, fits):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: card)
    bilstm._fits.cache_clear()
    assert bilstm._fits(torch.device("cuda", 0), hidden) is fits
    bilstm._fits.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("card", [80, 86, 90])
@pytest.mark.parametrize("hidden", [16, 128])
@pytest.mark.parametrize("precision", ["tf32", "tf32x3"])
def test_the_kernels_compile_and_fit_into_a_card(card, hidden, precision):
    rows, warps = fused.block(hidden, precision)
    sizes = {"H": hidden, "ROWS": rows, "PRECISION": precision}
    for kernel, more in ((fused.forward_kernel, {"KEPT": True}), (fused.backward_kernel, {})):
        constants = {**sizes, **more}
        kinds = {name: "constexpr" if name in constants else "*fp32" for name in kernel.arg_names}
        source = ASTSource(kernel, {**kinds, "m": "i32", "T": "i32"}, constants)
        made = triton.compile(source, target=GPUTarget("cuda", card, 32), options=fused.options(warps))
        assert made.metadata.shared <= 99 << 10  # what the smallest of these cards has


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("hidden", [16, 32, 64, 128])
def test_on_a_gpu_it_reads_as_on_a_cpu(hidden):
    torch.manual_seed(0)
    net, steps = LstmStack(7, hidden, 2), torch.randn(70, 9, 7)
    expected = net.read(steps)
    pull = [torch.randn_like(each) for each in expected]
    wanted = torch.autograd.grad(expected, list(net.parameters()), pull)
    found = net.cuda().read(steps.cuda())
    got = torch.autograd.grad(found, list(net.parameters()), [each.cuda() for each in pull])
    for one, two in zip([*found, *got], [*expected, *wanted], strict=True):
        assert torch.allclose(one.cpu(), two, atol=1e-3, rtol=1e-3)
