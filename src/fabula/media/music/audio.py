"""The `audio` features: what can be measured of any audio file, in one pass over its samples."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.errors import FileError, InputError, shown
from fabula.media.medium import Spec, Stop
from fabula.media.music.decode import open_sound
from fabula.media.music.heard import HEARD, Excerpts, hear
from fabula.media.music.key import Pitches, chroma, find_key, tuning
from fabula.media.music.loudness import EDGE_SECONDS, Edges, Meter, Peak, Samples, edges, loudness_range
from fabula.media.music.spectra import Mix, ShortSpectra, Width, bass_share, brightness, mix_channels
from fabula.media.music.tempo import find_tempo, onset_density

_SECONDS = 30.0  # of each end in which its tempo and key are heard


@dataclass(frozen=True)
class AudioFeatures:
    """What was measured of an audio file. Silence is 45 LU below the loudness of the whole, or below -70 LUFS."""

    duration_ms: float  # from the samples decoded, in milliseconds
    loudness: float  # integrated, BS.1770-4, in LUFS; -70 for silence and anything softer
    loudness_range: float  # EBU Tech 3342, in LU; 0 for less than three seconds
    true_peak: float  # BS.1770-4 annex 2, in dBTP; -100 for silence
    # Beats per minute, 0 where none are heard; and how likely they are right (within 4 %), 0 to 1.
    heard_tempo: float
    tempo_confidence: float
    # 0 for C to 11 for B; 1 for major, 0 for minor; and how likely both are right, 0 to 1.
    heard_key: float
    heard_mode: float
    key_confidence: float
    tuning: float  # cents above A = 440 Hz, -50 to 50
    onset_density: float  # onsets per second
    brightness: float  # the middle of the power spectrum in Hz, from 30 to 5300 Hz; 0 for silence
    bass_share: float  # the part of the power below 150 Hz
    # The part of the power in the difference of left and right: 0 for mono, 0.5 for unrelated channels.
    stereo_width: float
    # Seconds before the first sound and after the last.
    silence_start: float
    silence_end: float
    # Seconds from the first sound until a second of it is within 6 LU of the loudness; the same from the end.
    fade_in: float
    fade_out: float
    # Of the first and last 15 seconds that sound.
    start_loudness: float
    end_loudness: float
    start_brightness: float
    end_brightness: float
    # Of the first and last 30 seconds that sound.
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
    # Estimates of what a streaming service would say, 0 to 1; NaN where there is too little sound.
    heard_energy: float
    heard_acousticness: float
    heard_valence: float
    heard_danceability: float
    heard_speechiness: float
    heard_instrumentalness: float


def measure(path: str | os.PathLike[str], *, stop: Stop = lambda: False) -> AudioFeatures:
    """Measure one audio file in one pass, in memory for a few seconds of it and a few numbers for each second.

    wav, aiff, flac, ogg, opus or mp3; m4a, aac, wma and the rest where ffmpeg is installed (of these the encoder's
    padding, up to 50 ms, may count as part of the sound). A FileError, one line, where it is no audio or broken.
    """
    name = os.fspath(path)
    with open_sound(name, stop=stop) as sound:
        meter, ears = Meter(sound.rate, vorbis=sound.vorbis), Ears(sound.rate)
        chunk = None
        try:
            for chunk in sound.chunks:
                meter.push(chunk)  # refuses what is no number
                ears.push(chunk)
            loudness = meter.loudness()
        except InputError as error:
            reason = "has no samples in it" if chunk is None else str(error)
            raise FileError(f"{shown(name)}: {reason}") from error
    return ears.result(meter.frames / sound.rate, loudness, meter.powers)


class Ears:
    """Listens to a stream in one pass: chunks go in, numbers come out."""

    def __init__(self, rate: int) -> None:
        self.mix, self.width, self.peak = Mix(rate), Width(), Peak(rate)
        self.spectra, self.pitches = ShortSpectra(self.mix.rate), Pitches(self.mix.rate)
        self.excerpts = Excerpts(rate)

    def push(self, chunk: Samples) -> None:
        """Take a chunk (frames, channels) into account; it may be overwritten afterwards."""
        self.peak.push(chunk)
        self.width.push(chunk)
        mono = mix_channels(chunk)
        self.excerpts.push(mono)
        mixed = self.mix.push(mono)
        self.spectra.push(mixed)
        self.pitches.push(mixed)

    def result(self, seconds: float, loudness: float, powers: Floats) -> AudioFeatures:
        """All that was heard, given the length, the loudness in LUFS and the K-weighted power of every 100 ms."""
        sounding = edges(powers, loudness)
        spans, onsets, rate = self.spectra.spans, self.spectra.onsets, self.spectra.rate
        start_span, end_span = _ends(spans, self.spectra.span_seconds, sounding, EDGE_SECONDS)
        strength = self.spectra.strengths / max(1, len(onsets))
        beats = (onsets, *_ends(onsets, 1 / rate, sounding, _SECONDS))
        tempo, start_tempo, end_tempo = (find_tempo(part, rate, strength) for part in beats)
        cents, tuned = tuning(self.pitches.blocks)
        classes = chroma(self.pitches.blocks, cents)
        pitches = (classes, *_ends(classes, self.pitches.block_seconds, sounding, _SECONDS))
        key, start_key, end_key = (find_key(part, tuned) for part in pitches)
        return AudioFeatures(
            duration_ms=1000.0 * seconds,
            loudness=loudness,
            loudness_range=loudness_range(powers),
            true_peak=self.peak.finish(),
            heard_tempo=tempo.beats,
            tempo_confidence=tempo.confidence,
            heard_key=key.tonic,
            heard_mode=key.mode,
            key_confidence=key.confidence,
            tuning=cents,
            onset_density=onset_density(onsets, rate),
            brightness=brightness(spans),
            bass_share=bass_share(spans),
            stereo_width=self.width.share(),
            silence_start=sounding.start if sounding.end else seconds,
            silence_end=max(0.0, seconds - sounding.end),
            fade_in=sounding.fade_in,
            fade_out=sounding.fade_out,
            start_loudness=sounding.start_loudness,
            end_loudness=sounding.end_loudness,
            start_brightness=brightness(start_span),
            end_brightness=brightness(end_span),
            start_tempo=start_tempo.beats,
            start_tempo_confidence=start_tempo.confidence,
            end_tempo=end_tempo.beats,
            end_tempo_confidence=end_tempo.confidence,
            start_key=start_key.tonic,
            start_mode=start_key.mode,
            start_key_confidence=start_key.confidence,
            end_key=end_key.tonic,
            end_mode=end_key.mode,
            end_key_confidence=end_key.confidence,
            **dict(zip(HEARD, hear(self.excerpts.samples(), powers).tolist(), strict=True)),
        )


def _ends(rows: Floats, seconds: float, ends: Edges, wanted: float) -> tuple[Floats, Floats]:
    """The rows of the first and of the last seconds that sound; each row stands for so many `seconds`."""
    first, last = int(ends.start / seconds), int(np.ceil(ends.end / seconds))
    count = max(1, round(wanted / seconds))
    return rows[first : min(last, first + count)], rows[max(first, last - count) : last]


FEATURES = tuple(field.name for field in fields(AudioFeatures))


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    measured = measure(path, stop=stop)
    return np.array([getattr(measured, name) for name in FEATURES], dtype=np.float64)


SPEC = Spec("audio", version=4, feature_names=FEATURES, measure=_row, shape=(len(FEATURES),))
