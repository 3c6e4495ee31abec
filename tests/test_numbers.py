"""Numbers in README and docs are those that their commands print."""

import re

import pytest

from benchmarks import check_numbers
from benchmarks.check_numbers import Mark, check, read_marks, unexplained

QUICK = [mark for mark in read_marks() if mark.pace == "quick"]


def test_every_table_of_figures_has_a_command_and_every_command_is_there():
    assert list(unexplained()) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mark", QUICK, ids=lambda mark: mark.command)
def test_the_quick_ones_print_what_is_said(mark):
    assert check(mark) == []


def test_readme_and_models_say_the_same_of_music():
    """What is rounded to two places on one page is rounded so on the other."""
    readme = (check_numbers.ROOT / "README.md").read_text(encoding="utf-8")
    [row] = [
        line
        for line in (check_numbers.ROOT / "docs/models.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `music` |")
    ]
    told = re.search(r"`music` has ([\d.]+) .*? and ([\d.]+) \(.*?charting albums that is ([\d.]+)", readme, re.DOTALL)
    assert told is not None
    assert [each for each in told.groups() if each not in re.findall(r"[\d.]+\d", row)] == []


def test_there_are_such():
    assert len(QUICK) >= 12
    assert any(mark.pace == "slow" for mark in read_marks())


def test_what_is_wrong_is_named(monkeypatch):
    monkeypatch.setattr(check_numbers, "_run", lambda command: "0.8561 bits of 1,660\n| a | 1.5 |\n")
    readme = check_numbers.ROOT / "README.md"
    numbers = Mark(readme, "numbers", "quick", "x", numbers=("0.86", "0.85"), paragraph="0.86")
    assert check(numbers) == ["0.85 is not in the document", "0.85 is not printed"]
    rows = Mark(readme, "rows", "quick", "x", numbers=(), paragraph="")
    assert check(rows) == ["| a | 1.5 |"]
    told = "0.856 (86 %) of 1,660, 0.857, 84 %, `0.3` and [a](b-0.4) in version 0.5"
    figures = Mark(readme, "figures", "quick", "x; y", numbers=("0.5", "0.7"), paragraph=told)
    assert check(figures) == ["0.7 is not in the paragraph", "0.857 is not printed", "84 % is not printed"]


def test_a_section_with_figures_and_no_command_is_named(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A\nIt takes 3.5 s.\n\n## B\nIt takes 4 s (`python -m benchmarks.coverage --fast`).\n\n"
        "## C\n<!-- settings -->\n5 s at most\n\n## D\n`0.5` and 7 of 9; see [e](f-1.5.md)\n"
    )
    monkeypatch.setattr(check_numbers, "documents", lambda: [page])
    assert list(unexplained()) == [
        "page.md: # A: figures without a command: 3.5",
        "page.md: coverage has no --fast",
    ]
