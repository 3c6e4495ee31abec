"""What kind of files a folder is read for: which are items, how one is read, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.core.collection import Item
from fabula.media.music.tags import AUDIO_ENDINGS, COMPANION_ENDINGS, read_item, shared_title, track_number


@dataclass(frozen=True)
class FileKinds:
    """The kind of files that a folder is read for.

    Parameters
    ----------
    one, many
        What to call them: "an audio file", "audio files".
    endings
        The endings of files that are items, with the dot, in lower case.
    companions
        The endings of files that stand beside them and are passed over in silence.
    read
        Path -> item.
    number
        Item -> what to sort it by within its folder, or None when its file does not say.
    title
        Items -> what to call all of them together, or "".
    """

    one: str
    many: str
    endings: frozenset[str]
    read: Callable[[str], Item]
    companions: frozenset[str] = frozenset()
    number: Callable[[Item], tuple[float, ...] | None] = lambda item: None
    title: Callable[[Sequence[Item]], str] = lambda items: ""


AUDIO = FileKinds(
    "an audio file", "audio files", AUDIO_ENDINGS, read_item, COMPANION_ENDINGS, track_number, shared_title
)
