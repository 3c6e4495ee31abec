"""Run every benchmark, or those named: ``python -m benchmarks fit templates``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    for name in sys.argv[1:] or known:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are: {', '.join(known)}")
        print(f"== {name}")
        import_module(f"benchmarks.bench_{name}").main()


if __name__ == "__main__":
    main()
