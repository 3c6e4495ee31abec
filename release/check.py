"""What is released, built and tried: ``python release/check.py [LEG ...]``; without legs, all of them.

Legs: ``build`` (twice, equal to the byte), ``base``, ``all``, the name of an extra, ``extras`` (each alone), ``pipx``,
``uvx``, ``single`` (one file for people without Python, run in an empty root where that may be done), ``types``. Every
leg works in a temporary folder with an environment of its own. It tells what each took and exits with 1 if one failed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = (
    "web", "images", "raw", "pdf", "jxl", "svg", "tables", "xlsx", "tags", "plot", "mpd", "train", "fma", "sklearn",
    "embedding", "onnx", "tensorboard", "remote", "cluster",
)  # fmt: skip
ENTRY = "from fabula.cli import main\nmain()\n"


class Bench:
    """A temporary folder with what was built in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "FABULA_CACHE_DIR": str(folder / "cache"), "SOURCE_DATE_EPOCH": "1767225600"}
        self.environment.pop("PYTHONPATH", None)

    def run(self, *command: str | Path, cwd: Path | None = None, timeout: float = 900, **more: str) -> str:
        """Run a command that must end well; what it printed."""
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd or self.folder,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} {' '.join(map(str, command[1:4]))}: {done.stderr[-2000:] or done.stdout}")
        return done.stdout

    def environment_with(self, name: str, *packages: str) -> Path:
        """The folder of programs of a fresh environment with some packages."""
        at = self.folder / "environments" / name
        venv.create(at, with_pip=True, clear=True)
        pip = (at / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        self.run(*pip, "-c", ROOT / "constraints.txt", *packages)
        return at / "bin"

    @property
    def wheel(self) -> Path:
        """The wheel, built if it is not."""
        found = sorted((self.folder / "dist").glob("*.whl"))
        return found[0] if found else self.build("dist")[0]

    def build(self, into: str) -> list[Path]:
        """Build wheel and sdist from a copy of what git tracks."""
        copy = self.folder / f"source-{into}"
        self.run("git", "clone", "--quiet", ROOT, copy)
        builder = self.folder / "environments" / "builder" / "bin"
        builder = builder if builder.exists() else self.environment_with("builder", "build", "hatchling")
        out = self.folder / into
        self.run(builder / "python", "-m", "build", "--no-isolation", "--outdir", out, copy)
        return sorted(out.iterdir(), key=lambda path: path.suffix != ".whl")


def build(bench: Bench) -> str:
    """Two builds from two clones are equal to the byte."""
    digests = [[hashlib.sha256(path.read_bytes()).hexdigest() for path in bench.build(n)] for n in ("dist", "again")]
    if digests[0] != digests[1]:
        raise RuntimeError(f"two builds differ: {digests}")
    return ", ".join(
        f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in sorted((bench.folder / "dist").iterdir())
    )


def install(bench: Bench, extra: str) -> str:
    """A fresh environment with the wheel and an extra, or none: nothing of it is missing, and the demo is ordered."""
    wheel = f"{bench.wheel}[{extra}]" if extra else str(bench.wheel)
    programs = bench.environment_with(extra or "base", wheel)
    found = json.loads(bench.run(programs / "fabula", "doctor", "--json"))
    wanted = EXTRAS if extra == "all" else (extra,) if extra else ()
    lacking = {name: found["extras"][name]["missing"] for name in wanted if found["extras"][name]["missing"]}
    if lacking or not found["ok"]:
        raise RuntimeError(f"missing: {lacking}; checks: {found['checks']}")
    for shared in ("man/man1/fabula.1", "bash-completion/completions/fabula"):
        if not (programs.parent / "share" / shared).is_file():
            raise RuntimeError(f"no share/{shared} is installed")
    if not extra and any(found["extras"][name]["missing"] == [] for name in ("train", "tables", "web")):
        raise RuntimeError("the base install brings what is an extra's")
    return f"Python {found['python']}"


def pipx(bench: Bench) -> str:
    """``pipx install`` gives the command."""
    programs = bench.environment_with("pipx", "pipx")
    home = {"PIPX_HOME": str(bench.folder / "pipx"), "PIPX_BIN_DIR": str(bench.folder / "pipx-bin")}
    home["PIPX_MAN_DIR"] = str(bench.folder / "pipx-man")
    bench.run(programs / "pipx", "install", bench.wheel, **home)
    return bench.run(bench.folder / "pipx-bin" / "fabula", "--version").strip()


def uvx(bench: Bench) -> str:
    """``uvx --from`` runs the command without an install."""
    programs = bench.environment_with("uv", "uv")
    cache = {"UV_CACHE_DIR": str(bench.folder / "uv")}
    return bench.run(programs / "uvx", "--from", bench.wheel, "fabula", "--version", **cache).strip()


def single(bench: Bench) -> str:
    """One file that needs no Python orders the demo, in an empty root where this user may make one."""
    programs = bench.environment_with("single", str(bench.wheel), "pyinstaller")
    program = build_single(bench, programs)
    root = bench.folder / "root"
    if os.geteuid() == 0 and shutil.which("chroot"):
        for library in (
            "libz.so.1",
            "libc.so.6",
            "libm.so.6",
            "libdl.so.2",
            "libpthread.so.0",
            "librt.so.1",
            "libutil.so.1",
        ):
            _copy_library(library, root)
        (root / "tmp").mkdir(parents=True)
        shutil.copy(program, root / "fabula")
        how = ("chroot", root, "/fabula")
    else:
        how = (program,)
    bench.run(*how, "--version", PATH="/usr/sbin:/usr/bin:/bin")
    before, started = os.times(), time.perf_counter()
    version = bench.run(*how, "--version", PATH="/usr/sbin:/usr/bin:/bin").strip()
    took, after = time.perf_counter() - started, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    if spent > 2:
        raise RuntimeError(f"starting took {spent:.1f} s of the processor; 2 are asked for")
    bench.run(*how, "demo", "--to", "/tmp", PATH="/usr/sbin:/usr/bin:/bin", FABULA_CACHE_DIR="/tmp/cache")
    where = "in an empty root" if how[0] == "chroot" else "here"
    starts = f"starts in {took:.1f} s, {spent:.2f} of the processor"
    return f"{version}, {program.stat().st_size / 1e6:.0f} MB, {starts}, {where}"


def build_single(bench: Bench, programs: Path) -> Path:
    """The one file, built from an environment that has the wheel and PyInstaller."""
    entry = bench.folder / "entry.py"
    entry.write_text(ENTRY)
    bench.run(
        programs / "pyinstaller", "--noconfirm", "--onefile", "--name", "fabula", "--collect-all", "fabula",
        "--copy-metadata", "fabula", "--log-level", "ERROR", entry,
    )  # fmt: skip
    return bench.folder / "dist" / "fabula"


def _copy_library(name: str, root: Path) -> None:
    """A library of the system, and the loader, at the same place below a root."""
    for found in (*Path("/lib").rglob(name), *Path("/lib64").glob("ld-linux-*")):
        if found.is_file():
            target = root / found.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(found, target)


def types(bench: Bench) -> str:
    """How much of what is public has types, by pyright."""
    programs = bench.environment_with("types", str(bench.wheel), "pyright")
    active = {"VIRTUAL_ENV": str(programs.parent), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(  # it looks for the package in the environment that is active; its exit code tells of any gap
        [programs / "pyright", "--verifytypes", "fabula", "--ignoreexternal", "--outputjson"],
        cwd=bench.folder, env=bench.environment | active, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)["typeCompleteness"]
    share, known = found["completenessScore"], found["exportedSymbolCounts"]
    if share < 0.85:
        raise RuntimeError(f"types of {share:.1%} of what is public are known: {known}")
    return f"{share:.1%} of what is public has types ({known})"


LEGS = {"build": build, "pipx": pipx, "uvx": uvx, "single": single, "types": types}


def main(wanted: list[str]) -> int:
    """Run legs, tell each, and say how many failed."""
    legs = wanted or ["build", "base", "all", "extras", "pipx", "uvx", "single", "types"]
    legs = [leg for name in legs for leg in (EXTRAS if name == "extras" else (name,))]
    failed = []
    with tempfile.TemporaryDirectory(prefix="fabula-release-") as folder:
        bench = Bench(Path(folder))
        for leg in legs:
            started = time.perf_counter()
            try:
                told = LEGS[leg](bench) if leg in LEGS else install(bench, "" if leg == "base" else leg)
            except (RuntimeError, OSError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                failed.append(leg)
                told = f"FAILED: {error}"
            print(f"{leg}: {told} ({time.perf_counter() - started:.0f} s)", flush=True)
    print(f"{len(legs) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
