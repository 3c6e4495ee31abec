"""Help under headings."""

from __future__ import annotations

import re

import click
import pytest

from fabula.cli import cli
from fabula.cli.printing import HeadedCommand

HEADED = ["order", "train", "audit", "compare", "job plan"]


def find(path: str) -> HeadedCommand:
    command: click.Command = cli
    for name in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    assert isinstance(command, HeadedCommand)
    return command


@pytest.mark.parametrize("path", HEADED)
def test_every_option_stands_under_one_heading_and_every_name_is_an_option(path):
    command = find(path)
    placed = [name for names in command.sections.values() for name in names]
    options = {param.name for param in command.params if isinstance(param, click.Option)} - {"help_all"}
    assert len(placed) == len(set(placed))
    assert set(placed) == options
    assert set(command.first) <= options


def test_order_shows_ten_first_and_all_of_them_when_asked(fabula):
    short, whole = fabula("order", "--help").out, fabula("order", "--help-all").out
    assert fabula("order", "-h").out == short
    command = find("order")
    assert len(command.first) == 10
    for param in command.params:
        longest = next((name for name in param.opts if name.startswith("--")), "")
        if isinstance(param, click.Option) and param.name != "help_all":
            listed = re.compile(rf"^  (?:-\w, )?{longest}\b(?!-)", re.MULTILINE)
            assert listed.search(whole), longest
            assert bool(listed.search(short)) == (param.name in command.first), longest
    for heading in command.sections:
        assert f"\n{heading}:\n" in whole
    assert short.count("\n") < 50


def test_the_help_of_a_medium_names_columns_that_can_be_asked_for(fabula):
    told = fabula("order", "--medium", "images", "--help").out.partition("Columns, for --by and --only:")[2]
    columns = told.partition("The arc:")[0].split()
    assert {"brightness", "captured", "rating"} <= set(columns)
    assert not [name for name in columns if name.startswith(("hash_", "palette_"))]  # which stand for something else


def test_commands_that_show_everything_have_no_second_help(fabula):
    assert "No such option" in fabula("train", "--help-all").err
