"""Decoding by ffmpeg, held on a short lead: a named demuxer, one open file, a time limit, and an end with ours."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, BinaryIO, cast

import numpy as np

from fabula.media.music.loudness.meter import chunk_frames
from fabula.media.music.loudness.weighting import Samples
from fabula.media.spec import Stop, Stopped

PATIENCE = 60.0  # seconds without a sample, after which it is given up

_OPTIONS = ["-nostdin", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,pipe"]
_running: set[subprocess.Popen[bytes]] = set()


class DecodeError(Exception):
    """ffmpeg could not decode it; the message says in a few words why."""


@dataclass(frozen=True)
class Stream:
    """Decoded sound: samples per second, channels, and chunks of `chunk_frames` frames but the last."""

    rate: int
    channels: int
    chunks: Iterator[Samples]


def installed() -> bool:
    """Whether ffmpeg is there."""
    return shutil.which("ffmpeg") is not None


@contextlib.contextmanager
def decoding(file: BinaryIO, name: str, demuxer: str, stop: Stop) -> Iterator[Stream]:
    """Decode an open file.

    Parameters
    ----------
    file, name
        Open for reading; and its path, used only where the system cannot hand an open file on.
    demuxer
        Of ffmpeg; it is not asked to guess.
    stop
        Asked ten times a second, also while nothing comes.

    Raises
    ------
    DecodeError
        When it is not what it seemed, breaks off, or takes too long.
    Stopped
        When `stop` says True.
    """
    # Linux opens the very file anew, so that ffmpeg can seek in it; "file:" keeps a name from being an option.
    source = "file:/proc/self/fd/0" if sys.platform == "linux" else f"file:{name}"
    wanted = ["-map", "0:a:0", "-vn", "-sn", "-dn", "-c:a", "pcm_f32be", "-f", "au", "pipe:1"]
    command = ["ffmpeg", *_OPTIONS, "-f", demuxer, "-i", source, *wanted]
    file.seek(0)
    process = subprocess.Popen(
        command, stdin=file if sys.platform == "linux" else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _running.add(process)
    watch = _Watch(process, stop)
    try:
        yield _stream(process, watch)
    finally:
        watch.end()
        process.kill()
        process.wait()
        cast(IO[bytes], process.stdout).close()
        _running.discard(process)


def _stream(process: subprocess.Popen[bytes], watch: _Watch) -> Stream:
    """An AU stream of big-endian floats, whose header is six words."""
    stream = cast(IO[bytes], process.stdout)  # it was asked for
    header = watch.read(stream, 24)
    if len(header) < 24 or header[:4] != b".snd":
        raise DecodeError("is not audio that can be read")
    offset, _, _, rate, channels = struct.unpack(">5I", header[4:])
    watch.read(stream, offset - 24)
    return Stream(rate, channels, _chunks(process, watch, rate, channels))


def _chunks(process: subprocess.Popen[bytes], watch: _Watch, rate: int, channels: int) -> Iterator[Samples]:
    stream, size = cast(IO[bytes], process.stdout), chunk_frames(rate)
    while data := watch.read(stream, size * channels * 4):
        frames = len(data) // (channels * 4)
        yield np.frombuffer(data, ">f4", frames * channels).astype(np.float32).reshape(frames, channels)
    if process.wait() != 0:
        raise DecodeError("is broken or cut off: it cannot be decoded to its end")


class _Watch:
    """Kills a process that is not wanted any more, or from which nothing comes."""

    def __init__(self, process: subprocess.Popen[bytes], stop: Stop) -> None:
        self._process, self._stop = process, stop
        self._since: float | None = None  # when somebody began to wait for it
        self._ended = threading.Event()
        self._why: Exception | None = None
        threading.Thread(target=self._run, daemon=True, name="fabula-watch").start()

    def read(self, stream: IO[bytes], size: int) -> bytes:
        """So many bytes, or what is left."""
        self._since = time.monotonic()
        data = stream.read(size)
        self._since = None
        if self._why is not None:
            raise self._why
        return data

    def end(self) -> None:
        """Watch no more."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(0.1):
            since = self._since
            if self._stop():
                self._why = Stopped()
            elif since is not None and time.monotonic() - since > PATIENCE:
                self._why = DecodeError(f"takes too long to decode: nothing came for {PATIENCE:.0f} s")
            if self._why is not None:
                self._process.kill()
                return


@atexit.register
def _kill_all() -> None:
    """Let none of them outlive us."""
    for process in list(_running):
        with contextlib.suppress(OSError):
            process.kill()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # they are the parent's
