"""``fabula doctor``."""

import re
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from platform import platform
from shutil import which
from typing import Any

import click

from fabula.cli.printing import print_json, print_lines
from fabula.errors import FabulaError
from fabula.version import __version__

# What each extra is for. The packages it brings are those that the installed package says.
EXTRAS = {
    "web": "the page (fabula serve)",
    "images": "pictures",
    "raw": "pictures of cameras as they took them",
    "pdf": "pictures and texts in PDF",
    "jxl": "pictures in JPEG XL",
    "svg": "drawings in SVG",
    "tables": "Parquet, frames of pandas and polars",
    "xlsx": "spreadsheets",
    "tags": "numbers and gains written into files",
    "plot": "--plot to PNG and PDF",
    "mpd": "playlists of MPD",
    "train": "training (PyTorch)",
    "fma": "librosa's features and the FMA",
    "sklearn": "scikit-learn's manner",
    "embedding": "an embedding of pictures",
    "onnx": "models written as ONNX",
    "tensorboard": "trainings shown by TensorBoard",
    "remote": "tables at an address, jobs on S3",
    "cluster": "jobs on Dask",
}
PROGRAMS = {"ffmpeg": "m4a, wma and what else libsndfile does not read", "ffprobe": "clips of video"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def command(*, as_json: bool) -> int:
    """Say what is installed, what is missing for what, where things are kept, and try out the main job.

    \b
    Exits with 1 where something of the base install does not work.

    \b
    Example:
      fabula doctor
    """
    found = examine()
    if as_json:
        print_json(found)
    else:
        _print(found)
    return 0 if found["ok"] else 1


def examine() -> dict[str, Any]:
    """What is there and what is not, and whether the main job works."""
    from fabula.media.extraction import cache_info

    needed = _requirements()
    extras = {name: _missing(needed, name) for name in EXTRAS}
    tried = {name: _try(check) for name, check in CHECKS.items()}
    cache = cache_info()
    return {
        "fabula": __version__,
        "python": sys.version.split()[0],
        "platform": platform(),
        "base": {name: _version(name) for name in sorted(needed[""])},
        "extras": {name: {"for": EXTRAS[name], "missing": missing} for name, missing in extras.items()},
        "programs": {name: {"for": purpose, "path": which(name)} for name, purpose in PROGRAMS.items()},
        "cache": {"path": str(cache.path), "bytes": cache.size},
        "checks": tried,
        "ok": all(not wrong for wrong in tried.values()) and not _missing(needed, ""),
    }


def _requirements() -> dict[str, set[str]]:
    """What the base, called "", and each extra require, by the metadata of the installed package."""
    found: dict[str, set[str]] = {"": set()}
    for line in metadata.requires("fabula") or []:
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        name = re.match(r"[\w.-]+(\[[\w,-]+\])?", line)
        found.setdefault(extra[1] if extra else "", set()).add(name[0] if name else line)
    return found


def _missing(needed: dict[str, set[str]], extra: str) -> list[str]:
    """The packages of an extra that are not installed, those of the extras that it takes in included."""
    lacking: set[str] = set()
    for name in needed.get(extra, set()):
        inner = re.fullmatch(r"fabula\[([\w-]+)\]", name)
        lacking |= set(_missing(needed, inner[1])) if inner else {name} if _version(name) is None else set()
    return sorted(lacking)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _try(check: Callable[[], object]) -> str:
    """What went wrong, in a line; empty where nothing did."""
    try:
        check()
    except (FabulaError, OSError, ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return ""


def _write_cache() -> None:
    """The folder of the cache can be written to."""
    from fabula.media.extraction import cache_file

    folder = cache_file().parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder):
        pass


def _load_models() -> None:
    """Every model that comes with the package loads."""
    from fabula.models.model import load_model, shipped_models

    for name in shipped_models():
        load_model(name)


def _order_demo() -> None:
    """The demo is measured and ordered, and the order is proved to be the best; nothing is kept of it."""
    from fabula.session.open import order_demo

    with tempfile.TemporaryDirectory() as folder:
        ordered, written = order_demo(Path(folder))
        if ordered.gap != 0 or not written.stat().st_size:
            raise RuntimeError("the demo was not ordered as it should be")


CHECKS: dict[str, Callable[[], object]] = {
    "the cache can be written": _write_cache,
    "the models load": _load_models,
    "the demo is ordered": _order_demo,
}


def _print(found: dict[str, Any]) -> None:
    base = ", ".join(f"{name} {version or 'MISSING'}" for name, version in found["base"].items())
    print_lines(
        f"fabula {found['fabula']}, Python {found['python']}, {found['platform']}",
        f"base: {base}",
        f"kept of measured files: {found['cache']['path']}",
    )
    for name, of in found["extras"].items():
        there = (
            "installed" if not of["missing"] else f"missing {', '.join(of['missing'])}: pip install 'fabula[{name}]'"
        )
        print_lines(f"  {name}, for {of['for']}: {there}")
    for name, of in found["programs"].items():
        print_lines(f"  {name}, for {of['for']}: {of['path'] or 'not found'}")
    for name, wrong in found["checks"].items():
        print_lines(f"{name}: {wrong or 'yes'}")
    print_lines("all is well" if found["ok"] else "something of the base install does not work: see above")
