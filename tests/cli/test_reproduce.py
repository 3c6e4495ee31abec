from __future__ import annotations

import pytest
from click.testing import CliRunner

from fabula.cli.research.reproduce import command as reproduce
from fabula.errors import FabulaError


def call(*arguments):
    return CliRunner().invoke(reproduce, [str(a) for a in arguments], catch_exceptions=False)


def test_help_shows_an_example():
    assert "fabula reproduce albums.parquet --quick" in call("--help").output


def test_a_mistake_is_told_before_anything_is_trained(tmp_path):
    odd = tmp_path / "notes.txt"
    odd.write_text("hello")
    with pytest.raises(FabulaError, match="must be a table"):
        call(odd, "-o", tmp_path / "out")
    table = tmp_path / "t.csv"
    table.write_text(
        "album,position,energy\n" + "".join(f"{a},{i},{(a * i) % 7}\n" for a in range(40) for i in range(5))
    )
    with pytest.raises(FabulaError, match="'volume'"):
        call(table, "-o", tmp_path / "out", "--features", "volume")
    with pytest.raises(FabulaError, match="cannot be made"):
        call(table, "-o", odd / "inside")
