from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.session.open import demo_folder
from fabula.session.session import Session, open_session


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def demo() -> Session:
    """The album that comes with the package, measured once."""
    return open_session(demo_folder())


@pytest.fixture
def table(tmp_path) -> Path:
    """Twelve tracks by three artists, with lengths and loudness."""
    rng = np.random.default_rng(3)
    rows = ["title,artist,duration_ms,loudness"]
    rows += [f"T{i},A{i % 3},{rng.integers(120, 300) * 1000},{rng.normal(-9, 3):.2f}" for i in range(12)]
    path = tmp_path / "album.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def suite(tmp_path) -> Session:
    """Eight tracks whose titles say where some of them stand, in a wrong order."""
    path = tmp_path / "suite.csv"
    rows = [
        ("Outro", 95, -14), ("Suite Pt. 2", 240, -8), ("Intro", 60, -16), ("Suite Pt. 1", 230, -9),
        ("Dance Floor", 200, -5), ("Ballad of Rain", 280, -11), ("Fire", 190, -5.5), ("Night", 250, -7),
    ]  # fmt: skip
    lines = [f"{title},X,Night,{seconds}000,{level}" for title, seconds, level in rows]
    path.write_text("title,artist,album,duration_ms,loudness\n" + "\n".join(lines) + "\n")
    return open_session(path)
