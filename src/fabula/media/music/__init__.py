"""Music: what a track is, how its files are read and measured, and the words for what was found."""

import re
from dataclasses import replace

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Item
from fabula.media.facts import SECONDS, Levelling, Preset, Telling
from fabula.media.medium import Medium, Preview, Words, column, common_detail, lazy, load, read_words
from fabula.media.music import tags, tracks

_SAID = read_words(__name__)
_KEYS = {"key", "camelot", "camelotkey", "initialkey", "keycamelot", "openkey", "tonart"}  # headings
_UNHEARD = {"tempo": 0.0, "key": -1.0}
_R128 = -23.0  # LUFS, the level of EBU R 128
_CARRIED = {"tempo": 2.0, "key": 1.0, "mix": 0.5}  # what a DJ carries on from one track to the next
_TEMPI = ("tempo", "heard_tempo")
_MIXES = {
    "mix": Preset(("energy", "heard_energy", *_TEMPI, "loudness"), "icarus", 1.0, _CARRIED, needed=False),
    "rise": Preset(_TEMPI, "steady-rise", 0.25, _CARRIED),
    "fall": Preset(_TEMPI, "steady-fall", 0.25, _CARRIED),
    "arc": Preset(_TEMPI, "icarus", 0.25, _CARRIED),
}
_TYPES = {".m4a": "audio/mp4", ".m4b": "audio/mp4", ".opus": "audio/ogg", ".oga": "audio/ogg", ".flac": "audio/flac"}


def track_lengths(collection: Collection) -> Floats:
    """Seconds of each track, shape (n,), NaN where they are not known: ``duration_ms``, else ``duration``.

    What was measured (``duration_ms``) wins over what a playlist says (``duration``).
    """
    seconds = column(collection, "duration_ms") / 1000.0
    return np.where(np.isfinite(seconds), seconds, column(collection, "duration"))


def complete_tracks(collection: Collection) -> Collection:
    """The collection with what follows: ``duration_ms`` from ``duration``; ``key`` and ``mode`` from keys in words.

    A tempo of 0 and a key of -1, which services say where they hear none, are not known.
    """
    names = collection.feature_names
    if collection.features.ndim > 2:
        return collection
    unheard = [(names.index(name), sign) for name, sign in _UNHEARD.items() if name in names]
    if any((collection.features[:, k] == sign).any() for k, sign in unheard):
        features = np.array(collection.features, dtype=np.float64)
        for k, sign in unheard:
            features[features[:, k] == sign, k] = np.nan
        collection = replace(collection, features=features)
    keyed = with_keys(collection) or collection
    if "duration" not in names or "duration_ms" in names:
        return keyed
    features = np.column_stack([keyed.features, 1000.0 * collection.column("duration")])
    return replace(keyed, features=features, feature_names=(*keyed.feature_names, "duration_ms"))


def with_keys(collection: Collection) -> Collection | None:
    """The collection with ``key`` and ``mode`` of its keys in words; None where a column has them, or no words do.

    Keys may be written as notes, by Camelot or as Open Key: ``Am``, ``8A``, ``1m``.
    """
    said = [_key_of(item) for item in collection.items]
    if "key" in collection.feature_names or not any(said):
        return None
    kept = [k for k, name in enumerate(collection.feature_names) if name != "mode"]
    pairs = np.array([(np.nan, np.nan) if one is None else one for one in said], dtype=np.float64)
    features = np.column_stack([collection.features[:, kept], pairs])
    names = (*(collection.feature_names[k] for k in kept), "key", "mode")
    return replace(collection, features=features, feature_names=names)


def hold_keys(collection: Collection) -> Collection | None:
    """The same where a column of words is of keys beyond doubt: all of them are, and not all are single letters."""
    worded = [item for item in collection.items if _text_under(item, _KEYS)]
    sure = all(map(_key_of, worded)) and any(len(_text_under(item, _KEYS)) > 1 for item in worded)
    return with_keys(collection) if sure else None


def _key_of(item: Item) -> tuple[int, int] | None:
    """The key and mode that an item says in words, in one column or two."""
    key, mode = _text_under(item, _KEYS), _text_under(item, {"mode"})
    return tags.key_and_mode(f"{key} {mode}") or tags.key_and_mode(key)


def _text_under(item: Item, headings: set[str]) -> str:
    """What a column of words under one of some headings says of an item, or ""."""
    said = (str(value) for name, value in item.details.items() if re.sub(r"[\W_]+", "", name).casefold() in headings)
    return next((text.strip() for text in said if text.strip()), "")


def level_gains(collection: Collection) -> Floats:
    """What brings tracks to one loudness, in dB, shape (n,): down to the quietest, or to -23 LUFS if that is quieter.

    NaN where the loudness is not known.
    """
    loudness = tracks.levels(collection)
    known = loudness[np.isfinite(loudness)]
    target = max(_R128, float(known.min())) if len(known) else _R128
    return np.asarray(np.minimum(0.0, target - loudness))


def for_concert(collection: Collection) -> tuple[str, str]:
    """The model that proposes the order of a concert, and what is to be said of it.

    Programmes of several composers have been learned; bands differ too much for one to tell of another.
    """
    if len(set(filter(None, collection.creators))) > 1:
        return "concerts", ""
    return "music", "no two bands build their concerts alike: ordered as an album is, with its openers and closes"


MEDIUM = Medium(
    "music",
    Words("track", "tracks", "album", "artist", _SAID["traits"], _SAID["names"], "an audio file", "audio files"),
    (
        "fabula order ~/Music/new-album -o new-album.m3u8",
        'fabula order mix.m3u8 --first "Intro" --apart artist -o mix-ordered.m3u8',
        "fabula order ~/Music/new-album --sides 2 --side-limit 22:00 --report new-album.html",
        "fabula order crate --fill 45:00 --sort-into-mix -o set.m3u8",
        "fabula order catalogue.parquet --all -o orders.parquet",
    ),
    endings=tags.AUDIO_ENDINGS,
    companions=tags.COMPANION_ENDINGS,
    read_item=tags.read_item,
    number=tags.track_number,
    title=lambda items: common_detail(items, "album"),
    specs={
        "audio": lambda: load("fabula.media.music.audio:SPEC"),
        "fma": lambda: load("fabula.media.music.librosa_features:SPEC"),
    },
    held=hold_keys,
    complete=complete_tracks,
    fold=tracks.fold_tempi,
    unit=SECONDS,
    lengths=track_lengths,
    steps=tracks.music_steps,
    axis=tracks.energy_axis,
    axis_name="energy",
    models=("albums", "audio"),
    proposer="music",
    occasions={"album": lambda collection: ("music", ""), "concert": for_concert},
    columns=tuple(_SAID["columns"]),
    preview=Preview(
        "sound",
        _TYPES,
        lazy("fabula.media.music.previews:wave_of"),
        lazy("fabula.media.music.previews:cover_of"),
        level_gains,
    ),
    sheets={
        ".cue": tags.write_cue,
        ".txt": tags.write_timing,
        ".labels.txt": tags.write_labels,
        ".ddp.txt": tags.write_times,
    },
    write_numbers=tags.write_numbers,
    telling=Telling(tracks.music_facts, tracks.music_ends, tracks.music_doubts),
    levelling=Levelling(tracks.track_gains, tags.write_gain),
    presets=_MIXES,
)

__all__ = ["MEDIUM", "track_lengths"]
