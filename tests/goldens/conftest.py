"""Lets the tests beside it find the modules of the goldens."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

collect_ignore_glob = [
    "golden_*.py",
    "make.py",
    "files/make_files.py",
    "files/file_contents.py",
]  # no tests, no doctests
