"""Orders, scores, essence and bits of every shipped model, as version 0.4 gave them (``make.py`` wrote them)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("PIL")

from golden_cases import CASES, Case, differences, searched_worse
from golden_files import stored
from golden_made import make_all

_SLOW = {"order/eighteen", "order/eighteen agreeing", "order/long search"}  # seconds of computing each
_SLOW |= {"order/albums", "order/albums-16", "order/audio", "order/poems"}  # music and prose stand for them by default


pinned = cache(stored)  # read once


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_all(tmp_path_factory.mktemp("made"))


def check(case: Case, part: str, folder: Path) -> None:
    expected, found = pinned(part)[case.name], case.values(folder)
    wrong = searched_worse(expected, found) if case.search else differences(expected, found, single=case.single)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize(
    "name",
    [pytest.param(c.name, marks=[pytest.mark.slow] * (c.name in _SLOW)) for c in CASES.values() if not c.real],
)
def test_made(made, name):
    check(CASES[name], "made", made)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", [case.name for case in CASES.values() if case.real])
def test_real(data, name):
    check(CASES[name], "real", data)


def test_a_difference_is_seen():
    assert not differences({"a": [1.0, "x"]}, {"a": [1.0 + 1e-9, "x"]}, single=False)
    assert differences({"a": [1.0, "x"]}, {"a": [1.0 + 2e-4, "x"]}, single=True)
    assert differences({"a": "012"}, {"a": "021"}, single=True)
    assert differences({"a": 1.0}, {"a": None}, single=True)
    assert not differences("3  0.232  a 7", "3  0.233  a 7", single=True)
    assert differences("3  0.232  a 7", "3  0.234  a 7", single=True)
    assert differences("3  0.232  a 7", "3  0.232  a 8", single=True)
    best = {"score": 3.0, "gap": 0.03, "close": 0.02, "count": 20, "kept": True}
    assert not searched_worse(best, best | {"score": 2.9, "gap": 0.03})
    assert not searched_worse(best, best | {"score": 3.1, "gap": 0.04})
    assert searched_worse({"x": best}, {"x": best | {"score": 2.9, "gap": 0.04}})
    assert searched_worse(best, best | {"kept": False})
