"""Fill docs/commands.md, the manual page and the completions from the commands; a test fails when one is behind."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from fabula.cli import cli
from fabula.version import __version__

PAGE = Path(__file__).with_name("commands.md")
RELEASE = Path(__file__).resolve().parents[1] / "release"
HEAD = """# Commands

Filled by `make docs` from `--help` (`--help-all` where there is one), with two examples of each at most. Options that
an earlier command has in the same words are only named. So are `--json`, which prints JSON instead;
`--where COLUMN=VALUE`, which keeps the rows that have it (repeatable); and `--seed`, for the same result again (0 by
default).
"""
ONCE = ("--json", "--where", "--seed")
EXAMPLES = 2


def page() -> str:
    """The whole page."""
    parts, first = [HEAD], dict[tuple[str, str], str]()
    for path, command in walk(cli, ("fabula",)):
        look = {**(cli.context_settings or {}), "max_content_width": 100, "terminal_width": 100}
        with click.Context(command, info_name=" ".join(path), **{**look, "help_option_names": []}) as context:
            known = find_known(command, context, first)
            hide(known, hidden=True)
            whole = getattr(command, "get_help_all", command.get_help)(context)
            hide(known, hidden=False)
        names = {where: ", ".join(f"`{max(one.opts, key=len)}`" for one in some) for where, some in known.items()}
        again = ". ".join(f"As for `{where}`: {some}" if where else f"Also {some}" for where, some in names.items())
        text = shorten(whole, " ".join(path), group=isinstance(command, click.Group))
        parts.append(f"## `{' '.join(path)}`\n\n```text\n{text}\n```\n" + (f"\n{again}.\n" if again else ""))
    return "\n".join(parts)


def shorten(whole: str, name: str, *, group: bool) -> str:
    """Help without what stands in the heading or, of a group, with the commands that it holds, and without "[x>=1]"."""
    whole = re.sub(
        r" +\[x>=[01]\]", "", whole.replace("INTEGER RANGE", f"{'N':13}").replace("FLOAT RANGE", f"{'N':11}")
    )
    usage, _, rest = whole.removeprefix("Usage: ").replace(" [OPTIONS]", "", 1).partition("\n\n")
    if group:
        rest = rest.partition("\n\nCommands:\n")[0]
        rest = rest.partition("\n\n  Example")[0] + "".join(rest.partition("\n\nOptions:\n")[1:])
    blocks = rest.split("\n\n")
    for index, block in enumerate(blocks):
        if block.startswith("  Example"):
            lines = [line for line in block.splitlines() if line.strip() != name]
            blocks[index] = "\n".join(lines[: EXAMPLES + 1]) if len(lines) > 1 else ""
    return "\n\n".join(block for block in [usage if usage != name else "", *blocks] if block)


def find_known(
    command: click.Command, context: click.Context, first: dict[tuple[str, str], str]
) -> dict[str, list[click.Option]]:
    """The options that the head tells (under "") or an earlier command has in the same words, by that command."""
    known: dict[str, list[click.Option]] = {}
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if isinstance(option, click.Option) and record is not None:
            where = "" if option.opts[-1] in ONCE else first.setdefault(record, context.info_name or "")
            if where != context.info_name:
                known.setdefault(where, []).append(option)
    return known


def hide(known: dict[str, list[click.Option]], *, hidden: bool) -> None:
    """Hide options from help, or show them again."""
    for some in known.values():
        for option in some:
            option.hidden = hidden


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


def manual() -> str:
    """The manual page of all commands, for man."""
    parts = [f'.TH FABULA 1 "" "fabula {__version__}"', ".SH NAME", "fabula \\- find the order that tells a story"]
    for path, command in walk(cli, ("fabula",)):
        with click.Context(command, info_name=" ".join(path), **(cli.context_settings or {})) as context:
            usage = " ".join(command.collect_usage_pieces(context))
            parts += [".SH SYNOPSIS" if len(path) == 1 else f".SH {' '.join(path).upper()}", ".B " + " ".join(path)]
            parts += [_roff(usage), ".PP", *_paragraphs(command.help or "")]
            for parameter in command.get_params(context):
                record = parameter.get_help_record(context)
                if record is not None:
                    parts += [".TP", f".B {_roff(record[0])}", _roff(record[1])]
    return "\n".join(parts) + "\n"


def _paragraphs(text: str) -> list[str]:
    """Help as man sets it; what stands after a ``\\b`` keeps its lines."""
    found: list[str] = []
    for paragraph in text.split("\n\n"):
        kept = paragraph.lstrip().startswith("\b")
        lines = [_roff(line) for line in paragraph.replace("\b", "").strip().splitlines()]
        found += [".PP", *((".nf", *lines, ".fi") if kept else lines)]
    return found


def _roff(text: str) -> str:
    """A text as roff takes it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def completions() -> dict[str, str]:
    """Name of a file -> a script that completes commands and options in a shell."""
    kinds = {"fabula.bash": BashComplete, "_fabula": ZshComplete, "fabula.fish": FishComplete}
    return {
        name: kind(cli, {}, "fabula", "_FABULA_COMPLETE").source_template
        % kind(cli, {}, "fabula", "_FABULA_COMPLETE").source_vars()
        for name, kind in kinds.items()
    }


def pages() -> dict[Path, str]:
    """Every file that is filled, and what it holds."""
    scripts = {RELEASE / "completions" / name: text for name, text in completions().items()}
    return {PAGE: page(), RELEASE / "fabula.1": manual(), **scripts}


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(any(path.read_text(encoding="utf-8") != text for path, text in pages().items()))
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
