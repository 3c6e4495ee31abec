"""The `audio` features: what can be measured of any audio file, in one pass over its samples."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.errors import FileError, InputError, shown
from fabula.media.medium import Spec, Stop, Stopped
from fabula.media.music.decode import Sound, open_sound
from fabula.media.music.key import Key, Pitches, chroma, find_key, tuning
from fabula.media.music.loudness import EDGE_SECONDS, Edges, Meter, Peak, Samples, edges, loudness_range
from fabula.media.music.spectra import Mix, ShortSpectra, Width, bass_share, brightness
from fabula.media.music.tempo import Tempo, find_tempo, onset_density

# All that is heard in one pass: chunks go in, numbers come out.

_SECONDS = 30.0  # of each end in which its tempo and key are heard


@dataclass(frozen=True)
class Heard:
    """What was heard; units as in `AudioFeatures`."""

    tempo: Tempo
    start_tempo: Tempo
    end_tempo: Tempo
    key: Key
    start_key: Key
    end_key: Key
    tuning: float
    onset_density: float
    brightness: float
    start_brightness: float
    end_brightness: float
    bass_share: float
    stereo_width: float
    true_peak: float
    loudness_range: float
    edges: Edges


class Ears:
    """Listens to a stream.

    Attributes
    ----------
    pushed
        Whether anything came.
    """

    def __init__(self, rate: int) -> None:
        self.pushed = False
        self.mix, self.width, self.peak = Mix(rate), Width(), Peak(rate)
        self.spectra, self.pitches = ShortSpectra(self.mix.rate), Pitches(self.mix.rate)

    def push(self, chunk: Samples) -> None:
        """Take a chunk (frames, channels) into account; it may be overwritten afterwards."""
        self.peak.push(chunk)
        self.width.push(chunk)
        mono = self.mix.push(chunk)
        self.spectra.push(mono)
        self.pitches.push(mono)

    def result(self, powers: Floats, loudness: float) -> Heard:
        """What was heard in all.

        Parameters
        ----------
        powers
            K-weighted, per 100 ms.
        loudness
            Of the whole, in LUFS.
        """
        ends = edges(powers, loudness)
        spans, blocks, onsets = self.spectra.spans, self.pitches.blocks, self.spectra.onsets
        rate, strength = self.spectra.rate, self.spectra.strengths / max(1, len(onsets))
        cents, tuned = tuning(blocks)
        classes = chroma(blocks, cents)
        colour_ends = _ends(spans, self.spectra.span_seconds, ends, EDGE_SECONDS)
        key_ends = _ends(classes, self.pitches.block_seconds, ends, _SECONDS)
        beat_ends = _ends(onsets, 1 / rate, ends, _SECONDS)
        return Heard(
            tempo=find_tempo(onsets, rate, strength),
            start_tempo=find_tempo(beat_ends[0], rate, strength),
            end_tempo=find_tempo(beat_ends[1], rate, strength),
            key=find_key(classes, tuned),
            start_key=find_key(key_ends[0], tuned),
            end_key=find_key(key_ends[1], tuned),
            tuning=cents,
            onset_density=onset_density(onsets, rate),
            brightness=brightness(spans),
            start_brightness=brightness(colour_ends[0]),
            end_brightness=brightness(colour_ends[1]),
            bass_share=bass_share(spans),
            stereo_width=self.width.share(),
            true_peak=self.peak.finish(),
            loudness_range=loudness_range(powers),
            edges=ends,
        )


def _ends(rows: Floats, seconds: float, ends: Edges, wanted: float) -> tuple[Floats, Floats]:
    """The rows of the first and of the last seconds that sound; each row stands for so many `seconds`."""
    first, last = int(ends.start / seconds), int(np.ceil(ends.end / seconds))
    count = max(1, round(wanted / seconds))
    return rows[first : min(last, first + count)], rows[max(first, last - count) : last]


@dataclass(frozen=True)
class AudioFeatures:
    """What was measured of an audio file.

    Attributes
    ----------
    duration_ms
        From the samples decoded, in milliseconds.
    loudness
        Integrated, BS.1770-4, in LUFS; -70 for silence and anything softer.
    loudness_range
        EBU Tech 3342, in LU; 0 for less than three seconds.
    true_peak
        BS.1770-4 annex 2, in dBTP; -100 for silence.
    heard_tempo, tempo_confidence
        Beats per minute, 0 where none are heard; and how likely they are right (within 4 %), 0 to 1.
    heard_key, heard_mode, key_confidence
        0 for C to 11 for B; 1 for major, 0 for minor; and how likely both are right, 0 to 1.
    tuning
        Cents above A = 440 Hz, -50 to 50.
    onset_density
        Onsets per second.
    brightness
        The middle of the power spectrum in Hz, from 30 to 5300 Hz; 0 for silence.
    bass_share
        The part of the power below 150 Hz.
    stereo_width
        The part of the power in the difference of left and right: 0 for mono, 0.5 for unrelated channels.
    silence_start, silence_end
        Seconds before the first sound and after the last; silence is 45 LU below the loudness, or below -70 LUFS.
    fade_in, fade_out
        Seconds from the first sound until a second of it is within 6 LU of the loudness; the same from the end.
    start_loudness, end_loudness, start_brightness, end_brightness
        Of the first and last 15 seconds that sound.
    start_tempo, start_tempo_confidence, end_tempo, end_tempo_confidence
        Of the first and last 30 seconds that sound.
    start_key, start_mode, start_key_confidence, end_key, end_mode, end_key_confidence
        Of the first and last 30 seconds that sound.
    """

    duration_ms: float
    loudness: float
    loudness_range: float
    true_peak: float
    heard_tempo: float
    tempo_confidence: float
    heard_key: float
    heard_mode: float
    key_confidence: float
    tuning: float
    onset_density: float
    brightness: float
    bass_share: float
    stereo_width: float
    silence_start: float
    silence_end: float
    fade_in: float
    fade_out: float
    start_loudness: float
    end_loudness: float
    start_brightness: float
    end_brightness: float
    start_tempo: float
    start_tempo_confidence: float
    end_tempo: float
    end_tempo_confidence: float
    start_key: float
    start_mode: float
    start_key_confidence: float
    end_key: float
    end_mode: float
    end_key_confidence: float


def measure(path: str | os.PathLike[str], *, stop: Stop = lambda: False) -> AudioFeatures:
    """Measure one audio file in one pass, in memory for a few seconds of it and a few numbers for each second.

    Parameters
    ----------
    path
        wav, aiff, flac, ogg, opus or mp3; m4a, aac, wma and the rest where ffmpeg is installed (of these the encoder's
        padding, up to 50 ms, may count as part of the sound).
    stop
        Asked every few seconds of sound; True gives up with `Stopped`.

    Raises
    ------
    FileError
        One line, the path first, when the file is not audio, is broken, or has no samples in it.
    """
    name = os.fspath(path)
    with open_sound(name, stop=stop) as sound:
        meter, ears = Meter(sound.rate, vorbis=sound.vorbis), Ears(sound.rate)
        try:
            _listen(sound, meter, ears, stop)
            loudness = meter.loudness()
        except InputError as error:
            reason = "has no samples in it" if not meter.frames and not ears.pushed else str(error)
            raise FileError(f"{shown(name)}: {reason}") from error
    return _features(meter.frames / sound.rate, loudness, ears.result(meter.powers, loudness))


def _listen(sound: Sound, meter: Meter, ears: Ears, stop: Stop) -> None:
    for chunk in sound.chunks:
        if stop():
            raise Stopped
        ears.pushed = True
        meter.push(chunk)  # refuses what is no number
        ears.push(chunk)


def _features(seconds: float, loudness: float, heard: Heard) -> AudioFeatures:
    edges, key, start, end = heard.edges, heard.key, heard.start_key, heard.end_key
    return AudioFeatures(
        duration_ms=1000.0 * seconds,
        loudness=loudness,
        loudness_range=heard.loudness_range,
        true_peak=heard.true_peak,
        heard_tempo=heard.tempo.beats,
        tempo_confidence=heard.tempo.confidence,
        heard_key=key.tonic,
        heard_mode=key.mode,
        key_confidence=key.confidence,
        tuning=heard.tuning,
        onset_density=heard.onset_density,
        brightness=heard.brightness,
        bass_share=heard.bass_share,
        stereo_width=heard.stereo_width,
        silence_start=edges.start if edges.end else seconds,
        silence_end=max(0.0, seconds - edges.end),
        fade_in=edges.fade_in,
        fade_out=edges.fade_out,
        start_loudness=edges.start_loudness,
        end_loudness=edges.end_loudness,
        start_brightness=heard.start_brightness,
        end_brightness=heard.end_brightness,
        start_tempo=heard.start_tempo.beats,
        start_tempo_confidence=heard.start_tempo.confidence,
        end_tempo=heard.end_tempo.beats,
        end_tempo_confidence=heard.end_tempo.confidence,
        start_key=start.tonic,
        start_mode=start.mode,
        start_key_confidence=start.confidence,
        end_key=end.tonic,
        end_mode=end.mode,
        end_key_confidence=end.confidence,
    )


FEATURES = tuple(field.name for field in fields(AudioFeatures))


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    measured = measure(path, stop=stop)
    return np.array([getattr(measured, name) for name in FEATURES], dtype=np.float64)


SPEC = Spec("audio", version=3, feature_names=FEATURES, measure=_row, shape=(len(FEATURES),))
