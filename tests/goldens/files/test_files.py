"""Files that version 0.4 wrote open for ever, and say what they said."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("PIL")
pytest.importorskip("httpx")

sys.path.insert(0, str(Path(__file__).resolve().parent))

from file_contents import CONTENTS, STORED
from golden_cases import differences, own_clock, plain
from golden_made import make_all


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_all(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("name", CONTENTS)
def test_file(made, name, tmp_path):
    expected = json.loads(STORED.read_text(encoding="utf-8"))[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a socket that a server leaves open
        clock = nullcontext() if name == "session.fabula.json" else own_clock()  # the page answers when it can
        with clock:
            wrong = differences(expected, plain(CONTENTS[name](made, tmp_path)), single=True)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:20])
