"""Sound out of files, chunk by chunk: by soundfile where it can, else by ffmpeg where it is installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from fabula.errors import FileError, shown
from fabula.media.music.loudness import LOWEST_RATE, chunk_frames
from fabula.media.music.weighting import Samples

if TYPE_CHECKING:
    from soundfile import SoundFile  # type: ignore[import-untyped]

MOST_CHANNELS = 64
# What soundfile does not read; any other ending is tried with it first, whatever it is.
FFMPEG_ENDINGS = (".m4a", ".m4b", ".aac", ".mp4", ".wma", ".ape", ".wv", ".mpc", ".tta", ".ac3", ".mka", ".webm")


@dataclass(frozen=True)
class Sound:
    """An open sound: its rate, its channels, and its chunks in order, each of `chunk_frames` but the last.

    ``vorbis`` says that channels come in the order of Ogg files (L, C, R, Ls, Rs, LFE), not in that of WAV files.
    """

    rate: int
    channels: int
    chunks: Iterator[Samples]
    vorbis: bool = False


@contextlib.contextmanager
def open_sound(path: str | os.PathLike[str]) -> Iterator[Sound]:
    """Open a sound file for reading in chunks; each chunk may overwrite the one before.

    Raises
    ------
    FileError
        One line, the path first, when the file is missing, empty, not audio or breaks off, or needs ffmpeg.
    """
    name = os.fspath(path)
    _check_file(name)
    with contextlib.ExitStack() as stack:
        file = None if Path(name).suffix.lower() in FFMPEG_ENDINGS else _open_soundfile(name)
        if file is not None:
            stack.enter_context(file)
            chunks = _soundfile_chunks(name, file)
            yield _checked(name, Sound(file.samplerate, file.channels, chunks, vorbis=file.format == "OGG"))
        elif shutil.which("ffmpeg"):
            yield _checked(name, stack.enter_context(_open_ffmpeg(name)))
        elif Path(name).suffix.lower() in FFMPEG_ENDINGS:
            raise FileError(f"{shown(name)}: {Path(name).suffix} files need ffmpeg, which is not installed")
        else:
            raise FileError(
                f"{shown(name)}: is not audio that can be read (ffmpeg, which reads more, is not installed)"
            )


def _check_file(name: str) -> None:
    """Refuse what is no file with something in it, before a library gives it another name."""
    try:
        status = Path(name).stat()
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        if isinstance(error, FileNotFoundError) and Path(name).is_symlink():
            reason = "is a link to a file that does not exist"
        raise FileError(f"{shown(name)}: {reason}") from error
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{shown(name)}: is a folder, not an audio file")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{shown(name)}: is not a regular file")
    if status.st_size == 0:
        raise FileError(f"{shown(name)}: is empty")
    if not os.access(name, os.R_OK):
        raise FileError(f"{shown(name)}: cannot be read (Permission denied)")


def _checked(name: str, sound: Sound) -> Sound:
    if sound.rate < LOWEST_RATE:
        raise FileError(f"{shown(name)}: the sample rate must be at least {LOWEST_RATE} Hz; it is {sound.rate}")
    if not 1 <= sound.channels <= MOST_CHANNELS:
        raise FileError(f"{shown(name)}: must have 1 to {MOST_CHANNELS} channels; it has {sound.channels}")
    return sound


def _open_soundfile(name: str) -> SoundFile | None:
    """The file as soundfile sees it, None where it knows no such format."""
    import soundfile

    if name.lower().endswith(".raw"):  # samples without a header: nothing says what they are
        return None
    try:
        # As bytes a name may hold what no encoding knows.
        return soundfile.SoundFile(name if os.name == "nt" else os.fsencode(name))
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


@contextlib.contextmanager
def _open_ffmpeg(name: str) -> Iterator[Sound]:
    """The file as ffmpeg decodes it: an AU stream of big-endian floats, whose header is six words."""
    # "file:" keeps a name from being read as an option or an address; nothing but local files is opened.
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe"]
    command += ["-i", f"file:{name}", "-map", "0:a:0", "-c:a", "pcm_f32be", "-f", "au", "pipe:1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    stream = cast(IO[bytes], process.stdout)  # it was asked for
    try:
        header = stream.read(24)
        if len(header) < 24 or header[:4] != b".snd":
            raise FileError(f"{shown(name)}: is not audio that can be read")
        offset, _, _, rate, channels = struct.unpack(">5I", header[4:])
        stream.read(offset - 24)
        yield Sound(rate, channels, _ffmpeg_chunks(name, stream, process, rate, channels))
    finally:
        process.kill()
        process.wait()
        stream.close()


def _ffmpeg_chunks(
    name: str, stream: IO[bytes], process: subprocess.Popen[bytes], rate: int, channels: int
) -> Iterator[Samples]:
    size = chunk_frames(rate)
    while data := stream.read(size * channels * 4):
        frames = len(data) // (channels * 4)
        yield np.frombuffer(data, ">f4", frames * channels).astype(np.float32).reshape(frames, channels)
    if process.wait() != 0:
        raise _broken(name)
