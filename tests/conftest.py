"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# A busy machine is no bug, and CI tries the same examples each time; elsewhere new ones are drawn.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20221)


@pytest.fixture(scope="session")
def data() -> Path:
    """The real albums and movies, where they are: FABULA_DATA, or beside the repository."""
    folder = Path(os.environ.get("FABULA_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "albums.parquet").is_file():
        pytest.skip("the real albums and movies are not here")
    return folder
