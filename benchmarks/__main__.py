"""Run every benchmark, or those named: ``python -m benchmarks fit templates``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    wanted, sys.argv = sys.argv[1:] or known, sys.argv[:1]  # what a benchmark takes itself is for running it alone
    for name in wanted:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are: {', '.join(known)}")
        print(f"== {name}")
        import_module(f"benchmarks.bench_{name}").main()


if __name__ == "__main__":
    main()
