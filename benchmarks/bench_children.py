"""What it costs to parse files in children: 1,000 small files opened and measured so, and in the process itself.

    PYTHONPATH=src python -m benchmarks children

Each is a process of its own, started anew, with nothing in the cache; the best of three rounds by turns. Beside the
time, that of a clock, stands what all cores computed: on a busy machine the first says little. Warm is what a second
reading in the same process adds: the first starts the children, and loads NumPy once more.
"""

from __future__ import annotations

import io
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.timing import report

COUNT, ROUNDS, TARGET = 1000, 3, 1.15
WORDS = "rain hill night children home door river light stone winter came went saw under over before"


def docx(number: int) -> bytes:
    """A document of some 400 words."""
    rng = np.random.default_rng(number)
    lines = [" ".join(rng.choice(WORDS.split(), 40)) + "." for _ in range(10)]
    body = "".join(f"<w:p><w:r><w:t>{line.capitalize()}</w:t></w:r></w:p>" for line in lines)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>')
    return out.getvalue()


def png(number: int) -> bytes:
    """A picture of 160 x 120 pixels."""
    from PIL import Image

    rng = np.random.default_rng(number)
    out = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (12, 16, 3), np.uint8)).resize((160, 120)).save(out, "PNG")
    return out.getvalue()


KINDS: dict[str, Callable[[int], bytes]] = {".docx": docx, ".png": png}


def take(folder: str, how: str, times: int) -> None:
    """Open and measure the files of a folder, some times, and print how long it took, from the first import on."""
    start = time.perf_counter()
    from fabula.media import children
    from fabula.media.extraction import Measuring
    from fabula.session.measure import measure
    from fabula.sources.registry import open_source

    if how == "here":
        children._pool._able = False
    for _ in range(times):
        found = measure(open_source([folder]), Measuring(cache=False))
    took = time.perf_counter() - start
    children._pool.close()
    mine, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    computed = mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime
    print(len(found.collection), took, computed)


def main() -> None:
    for ending, make in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            for number in range(COUNT):
                (Path(folder) / f"{number:04d}{ending}").write_bytes(make(number))
            best = {(how, times): [float("inf")] * 2 for how in ("here", "children") for times in (1, 2)}
            for _ in range(ROUNDS):
                for (how, times), known in best.items():
                    command = [sys.executable, "-m", "benchmarks.bench_children", folder, how, str(times)]
                    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
                    count, *seconds = map(float, done.stdout.split())
                    if count != COUNT:
                        sys.exit(f"{count:g} of {COUNT} files were measured")
                    best[how, times] = list(map(min, known, seconds))
            for number, what in enumerate(("time", "computing")):
                first = {how: best[how, 1][number] for how in ("here", "children")}
                warm = {how: best[how, 2][number] - first[how] for how in first}
                for when, took in (("", first), (", warm", warm)):
                    here, apart = took["here"], took["children"]
                    told = f"{COUNT} files {ending}{when}, {what} {here:.2f} s here, {apart:.2f} s in children"
                    report(told, apart / here, TARGET)


if __name__ == "__main__":
    take(sys.argv[1], sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 2 else main()
