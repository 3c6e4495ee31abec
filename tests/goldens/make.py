"""Write the goldens anew: ``python tests/goldens/make.py made|real|commands [NAME ...]``; by default all of a part.

They are what version 0.4 gives; write them from a later one only where a digit is meant to change, and say so in the
commit. To write them from another checkout, put its ``src`` on PYTHONPATH. The real data are looked for where
``tests/conftest.py`` looks for them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from golden_files import store  # noqa: E402


def main(part: str, wanted: list[str]) -> None:
    data = Path(os.environ.get("FABULA_DATA", HERE.parents[2] / "shared" / "data"))
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["FABULA_CACHE_DIR"], os.environ["FABULA_DATA_DIR"] = f"{scratch}/cache", f"{scratch}/data"
        store(part, wanted, Path(scratch), data)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
