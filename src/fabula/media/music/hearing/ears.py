"""All that is heard in one pass: chunks go in, numbers come out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.media.music.hearing.keys import Key, find_key
from fabula.media.music.hearing.mixing import Mix, Width
from fabula.media.music.hearing.pitches import Pitches, chroma, tuning
from fabula.media.music.hearing.spectra import ShortSpectra, bass_share, brightness
from fabula.media.music.hearing.tempo import Tempo, find_tempo, onset_density
from fabula.media.music.loudness.levels import EDGE_SECONDS, Edges, edges, loudness_range
from fabula.media.music.loudness.peaks import Peak
from fabula.media.music.loudness.weighting import Samples

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

    def heard(self, powers: Floats, loudness: float) -> Heard:
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
