"""Whether the numbers in README and docs are those that their commands print.

    python -m benchmarks.check_numbers            # the quick ones, seconds; what is wrong, and how many were checked
    python -m benchmarks.check_numbers --all      # and those of minutes; with data where FABULA_DATA says

A mark before a paragraph or table names its command: ``<!-- numbers: fabula info music: 0.86 0.77 -->`` where each of
these stands there and is printed, to as many digits; ``<!-- rows: python -m benchmarks.coverage -->`` where every row
of a table that is printed stands in the document. ``quick`` before the command says that it takes seconds. Every
section with figures in a table must name some command; every benchmark and option that is named must be there.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_MARK = re.compile(r"<!-- (numbers|rows): (quick )?(.+?)(?:: ([-+.\d ]+))? -->\n(.*?)(?=\n\n|\Z)", re.DOTALL)
_COMMAND = re.compile(r"python -m benchmarks\.(\w+)((?: [^`\n]*)?)")
_NAMED = re.compile(r"python -m |fabula [a-z]|examples/|make [a-z]")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Mark:
    """A command that prints what a document says, and what it says."""

    document: str
    rows: bool  # whether whole rows of tables are compared, not numbers
    quick: bool
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
    return [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name not in aside)]


def read_marks() -> list[Mark]:
    """Every mark of every document."""
    found = []
    for path in documents():
        for kind, quick, command, numbers, paragraph in _MARK.findall(path.read_text(encoding="utf-8")):
            found.append(
                Mark(path.name, kind == "rows", bool(quick), command, tuple((numbers or "").split()), paragraph)
            )
    return found


def check(mark: Mark) -> list[str]:
    """What a mark's command prints otherwise than the document says."""
    known = (ROOT / ("" if mark.document == "README.md" else "docs") / mark.document).read_text(encoding="utf-8")
    printed = _run(mark.command)
    if mark.rows:
        rows = [line for line in printed.splitlines() if line.startswith("|") and _NUMBER.search(line)]
        there = {_bare(line) for line in known.splitlines()}
        wrong = [line for line in rows if _bare(line) not in there]
        return wrong or ([] if rows else ["no row was printed"])
    values = [float(each) for each in _NUMBER.findall(printed)]
    wrong = [f"{each} is not in the document" for each in mark.numbers if each not in mark.paragraph]
    for each in mark.numbers:
        digits = len(each.partition(".")[2])
        if not any(abs(value - float(each)) <= 0.5 * 10**-digits + 1e-9 for value in values):
            wrong.append(f"{each} is not printed")
    return wrong


def _bare(line: str) -> str:
    return re.sub(r"[\s*]", "", line)


def _run(command: str) -> str:
    data = os.environ.get("FABULA_DATA", "")
    words = [word.replace("DATA", data) for word in shlex.split(command)]
    start = [sys.executable, "-m", "fabula"] if words[0] == "fabula" else [sys.executable]
    source = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*start, *words[1:]], cwd=ROOT, env=os.environ | source, capture_output=True, text=True,
                          check=False)  # fmt: skip
    return done.stdout if done.returncode == 0 else f"{command} ended with {done.returncode}: {done.stderr[-300:]}"


def unexplained() -> Iterator[str]:
    """Sections with figures in a table and no command, and commands of benchmarks or options that are not there."""
    for path in documents():
        text = path.read_text(encoding="utf-8")
        for section in re.split(r"(?m)^(?=#{1,3} )", text):
            rows = [line for line in section.splitlines() if line.startswith("|") and re.search(r"\d\.\d", line)]
            if len(rows) > 1 and not _NAMED.search(section):
                yield f"{path.name}: {section.splitlines()[0]}: figures without a command"
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
        if not (mark.quick or chosen.all) or (mark.needs_data and "FABULA_DATA" not in os.environ):
            continue
        run += 1
        wrong += [f"{mark.document}: {mark.command}: {each}" for each in check(mark)]
    print(*wrong, f"{run} of {len(marks)} commands run, {len(wrong)} wrong", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
