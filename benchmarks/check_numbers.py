"""Whether the numbers in README and docs are those that their commands print.

    python -m benchmarks.check_numbers            # those of about a minute at most: what is wrong
    python -m benchmarks.check_numbers --all      # and those of minutes; with data where FABULA_DATA says

A mark before a paragraph or table names its command, or some with a semicolon between:
``<!-- figures: fabula info music: 0.4 -->`` where every decimal, share and large number of the paragraph is printed,
but for those named; ``<!-- numbers: fabula info music: 0.86 0.77 -->`` where each of these stands there and is printed;
``<!-- rows: python -m benchmarks.coverage -->`` where every row of a table that is printed stands in the document.
``quick`` before the command says that it takes seconds, ``slow`` that it takes minutes. Every section with measured
figures must name some command, unless a mark ``<!-- settings -->`` says that they are none; every benchmark and option
that is named must be there.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
_MARK = re.compile(
    r"<!-- (numbers|rows|figures): (?:(quick|slow) )?(.+?)(?:: ([-+.,\d ]+))? -->\n(.*?)(?=\n\n|\Z)", re.DOTALL
)
_COMMAND = re.compile(r"python -m benchmarks\.(\w+)((?: [^`\n]*)?)")
_NAMED = re.compile(r"python -m |fabula [a-z]|examples/|make [a-z]|pytest |<!-- settings -->")
_NUMBER = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?:\.\d+)?(?:e-?\d+)?")
_FENCE = re.compile(r"(?ms)^```.*?^```$")
_CODE = re.compile(r"(?ms)^```.*?^```$|`[^`\n]*`|\]\([^)]*\)")
_FIGURE = re.compile(r"(?<![\w.,/])[-+]?(?:\d+\.\d+|\d{1,3}(?:,\d{3})+|\d+(?= %))(?: %)?(?![.\w])")
_MEASURED = re.compile(_FIGURE.pattern + r"|(?<![\w.])\d[\d,.]* (?:ms|MB|GB|s|minutes|seconds)\b")


@dataclass(frozen=True)
class Mark:
    """A command that prints what a document says, and what it says."""

    document: Path
    kind: str  # rows, numbers or figures: what is compared
    pace: str  # quick, slow, or neither
    command: str
    numbers: tuple[str, ...]
    paragraph: str

    @property
    def needs_data(self) -> bool:
        """Whether the command needs data that do not come with the repository."""
        return "DATA" in self.command


def documents() -> list[Path]:
    """README and docs, those that are lists of options and of versions aside."""
    aside = ("commands.md", "licences.md")
    return [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.name not in aside)]


def read_marks() -> list[Mark]:
    """Every mark of every document."""
    return [
        Mark(path, kind, pace, command, tuple((numbers or "").split()), paragraph)
        for path in documents()
        for kind, pace, command, numbers, paragraph in _MARK.findall(path.read_text(encoding="utf-8"))
    ]


def check(mark: Mark) -> list[str]:
    """What a mark's command prints otherwise than the document says."""
    printed = "\n".join(_run(command.strip()) for command in mark.command.split(";"))
    if mark.kind == "rows":
        rows = [line for line in printed.splitlines() if line.startswith("|") and _NUMBER.search(line)]
        there = {_bare(line) for line in mark.document.read_text(encoding="utf-8").splitlines()}
        wrong = [line for line in rows if _bare(line) not in there]
        return wrong or ([] if rows else [f"no row was printed: {printed[-300:]}"])
    values = np.array([float(each.replace(",", "")) for each in _NUMBER.findall(printed)] or [math.nan])
    if mark.kind == "numbers":
        wrong = [f"{each} is not in the document" for each in mark.numbers if each not in mark.paragraph]
        return wrong + [f"{each} is not printed" for each in mark.numbers if not _is_among(each, values)]
    told = _FIGURE.findall(_CODE.sub(" ", mark.paragraph))
    wrong = [f"{each} is not in the paragraph" for each in mark.numbers if each not in told]
    left = [each for each in told if each not in mark.numbers]
    return wrong + [f"{each} is not printed" for each in left if not _is_among(each, values)]


def _is_among(told: str, values: NDArray[np.float64]) -> bool:
    """Whether a number that a document tells is one of those printed, rounded; of a share, or its hundredth."""
    plain = told.rstrip(" %").replace(",", "")
    rounding = 0.5 * 10.0 ** -len(plain.partition(".")[2]) + 1e-9
    near = np.abs(values - float(plain)) <= rounding
    return bool(near.any() or (told.endswith("%") and (np.abs(100 * values - float(plain)) <= rounding).any()))


def _bare(line: str) -> str:
    return re.sub(r"[\s*]", "", line)


@lru_cache
def _run(command: str) -> str:
    data = os.environ.get("FABULA_DATA", "")
    words = [word.replace("DATA", data) for word in shlex.split(command)]
    start = [sys.executable, "-m", "fabula"] if words[0] == "fabula" else [sys.executable]
    source = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*start, *words[1:]], cwd=ROOT, env=os.environ | source, capture_output=True, text=True,
                          check=False)  # fmt: skip
    return done.stdout if done.returncode == 0 else f"{command} ended with {done.returncode}: {done.stderr[-300:]}"


def unexplained() -> Iterator[str]:
    """Sections with figures and no command, and commands of benchmarks or options that are not there."""
    for path in documents():
        text = path.read_text(encoding="utf-8")
        for section in re.split(
            r"(?m)^(?=#{1,3} )", _FENCE.sub(lambda found: found.group().replace("\n#", "\n "), text)
        ):
            figures = [found.group() for found in _MEASURED.finditer(_CODE.sub(" ", section))]
            if figures and not _NAMED.search(section):
                told = ", ".join(figures[:5])
                yield f"{path.name}: {section.splitlines()[0]}: figures without a command: {told}"
        for name, rest in _COMMAND.findall(text):
            source = ROOT / "benchmarks" / f"{name}.py"
            if not source.is_file():
                yield f"{path.name}: there is no benchmark {name}"
                continue
            options = re.findall(r"(--[a-z-]+)", rest.partition("#")[0])
            yield from (
                f"{path.name}: {name} has no {option}" for option in options if option not in source.read_text()
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="run what takes minutes too")
    chosen = parser.parse_args()
    wrong, marks, run = list(unexplained()), read_marks(), 0
    for mark in marks:
        if (mark.pace == "slow" and not chosen.all) or (mark.needs_data and "FABULA_DATA" not in os.environ):
            continue
        run += 1
        wrong += [f"{mark.document.name}: {mark.command}: {each}" for each in check(mark)]
    print(*wrong, f"{run} of {len(marks)} commands run, {len(wrong)} wrong", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
