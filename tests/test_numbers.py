"""Numbers in README and docs are those that their commands print."""

import pytest

from benchmarks import check_numbers
from benchmarks.check_numbers import Mark, check, read_marks, unexplained

QUICK = [mark for mark in read_marks() if mark.quick]


def test_every_table_of_figures_has_a_command_and_every_command_is_there():
    assert list(unexplained()) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mark", QUICK, ids=lambda mark: mark.command)
def test_the_quick_ones_print_what_is_said(mark):
    assert check(mark) == []


def test_there_are_such():
    assert len(QUICK) >= 2
    assert any(not mark.quick for mark in read_marks())


def test_what_is_wrong_is_named(monkeypatch):
    monkeypatch.setattr(check_numbers, "_run", lambda command: "0.8561 bits\n| a | 1.5 |\n")
    numbers = Mark("README.md", rows=False, quick=True, command="x", numbers=("0.86", "0.85"), paragraph="0.86")
    assert check(numbers) == ["0.85 is not in the document", "0.85 is not printed"]
    rows = Mark("README.md", rows=True, quick=True, command="x", numbers=(), paragraph="")
    assert check(rows) == ["| a | 1.5 |"]
