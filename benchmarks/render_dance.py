"""Renders loops for dancing whose tempo is known, for `bench_ears` and `learn_ears`.

    python -m benchmarks.render_dance OUT

Drums, bass and chords by rule: ten styles, each at ten tempi that are usual for it, for the test; and for learning
others of seven of these styles, at other tempi, besides rock, slow rock, waltz, shuffle and trap. Hits, fills, bass and
chords vary from loop to loop. Half are played by FluidSynth with the sound fonts of their part (`render_music`), half
by kits made here of sines and noise, whose sizes the part decides. So the test has sounds, loops and three styles
(disco, garage, breaks) that nothing was learned from. Needs mido and fluidsynth.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from scipy.signal import butter, sosfilt

from benchmarks.render_music import FONTS, RATE, render

SECONDS = 30.0
LOOPS = 20  # to learn from, of each style
CLICKS = 40  # metronomes to learn from, at 50 to 180
KICK, RIM, SNARE, CLAP, HAT, OPEN, RIDE, TOM = 36, 37, 38, 39, 42, 46, 51, 45
KITS = (0, 8, 16, 24, 25)  # programs of drums: standard, room, power, electronic, analogue
BASSES, CHORDS = (33, 36, 38, 39, 87), (4, 16, 48, 50, 81, 88, 89, 90)


@dataclass(frozen=True)
class Style:
    """A style: its tempi, and where its hits fall in sixteenths (or twelfths) of a bar of so many beats."""

    low: float
    high: float
    kick: str
    snare: str
    hat: str
    bass: str
    beats: int = 4
    swing: float = 0.0  # of a sixteenth, at most


STYLES = {
    "house": Style(116, 134, "x...x...x...x...", "....s.......s...", "..h...h...h...h.", "..x...x...x...x.", swing=0.2),
    "techno": Style(124, 148, "x...x...x...x...", "............s...", "..h...h...h...h.", ".xxx.xxx.xxx.xxx"),
    "trance": Style(128, 145, "x...x...x...x...", "....s.......s...", "..h...h...h...h.", "..xx..xx..xx..xx"),
    "disco": Style(108, 128, "x...x...x...x...", "....s.......s...", "h.h.h.h.h.h.h.h.", "x.x.x.x.x.x.x.x."),
    "electro": Style(108, 136, "x.....x...x.....", "....s.......s...", "h.h.h.h.h.h.h.h.", "x..x..x.x..x..x."),
    "garage": Style(
        126, 138, "x.........x.....", "....s.......s...", "..h...h...h..hh.", "x..x......x..x..", swing=0.35
    ),
    "breaks": Style(120, 140, "x.x.......xx....", "....s..s.s..s...", "h.h.h.h.h.h.h.h.", "x.....x...x....."),
    "hiphop": Style(
        78, 104, "x......x..x.....", "....s.......s...", "h.h.h.h.h.h.h.h.", "x......x..x.....", swing=0.35
    ),
    "jungle": Style(160, 180, "x.........x.....", "....s.......s...", "h.h.h.h.h.h.h.h.", "x.......x......."),
    "reggaeton": Style(86, 104, "x...x...x...x...", "...s..s....s..s.", "h.h.h.h.h.h.h.h.", "x..x..x.x..x..x."),
    "rock": Style(88, 176, "x.......x.x.....", "....s.......s...", "h.h.h.h.h.h.h.h.", "x.x.x.x.x.x.x.x."),
    "slow": Style(56, 84, "x.......x.......", "....s.......s...", "h.h.h.h.h.h.h.h.", "x.......x......."),
    "waltz": Style(84, 180, "x...........", "....s...s...", "h...h...h...", "x...........", beats=3),
    "shuffle": Style(90, 150, "x.....x.....", "...s.....s..", "h.hh.hh.hh.h", "x..x..x..x..", beats=4),
    "trap": Style(66, 78, "x.....x...x.....", "....s.......s...", "hhhhhhhhhhhhhhhh", "x.....x........."),
}
UNSEEN = ("disco", "garage", "breaks")
TESTED = tuple(STYLES)[:10]


def score(style: Style, rng: np.random.Generator, bars: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Drums (beat, note, strength), bass and chords (beat, pitch, length) of so many bars."""
    steps = len(style.kick)
    step = style.beats / steps
    swing = rng.uniform(0, style.swing)
    late = [swing * step * (k % 2) if steps == 16 else 0.0 for k in range(steps)]
    snare = int(rng.choice([SNARE, CLAP]))
    hats = style.hat if rng.random() < 0.6 else ("h" * steps if rng.random() < 0.5 else style.hat[: steps // 2] * 2)
    every = rng.random() < 0.35 and steps == 16  # a ride or open hat besides
    ghosts = [k for k in range(steps) if rng.random() < 0.04]
    loud = {KICK: rng.uniform(0.8, 1), snare: rng.uniform(0.6, 1), HAT: rng.uniform(0.3, 0.7)}
    root, moves = int(rng.integers(0, 12)), rng.choice([[0, 0, 0, 0], [0, 5, 7, 5], [0, 8, 3, 10], [0, 0, 5, 7]])
    minor, held = rng.random() < 0.6, rng.random() < 0.5
    drums, bass, chords = [], [], []
    for bar in range(bars):
        start, tonic = bar * style.beats, root + int(moves[bar % 4])
        fill = bar % 8 == 7 and rng.random() < 0.5
        out = bars > 9 and bar in (0, 1, bars - 1) and rng.random() < 0.4  # the kick enters later
        for k in range(steps):
            at = start + k * step + late[k]
            if style.kick[k] == "x" and not out:
                drums.append((at, KICK, loud[KICK]))
            if style.snare[k] == "s" or (fill and k >= 3 * steps // 4):
                drums.append((at, snare, loud[snare] * (1 if style.snare[k] == "s" else 0.6)))
            elif k in ghosts:
                drums.append((at, SNARE, 0.25))
            if hats[k] == "h":
                drums.append(
                    (
                        at,
                        OPEN if style.hat.startswith("..h") and k % 4 == 2 else HAT,
                        loud[HAT] * (1 if k % 2 == 0 else 0.7),
                    )
                )
            if every and k % 2 == 0:
                drums.append((at, RIDE, 0.35))
            if style.bass[k] == "x":
                bass.append((at, 36 + tonic % 12, step * rng.choice([0.8, 1.6])))
        third = 3 if minor else 4
        when = [0.0] if held else [0.0, 1.5 if style.beats == 4 else 2.0]
        for at in when:
            chords += [(start + at, 60 + (tonic + up) % 12, (style.beats if held else 0.5)) for up in (0, third, 7)]
    return drums, bass, chords


def as_midi(parts: tuple[list[Any], ...], tempo: float, rng: np.random.Generator) -> Any:
    import mido

    drums, bass, chords = parts
    tick = 480
    events = []
    for at, note, loud in drums:
        events += [(at, 9, note, int(127 * loud)), (at + 0.2, 9, note, 0)]
    loudness = rng.uniform(0.4, 0.85, 2)
    for channel, notes in ((1, bass), (2, chords)):
        for at, note, length in notes:
            events += [(at, channel, note, int(110 * loudness[channel - 1])), (at + length * 0.95, channel, note, 0)]
    track = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=round(6e7 / tempo))])
    for channel, programs in ((9, KITS), (1, BASSES), (2, CHORDS)):
        track.append(mido.Message("program_change", channel=channel, program=int(rng.choice(programs)), time=0))
    last = 0
    for at, channel, note, velocity in sorted(events, key=lambda event: (event[0], event[3])):
        now = round(at * tick)
        kind = "note_on" if velocity else "note_off"
        track.append(mido.Message(kind, channel=channel, note=note, velocity=velocity, time=now - last))
        last = now
    return mido.MidiFile(ticks_per_beat=tick, tracks=[track])


def synthesise(
    parts: tuple[list[Any], ...], tempo: float, rng: np.random.Generator, part: str, seconds: float = SECONDS
) -> np.ndarray:
    """Samples, shape (n, 2), of a kit of sines and noise whose sizes are drawn from the part's own ranges."""
    drums, bass, chords = parts
    low = part == "learn"
    kick_hz, kick_s = (
        (rng.uniform(45, 55), rng.uniform(0.15, 0.3)) if low else (rng.uniform(55, 65), rng.uniform(0.08, 0.4))
    )
    snare_hz, hat_hz = (rng.uniform(170, 200), 7000) if low else (rng.uniform(210, 260), 5500)
    decay = (
        {"snare": rng.uniform(0.08, 0.15), "hat": rng.uniform(0.02, 0.04)}
        if low
        else {"snare": rng.uniform(0.12, 0.25), "hat": rng.uniform(0.04, 0.08)}
    )

    def ring(seconds: float) -> np.ndarray:
        return np.arange(int(seconds * RATE)) / RATE

    def noise(seconds: float, fall: float, band: tuple[str, Any]) -> np.ndarray:
        made = sosfilt(butter(2, band[1], band[0], fs=RATE, output="sos"), rng.standard_normal(int(seconds * RATE)))
        return made * np.exp(-ring(seconds) / fall)

    t = ring(0.5)
    kick = np.sin(2 * np.pi * (kick_hz * t + 4 * 0.02 * kick_hz * (1 - np.exp(-t / 0.02)))) * np.exp(-t / kick_s)
    tone = np.sin(2 * np.pi * snare_hz * ring(0.4)) * np.exp(-ring(0.4) / (0.6 * decay["snare"]))
    sounds = {
        KICK: kick,
        SNARE: 0.5 * tone + 0.6 * noise(0.4, decay["snare"], ("highpass", 1200)),
        CLAP: noise(0.4, decay["snare"], ("bandpass", (900, 3500))),
        HAT: 0.5 * noise(0.2, decay["hat"], ("highpass", hat_hz)),
        OPEN: 0.5 * noise(0.4, 5 * decay["hat"], ("highpass", hat_hz)),
        RIDE: 0.3 * noise(0.5, 0.2, ("highpass", hat_hz - 1500)),
    }
    beat = 60 / tempo
    out = np.zeros(int((seconds + 4) * RATE))

    def put(at: float, sound: np.ndarray, loud: float) -> None:
        first = int(at * beat * RATE)
        end = min(len(out), first + len(sound))
        if first < end:
            out[first:end] += loud * sound[: end - first]

    for at, note, loud in drums:
        put(at, sounds[note], loud)
    for notes, cut, loud in (
        (bass, 300 if low else 600, rng.uniform(0.2, 0.4)),
        (chords, 1500 if low else 3000, rng.uniform(0.05, 0.12)),
    ):
        smooth = butter(2, cut, fs=RATE, output="sos")
        for at, note, length in notes:
            t = ring(length * beat)
            hz = 440 * 2 ** ((note - 69) / 12)
            wave = 2 * (hz * t % 1) - 1 if low else np.sign(np.sin(2 * np.pi * hz * t))
            edge = np.minimum(1, np.minimum(t, t[-1] - t) / 0.01) if len(t) > 1 else t
            put(at, sosfilt(smooth, wave * edge), loud)
    mono = out[: int(seconds * RATE)]
    mono = np.tanh(mono / np.abs(mono).max() * rng.uniform(0.9, 2.0)) * 0.8
    return np.stack([mono, mono], axis=1)


def make(out: Path, name: str, style: str, tempo: float, number: int, part: str) -> None:
    """One loop with its truth."""
    sound, told = out / f"{name}.flac", out / f"{name}.json"
    if told.exists():
        return
    rng = np.random.default_rng([number, sorted(STYLES).index(style), part == "test"])
    shape = STYLES[style]
    parts = score(shape, rng, int(SECONDS * tempo / 60 / shape.beats) + 1)
    if number % 2:
        font = "synthesised"
        soundfile.write(sound, synthesise(parts, tempo, rng, part), RATE)
    else:
        font = str(rng.choice(FONTS[part]))
        render(as_midi(parts, tempo, rng), sound, f"/usr/share/sounds/{font}")
    truth = {"tempo": tempo, "key": None, "mode": None, "name": name, "part": part, "font": Path(font).stem}
    told.write_text(json.dumps(truth))


def make_clicks(out: Path, number: int) -> None:
    """A metronome, every third beside chords that change with the bar."""
    name, rng = f"click-{number}", np.random.default_rng([number, 7])
    if (out / f"{name}.json").exists():
        return
    tempo = 50 * 3.6 ** ((number + 0.5) / CLICKS)
    times, samples = np.arange(0, SECONDS - 0.1, 60 / tempo), np.zeros(int(SECONDS * RATE))
    t = np.arange(int(rng.uniform(0.01, 0.05) * RATE)) / RATE
    tick = rng.choice([1.0, 0.0]) * np.sin(2 * np.pi * rng.uniform(800, 3000) * t) + rng.standard_normal(len(t)) * 0.5
    tick *= np.exp(-t / (0.2 * t[-1]))
    for at in times:
        samples[int(at * RATE) : int(at * RATE) + len(tick)] += tick
    if number % 3 == 0:
        bar = 4 * 60 / tempo
        t = np.arange(len(samples)) / RATE
        for up in (0, 4, 7):
            pitch = 220 * 2 ** ((up + np.array([0, 5, 7, 9])[(t // bar).astype(int) % 4]) / 12)
            samples += 0.15 * np.sin(2 * np.pi * np.cumsum(pitch) / RATE)
    soundfile.write(out / f"{name}.flac", 0.7 * samples / np.abs(samples).max(), RATE)
    truth = {"tempo": tempo, "key": None, "mode": None, "name": name, "part": "learn", "font": "synthesised"}
    (out / f"{name}.json").write_text(json.dumps(truth))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for style in TESTED:
        tempi = np.linspace(STYLES[style].low, STYLES[style].high, 10)
        for number, tempo in enumerate(tempi):
            make(out, f"dance-{style}-{number}", style, float(tempo), number, "test")
    for number in range(CLICKS):
        make_clicks(out, number)
    draws = np.random.default_rng(1)
    for style, shape in STYLES.items():
        for number in range(LOOPS if style not in UNSEEN else 0):
            tempo = float(np.exp(draws.uniform(np.log(shape.low / 1.04), np.log(shape.high * 1.04))))
            make(out, f"loop-{style}-{number}", style, tempo, number, "learn")


if __name__ == "__main__":
    main()
