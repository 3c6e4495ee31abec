from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fabula.media.cache import cache_folder, content_key, entry_path, keep, recall
from fabula.media.music.audio import SPEC

KEY = "ab" * 32
ROW = np.linspace(-12.25, 1234.5, len(SPEC.feature_names))


def test_what_is_kept_is_recalled() -> None:
    assert recall(KEY, SPEC) is None
    assert keep(KEY, SPEC, ROW)
    np.testing.assert_array_equal(recall(KEY, SPEC), ROW)
    assert [path.name for path in entry_path(KEY, SPEC).parent.iterdir()] == [entry_path(KEY, SPEC).name]


def entry(**changes: object) -> str:
    return json.dumps({"spec": "audio", "version": SPEC.version, "key": KEY, "features": ROW.tolist()} | changes)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100000,
        entry(features=[1.0]),
        entry(features="loud"),
        entry(features=[1.0, None]),
        entry(features=[[1.0, 2.0]]),
        entry(spec="fma"),
        entry(version=SPEC.version + 1),
        entry(key="cd" * 32),
        '{"spec": "audio"}',
        '{"spec": "audio", "version": 1, "features": [1, NaN]}',
    ],
)
def test_a_broken_entry_is_none(content: str) -> None:
    assert keep(KEY, SPEC, ROW)
    entry_path(KEY, SPEC).write_text(content)
    assert recall(KEY, SPEC) is None
    assert keep(KEY, SPEC, ROW)
    assert recall(KEY, SPEC) is not None


def test_bytes_that_are_no_text_are_none() -> None:
    assert keep(KEY, SPEC, ROW)
    entry_path(KEY, SPEC).write_bytes(b"\xff\xfe\x00")
    assert recall(KEY, SPEC) is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path / "file"))
    assert not keep(KEY, SPEC, ROW)
    assert recall(KEY, SPEC) is None


def test_the_key_is_the_content(sound: Callable[..., Path]) -> None:
    first, other = sound("a.wav"), sound("b.wav", level=-21)
    key = content_key(first)
    assert key == content_key(first.rename(first.with_name("moved.wav")))
    assert key != content_key(other)
    assert content_key(first.parent) is None
    assert content_key("missing") is None
    assert content_key("a\0b") is None


def test_without_the_variable_the_platform_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FABULA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name.lower() in {"fabula", "cache"}
