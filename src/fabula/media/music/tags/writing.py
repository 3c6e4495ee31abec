"""Writing track and disc numbers and ReplayGain into files, with mutagen (extra ``tags``)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fabula.core.collection import Collection
from fabula.errors import FileError, import_extra, shown
from fabula.media.music.facts import track_gains
from fabula.media.music.known import column

_ID3_KEYS = {"tracknumber": "TRCK", "discnumber": "TPOS"}


def write_numbers(path: Path, track: tuple[int, int], disc: tuple[int, int] | None) -> None:
    """Write the number of a track, and of its disc or side where there are several; nothing else changes.

    Parameters
    ----------
    path
        A file of music.
    track, disc
        Which, and of how many.

    Raises
    ------
    FileError
        When the file has no tags that can be written.
    MissingExtraError
        When mutagen is not installed.
    """
    numbers = {"tracknumber": track} | ({} if disc is None else {"discnumber": disc})

    def write(file: Any) -> None:
        for name, (number, of) in numbers.items():
            _set(file, name, number, of)

    _change_tags(path, write, easy=True)


def write_gain(path: Path, index: int, collection: Collection) -> None:
    """Write the ReplayGain 2.0 of a track into a file: gain to -18 LUFS and peak; nothing else changes.

    Parameters
    ----------
    path
        A file of music.
    index, collection
        Which track of a collection that was measured.

    Raises
    ------
    FileError
        When the file has no tags that can be written.
    """
    peak = 10 ** (float(column(collection, "true_peak")[index]) / 20)
    fields = {
        "REPLAYGAIN_TRACK_GAIN": f"{track_gains(collection)[0][index]:.2f} dB",
        "REPLAYGAIN_TRACK_PEAK": f"{peak:.6f}",
    }

    def write(file: Any) -> None:
        for name, text in fields.items():
            _set_own(file, name, text)

    _change_tags(path, write, easy=False)


def _change_tags(path: Path, write: Callable[[Any], None], *, easy: bool) -> None:
    mutagen = import_extra("mutagen", extra="tags", purpose="writing tags into files")
    try:
        file = mutagen.File(path, easy=easy)
        if file is None:
            raise FileError(f"{shown(path)}: has no tags that can be written")
        if file.tags is None:
            file.add_tags()
        write(file)
        file.save()
    except (mutagen.MutagenError, OSError) as error:
        raise FileError(f"{shown(path)}: its tags cannot be written ({shown(str(error))})") from error


def _set_own(file: Any, name: str, text: str) -> None:
    """A field of our own naming, as each format keeps such."""
    kind = type(file.tags).__name__
    if "ID3" in kind:
        frames = import_extra("mutagen.id3", extra="tags", purpose="writing tags into files")
        file.tags.delall(f"TXXX:{name}")
        file.tags.add(frames.TXXX(encoding=3, desc=name, text=[text]))
    elif "MP4" in kind:
        file.tags[f"----:com.apple.iTunes:{name}"] = [text.encode()]
    elif type(file).__name__ == "OggOpus" and name.endswith("_GAIN"):
        # Opus players take R128_TRACK_GAIN: 1/256 dB to -23 LUFS.
        file.tags["R128_TRACK_GAIN"] = [str(round((float(text.split()[0]) - 5.0) * 256))]
        file.tags[name] = [text]
    else:
        file.tags[name] = [text]


def _set(file: Any, name: str, number: int, of: int) -> None:
    """One number: as its own field where the format has one for the total, else as 3/12."""
    kind = type(file.tags).__name__
    if kind in ("ID3", "_WaveID3", "_IFFID3"):  # WAV and AIFF have ID3 tags without simple names
        frames = import_extra("mutagen.id3", extra="tags", purpose="writing track numbers into files")
        frame = getattr(frames, _ID3_KEYS[name])
        file.tags.setall(_ID3_KEYS[name], [frame(encoding=3, text=[f"{number}/{of}"])])
    elif "Vorbis" in kind or "VComment" in kind or "Flac" in kind.title():
        file.tags[name] = [str(number)]
        file.tags[name.replace("number", "total")] = [str(of)]
    else:
        file.tags[name] = [f"{number}/{of}"]
