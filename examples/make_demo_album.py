"""Compose the demo album: nine short pieces, each of its own character, in a deliberately poor order.

Every run writes the same files. They belong to the project and carry its licence (MIT).

    python examples/make_demo_album.py [FOLDER]
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from fabula.media.music.loudness import Meter, chunk_frames

RATE = 32000
FOLDER = Path(__file__).resolve().parent.parent / "src" / "fabula" / "demo"
ARTIST, ALBUM = "fabula", "Nine Short Pieces"
QUALITY = 0.75  # soundfile's compression level: 0 is the largest file, 1 the smallest

Sound = NDArray[np.float64]


def notes(text: str) -> list[str]:
    """The notes of a line."""
    return text.split()


SCALE = {name: step for step, name in enumerate(notes("C C# D D# E F F# G G# A A# B"))}


def pitch(name: str) -> float:
    """The frequency of a note such as ``"A4"`` or ``"F#3"``."""
    return float(440.0 * 2 ** ((SCALE[name[:-1]] - 9 + 12 * (int(name[-1]) - 4)) / 12))


def tone(name: str, seconds: float, partials: list[float], *, attack: float = 0.01, decay: float = 3.0) -> Sound:
    """One note: partials of falling strength under an envelope that rises, fades and is let go."""
    t = np.arange(round(seconds * RATE)) / RATE
    vibrato = 0.002 * np.sin(2 * np.pi * 5 * t) * np.minimum(1, t)
    phase = 2 * np.pi * pitch(name) * (t + np.cumsum(vibrato) / RATE)
    wave = sum(size * np.sin((k + 1) * phase) * np.exp(-0.3 * k * decay * t) for k, size in enumerate(partials))
    release = np.clip((seconds - t) / min(0.08, seconds / 3), 0, 1)
    return np.asarray(wave * np.minimum(1, t / attack) * np.exp(-decay * t) * release)


def stage(seconds: float) -> Sound:
    """Silence to put notes on, left and right."""
    return np.zeros((round(seconds * RATE), 2))


def put(onto: Sound, sound: Sound, at: float, *, pan: float = 0.0) -> None:
    """Add a sound at a time, from the left (-1) to the right (1)."""
    start = round(at * RATE)
    part = sound[: max(0, len(onto) - start)]
    angle = (pan + 1) * np.pi / 4
    onto[start : start + len(part)] += part[:, None] * [np.cos(angle), np.sin(angle)]


def drum(rng: np.random.Generator, seconds: float, *, low: float, snap: float) -> Sound:
    """A struck skin: a falling tone and a burst of noise."""
    t = np.arange(round(seconds * RATE)) / RATE
    body = np.sin(2 * np.pi * low * (t + 0.04 * (1 - np.exp(-t * 30)))) * np.exp(-t * 14)
    return body + snap * rng.normal(size=len(t)) * np.exp(-t * 28)


def embers(_: np.random.Generator) -> Sound:
    """Bells that come down and go out."""
    sound = stage(10.5)
    for i, name in enumerate(notes("E6 C6 A5 G5 E5 D5 C5 A4 G4 A4")):
        put(
            sound,
            tone(name, 4.0, [1, 0, 0.4, 0, 0.2], decay=1.6) * 0.9**i,
            0.3 + 0.62 * i + 0.03 * i,
            pan=(-1) ** i * 0.5,
        )
    return sound


def red_line(rng: np.random.Generator) -> Sound:
    """A short pulse of fifths and drums, as hard as it goes."""
    sound = stage(6.5)
    bars = ["E2", "E2", "G2", "A2", "E2", "E2", "C3", "B2"]
    for beat in range(32):
        root, at = bars[beat // 4], beat * 0.2
        fifth = list(SCALE)[(SCALE[root[:-1]] + 7) % 12] + root[-1]
        for k, name in enumerate((root, fifth)):
            put(sound, np.tanh(5 * tone(name, 0.19, [1, 0.7, 0.6, 0.5, 0.4, 0.3], decay=1)), at, pan=k - 0.5)
        put(sound, drum(rng, 0.18, low=60 if beat % 2 == 0 else 160, snap=0.2 + 0.9 * (beat % 2)) * 1.6, at)
    return sound


def small_hours(_: np.random.Generator) -> Sound:
    """A lullaby in three four, a music box over a low fifth."""
    sound = stage(12.5)
    for i, name in enumerate(notes("E5 G5 G5 E5 G5 G5 E5 G5 C6 B5 A5 A5 G5 D5 E5 F5 D5 D5 E5 F5 D5 F5 B5 A5 G5 B5 C6")):
        put(sound, tone(name, 1.6, [1, 0.15, 0.1], decay=2.4), 0.2 + i * 0.4, pan=0.2)
    for i, name in enumerate(("C3", "C3", "G3", "G3", "C3", "G3", "G3", "G3", "C3")):
        put(sound, 0.5 * tone(name, 1.3, [1, 0.3], attack=0.1, decay=1.2), 0.2 + i * 1.2, pan=-0.3)
    return sound


def parade(rng: np.random.Generator) -> Sound:
    """A march: brass on the beat, a snare between."""
    sound = stage(8.0)
    melody = notes("C4 C4 G4 G4 A4 F4 G4 E4 F4 D4 E4 C4 D4 G4 C5 C5")
    for i, name in enumerate(melody):
        at = 0.1 + i * 0.47
        put(sound, tone(name, 0.42, [1, 0.8, 0.7, 0.5, 0.4, 0.2], attack=0.03, decay=1.2), at, pan=0.3)
        put(sound, tone(("C2", "G2")[i % 2], 0.3, [1, 0.6, 0.4], attack=0.02, decay=2), at, pan=-0.3)
        for late, size in ((0.0, 0.5), (0.235, 0.8), (0.35, 0.5)):
            put(sound, size * drum(rng, 0.15, low=180, snap=0.7), at + late)
    return sound


def first_light(_: np.random.Generator) -> Sound:
    """A long quiet drone that opens slowly."""
    sound = stage(15.5)
    for i, name in enumerate(("D2", "A2", "D3", "F#3", "A3", "E4")):
        voice = tone(name, 15.4 - 1.6 * i, [1, 0.3, 0.15, 0.05], attack=4.0, decay=0.02)
        put(sound, voice * (0.8**i), 1.6 * i, pan=(-1) ** i * 0.6)
    return sound


def weather_front(rng: np.random.Generator) -> Sound:
    """A storm of noise over a low minor chord."""
    sound = stage(13.5)
    frequencies = np.fft.rfftfreq(len(sound), 1 / RATE)
    t = np.arange(len(sound)) / RATE
    for side, middle in enumerate((500.0, 700.0)):
        shape = np.exp(-(np.log((frequencies + 20) / middle) ** 2)) * (frequencies < 9000)
        wind = np.fft.irfft(np.fft.rfft(rng.normal(size=len(sound))) * shape, len(sound))
        gusts = 0.35 + 0.65 * np.sin(np.pi * t / 13.5) ** 2 * (0.6 + 0.4 * np.sin(2 * np.pi * 0.37 * t + 1.3 * side))
        sound[:, side] += 2.5 * wind / np.abs(wind).max() * gusts
    for name in ("A1", "E2", "A2", "C3"):
        put(sound, 0.6 * tone(name, 13.4, [1, 0.6, 0.5, 0.3], attack=2.0, decay=0.03), 0.0)
    return sound


def paper_waltz(_: np.random.Generator) -> Sound:
    """A waltz: one low, two high, and a tune on top."""
    sound = stage(11.5)
    chords = [("F2", "A3", "C4"), ("C2", "G3", "A#3"), ("C2", "G3", "A#3"), ("F2", "A3", "C4")] * 2
    tune = notes("A4 C5 F5 E5 D5 C5 A#4 D5 G5 A5 G5 F5 C5 F5 A5 G5 E5 C5 D5 E5 G5 F5 F5 F5")
    for i, name in enumerate(tune):
        at, (low, *high) = 0.1 + i * 0.45, chords[i // 3]
        put(sound, 0.8 * tone(name, 0.9, [1, 0.5, 0.3, 0.1], decay=2.2), at, pan=0.4)
        for voice in [low] if i % 3 == 0 else high:
            put(sound, 0.5 * tone(voice, 0.7, [1, 0.5, 0.2], decay=3.5), at, pan=-0.4)
    return sound


def clockwork(_: np.random.Generator) -> Sound:
    """Arpeggios that never rest."""
    sound = stage(9.0)
    chords = ["A2 E3 A3 C4 E4 A4", "F2 C3 F3 A3 C4 F4", "C3 G3 C4 E4 G4 C5", "G2 D3 G3 B3 D4 G4"]
    for i in range(72):
        chord = notes(chords[i // 9 % 4])
        name = [*chord, *chord[-2:0:-1]][i % 9]
        put(sound, tone(name, 0.5, [1, 0.6, 0.35, 0.2, 0.1], decay=5), 0.05 + i * 0.12, pan=np.sin(i / 3))
    return sound


def slow_river(_: np.random.Generator) -> Sound:
    """Wide chords that flow into one another, a line above them."""
    sound = stage(16.0)
    for i, chord in enumerate(("D3 F#3 A3", "B2 D3 F#3", "G2 B2 D3", "A2 C#3 E3")):
        for k, name in enumerate(notes(chord)):
            put(sound, tone(name, 4.6, [1, 0.5, 0.3, 0.1], attack=0.8, decay=0.15), 3.8 * i, pan=k - 1)
    for i, name in enumerate(notes("A4 F#4 D5 C#5 B4 F#4 D4 B4 G4 A4 B4 D5 C#5 A4 E4 A4")):
        put(sound, 0.9 * tone(name, 1.6, [1, 0.4, 0.2], attack=0.06, decay=1.2), 0.3 + 0.95 * i, pan=0.2)
    return sound


PIECES: list[tuple[str, Callable[[np.random.Generator], Sound], float]] = [  # title, piece, LUFS
    ("Embers", embers, -30.0),
    ("Red Line", red_line, -9.0),
    ("Small Hours", small_hours, -25.0),
    ("Parade", parade, -13.5),
    ("First Light", first_light, -28.0),
    ("Weather Front", weather_front, -11.5),
    ("Paper Waltz", paper_waltz, -20.0),
    ("Clockwork", clockwork, -17.0),
    ("Slow River", slow_river, -18.5),
]


def loudness(sound: NDArray[np.floating]) -> float:
    """The integrated loudness of a piece, in LUFS."""
    meter, size = Meter(RATE, sound.shape[1]), chunk_frames(RATE)
    for start in range(0, len(sound), size):
        meter.push(sound[start : start + size].astype(np.float32))
    return meter.loudness()


def mastered(sound: Sound, target: float) -> NDArray[np.float32]:
    """The piece faded at its ends and brought to a loudness, softly limited where it must be."""
    edge = np.minimum(1, np.arange(len(sound)) / (0.02 * RATE))[:, None]
    sound = sound * edge * edge[::-1]
    gain = 1.0
    for _ in range(30):
        out = 0.95 * np.tanh(gain * sound / 0.95)
        gain *= 10 ** ((target - loudness(out)) / 20)
    return np.asarray(out, dtype=np.float32)


def with_serial(data: bytes, serial: int) -> bytes:
    """An Ogg file under a serial number of our own: the encoder draws one by chance."""
    table = []
    for byte in range(256):
        crc = byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
        table.append(crc)
    pages, start = [], 0
    while start < len(data):
        lengths = data[start + 27 : start + 27 + data[start + 26]]
        page = bytearray(data[start : start + 27 + len(lengths) + sum(lengths)])
        start += len(page)
        page[14:18], page[22:26], crc = struct.pack("<I", serial), bytes(4), 0
        for byte in page:
            crc = (crc << 8 & 0xFFFFFFFF) ^ table[crc >> 24 ^ byte]
        page[22:26] = struct.pack("<I", crc)
        pages.append(bytes(page))
    return b"".join(pages)


def write(path: Path, number: int, title: str, sound: NDArray[np.float32]) -> None:
    """One piece as Ogg Vorbis with its tags."""
    with soundfile.SoundFile(path, "w", RATE, 2, format="OGG", subtype="VORBIS", compression_level=QUALITY) as file:
        file.title, file.artist, file.album, file.tracknumber = title, ARTIST, ALBUM, str(number)
        file.license = "MIT"
        for start in range(0, len(sound), 4096):  # the encoder does not take much at once
            file.write(sound[start : start + 4096])
    path.write_bytes(with_serial(path.read_bytes(), number))


def main() -> None:
    """Compose all pieces and write them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for number, (title, piece, target) in enumerate(PIECES, start=1):
        path = folder / f"{number:02d} {title}.ogg"
        sound = mastered(piece(np.random.default_rng(number)), target)
        write(path, number, title, sound)
        print(f"{path.name}: {len(sound) / RATE:.1f} s, {loudness(sound):.1f} LUFS, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
