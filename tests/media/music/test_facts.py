"""What is told of tracks, and what is written into them."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.facts import choose_facts
from fabula.media.medium import column
from fabula.media.music import complete_tracks, level_gains
from fabula.media.music.tags import key_and_mode, read_item, write_gain
from fabula.media.music.tracks import (
    camelot,
    key_name,
    music_doubts,
    music_ends,
    music_facts,
    track_gains,
)
from fabula.sources.tables.read_table import read_table
from fabula.sources.tables.write_table import write_table


def tracks(columns, details=None):
    items = [
        Item(str(i), f"track {i}", details=one) for i, one in enumerate(details or [{}] * len(columns["loudness"]))
    ]
    return Collection("c", items, np.array(list(columns.values()), dtype=float).T, tuple(columns))


HEARD = {
    "loudness": [-9.0, -20.25], "start_loudness": [-9.0, -30.0], "end_loudness": [-12.0, -21.0],
    "true_peak": [0.5, -6.0],
    "heard_tempo": [124.0, 90.04], "tempo_confidence": [0.9, 0.2],
    "heard_key": [9, 3], "heard_mode": [0, 1], "key_confidence": [0.8, 0.1],
}  # fmt: skip


def test_names_of_keys_are_those_that_tags_are_read_by():
    for key in range(12):
        for mode in (0, 1):
            assert key_and_mode(key_name(key, mode)) == key_and_mode(camelot(key, mode)) == (key, mode)


def test_what_is_not_sure_is_marked():
    told = {fact.name: fact.texts for fact in music_facts(tracks(HEARD))}
    assert told["energy"] == ("~60", "~10")  # from loudness and tempo
    del told["energy"]
    assert told == {"tempo": ("124", "~90"), "key": ("Am 8A", "~Eb 5B"), "loudness": ("-9.0", "-20.2")}


def test_keys_that_were_heard_are_no_keys_that_a_table_states(tmp_path):
    said = HEARD | {"key": [np.nan, 0], "mode": [np.nan, 1]}
    for values, cells in ((HEARD, ["~8A", "~5B"]), (said, ["~8A", "8B"])):
        given = tracks(values)
        (key,) = choose_facts(music_facts(given), ["key"])
        assert key.cells["camelot"] == cells
        table = write_table(tmp_path / "a.csv", given, key.cells)
        again = complete_tracks(read_table(table)[0])
        assert music_facts(again)[1].texts == key.texts
        for name in ("key", "mode"):
            np.testing.assert_equal(column(again, name), column(given, name))


def test_tags_are_told_beside_what_was_heard_where_they_disagree():
    said = HEARD | {"tempo": [100.0, 45.0], "key": [0, 0], "mode": [1, 1]}
    assert music_doubts(tracks(said, [{"replaygain": -9.0}, {"replaygain": -9.0}])) == (
        "'track 0': its tag says 100 beats per minute, heard are 124",
        "'track 0': its tag says C, heard is Am",
        "'track 1': its ReplayGain tag says -9.0 LUFS, measured are -20.2",
    )
    told = {fact.name: fact.texts for fact in music_facts(tracks(said, [{}, {"replaygain": -9.0}]))}
    del told["energy"]
    assert told == {"tempo": ("100 (124)", "45"), "key": ("C 8B (Am)", "C 8B"), "loudness": ("-9.0", "-9.0 (-20.2)")}
    assert music_doubts(tracks(HEARD | {"tempo": [62.0, 10.0]})) == ()  # half as fast is no other tempo


def test_a_gain_that_a_tag_has_wins():
    tagged = tracks(HEARD, [{"replaygain": -5.0}, {}])
    assert track_gains(tagged)[0].tolist() == [-5.0, 2.25]
    assert level_gains(tagged).tolist() == [-7.25, 0.0]  # as loud as the second


def test_edges_are_known_only_where_they_were_measured():
    ends = music_ends(tracks(HEARD))
    assert ends is not None
    assert ends.start.tolist() == [-9.0, -30.0]
    assert music_ends(tracks({"loudness": [-9.0, -8.0]})) is None


def test_facts_are_chosen_by_name():
    facts = music_facts(tracks(HEARD))
    assert [fact.name for fact in choose_facts(facts, ["key", "tempo"])] == ["key", "tempo"]
    assert choose_facts(facts, None) == ()
    with pytest.raises(
        InputError, match="nothing called 'mood' is known of these items; there are: tempo, key, energy, loudness"
    ):
        choose_facts(facts, ["mood"])


@pytest.mark.parametrize("ending", ["flac", "ogg", "mp3", "wav", "opus"])
def test_gains_that_are_written_are_read_again(tmp_path, ending):
    mutagen = pytest.importorskip("mutagen")
    path = tmp_path / f"x.{ending}"
    form = {"format": "OGG", "subtype": "OPUS"} if ending == "opus" else {}
    soundfile.write(path, np.random.default_rng(0).normal(size=48000) * 0.1, 48000, **form)
    write_gain(path, 1, tracks(HEARD))
    if ending != "wav":  # whose tags of our own naming tinytag does not read
        assert read_item(path).details["replaygain"] == 2.25
    assert "REPLAYGAIN_TRACK_GAIN" in str(dict(mutagen.File(path).tags)).upper()
    soundfile.read(path)


def test_gain_and_recording_are_read(tmp_path):
    mutagen = pytest.importorskip("mutagen")
    path = tmp_path / "x.flac"
    soundfile.write(path, np.zeros(1000), 8000)
    file = mutagen.File(path)
    file["replaygain_track_gain"] = "-7,25 dB"
    file["musicbrainz_trackid"] = "F27EC8DB-AF05-4F36-916E-3D57F91ECF5E"
    file.save()
    details = read_item(path).details
    assert details["replaygain"] == -7.25
    assert details["musicbrainz"] == "f27ec8db-af05-4f36-916e-3d57f91ecf5e"
    file["r128_track_gain"] = "-1280"
    file["replaygain_track_gain"] = "loud"
    file.save()
    assert read_item(path).details["replaygain"] == 0.0  # 5 dB down from -23 LUFS
    file["r128_track_gain"] = "x"
    file["musicbrainz_trackid"] = "no id"
    file.save()
    assert not {"replaygain", "musicbrainz"} & set(read_item(path).details)
