"""Run every command of the tutorials, each page from an empty folder, and fill in what they print and draw.

python site/fill_tutorials.py [--check] [PAGE ...]

A block of `sh` is run; a block of `text` right after it is what it printed. `<!-- keep: FILE as NAME -->` takes a file that the commands
wrote over into docs/images. With --check nothing is written: a command that fails, or other words than those on the page, are told. Figures
with decimals may differ there: they do from one machine to another.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCK = re.compile(
    r"^```sh\n(?P<commands>.*?)^```\n(?P<shown>\n```text\n(?P<printed>.*?)^```\n)?|<!-- keep: (?P<file>\S+) as (?P<name>\S+) -->",
    re.MULTILINE | re.DOTALL,
)
LOOSE = re.compile(r"[-+]?\d+\.\d+|\d+ %| +$", re.MULTILINE)
PROGRESS = re.compile(r"^(?:training|auditing|comparing|measuring|reviewing)\b.*\n", re.MULTILINE)  # on a slow machine
MARK = "--- the next block ---"


def main() -> None:
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    check = "--check" in sys.argv
    pages = [Path(name) for name in names] or sorted((DOCS / "tutorials").glob("*.md"))
    wrong = [problem for page in pages for problem in fill(page, check=check)]
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(bool(wrong))


def fill(page: Path, *, check: bool) -> list[str]:
    """Run a page; what is wrong with it."""
    text = page.read_text(encoding="utf-8")
    blocks = [match for match in BLOCK.finditer(text) if match["commands"]]
    with tempfile.TemporaryDirectory() as folder:
        printed, failed = run([match["commands"] for match in blocks], Path(folder))
        if failed:
            return [f"{page.name}: {failed}"]
        outputs = dict(zip([match.start() for match in blocks], printed, strict=True))
        if check:
            return [
                f"{page.name}: {match['commands'].strip()!r} prints\n{outputs[match.start()]}"
                for match in blocks
                if match["shown"] and LOOSE.sub("", outputs[match.start()]) != LOOSE.sub("", match["printed"])
            ]

        def replace(match: re.Match[str]) -> str:
            if match["file"]:
                keep(Path(folder) / match["file"], DOCS / "images" / match["name"])
            if not match["shown"]:
                return match.group()
            return f"```sh\n{match['commands']}```\n\n```text\n{outputs[match.start()]}```\n"

        page.write_text(BLOCK.sub(replace, text), encoding="utf-8")
    return []


def keep(file: Path, target: Path) -> None:
    """Take a picture over; a large one smaller."""
    if target.suffix != ".jpg":
        shutil.copy(file, target)
        return
    from PIL import Image

    with Image.open(file) as image:
        image.thumbnail((900, 900))
        image.convert("RGB").save(target, quality=82)


def run(blocks: list[str], folder: Path) -> tuple[list[str], str]:
    """What each block prints, one after the other in one shell; and what failed."""
    programs = folder / ".bin"
    programs.mkdir()
    for name, command in (("fabula", "-m fabula"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        (programs / name).chmod(0o755)
    script = "set -e\n" + f"\necho '{MARK}'\n".join(blocks)
    env = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "FABULA_CACHE_DIR": str(folder / ".cache"),
        "FABULA_DATA_DIR": str(folder / ".data"), "COLUMNS": "110", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode:
        return [], done.stdout[-2000:]
    printed = [
        re.sub(r"[ \t]+$", "", PROGRESS.sub("", part), flags=re.MULTILINE).replace(str(folder), "~")
        for part in done.stdout.split(f"{MARK}\n")
    ]
    return printed, ""


if __name__ == "__main__":
    main()
