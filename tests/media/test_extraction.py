from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.errors import InputError
from fabula.media.extraction import (
    Extraction,
    Measuring,
    cache_file,
    cache_info,
    content_key,
    extract as extract_features,
)
from fabula.media.music import audio
from fabula.media.music.audio import SPEC, measure
from fabula.media.registry import find_medium

Sounds = Callable[..., Path]


def extract(paths: Sequence[Path | str], spec: str = "audio", **how: Any) -> Extraction:
    """The features of music, as the tests below ask for them."""
    return extract_features(paths, find_medium("music").spec(spec), Measuring(**how))


@pytest.fixture
def album(sound: Sounds) -> list[Path]:
    return [sound(f"{i}.wav", seconds=0.5 + 0.2 * i, level=-10.0 - 3 * i) for i in range(6)]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were really measured."""
    names: list[str] = []

    def counting(path: str, **rest: object) -> audio.AudioFeatures:
        names.append(Path(path).name)
        return measure(path, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(audio, "measure", counting)
    return names


def test_rows_in_the_order_given(album: list[Path]) -> None:
    result = extract(album, cache=False)
    expected = [astuple(measured) for measured in map(measure, album)]
    np.testing.assert_array_equal(result.features, expected)
    assert result.feature_names[:2] == ("duration_ms", "loudness")
    assert result.kept == tuple(range(6))
    assert result.problems == ()


def test_parallel_equals_serial(album: list[Path]) -> None:
    serial, parallel = (extract(album, jobs=jobs, cache=False) for jobs in (1, 4))
    np.testing.assert_array_equal(serial.features, parallel.features)
    assert serial.kept == parallel.kept


@pytest.mark.parametrize("jobs", [1, 3])
def test_problems_are_told_and_the_rest_kept(album: list[Path], jobs: int) -> None:
    album[1].write_bytes(b"")
    missing = album[0].with_name("missing.ogg")
    result = extract([missing, *album], jobs=jobs)
    assert result.kept == (1, 3, 4, 5, 6)
    assert result.features.shape == (5, len(SPEC.feature_names))
    assert [path for path, _ in result.problems] == [str(missing), str(album[1])]
    assert all(message.startswith(path) for path, message in result.problems)


def test_nothing_readable_and_nothing_given() -> None:
    assert extract(["missing"]).features.shape == (0, len(SPEC.feature_names))
    assert extract([]).features.shape == (0, len(SPEC.feature_names))


def test_progress_counts_up_in_the_caller(album: list[Path]) -> None:
    told: list[tuple[int, int, str]] = []
    extract(album, progress=lambda *told_now: told.append(told_now), jobs=3)
    assert [(done, total) for done, total, _ in told] == [(i + 1, 6) for i in range(6)]
    assert {path for *_, path in told} == {str(path) for path in album}


def test_the_second_time_nothing_is_measured(album: list[Path], counted: list[str]) -> None:
    first = extract(album)
    assert len(counted) == 6
    moved = [path.rename(path.with_name(f"moved {path.name}")) for path in album]
    second = extract(moved)
    assert len(counted) == 6
    np.testing.assert_array_equal(first.features, second.features)
    extract(moved, cache=False)
    assert len(counted) == 12


def test_a_changed_file_and_a_broken_entry_are_measured_again(
    album: list[Path], sound: Sounds, counted: list[str]
) -> None:
    extract(album)
    counted.clear()
    sound("0.wav", seconds=2)
    key = content_key(album[1])
    assert key is not None
    with closing(sqlite3.connect(cache_file())) as cache, cache:
        cache.execute("UPDATE features SET numbers = x'00' WHERE key = ?", (bytes.fromhex(key),))
    result = extract(album)
    assert sorted(counted) == ["0.wav", "1.wav"]
    assert result.features[0, 0] == 2000


def test_another_version_is_measured_again(
    album: list[Path], counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    extract(album)
    monkeypatch.setattr(audio, "SPEC", replace(SPEC, version=SPEC.version + 1))
    extract(album)
    assert len(counted) == 12


def test_a_cache_that_cannot_be_written_changes_nothing(album: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_CACHE_DIR", os.devnull)
    assert extract(album).kept == tuple(range(6))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_it_and_loses_nothing_measured(album: list[Path], jobs: int, counted: list[str]) -> None:
    def interrupt(done: int, total: int, path: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract(album, jobs=jobs, progress=interrupt)
    entries = sum(count for _, _, count in cache_info().entries)
    assert entries >= 2
    counted.clear()
    assert extract(album).kept == tuple(range(6))
    assert len(counted) == 6 - entries


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"spec": "video"}, "must be one of audio, fma; got 'video'"), ({"jobs": 0}, "jobs must be at least 1; got 0")],
)
def test_words_of_refusal(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        extract(["a.wav"], **arguments)  # type: ignore[arg-type]


def test_specs_say_what_they_are() -> None:
    assert find_medium("music").spec("fma").shape == (75, 7)
    assert len(find_medium("music").spec("fma").feature_names) == 75


SCRIPT = """
import sys
from fabula.media.extraction import Measuring, extract
from fabula.media.music.audio import SPEC
print("ready", flush=True)
try:
    extract(sys.argv[1:], SPEC, Measuring(jobs=2, progress=lambda done, *_: print(done, flush=True)))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way there")
def test_ctrl_c_in_a_process_of_its_own(sound: Sounds, counted: list[str]) -> None:
    paths = [sound(f"{i}.wav", level=-10.0 - i) for i in range(4)]
    for path in paths[2:]:  # hours of silence that take no room on the disk
        with path.open("r+b") as file:
            file.write(b"RIFF" + (2**32 - 100).to_bytes(4, "little"))
            file.seek(40)
            file.write((2**32 - 136).to_bytes(4, "little"))
            file.truncate(2**32 - 92)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == "2":
            break
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    _, complaints = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - started < 15
    assert complaints == ""
    assert sum(count for _, _, count in cache_info().entries) == 2
    extract(paths[:2])
    assert counted == []
