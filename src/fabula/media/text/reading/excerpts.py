"""Excerpts of texts: how one begins and how it ends, to be read beside each other."""

from __future__ import annotations

import re

from fabula.core.collection import Item
from fabula.media.text.reading.files import text_of

MOST = 420  # characters of an excerpt
_WORD = re.compile(r"\s+")
_STOP = re.compile(r"[.!?…。！？][\"'”’»)\]」』]*(?=\s|$)")


def ends_of(item: Item) -> tuple[str, str] | None:
    """The first lines of a text and its last, each a few sentences; None where there is no text.

    Examples
    --------
    >>> ends_of(Item("a", details={"text": "It rained. Then it stopped."}))
    ('It rained. Then it stopped.', 'It rained. Then it stopped.')
    """
    text = text_of(item).strip()
    return (opening(text), close(text)) if text else None


def opening(text: str, most: int = MOST) -> str:
    """The beginning of a text: whole sentences where that is possible, else whole words.

    Examples
    --------
    >>> opening("It rained. Nobody minded at all.", 20), opening("a b c d", 5)
    ('It rained. …', 'a b …')
    """
    if len(text) <= most:
        return text
    start = text[:most]
    stops = [stop.end() for stop in _STOP.finditer(start)]
    cut = stops[-1] if stops and stops[-1] >= most // 3 else _last_space(start)
    return start[:cut].rstrip() + " …"


def close(text: str, most: int = MOST) -> str:
    """The end of a text: whole sentences where that is possible, else whole words.

    Examples
    --------
    >>> close("It rained for a day. Nobody minded.", 20)
    '… Nobody minded.'
    """
    if len(text) <= most:
        return text
    end = text[-most:]
    stops = [stop.end() for stop in _STOP.finditer(end)]
    starts = [stop for stop in stops if most // 3 <= most - stop]
    cut = starts[0] if starts else next((space.end() for space in _WORD.finditer(end)), 0)
    return "… " + end[cut:].lstrip()


def _last_space(text: str) -> int:
    spaces = [space.start() for space in _WORD.finditer(text)]
    return spaces[-1] if spaces else len(text)
