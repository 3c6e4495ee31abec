"""The training loop: epochs over batches, validation after each, the best state kept, checkpoints written.

It knows a learner, which has a net, batches, a loss and a measure of what the net knows, and nothing of what they mean.
"""

import copy
import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from fabula.core.files import write_whole
from fabula.errors import FileError
from fabula.models.file import read_tensors
from fabula.training.distributed import World

# A run of training: its state, and the checkpoint that holds all of it after an epoch, complete or absent.

FORMAT = "fabula-checkpoint"
VERSION = 1
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """Where a run stands after an epoch."""

    epoch: int  # done; 0 is the state before any training
    epochs: int  # to do in all
    loss: float  # mean over the training collections, in nats, summed over scorers
    bits: dict[str, float]  # on validation, by scorer
    seconds_left: float  # if the rest goes as fast as what was done since the start or the resumption


def copy_net(net: nn.Module) -> nn.Module:
    """The same net again, the weights of an LSTM in one block, for cuDNN."""
    other = copy.deepcopy(net)
    for module in other.modules():
        if isinstance(module, nn.LSTM):
            module.flatten_parameters()
    return other


class RunningMean:
    """A mean of a net's weights over the steps; the net it gives is the one to validate and to keep."""

    def __init__(self, net: nn.Module, *, apart: bool) -> None:
        self.apart = apart
        self.net = copy_net(net).requires_grad_(requires_grad=False) if apart else net
        self._mean: list[Tensor] = list(self.net.parameters())
        self._weights: list[Tensor] = list(net.parameters())

    @torch.no_grad()
    def update(self, share: float) -> None:
        """Go a share of the way towards the weights after a step."""
        if self.apart:
            torch._foreach_lerp_(self._mean, self._weights, share)


@dataclass
class Run:
    """The learned state of a run: everything that an interruption would lose."""

    net: nn.Module
    mean: RunningMean
    optimizer: torch.optim.Optimizer
    epoch: int
    best_epoch: int
    best_bits: dict[str, float]
    best: nn.Module
    history: list[Progress] = field(default_factory=list)

    def best_net(self) -> Any:
        """The net in the state that did best."""
        return self.best.eval()

    def last_net(self) -> Any:
        """The net after the last epoch, as it is validated."""
        return self.mean.net.eval()

    def nets(self) -> dict[str, nn.Module]:
        """What a checkpoint holds, by name."""
        nets = {"net": self.net, "best": self.best}
        return nets | {"mean": self.mean.net} if self.mean.apart else nets


def _count_epochs(path: Path) -> int:
    """How far the run in a file is; -1 where there is none, 0 where it does not say."""
    try:
        header, _ = _read(path.read_bytes(), path)
        return int(json.loads(header["state"])["epoch"])
    except (FileError, OSError, KeyError, ValueError):
        return 0 if path.exists() else -1


def _content(path: Path) -> bytes | None:
    """What a file holds; None where there is none, and a run starts anew."""
    try:
        return path.read_bytes() if path.exists() else None
    except OSError as error:
        raise FileError(f"{path}: cannot be read as a training checkpoint ({error})") from error


def write_checkpoint(path: Path, run: Run, settings: Settings, data: str) -> None:
    """Write a run after a complete epoch."""
    from safetensors.numpy import save

    state = {
        "epoch": run.epoch,
        "best_epoch": run.best_epoch,
        "best_bits": run.best_bits,
        "history": [asdict(progress) for progress in run.history],
        "config": dict(settings),
        "data": data,
    }
    header = {"format": FORMAT, "version": str(VERSION), "state": json.dumps(state)}
    named: dict[str, Tensor] = {}
    for part, net in run.nets().items():
        named |= {f"{part}.{name}": tensor for name, tensor in net.state_dict().items()}
    for number, moments in run.optimizer.state_dict()["state"].items():  # by the number of their parameter
        named |= {f"optimizer.{number}.{name}": tensor for name, tensor in moments.items()}
    tensors = {name: np.ascontiguousarray(tensor.detach().cpu().numpy()) for name, tensor in named.items()}
    write_whole(path, save(tensors, metadata=header))


def read_checkpoint(content: bytes, run: Run, settings: Settings, data: str, *, where: Path) -> None:
    """Bring a fresh run to the state that was written; ``where`` names the file in errors."""
    header, tensors = _read(content, where)
    if header.get("format") != FORMAT or header.get("version") != str(VERSION):
        raise FileError(f"{where}: is not a training checkpoint of version {VERSION}; remove it")
    state: dict[str, Any] = json.loads(header["state"])
    differing = [key for key, value in settings.items() if state["config"].get(key) != value]
    if differing:
        names = ", ".join(differing)
        raise FileError(f"{where}: was trained with other settings ({names}); give those again, or remove the file")
    if state["data"] != data:
        raise FileError(f"{where}: was trained on other collections; remove the file")
    parts: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = tensor
    try:
        for part, net in run.nets().items():
            net.load_state_dict(parts[part])
    except (KeyError, RuntimeError) as error:
        raise FileError(f"{where}: does not hold the tensors of this net ({error})") from error
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in parts.get("optimizer", {}).items():
        number, _, moment = name.partition(".")
        moments.setdefault(int(number), {})[moment] = tensor
    run.optimizer.load_state_dict({**run.optimizer.state_dict(), "state": moments})
    run.epoch, run.best_epoch, run.best_bits = state["epoch"], state["best_epoch"], state["best_bits"]
    run.history[:] = [Progress(**row) for row in state["history"]]


def _read(content: bytes, where: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    try:
        tensors, header = read_tensors(content)
    except ValueError as error:
        raise FileError(f"{where}: cannot be read as a training checkpoint ({error})") from error
    return header, {name: torch.from_numpy(tensor) for name, tensor in tensors.items()}


_WARM_UP = 2  # times a step is run before it is recorded: libraries choose their kernels then


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss of a batch: its gradients are those of ``value`` times ``scale``; ``value`` stands for ``count``."""

    value: Tensor
    scale: float = 1.0
    count: float = 1.0


class Learner(ABC):
    """What is trained, on what, and how: all that the loop asks for."""

    world: World  # the processes that share each batch
    epochs: int
    size: int  # what the sum of the losses of an epoch is divided by
    patience: int = 0  # epochs without a better validation before it stops; 0: goes to the end
    clip: float = 1.0  # longest gradient; 0: any
    averages: bool = True  # a running mean of the weights is validated and kept, rather than the weights
    amp: str = "none"  # products on a GPU: "tf32" or "none"
    data: str = ""  # fingerprint of the collections, which a checkpoint must agree with
    settings: Mapping[str, Any] = {}

    @abstractmethod
    def make_net(self) -> nn.Module:
        """The net, and the seed of what is random before the first epoch."""

    @abstractmethod
    def make_optimizer(self, net: nn.Module) -> torch.optim.Optimizer:
        """What changes the weights."""

    @abstractmethod
    def plan(self, epoch: int) -> Sequence[Any]:
        """The batches of an epoch, counted from 1."""

    @abstractmethod
    def loss(self, net: nn.Module, batch: Any) -> Loss | None:
        """The loss of this process's share of a batch; None where it has none."""

    def bits(self, net: nn.Module) -> dict[str, float]:
        """What a net knows, by scorer; nothing where the last state is kept, whatever it knows."""
        return {}

    def worth(self, bits: Mapping[str, float]) -> float:
        """What decides which state is kept."""
        return sum(bits.values())

    def start(self, net: nn.Module) -> tuple[nn.Module, dict[str, float]]:
        """The net that is kept where no epoch is better, and what it knows."""
        return net, {}

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 1."""
        return 1.0

    def pace(self, optimizer: torch.optim.Optimizer, step: int, steps: int) -> None:
        """Set the optimiser's rate for a step."""
        for group in optimizer.param_groups:
            group["lr"] = self.rate(step, steps)

    def follow(self, step: int, steps: int) -> float:
        """How far the mean of the weights goes towards the weights after a step."""
        return 1.0

    def gradients(self, net: nn.Module, batch: Any) -> Tensor:
        """Leave the gradients of a batch in the net; the sum of its losses."""
        net.zero_grad(set_to_none=True)
        found = self.loss(net, batch)
        if found is None:  # a batch may have fewer collections than there are processes
            return torch.zeros((), device=self.world.device)
        torch.autograd.backward(found.value * found.scale)
        return found.value.detach() * found.count


def optimise(
    learner: Learner, *, checkpoint: Path | None = None, progress: Callable[[Progress], None] | None = None
) -> Run:
    """Train a net; the state that does best on validation is its ``best``. Reports come from the first process.

    A run in the file ``checkpoint`` is taken up, and kept there after each epoch. With several processes the first
    alone writes it, and all look for it: after a restart another machine may be first.
    """
    world = learner.world
    cuda = [world.device] if world.device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda), precision(learner.amp, world.device):
        run = start_run(learner)
        if checkpoint is not None:
            # Every process gets the same file, that with the most epochs, from the disk of any.
            epochs = world.gather(_count_epochs(checkpoint)) if world.size > 1 else [0]
            content = world.share_from(epochs.index(max(epochs)), lambda: _content(checkpoint))
            if content is not None:
                read_checkpoint(content, run, learner.settings, learner.data, where=checkpoint)
        first, began = run.epoch, time.monotonic()
        while run.epoch < learner.epochs and not (learner.patience and run.epoch - run.best_epoch >= learner.patience):
            loss = run_epoch(run, learner)
            run.epoch += 1
            seen = learner.bits(run.mean.net)
            # the first process's: rounding must not lead two ways
            bits = dict(zip(seen, world.gather(list(seen.values()))[0], strict=True))
            if not bits or learner.worth(bits) > learner.worth(run.best_bits):
                run.best_epoch, run.best_bits = run.epoch, bits
                run.best.load_state_dict(run.mean.net.state_dict())
            left = (time.monotonic() - began) / (run.epoch - first) * (learner.epochs - run.epoch)
            run.history.append(Progress(run.epoch, learner.epochs, loss, bits, left))
            if checkpoint is not None and world.rank == 0:
                write_checkpoint(checkpoint, run, learner.settings, learner.data)
            if progress is not None and world.rank == 0:
                progress(run.history[-1])
    return run


def start_run(learner: Learner) -> Run:
    """A run before its first epoch."""
    net = learner.make_net().to(learner.world.device)
    kept, bits = learner.start(net)
    mean, optimizer = RunningMean(net, apart=learner.averages), learner.make_optimizer(net)
    return Run(net, mean, optimizer, 0, 0, bits, copy_net(kept))


def run_epoch(run: Run, learner: Learner) -> float:
    """One pass over the batches of an epoch; the mean loss."""
    total = torch.zeros((), device=learner.world.device)
    plan = learner.plan(run.epoch + 1)
    steps = learner.epochs * len(plan)
    run.net.train()
    for step, batch in enumerate(plan, start=run.epoch * len(plan) + 1):
        learner.pace(run.optimizer, step, steps)
        total += learner.gradients(run.net, batch)
        learner.world.sum_gradients(run.net.parameters())
        if learner.clip:
            torch.nn.utils.clip_grad_norm_(run.net.parameters(), learner.clip)
        run.optimizer.step()
        run.mean.update(learner.follow(step, steps))
    return sum(learner.world.gather(float(total))) / learner.size


def group_by_decay(net: nn.Module, decay: Callable[[str, nn.Parameter], float]) -> list[dict[str, Any]]:
    """The parameters of a net as an optimiser takes them, those of one weight decay together."""
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in net.named_parameters():
        groups.setdefault(decay(name, parameter), []).append(parameter)
    return [{"params": held, "weight_decay": each} for each, held in groups.items()]


def seed_of(*parts: int) -> int:
    """A seed that follows from numbers, such as the seed of the run and an epoch."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> np.uint64(1))


@contextmanager
def precision(amp: str, device: torch.device) -> Iterator[None]:
    """Products in TF32 or in single precision on a GPU; what was set before is set again after.

    Half precisions are no choice: the z-score of the essence magnifies their rounding beyond the gradients.
    """
    if device.type != "cuda":
        yield
        return
    backends: Any = torch.backends
    switches = [backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn]
    before = [switch.fp32_precision for switch in switches]
    try:
        for switch in switches:
            switch.fp32_precision = "ieee" if amp == "none" else "tf32"
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.fp32_precision = value


@dataclass(frozen=True, eq=False)
class _Recorded:
    graph: torch.cuda.CUDAGraph
    features: Tensor
    orderings: Tensor
    weight: Tensor
    loss: Tensor


class GraphedStep:
    """Loss and gradients of a batch as CUDA graphs: one launch where small kernels would wait for Python.

    A graph has fixed shapes, so there is one for each number of items; batches must all have one size. The gradients,
    those of the loss times ``scale``, get buffers that stay.
    """

    def __init__(self, net: nn.Module, loss: Callable[[Any], Tensor], scale: float) -> None:
        self._net, self._loss, self._scale = net, loss, scale
        self._recorded: dict[tuple[int, ...], _Recorded] = {}
        for parameter in net.parameters():
            parameter.grad = torch.zeros_like(parameter)
        self._grads: list[Tensor] = [p.grad for p in net.parameters() if p.grad is not None]

    def __call__(self, features: Tensor, orderings: Tensor, weight: float) -> Tensor:
        """The loss, times ``weight``, of features (b, n, f[, s]) in orderings (b, N, n); valid until the next call."""
        key = (*features.shape, *orderings.shape)
        if key not in self._recorded:
            self._recorded[key] = self._record(features.clone(), orderings.clone())
        held = self._recorded[key]
        held.features.copy_(features)
        held.orderings.copy_(orderings)
        held.weight.fill_(weight)
        held.graph.replay()
        return held.loss

    def _record(self, features: Tensor, orderings: Tensor) -> _Recorded:
        weight = torch.ones((), device=features.device)
        aside = torch.cuda.Stream(features.device)  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                self._step(features, orderings, weight)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        others = next(iter(self._recorded.values()), None)  # all share their memory: only one runs at a time
        with torch.cuda.graph(graph, pool=others.graph.pool() if others else None):
            loss = self._step(features, orderings, weight)
        return _Recorded(graph, features, orderings, weight, loss)

    def _step(self, features: Tensor, orderings: Tensor, weight: Tensor) -> Tensor:
        torch._foreach_zero_(self._grads)
        loss = self._loss(self._net(features, orderings)) * weight
        (loss * self._scale).backward()  # type: ignore[no-untyped-call]
        return loss.detach()


# The InfoNCE loss (Equation 1 of the paper), the bound on the information it gives (Equation 2), scores by tables.

Number = TypeVar("Number", float, Tensor)


def info_nce(scores: Tensor) -> Tensor:
    """Equation 1 of the paper, in nats, of scores (b, N), the true order's first: -log of its share, (b,)."""
    return torch.logsumexp(scores, dim=1) - scores[:, 0]


def log_share(logits: Tensor) -> Tensor:
    """Minus :func:`info_nce`, along the last of any axes; rounded as the files of set models were trained with."""
    return logits.log_softmax(-1)[..., 0]


def to_bits(loss: Number, sequences: int) -> Number:
    """Equation 2 of the paper: the bound log N - L on the information, in bits; ``sequences`` is N."""
    return (math.log(sequences) - loss) / math.log(2)


def permutations(count: int, n: int, generator: torch.Generator) -> Tensor:
    """Independent uniform orderings of n items, (count, n); any may be the true one, as the bound needs it."""
    return torch.rand((count, n), device=generator.device, generator=generator).argsort(-1)


def contrast(tables: tuple[Tensor, Tensor], orderings: Tensor) -> Tensor:
    """Logits (B, 1 + N): the true ordering, in which the items of the tables stand, then its negatives (N, n)."""
    positions, flow = tables
    places = positions.diagonal(dim1=1, dim2=2).sum(-1, keepdim=True)
    true = places + flow.diagonal(offset=1, dim1=1, dim2=2).sum(-1, keepdim=True)  # (B, 1)
    return torch.cat([true, ordering_scores(positions, flow, orderings)], dim=1)


def ordering_scores(positions: Tensor, flow: Tensor, orderings: Tensor) -> Tensor:
    """Scores (B, N) of the same orderings (N, n) for every collection.

    They are linear in the tables (B, n, n), item by position and item by the next, so thousands are one matrix product.
    """
    count, n = orderings.shape
    stands = torch.zeros((count, n * n), device=positions.device)
    stands.scatter_(1, orderings * n + torch.arange(n, device=orderings.device), 1.0)
    follows = torch.zeros((count, n * n), device=positions.device)
    follows.scatter_(1, orderings[:, :-1] * n + orderings[:, 1:], 1.0)
    return positions.flatten(1) @ stands.T + flow.flatten(1) @ follows.T


def table_bits(positions: Tensor, flow: Tensor, negatives: int, draws: int, generator: torch.Generator) -> Tensor:
    """Bits (B,) of tables (B, n, n): each collection against orderings of its own."""
    count, n, _ = positions.shape
    drawn = permutations(count * draws * negatives, n, generator).view(count, draws * negatives, n)
    steps = torch.arange(n, device=positions.device)
    scores = positions.flatten(1).gather(1, (drawn * n + steps).flatten(1)).view(drawn.shape).sum(-1)
    links = drawn[:, :, :-1] * n + drawn[:, :, 1:]
    scores = scores + flow.flatten(1).gather(1, links.flatten(1)).view(links.shape).sum(-1)
    true = positions.diagonal(dim1=1, dim2=2).sum(-1) + flow.diagonal(offset=1, dim1=1, dim2=2).sum(-1)
    logits = torch.cat([true[:, None, None].expand(-1, draws, 1), scores.view(count, draws, negatives)], dim=-1)
    return to_bits(-log_share(logits.double()).mean(-1), negatives + 1)
