"""Fill docs/commands.md from the commands' own ``--help``; a test fails when the file is behind."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from fabula.cli import cli

PAGE = Path(__file__).with_name("commands.md")
HEAD = """# Commands

Filled from `--help` (`--help-all` where there is one) by `make docs`.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for path, command in walk(cli, ("fabula",)):
        look = {**(cli.context_settings or {}), "max_content_width": 100, "terminal_width": 100}
        with click.Context(command, info_name=" ".join(path), **look) as context:
            whole = getattr(command, "get_help_all", command.get_help)(context)
            parts.append(f"## `{' '.join(path)}`\n\n```text\n{whole}\n```\n")
    return "\n".join(parts)


def walk(command: click.Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    """A command and all below it, with their paths."""
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                found += walk(child, (*path, name))
    return found


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
