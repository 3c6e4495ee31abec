from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.session.demo import demo_folder
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
