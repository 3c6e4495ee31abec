"""Sound out of files, chunk by chunk: by soundfile where it can, else by ffmpeg where it is installed."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from fabula.errors import FileError, shown
from fabula.media.music.decoding import ffmpeg
from fabula.media.music.decoding.containers import demuxer_of
from fabula.media.music.loudness.meter import LOWEST_RATE, chunk_frames
from fabula.media.music.loudness.weighting import Samples
from fabula.media.spec import Stop, Stopped

if TYPE_CHECKING:
    from soundfile import SoundFile  # type: ignore[import-untyped]

MOST_CHANNELS = 64
MOST_HOURS = 48  # of sound in one file: a few kB can promise more than anybody waits for
# What soundfile does not read; any other ending is tried with it first, whatever it is.
FFMPEG_ENDINGS = (".m4a", ".m4b", ".aac", ".mp4", ".wma", ".ape", ".wv", ".mpc", ".tta", ".ac3", ".mka", ".webm")


@dataclass(frozen=True)
class Sound:
    """An open sound: its rate, its channels, and its chunks in order, each of `chunk_frames` but the last.

    Chunks have shape (frames, channels) and lie in memory channel by channel, as all that measures them needs it.
    ``vorbis`` says that channels come in the order of Ogg files (L, C, R, Ls, Rs, LFE), not in that of WAV files.
    """

    rate: int
    channels: int
    chunks: Iterator[Samples]
    vorbis: bool = False


@contextlib.contextmanager
def open_sound(path: str | os.PathLike[str], *, stop: Stop = lambda: False) -> Iterator[Sound]:
    """Open a sound file for reading in chunks; each chunk may overwrite the one before.

    The file is opened once; what it is goes by its content. Nothing else is read, whatever it names.

    Parameters
    ----------
    path
        The file.
    stop
        Asked before each chunk, and while none comes; True gives up with `Stopped`.

    Raises
    ------
    FileError
        One line, the path first, when the file is missing, empty, not audio or breaks off, or needs ffmpeg.
    """
    name = os.fspath(path)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_opened(name))
        by_ffmpeg = Path(name).suffix.lower() in FFMPEG_ENDINGS
        known = None if by_ffmpeg else _open_soundfile(name, file)
        if known is not None:
            stack.enter_context(known)
            chunks = _soundfile_chunks(name, known)
            sound = Sound(known.samplerate, known.channels, chunks, vorbis=known.format == "OGG")
        else:
            sound = _open_ffmpeg(name, file, stop, stack)
        yield _checked(name, sound, stop)


def _opened(name: str) -> BinaryIO:
    """The file, open for reading; refused where it is no file with something in it."""
    try:
        # A pipe is not waited for.
        file = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        if isinstance(error, FileNotFoundError) and Path(name).is_symlink():
            reason = "is a link to a file that does not exist"
        if isinstance(error, PermissionError) and Path(name).is_dir():  # as Windows says it
            reason = "is a folder, not an audio file"
        raise FileError(f"{shown(name)}: {reason}") from error
    status = os.fstat(file)
    if stat.S_ISREG(status.st_mode) and status.st_size:
        return os.fdopen(file, "rb")
    os.close(file)
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{shown(name)}: is a folder, not an audio file")
    raise FileError(f"{shown(name)}: {'is empty' if stat.S_ISREG(status.st_mode) else 'is not a regular file'}")


def _checked(name: str, sound: Sound, stop: Stop) -> Sound:
    if sound.rate < LOWEST_RATE:
        raise FileError(f"{shown(name)}: the sample rate must be at least {LOWEST_RATE} Hz; it is {sound.rate}")
    if not 1 <= sound.channels <= MOST_CHANNELS:
        raise FileError(f"{shown(name)}: must have 1 to {MOST_CHANNELS} channels; it has {sound.channels}")
    return replace(sound, chunks=_bounded(name, sound, stop))


def _bounded(name: str, sound: Sound, stop: Stop) -> Iterator[Samples]:
    """The chunks, as long as they are wanted and not too many."""
    frames = 0
    room = np.empty((sound.channels, chunk_frames(sound.rate)), np.float32)
    for chunk in sound.chunks:
        if stop():
            raise Stopped
        frames += len(chunk)
        if frames > MOST_HOURS * 3600 * sound.rate:
            raise FileError(f"{shown(name)}: is longer than {MOST_HOURS} hours")
        room[:, : len(chunk)] = chunk.T
        yield room[:, : len(chunk)].T


def _open_soundfile(name: str, file: BinaryIO) -> SoundFile | None:
    """The file as soundfile sees it, None where it knows no such format."""
    import soundfile

    if name.lower().endswith(".raw"):  # samples without a header: nothing says what they are
        return None
    try:
        return soundfile.SoundFile(name if os.name == "nt" else os.dup(file.fileno()))
    except (soundfile.SoundFileError, RuntimeError, TypeError, ValueError):
        return None


def _soundfile_chunks(name: str, file: SoundFile) -> Iterator[Samples]:
    import soundfile

    size = chunk_frames(file.samplerate)
    room = np.empty((size, file.channels), np.float32)
    promised = 0 if file.format == "MP3" else file.frames  # MP3 files can only guess how long they are
    done = 0
    while True:
        try:
            chunk = file.read(out=room)
        except (soundfile.SoundFileError, RuntimeError) as error:
            raise _broken(name) from error
        if not len(chunk):
            break
        done += len(chunk)
        yield chunk
    if done < promised - file.samplerate // 100:
        raise _broken(name)


def _broken(name: str) -> FileError:
    return FileError(f"{shown(name)}: is broken or cut off: it cannot be decoded to its end")


def _open_ffmpeg(name: str, file: BinaryIO, stop: Stop, stack: contextlib.ExitStack) -> Sound:
    """The file as ffmpeg decodes it."""
    ending = Path(name).suffix
    if not ffmpeg.installed() and ending.lower() in FFMPEG_ENDINGS:
        raise FileError(f"{shown(name)}: {ending} files need ffmpeg, which is not installed")
    if not ffmpeg.installed():
        raise FileError(f"{shown(name)}: is not audio that can be read (ffmpeg, which reads more, is not installed)")
    demuxer = demuxer_of(file)
    if demuxer is None:
        raise FileError(f"{shown(name)}: is not audio that can be read")
    try:
        stream = stack.enter_context(ffmpeg.decoding(file, name, demuxer, stop))
    except ffmpeg.DecodeError as error:
        raise FileError(f"{shown(name)}: {error}") from error
    return Sound(stream.rate, stream.channels, _ffmpeg_chunks(name, stream))


def _ffmpeg_chunks(name: str, stream: ffmpeg.Stream) -> Iterator[Samples]:
    try:
        yield from stream.chunks
    except ffmpeg.DecodeError as error:
        raise FileError(f"{shown(name)}: {error}") from error
