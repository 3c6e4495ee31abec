"""Fixtures shared by all tests."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Threads that share cores with other work wait for each other: small products are quicker with one.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# What is compiled is kept, here and in the processes that tests start: each would compile the whole house anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# A busy machine is no bug, and CI tries the same examples each time; elsewhere new ones are drawn.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Side by side, each process takes half of all in order; who is done takes over half of what is left."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


# What takes longest, by files: side by side each process begins with one of them, so that none is left at the end.
LONGEST = (
    "tests/web/attacks/test_hostile_files.py",
    "tests/test_site.py",
    "tests/hostile/test_hostile_files.py",
    "tests/sources/libraries/test_faults.py",
    "tests/goldens/test_goldens.py",
    "tests/training/test_distributed.py",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    count = getattr(config, "workerinput", {}).get("workercount", 1)
    if count == 1:
        return
    first = {name: [item for item in items if item.nodeid.startswith(name)] for name in LONGEST}
    others = [item for item in items if not item.nodeid.startswith(LONGEST)]
    fronts = [[item for name in LONGEST[k::count] for item in first[name]] for k in range(count)]
    size = len(items) // count  # of what each process takes
    parts: list[pytest.Item] = []
    for front in fronts:
        parts += [*front, *(others.pop(0) for _ in range(min(len(others), max(0, size - len(front)))))]
    items[:] = parts + others


gc.disable()  # until all is collected: nothing of what that loads is garbage


def pytest_collection_finish() -> None:
    """What was loaded stays: no later collection of garbage looks through it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


# What libraries hold is let go of as if nothing had been frozen, once pytest has looked for the garbage of the tests.
atexit.register(gc.unfreeze)


@pytest.fixture(scope="session", autouse=True)
def _own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is measured is kept in a temporary folder, not in the user's own cache; so are desks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABULA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("FABULA_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> Iterator[None]:
    """Ctrl-C reaches the processes that tests start, even where the caller ignores it, as a background shell does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Media as if another package brought them."""
    from fabula.media import registry

    def bring(*media: Any) -> None:
        monkeypatch.setattr(registry, "load_points", lambda group, kind: media)
        registry.media.cache_clear()

    yield bring
    monkeypatch.undo()
    registry.media.cache_clear()


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
