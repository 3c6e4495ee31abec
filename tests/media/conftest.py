from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

Sounds = Callable[..., Path]


def tone(seconds: float, rate: int, *, level: float = -20.0, frequency: float = 997.0) -> NDArray[np.float64]:
    """A sine of a level in dBFS."""
    t = np.arange(round(seconds * rate)) / rate
    return 10 ** (level / 20) * np.sin(2 * np.pi * frequency * t)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def sound(tmp_path: Path) -> Sounds:
    """Writes a tone under a name and gives its path."""

    def write(name: str = "tone.wav", *, seconds: float = 1.0, rate: int = 22050, level: float = -20.0) -> Path:
        path = tmp_path / name
        form = {"format": "OGG", "subtype": "OPUS"} if path.suffix == ".opus" else {}
        soundfile.write(path, tone(seconds, rate, level=level), rate, **form)
        return path

    return write
