"""Renders pieces whose tempo and key are written down, for `bench_ears`.

    python -m benchmarks.render_music OUT --pop909 POP909 --nottingham MIDI --asap ASAP --band GAMES --chorales 90

POP909 (pop, beats and keys annotated), the Nottingham tunes (folk, notated), ASAP (classical piano as it was played,
beats annotated), MIDI files and WADs of free games (bands with drums; Debian's openttd-openmsx, freedoom, freedm,
planetblupi-music-midi; tempo as written) and Bach's chorales from music21 (notated). Tunes and chorales, which come
without a tempo of their own, are played at one that their name decides. The first half minute of each, by
FluidSynth. Which pieces are for learning and which for the test goes by a digest of the name: `part_of`; both have
sound fonts of their own (Debian's fluid-soundfont-gm, opl3-soundfont; timgm6mb-soundfont, csound-soundfont and
musescore-general-soundfont-small). Needs mido, music21 and fluidsynth.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 30.0
FONTS = {
    "learn": ("sf2/FluidR3_GM.sf2", "sf2/OPL-3_FM_128M.sf2"),
    "test": ("sf2/TimGM6mb.sf2", "sf2/sf_GMbank.sf2", "sf3/MuseScore_General_Lite.sf3"),
}
RATE = 22050
_NOTES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
_ACCIDENTALS = {"#": 1, "b": -1}
_LEADS = (0, 24, 26, 40, 56, 65, 73, 80)  # General MIDI programs for a melody
_BACKS = (0, 4, 19, 24, 25, 27, 46, 48)  # and for what goes with it
_PLAYED = ("note_on", "note_off", "program_change", "control_change", "pitchwheel")
_CHOIRS = (19, 48, 52, 71, 73, 0)


def draw(name: str, salt: str) -> float:
    """A number from 0 to 1 that the name alone decides."""
    return int(hashlib.sha256(f"{salt} {name}".encode()).hexdigest()[:8], 16) / 16**8


def part_of(name: str) -> str:
    """``"learn"`` or ``"test"``."""
    return "test" if draw(name, "part") < 0.55 else "learn"


def font_of(name: str) -> str:
    """The sound font that a piece is played with: the test has none that was learned from."""
    fonts = FONTS[part_of(name)]
    return f"/usr/share/sounds/{fonts[int(draw(name, 'font') * len(fonts))]}"


def key_number(text: str) -> tuple[int, int]:
    """Key and mode of ``Gb:maj``, ``F#m``, ``A:min``."""
    note, rest = text[0], text[1:]
    key = _NOTES[note] + sum(_ACCIDENTALS.get(sign, 0) for sign in rest[:2] if sign in "#b")
    return key % 12, 0 if "min" in rest or rest.endswith("m") else 1


def excerpt(file: Any, *, factor: float = 1.0, programs: dict[int, int] | None = None) -> tuple[Any, float, float]:
    """The first half minute of a MIDI file from its first note on, `factor` times as fast; where it starts and ends."""
    import mido

    events, now, first = [], 0.0, None
    for message in file:  # in seconds, tempo changes worked out
        now += message.time / factor
        if first is None and message.type == "note_on" and message.velocity:
            first = now
        if first is not None and now > first + SECONDS:
            break
        if message.type in _PLAYED and not (programs and message.type == "program_change"):
            events.append((now, message))
    start = first or 0.0
    track, last = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=500000)]), 0
    for channel, program in (programs or {}).items():
        track.append(mido.Message("program_change", channel=channel, program=program, time=0))
    for when, message in events:
        tick = max(0, round((when - start) * 2000))
        track.append(message.copy(time=tick - last))
        last = tick
    for channel in range(16):  # what still sounds would sound for ever
        for control in (64, 123, 120):
            track.append(mido.Message("control_change", channel=channel, control=control, value=0))
    track.append(mido.MetaMessage("end_of_track", time=1000))
    return mido.MidiFile(ticks_per_beat=1000, tracks=[track]), start, min(now, start + SECONDS)


def median_tempo(beats: np.ndarray, start: float, end: float) -> float:
    """Beats per minute from the times of beats within a part."""
    inside = beats[(beats >= start) & (beats <= end)]
    return float(60 / np.median(np.diff(inside)))


def pop909(folder: Path, most: int) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    import mido

    names = sorted((path.name for path in folder.iterdir() if path.is_dir()), key=lambda name: draw(name, "pop909"))
    for name in names[:most]:
        path = folder / name
        channels = {0: _BACKS[int(draw(name, "back") * len(_BACKS))]}
        file = mido.MidiFile(path / f"{name}.mid")
        for track in file.tracks:  # the melody on a channel of its own
            for message in track:
                if track.name == "MELODY" and hasattr(message, "channel"):
                    message.channel = 1
        channels[1] = _LEADS[int(draw(name, "lead") * len(_LEADS))]
        piece, start, end = excerpt(file, programs=channels)
        beats = np.loadtxt(path / "beat_midi.txt")[:, 0]
        rows = [line.split() for line in (path / "key_audio.txt").read_text().splitlines() if line.strip()]
        shares: dict[str, float] = {}
        for low, high, key in rows:
            shares[key] = shares.get(key, 0.0) + max(0.0, min(float(high), end) - max(float(low), start))
        best = max(shares, key=lambda key: shares[key])
        clear = shares[best] > 0.8 * sum(shares.values()) > 0
        key, mode = key_number(best) if clear else (None, None)
        yield f"pop909-{name}", piece, {"tempo": median_tempo(beats, start, end), "key": key, "mode": mode}


def nottingham(folder: Path, most: int) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    import mido

    for path in sorted(folder.glob("*.mid"), key=lambda path: draw(path.stem, "nottingham"))[:most]:
        file = mido.MidiFile(path)
        metas = [message for track in file.tracks for message in track if message.is_meta]
        keys = {message.key for message in metas if message.type == "key_signature"}
        metres = {(message.numerator, message.denominator) for message in metas if message.type == "time_signature"}
        if len(keys) != 1 or len(metres) != 1 or file.length < 25:
            continue
        (above, below), factor = metres.pop(), 2 ** (draw(path.stem, "factor") * 0.8 - 0.3)
        beat = 1.5 if below == 8 and above in (6, 9, 12) else 4 / below
        programs = {channel: _BACKS[int(draw(path.stem, f"{channel}") * len(_BACKS))] for channel in range(4)}
        programs[0] = _LEADS[int(draw(path.stem, "lead") * len(_LEADS))]
        piece, _, _ = excerpt(file, factor=factor, programs=programs)
        key, mode = key_number(keys.pop())
        yield f"nottingham-{path.stem}", piece, {"tempo": 120 * factor / beat, "key": key, "mode": mode}


def asap(folder: Path, most: int) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    import mido

    pieces = sorted({path.parent for path in folder.glob("*/**/*_annotations.txt")}, key=lambda p: draw(str(p), "asap"))
    for place in pieces[:most]:
        name = "-".join(place.relative_to(folder).parts)
        played = [path for path in place.glob("*_annotations.txt") if "midi_score" not in path.name]
        if not played:
            continue
        notes = min(played, key=lambda path: draw(path.name, "player"))
        midi = notes.with_name(notes.name.replace("_annotations.txt", ".mid"))
        beats = np.array(
            [float(line.split()[0]) for line in notes.read_text().splitlines() if line.split()[2][0] in "bd"]
        )
        piece, start, end = excerpt(mido.MidiFile(midi))
        if ((beats >= start) & (beats <= end)).sum() > 16:
            yield f"asap-{name}", piece, {"tempo": median_tempo(beats, start, end), "key": None, "mode": None}


def band(folder: Path, most: int) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """MIDI files and WADs: the tempo as written, where it holds for most of the excerpt."""
    import io

    import mido

    files = {path.stem: path.read_bytes() for path in sorted(folder.rglob("*.mid"))}
    for wad in sorted(folder.rglob("*.wad")):
        files |= {f"{wad.stem}-{name}": data for name, data in _lumps(wad.read_bytes())}
    unique = {hashlib.sha256(data).hexdigest(): (name, data) for name, data in files.items()}
    for name, data in sorted(unique.values())[:most]:
        try:
            file = mido.MidiFile(file=io.BytesIO(data), clip=True)
            piece, start, end = excerpt(file)
        except (OSError, EOFError, ValueError, KeyError, IndexError):
            continue
        now, tempo, spans = 0.0, 500000, {}
        for message in file:
            if now > end:
                break
            spans[tempo] = spans.get(tempo, 0.0) + message.time * (now >= start)
            now += message.time
            tempo = message.tempo if message.type == "set_tempo" else tempo
        best = max(spans, key=lambda one: spans[one])
        if end - start > 25 and spans[best] > 0.8 * sum(spans.values()) and 40 < 6e7 / best < 260:
            yield f"band-{name}", piece, {"tempo": 6e7 / best, "key": None, "mode": None}


def _lumps(data: bytes) -> Iterator[tuple[str, bytes]]:
    count, where = int.from_bytes(data[4:8], "little"), int.from_bytes(data[8:12], "little")
    for entry in (data[where + 16 * i : where + 16 * i + 16] for i in range(count)):
        start, size = int.from_bytes(entry[:4], "little"), int.from_bytes(entry[4:8], "little")
        if data[start : start + 4] == b"MThd":
            yield entry[8:].rstrip(b"\0").decode("ascii"), data[start : start + size]


def chorales(most: int) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    import mido
    from music21 import corpus
    from music21.key import Key

    names = [str(path) for path in corpus.getComposer("bach") if Path(path).suffix in (".mxl", ".xml")]
    for path in sorted(names, key=lambda path: draw(Path(path).stem, "chorale"))[:most]:
        try:
            score = corpus.parse(path)
            written = [one for one in score.recurse().getElementsByClass(Key) if one.mode in ("major", "minor")]
            if not written or len({(one.tonic.pitchClass, one.mode) for one in written}) != 1:
                continue
            with tempfile.NamedTemporaryFile(suffix=".mid") as kept:
                score.write("midi", kept.name)
                file = mido.MidiFile(kept.name)
        except Exception:  # whatever music21 cannot read or write is no piece of ours
            continue
        stem = Path(path).stem
        factor, choir = 2 ** (draw(stem, "factor") * 1.0 - 0.9), _CHOIRS[int(draw(stem, "choir") * len(_CHOIRS))]
        piece, _, _ = excerpt(file, factor=factor, programs=dict.fromkeys(range(9), choir))
        key, mode = written[0].tonic.pitchClass, int(written[0].mode == "major")
        yield f"chorale-{stem}", piece, {"tempo": _written_tempo(file) * factor, "key": key, "mode": mode}


def _written_tempo(file: Any) -> float:
    found = [message.tempo for track in file.tracks for message in track if message.type == "set_tempo"]
    return 6e7 / found[0] if found else 120.0


def render(piece: Any, target: Path, font: str) -> None:
    """One MIDI file as FLAC, by a sound font."""
    import soundfile

    with tempfile.TemporaryDirectory() as folder:
        midi, wave = Path(folder) / "piece.mid", Path(folder) / "piece.wav"
        piece.save(midi)
        command = [
            "fluidsynth",
            "-ni",
            "-q",
            "-g",
            "0.6",
            "-r",
            str(RATE),
            "-o",
            "synth.dynamic-sample-loading=1",
            "-F",
            str(wave),
            font,
            str(midi),
        ]
        subprocess.run(command, check=True, timeout=600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with soundfile.SoundFile(wave) as source, soundfile.SoundFile(target, "w", RATE, 2) as out:
            for block in source.blocks(RATE, dtype="float32"):
                out.write(block)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    for name in ("pop909", "nottingham", "asap", "band"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--chorales", type=int, default=0)
    parser.add_argument("--most", type=int, default=220, help="of each corpus")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    readers = {"pop909": pop909, "nottingham": nottingham, "asap": asap, "band": band}
    chosen = [reader(getattr(asked, name), asked.most) for name, reader in readers.items() if getattr(asked, name)]
    for pieces in [*chosen, chorales(asked.chorales)] if asked.chorales else chosen:
        for name, piece, truth in pieces:
            safe = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in name)
            sound, told = asked.out / f"{safe}.flac", asked.out / f"{safe}.json"
            if not told.exists():
                try:
                    render(piece, sound, font_of(name))
                except subprocess.SubprocessError as error:
                    print(f"left out: {name} ({error.__class__.__name__})")
                    continue
                told.write_text(
                    json.dumps(truth | {"name": name, "part": part_of(name), "font": Path(font_of(name)).stem})
                )


if __name__ == "__main__":
    main()
