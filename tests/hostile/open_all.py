"""Open files one after the other, by a way, and tell of each how it went: ``open_all.py python|command FILE...``.

Each line is JSON: ``file``, ``seconds`` by the clock and ``computed`` by the processor, how ``busy`` the machine was,
``end`` ("fine", "refused", or what else came) and ``said``. The last line has ``most``, the most MB that this process,
or one it started, has had.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def by_python(path: str) -> tuple[str, str]:
    """Open and order a file in Python."""
    import fabula
    from fabula.errors import FabulaError

    try:
        fabula.open(path).order(alternatives=1)
    except FabulaError as error:
        return ("refused" if "\n" not in str(error) else "several lines"), str(error)
    except Exception as error:
        return f"{type(error).__name__}", str(error)
    return "fine", ""


@contextlib.contextmanager
def _writing_to(file: IO[bytes]) -> Iterator[None]:
    """Within, all that is printed goes to a file."""
    kept = os.dup(1), os.dup(2)
    try:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        yield
    finally:
        sys.stdout.flush()
        for number, old in enumerate(kept, start=1):
            os.dup2(old, number)
            os.close(old)


def by_command(path: str) -> tuple[str, str]:
    """Order a file by the command."""
    from fabula.cli import main as run

    sys.argv[:] = ["fabula", "order", path, "--alternatives", "1"]
    with tempfile.TemporaryFile() as told, _writing_to(told):
        try:
            run()
            code: object = 0
        except SystemExit as end:
            code = end.code or 0
        except Exception as error:
            return type(error).__name__, str(error)
        sys.stderr.flush()
        told.seek(0)
        text = told.read().decode()
    lines = [line for line in text.splitlines() if line.startswith("fabula: ")]
    if code == 2:
        return ("refused" if len(lines) == 1 else f"refused in {len(lines)} lines"), " ".join(lines)
    return ("fine" if code == 0 else f"exit {code}"), " ".join(lines)


WAYS = {"python": by_python, "command": by_command}


def most_megabytes() -> int:
    """The most that this process, or one that it started and has ended, has had."""
    rows = Path("/proc/self/status").read_text().splitlines()
    mine = next(int(row.split()[1]) for row in rows if row.startswith("VmHWM"))
    return max(mine, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024


def family(process: int) -> dict[int, list[str]]:
    """A process and all that it has started, with theirs: what the system says of each."""
    stats, found = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended since
            stats[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
    left = [process]
    while left:
        one = left.pop()
        found[one] = stats.get(one, ["0"] * 20)
        left += [child for child, numbers in stats.items() if int(numbers[1]) == one]
    return found


def computed_seconds(process: int) -> float:
    """The time of the processor that a process and those that it started, ended or not, have taken."""
    ticks = sum(int(number) for numbers in family(process).values() for number in numbers[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def busy() -> float:
    """How many times as long as alone a process takes on this machine now, by how many want its cores."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def main() -> None:
    way, paths = WAYS[sys.argv[1]], sys.argv[2:]
    for path in paths:
        start, before = time.monotonic(), computed_seconds(os.getpid())
        end, said = way(path)
        seconds, computed = time.monotonic() - start, computed_seconds(os.getpid()) - before
        told = {"file": path, "seconds": seconds, "computed": computed, "end": end, "said": said[:300], "busy": busy()}
        print(json.dumps(told), flush=True)  # noqa: T201
    from fabula.media.children import _pool

    _pool.close()  # children that have ended are counted
    print(json.dumps({"most": most_megabytes()}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
