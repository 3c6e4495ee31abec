"""Writing track and disc numbers into files, with mutagen (extra ``tags``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabula.errors import FileError, import_extra, shown

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
    mutagen = import_extra("mutagen", extra="tags", purpose="writing track numbers into files")
    numbers = {"tracknumber": track} | ({} if disc is None else {"discnumber": disc})
    try:
        file = mutagen.File(path, easy=True)
        if file is None:
            raise FileError(f"{shown(path)}: has no tags that can be written")
        if file.tags is None:
            file.add_tags()
        for name, (number, of) in numbers.items():
            _set(file, name, number, of)
        file.save()
    except (mutagen.MutagenError, OSError) as error:
        raise FileError(f"{shown(path)}: its tags cannot be written ({shown(str(error))})") from error


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
