"""The `audio` features: what can be measured exactly of any audio file, in one pass over its samples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabula.errors import FileError, InputError, shown
from fabula.media.music.decoding import Sound, open_sound
from fabula.media.music.loudness import integrated
from fabula.media.music.weighting import Samples
from fabula.media.spec import Spec, Stop, Stopped


@dataclass(frozen=True)
class AudioFeatures:
    """What was measured of an audio file.

    Attributes
    ----------
    duration_ms
        From the samples decoded, in milliseconds.
    loudness
        Integrated, BS.1770-4, in LUFS; -70 for silence and anything softer.
    """

    duration_ms: float
    loudness: float


def measure(path: str | os.PathLike[str], *, stop: Stop = lambda: False) -> AudioFeatures:
    """Measure one audio file in one pass, in memory for a few seconds of it however long it is.

    Parameters
    ----------
    path
        wav, aiff, flac, ogg, opus or mp3; m4a, aac, wma and the rest where ffmpeg is installed (of these the encoder's
        padding, up to 50 ms, may count as part of the sound).
    stop
        Asked every few seconds of sound; True gives up with `Stopped`.

    Returns
    -------
    Duration and loudness.

    Raises
    ------
    FileError
        One line, the path first, when the file is not audio, is broken, or has no samples in it.
    """
    name = os.fspath(path)
    with open_sound(name, stop=stop) as sound:
        counted = _Counted(sound, stop)
        try:
            level = integrated(counted.chunks(), sound.rate, vorbis=sound.vorbis)
        except InputError as error:
            reason = "has no samples in it" if not counted.frames else str(error)
            raise FileError(f"{shown(name)}: {reason}") from error
    return AudioFeatures(1000.0 * counted.frames / sound.rate, level)


class _Counted:
    """The chunks of a sound, and how many frames went by."""

    def __init__(self, sound: Sound, stop: Stop) -> None:
        self.sound, self.stop, self.frames = sound, stop, 0

    def chunks(self) -> Iterator[Samples]:
        for chunk in self.sound.chunks:
            if self.stop():
                raise Stopped
            self.frames += len(chunk)
            yield chunk


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    measured = measure(path, stop=stop)
    return np.array([measured.duration_ms, measured.loudness])


SPEC = Spec("audio", version=1, feature_names=("duration_ms", "loudness"), measure=_row, shape=(2,))
