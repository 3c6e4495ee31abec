"""A run of training: its state, and the checkpoint that holds all of it after an epoch, complete or absent.

An epoch's randomness follows from the seed and its number, so no random state needs to be kept.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fabula.core.files import write_whole
from fabula.errors import FileError
from fabula.training.distributed import World

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


class RunningMean:
    """A mean of a net's weights over the steps; the net it gives is the one to validate and to keep."""

    def __init__(self, net: nn.Module, *, apart: bool) -> None:
        self.apart = apart
        self.net = copy.deepcopy(net).requires_grad_(requires_grad=False) if apart else net
        for module in self.net.modules():
            if isinstance(module, nn.LSTM):
                module.flatten_parameters()
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
    best: dict[str, Tensor]
    history: list[Progress] = field(default_factory=list)

    def best_net(self) -> Any:
        """The net in the state that did best."""
        self.net.load_state_dict(self.best)
        return self.net.eval()


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is kept after each epoch, and whether it is taken up from there.

    With several processes the first alone writes it, and all look for it: after a restart another machine may be
    first, and the file lies where the last first one was.
    """

    path: Path
    resume: bool | None = None  # True: take up the run in the file; False: start anew; None: take it up if it is there

    def content(self) -> bytes | None:
        """What the file holds; None where a run starts anew."""
        if self.resume is False or (self.resume is None and not self.path.exists()):
            return None
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise FileError(f"{self.path}: cannot be read as a training checkpoint ({error})") from error


def take_up(checkpoint: Checkpoint, run: Run, settings: Settings, data: str, world: World) -> None:
    """Bring a fresh run to the state in a checkpoint, where there is one to take up on the disk of any process.

    Every process gets the same file, that with the most epochs. One of other settings or other collections is an error.
    """
    epochs = world.gather(_count_epochs(checkpoint, alone=world.size == 1))
    content = world.share_from(epochs.index(max(epochs)), checkpoint.content)
    if content is not None:
        read_checkpoint(content, run, settings, data, where=checkpoint.path)


def _count_epochs(checkpoint: Checkpoint, *, alone: bool) -> int:
    """How far the run in a file is; -1 where there is none, 0 where it does not say."""
    if alone or not checkpoint.path.exists():
        return -1
    try:
        header, _ = _read(checkpoint.path.read_bytes(), checkpoint.path)
        return int(json.loads(header["state"])["epoch"])
    except (FileError, OSError, KeyError, ValueError):
        return 0


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
    tensors = {name: np.ascontiguousarray(tensor.detach().cpu().numpy()) for name, tensor in _tensors(run).items()}
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
    _restore(run, tensors, where)
    run.epoch, run.best_epoch, run.best_bits = state["epoch"], state["best_epoch"], state["best_bits"]
    run.history[:] = [Progress(**row) for row in state["history"]]


def _read(content: bytes, where: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size]).get("__metadata__")
    except (SafetensorError, ValueError, KeyError) as error:
        raise FileError(f"{where}: cannot be read as a training checkpoint ({error})") from error
    return header or {}, tensors


def _tensors(run: Run) -> dict[str, Tensor]:
    """Every tensor of a run by name; those of the optimiser by the number of their parameter."""
    named = {f"net.{name}": tensor for name, tensor in run.net.state_dict().items()}
    named |= {f"best.{name}": tensor for name, tensor in run.best.items()}
    if run.mean.apart:
        named |= {f"mean.{name}": tensor for name, tensor in run.mean.net.state_dict().items()}
    for number, moments in run.optimizer.state_dict()["state"].items():
        named |= {f"optimizer.{number}.{name}": tensor for name, tensor in moments.items()}
    return named


def _restore(run: Run, tensors: dict[str, Tensor], where: Path) -> None:
    parts: dict[str, dict[str, Tensor]] = {"net": {}, "mean": {}, "best": {}, "optimizer": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = tensor
    try:
        run.net.load_state_dict(parts["net"])
        if run.mean.apart:
            run.mean.net.load_state_dict(parts["mean"])
        for name, tensor in run.best.items():
            tensor.copy_(parts["best"][name])
    except (KeyError, RuntimeError) as error:
        raise FileError(f"{where}: does not hold the tensors of this net ({error})") from error
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in parts["optimizer"].items():
        number, _, moment = name.partition(".")
        moments.setdefault(int(number), {})[moment] = tensor
    run.optimizer.load_state_dict({**run.optimizer.state_dict(), "state": moments})
