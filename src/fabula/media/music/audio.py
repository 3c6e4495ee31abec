"""What is measured of sound: files decoded chunk by chunk, by soundfile or else by ffmpeg, in one pass."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.core.files import open_file, split_stretch
from fabula.errors import FileError, InputError, shown
from fabula.media.medium import Spec, Stop, Stopped
from fabula.media.music import heard, tempo_and_key
from fabula.media.music.loudness import (
    EDGE_SECONDS,
    HIGHEST_RATE,
    LOWEST_RATE,
    Edges,
    Meter,
    Peak,
    Samples,
    chunk_frames,
    edges,
    loudness_range,
)

if TYPE_CHECKING:
    from soundfile import SoundFile  # type: ignore[import-untyped]

MOST_CHANNELS = 64
MOST_HOURS = 48  # of sound in one file: a few kB can promise more than anybody waits for
_FREE, _THINNEST = 600.0, 300.0  # seconds of any sound; bytes a second beyond, half of what the poorest codecs take
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


T = TypeVar("T")


class BrokenOpusError(FileError):
    """An Opus file cannot be decoded by soundfile, which fails at whole ones too; ``seconds`` is what it promises."""

    def __init__(self, message: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(message)


def play(path: str | os.PathLike[str], listen: Callable[[Sound], T], *, stop: Stop = lambda: False) -> T:
    """What a function makes of a sound, whose chunks it reads; each chunk may overwrite the one before.

    The file is opened once; what it is goes by its content. Nothing else is read, whatever it names. Where soundfile
    breaks off within an Opus file, ``listen`` is called once more with what ffmpeg makes of it. ``stop`` is asked
    before each chunk, and while none comes; True gives up with `Stopped`. A FileError, one line, where the file is
    missing, empty, not audio or breaks off, or needs ffmpeg. Of ``a.wav#t=12.5,200`` that stretch is heard.
    """
    whole = os.fspath(path)
    name, begins, ends = (whole, None, None) if os.path.lexists(whole) else split_stretch(whole)
    stretch = begins or 0.0, ends
    with _open_file(name) as file:
        try:
            with _open_sound(name, file, stop, stretch) as sound:
                return listen(sound)
        except BrokenOpusError as error:
            if shutil.which("ffmpeg") is None:
                more = "ffmpeg, which decodes some that are whole and odd, is not installed"
                raise FileError(f"{error} ({more})") from error
            with _open_sound(name, file, stop, stretch, error.seconds) as sound:
                return listen(sound)


@contextlib.contextmanager
def _open_sound(
    name: str, file: BinaryIO, stop: Stop, stretch: tuple[float, float | None], promised: float | None = None
) -> Iterator[Sound]:
    """An open file, or a stretch of it, as a sound; by ffmpeg alone where soundfile gives less than was promised."""
    begins, ends = stretch
    with contextlib.ExitStack() as stack:
        by_ffmpeg = promised is not None or Path(name).suffix.lower() in FFMPEG_ENDINGS
        by_ffmpeg = by_ffmpeg or (_is_chained(file) and shutil.which("ffmpeg") is not None)
        known = None if by_ffmpeg else _open_soundfile(name, file)
        if known is not None:
            stack.enter_context(known)
            skipped = known.seek(min(round(begins * known.samplerate), known.frames)) if begins else 0
            begins -= skipped / known.samplerate
            ends = None if ends is None else ends - skipped / known.samplerate
            chunks = _soundfile_chunks(name, known, skipped, whole=ends is None)
            sound = Sound(known.samplerate, known.channels, chunks, vorbis=known.format == "OGG")
        else:
            sound = stack.enter_context(_decode(name, file, stop))
        if not LOWEST_RATE <= sound.rate <= HIGHEST_RATE:
            rule = f"at least {LOWEST_RATE} Hz" if sound.rate < LOWEST_RATE else f"at most {HIGHEST_RATE:,} Hz"
            raise FileError(f"{shown(name)}: the sample rate must be {rule}; it is {sound.rate}")
        if not 1 <= sound.channels <= MOST_CHANNELS:
            raise FileError(f"{shown(name)}: must have 1 to {MOST_CHANNELS} channels; it has {sound.channels}")
        most = min(MOST_HOURS * 3600.0, _FREE + os.fstat(file.fileno()).st_size / _THINNEST)
        yield replace(sound, chunks=_take_chunks(name, sound, stop, (begins, ends), promised or 0.0, most))


def _open_file(name: str) -> BinaryIO:
    """The file, open for reading; refused where it is no file with something in it."""
    try:
        file = open_file(name)
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        if isinstance(error, FileNotFoundError) and Path(name).is_symlink():
            reason = "is a link to a file that does not exist"
        if isinstance(error, PermissionError | IsADirectoryError) and Path(name).is_dir():  # the first by Windows
            reason = "is a folder, not an audio file"
        raise FileError(f"{shown(name)}: {reason}") from error
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size:
        return file
    file.close()
    raise FileError(f"{shown(name)}: {'is empty' if stat.S_ISREG(status.st_mode) else 'is not a regular file'}")


def _take_chunks(
    name: str, sound: Sound, stop: Stop, stretch: tuple[float, float | None], promised: float, most: float
) -> Iterator[Samples]:
    """The chunks of a stretch, as long as they are wanted; refused if fewer seconds than promised, or too many."""
    first, last = round(stretch[0] * sound.rate), np.inf if stretch[1] is None else round(stretch[1] * sound.rate)
    room = np.empty((sound.channels, chunk_frames(sound.rate)), np.float32)
    at = filled = 0
    for chunk in sound.chunks:
        if stop():
            raise Stopped
        part = chunk[max(0, first - at) : max(0, int(min(len(chunk), last - at)))]
        at += len(chunk)
        if at > most * sound.rate:
            told = (
                f"{MOST_HOURS} hours" if most == MOST_HOURS * 3600 else "a file of its size may be: it is all but empty"
            )
            raise FileError(f"{shown(name)}: is longer than {told}")
        while len(part):
            taken = part[: room.shape[1] - filled]
            room[:, filled : filled + len(taken)] = taken.T
            filled, part = filled + len(taken), part[len(taken) :]
            if filled == room.shape[1]:
                yield room.T
                filled = 0
        if at >= last:
            break
    if filled:
        yield room[:, :filled].T
    if at < last and at / sound.rate < promised - 0.01:  # ffmpeg passes over what is broken
        raise _breakage(name)


_BEGIN = b"OggS\0\x02"  # a page that begins a stream


def _is_chained(file: BinaryIO) -> bool:
    """Whether Ogg streams follow each other in a file, of which soundfile reads the first alone."""
    at, found, last = 0, False, b""
    for _ in range(64):  # streams that go on side by side begin together
        file.seek(at)
        head = file.read(27)
        if not head.startswith(_BEGIN) or len(head) < 27:
            break
        at += 27 + head[26] + sum(file.read(head[26]))
    file.seek(at)
    while at and not found and (block := file.read(1 << 20)):
        found, last = _BEGIN in last + block, block[1 - len(_BEGIN) :]
    file.seek(0)
    return found


def _open_soundfile(name: str, file: BinaryIO) -> SoundFile | None:
    """The file as soundfile sees it, None where it knows no such format."""
    import soundfile

    if name.lower().endswith(".raw"):  # samples without a header: nothing says what they are
        return None
    try:
        os.lseek(file.fileno(), 0, os.SEEK_SET)  # whatever was read of it, and whatever is kept of that
        return soundfile.SoundFile(name if os.name == "nt" else os.dup(file.fileno()))
    except (soundfile.SoundFileError, RuntimeError, TypeError, ValueError):
        return None


def _soundfile_chunks(name: str, file: SoundFile, done: int = 0, *, whole: bool = True) -> Iterator[Samples]:
    """The chunks of a file of which so many frames are behind it; cut off where the whole of it is less than told."""
    import soundfile

    size = chunk_frames(file.samplerate)
    room = np.empty((size, file.channels), np.float32)
    promised = 0 if file.format == "MP3" else file.frames  # MP3 files can only guess how long they are
    known = promised if promised < MOST_HOURS * 3600 * file.samplerate else 0  # else it says that it does not know
    seconds = known / file.samplerate if file.subtype == "OPUS" else None
    while True:
        try:
            chunk = file.read(out=room)
        except (soundfile.SoundFileError, RuntimeError) as error:
            raise _breakage(name, seconds) from error
        if not len(chunk):
            break
        done += len(chunk)
        yield chunk
    if whole and done < promised - file.samplerate // 100:
        raise _breakage(name, seconds)


def _breakage(name: str, seconds: float | None = None) -> FileError:
    reason = f"{shown(name)}: is broken or cut off: it cannot be decoded to its end"
    return FileError(reason) if seconds is None else BrokenOpusError(reason, seconds)


# What an audio file is, by its first bytes: never by its name, and never by asking a decoder to guess.

_HEAD = 64  # bytes that tell
_TAG = 10  # bytes of the header of an ID3 tag, which may stand before anything

# First bytes, and the demuxer of ffmpeg that reads what follows.
_MAGIC = (
    (b"RIFF", "wav"), (b"RF64", "wav"), (b"riff\x2e\x91\xcf\x11", "w64"), (b"FORM", "aiff"), (b"fLaC", "flac"),
    (b"OggS", "ogg"), (b"caff", "caf"), (b".snd", "au"), (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"), (b"MAC ", "ape"),
    (b"wvpk", "wv"), (b"MPCK", "mpc8"), (b"MP+", "mpc"), (b"TTA1", "tta"), (b"TTA2", "tta"),
    (b"\x1a\x45\xdf\xa3", "matroska"),
)  # fmt: skip
DEMUXERS = frozenset({*(name for _, name in _MAGIC), "mov", "aac", "mp3", "ac3", "eac3"})


def demuxer_of(file: BinaryIO) -> str | None:
    """The demuxer of ffmpeg for an open file, by its first bytes; None where they are not those of audio.

    The file is left at its beginning.

    >>> import io
    >>> demuxer_of(io.BytesIO(b"fLaC....")), demuxer_of(io.BytesIO(b"#EXTM3U\\nfile:///etc/passwd\\n"))
    ('flac', None)
    """
    start = 0
    for _ in range(8):  # ID3 tags, of which some writers leave several
        file.seek(start)
        head = file.read(_TAG)
        if len(head) < _TAG or head[:3] != b"ID3" or max(head[6:10]) > 0x7F:
            break
        size = sum(byte << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
        start += _TAG + size + (_TAG if head[5] & 0x10 else 0)  # a footer, where there is one
    file.seek(start)
    head = file.read(_HEAD)
    file.seek(0)
    found = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
    return found or _by_structure(head)


def _by_structure(head: bytes) -> str | None:
    """Formats that are known by more than a fixed beginning."""
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"skip", b"free") and int.from_bytes(head[:4], "big") != 0:
        return "mov"
    if len(head) < 7:
        return None
    sync = int.from_bytes(head[:2], "big")
    if sync == 0x0B77:
        return "eac3" if head[5] >> 3 > 10 else "ac3"
    layer = head[1] >> 1 & 3
    if sync & 0xFFF0 == 0xFFF0 and layer == 0 and head[2] >> 2 & 15 < 13:
        return "aac"
    if sync & 0xFFE0 == 0xFFE0 and layer != 0 and head[1] >> 3 & 3 != 1 and head[2] >> 4 not in (0, 15):
        return "mp3"
    return None


# Decoding by ffmpeg, held on a short lead: a named demuxer, one open file, a time limit, and an end with ours.

PATIENCE, COMPUTED = 60.0, 10.0  # seconds without a sample, and of computing, after which it is given up

_OPTIONS = ["-nostdin", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,pipe"]
_running: set[subprocess.Popen[bytes]] = set()


@contextlib.contextmanager
def _decode(name: str, file: BinaryIO, stop: Stop) -> Iterator[Sound]:
    """Decode an open file by ffmpeg; ``stop`` is asked ten times a second, also while nothing comes."""
    ending = Path(name).suffix
    if shutil.which("ffmpeg") is None:
        known = ending.lower() in FFMPEG_ENDINGS
        other = "is not audio that can be read (ffmpeg, which reads more, is not installed)"
        raise FileError(f"{shown(name)}: {f'{ending} files need ffmpeg, which is not installed' if known else other}")
    demuxer = demuxer_of(file)
    if demuxer is None:
        raise FileError(f"{shown(name)}: is not audio that can be read")
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
    watch = _Watch(process, name, stop)

    def chunks() -> Iterator[Samples]:
        while data := watch.read(chunk_frames(rate) * channels * 4):
            frames = len(data) // (channels * 4)
            yield np.frombuffer(data, ">f4", frames * channels).astype(np.float32).reshape(frames, channels)
        if process.wait() != 0:
            raise _breakage(name)

    try:
        header = watch.read(24)  # of an AU stream of big-endian floats: six words
        if len(header) < 24 or header[:4] != b".snd":
            raise FileError(f"{shown(name)}: is not audio that can be read")
        offset, _, _, rate, channels = struct.unpack(">5I", header[4:])
        watch.read(offset - 24)
        yield Sound(rate, channels, chunks())
    finally:
        watch.ended.set()
        process.kill()
        process.wait()
        cast(IO[bytes], process.stdout).close()
        _running.discard(process)


class _Watch:
    """Kills a process that is not wanted any more, or from which nothing comes."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, stop: Stop) -> None:
        self._process, self._name, self._stop = process, name, stop
        # When somebody began to wait for it, and how much it had computed.
        self._since: tuple[float, float] | None = None
        self.ended = threading.Event()
        self._why: Exception | None = None
        threading.Thread(target=self._run, daemon=True, name="fabula-watch").start()

    def read(self, size: int) -> bytes:
        """So many bytes of what it writes, or what is left."""
        self._since = time.monotonic(), _computed_seconds(self._process.pid)
        data = cast(IO[bytes], self._process.stdout).read(size)
        self._since = None
        if self._why is not None:
            raise self._why
        return data

    def _run(self) -> None:
        while not self.ended.wait(0.1):
            since = self._since
            if self._stop():
                self._why = Stopped()
            elif since is not None:
                waited, computed = time.monotonic() - since[0], _computed_seconds(self._process.pid) - since[1]
                if waited > PATIENCE or computed > COMPUTED:
                    reason = f"nothing came for {waited:.0f} s, {computed:.0f} s of them computing"
                    self._why = FileError(f"{shown(self._name)}: takes too long to decode: {reason}")
            if self._why is not None:
                self._process.kill()
                return


def _computed_seconds(process: int) -> float:
    """How long a process has computed; 0 where the system does not say."""
    try:
        numbers = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


@atexit.register
def _kill_all() -> None:
    """Let none of them outlive us."""
    for process in list(_running):
        with contextlib.suppress(OSError):
            process.kill()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # they are the parent's


# The `audio` features: what can be measured of any audio file, in one pass over its samples.

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
    # Bars of four beats, at the tempo heard, before all of it sounds and after: what a DJ mixes over.
    mix_in: float
    mix_out: float
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
    # Estimates of what a streaming service would say, 0 to 1; no energy and the rest average for too little sound.
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

    def listen(sound: Sound) -> AudioFeatures:
        meter, ears = Meter(sound.rate, sound.channels, vorbis=sound.vorbis), Ears(sound.rate, sound.channels)
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

    return play(name, listen, stop=stop)


class Ears:
    """Listens to a stream in one pass: chunks go in, numbers come out."""

    def __init__(self, rate: int, channels: int) -> None:
        self.mix, self.width, self.peak = heard.Mix(rate), heard.Width(), Peak(rate, channels)
        self.spectra, self.pitches = heard.ShortSpectra(self.mix.rate), tempo_and_key.Pitches(self.mix.rate)
        self.excerpts = heard.Excerpts(rate)

    def push(self, chunk: Samples) -> None:
        """Take a chunk (frames, channels) into account; it may be overwritten afterwards."""
        self.peak.push(chunk)
        self.width.push(chunk)
        mono = heard.mix_channels(chunk)
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
        tempi = [tempo_and_key.find_tempo(part, rate, strength) for part in beats]
        texture, _ = _ends(spans[:, 3:], self.spectra.span_seconds, sounding, seconds)
        mix_in, mix_out = tempo_and_key.find_mix(texture, self.spectra.span_seconds, tempi[0][0])
        cents, tuned = tempo_and_key.tuning(self.pitches.blocks)
        classes = tempo_and_key.chroma(self.pitches.blocks, cents)
        pitches = (classes, *_ends(classes, self.pitches.block_seconds, sounding, _SECONDS))
        bright, bass = heard.brightness_and_bass(spans)
        shares = heard.hear(self.excerpts.samples(), powers).tolist()
        parts: dict[str, float] = dict(zip(heard.HEARD, shares, strict=True))
        for part, tempo, notes in zip(("heard_", "start_", "end_"), tempi, pitches, strict=True):
            key, own = tempo_and_key.find_key(notes, tuned), part.removeprefix("heard_")
            parts |= {f"{part}tempo": tempo[0], f"{own}tempo_confidence": tempo[1]}
            parts |= {f"{part}key": key[0], f"{part}mode": key[1], f"{own}key_confidence": key[2]}
        return AudioFeatures(
            duration_ms=1000.0 * seconds,
            loudness=loudness,
            loudness_range=loudness_range(powers),
            true_peak=self.peak.finish(),
            tuning=cents,
            onset_density=tempo_and_key.onset_density(onsets, rate),
            brightness=bright,
            bass_share=bass,
            stereo_width=self.width.share(),
            silence_start=sounding.start if sounding.end else seconds,
            silence_end=max(0.0, seconds - sounding.end),
            fade_in=sounding.fade_in,
            fade_out=sounding.fade_out,
            mix_in=mix_in,
            mix_out=mix_out,
            start_loudness=sounding.start_loudness,
            end_loudness=sounding.end_loudness,
            start_brightness=heard.brightness_and_bass(start_span)[0],
            end_brightness=heard.brightness_and_bass(end_span)[0],
            **parts,
        )


def _ends(rows: Floats, seconds: float, ends: Edges, wanted: float) -> tuple[Floats, Floats]:
    """The rows of the first and of the last seconds that sound; each row stands for so many `seconds`."""
    first, last = int(ends.start / seconds), int(np.ceil(ends.end / seconds))
    count = max(1, round(wanted / seconds))
    return rows[first : min(last, first + count)], rows[max(first, last - count) : last]


FEATURES = tuple(field.name for field in fields(AudioFeatures))


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    return np.array(astuple(measure(path, stop=stop)), dtype=np.float64)


SPEC = Spec("audio", version=7, feature_names=FEATURES, measure=_row, shape=(len(FEATURES),))
