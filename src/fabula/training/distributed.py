"""Several processes as one: batches are shared out, gradients are summed; the first decides, writes and prints."""

import atexit
import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, distributed as dist

from fabula.errors import FabulaError, InputError

# Which of how many processes this is; torchrun says so in the environment, and PyTorch need not be asked.


def processes() -> int:
    """How many processes torchrun started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this process is the one that decides, writes and prints."""
    return int(os.environ.get("RANK", "0")) == 0


T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """Which of how many processes this is, and the device it works on."""

    rank: int
    size: int
    device: torch.device

    def share(self, rows: Tensor) -> Tensor:
        """The part of a batch (b,) that falls to this process; may be empty."""
        return rows[self.rank :: self.size] if self.size > 1 else rows

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Replace each gradient by its sum over the processes, in one exchange."""
        if self.size == 1:
            return
        held = list(parameters)
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in held]
        flat = torch.cat([grad.flatten() for grad in grads])
        dist.all_reduce(flat)
        for parameter, part in zip(held, torch.split(flat, [grad.numel() for grad in grads]), strict=True):
            parameter.grad = part.view_as(parameter).clone()

    def share_from(self, rank: int, make: Callable[[], T]) -> T:
        """What one process makes, for all; where it raises an error of fabula's, all raise it."""
        made: list[Any] = [None, None]
        if self.rank == rank:
            try:
                made[0] = make()
            except FabulaError as error:
                made[1] = error
        value, refusal = self.gather(made)[rank]
        if refusal is not None:
            raise refusal
        return cast(T, value)

    def gather(self, value: T) -> list[T]:
        """What each process says, in the order of their ranks."""
        if self.size == 1:
            return [value]
        said: list[Any] = [None] * self.size
        with torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext():
            dist.all_gather_object(said, value)
        return said


def same_everywhere(world: World, data: str) -> str:
    """The fingerprint of the collections; an error where two processes have read different ones."""
    said = world.gather(data)
    other = next((rank for rank, one in enumerate(said) if one != said[0]), None)
    if other is not None:
        raise InputError(f"processes 0 and {other} have read different collections; give all the same table")
    return data


def join(device: str) -> World:
    """Join the processes that torchrun started, or work alone; ``device`` as :func:`pick_device` takes it.

    They stay joined until they end: one training follows another, and a process that opens a group anew may wait for
    ever for one that has not yet closed the last.
    """
    rank, size = int(os.environ.get("RANK", "0")), processes()
    chosen = pick_device(device, local_rank=int(os.environ.get("LOCAL_RANK", "0")) if size > 1 else None)
    if size > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
        atexit.register(dist.destroy_process_group)
    return World(rank, size, chosen)


def pick_device(device: str, *, local_rank: int | None = None) -> torch.device:
    """The device that auto (a GPU if there is one), cpu, cuda or cuda:1 means; of several processes, one GPU each."""
    try:
        best = "cuda" if torch.cuda.is_available() else "cpu"
        chosen = torch.device(best if device == "auto" else device)
    except RuntimeError as error:
        raise InputError(f"device must be auto, cpu, cuda or cuda:NUMBER; got {device!r}") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device {device!r} was asked for, but this machine has no GPU that PyTorch can use")
    if str(chosen) == "cuda":
        return torch.device("cuda", torch.cuda.current_device() if local_rank is None else local_rank)
    return chosen
