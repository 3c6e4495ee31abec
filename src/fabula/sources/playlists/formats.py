"""The playlist formats there are. A new one is a module beside this one, and a line here."""

from __future__ import annotations

import os
from pathlib import Path

from fabula.errors import InputError
from fabula.sources.playlists import jspf, m3u, pls, xspf
from fabula.sources.playlists.entries import PlaylistFormat

FORMATS: tuple[PlaylistFormat, ...] = (
    m3u.FORMAT,
    pls.FORMAT,
    xspf.FORMAT,
    jspf.FORMAT,
)

PLAYLIST_ENDINGS = tuple(ending for form in FORMATS for ending in form.endings)


def format_of(path: str | os.PathLike[str]) -> PlaylistFormat:
    """The format of a playlist, told by the ending of its name."""
    ending = Path(path).suffix.lower()
    for form in FORMATS:
        if ending in form.endings:
            return form
    known = ", ".join(PLAYLIST_ENDINGS)
    raise InputError(f"{path}: a playlist must end in one of {known}; got {ending or 'no ending'}")
