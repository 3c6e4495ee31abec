"""How quickly it starts: importing the package and asking for help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.timing import best_of, report


def main() -> None:
    fabula = str(Path(sys.executable).with_name("fabula"))

    def python(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    def show_help() -> None:
        subprocess.run([fabula, "--help"], check=True, stdout=subprocess.DEVNULL)

    numpy, ours, base, helped = best_of(
        lambda: python("import numpy"),
        lambda: python("import fabula; fabula.Template; fabula.fit"),
        lambda: python("import click, numpy"),
        show_help,
        repeats=7,
    )
    report("import fabula and its core / import numpy", ours / numpy, 3)
    report("fabula --help / import click, numpy", helped / base, 3)
