"""Help under headings: the options that people use first, and all of them with ``--help-all``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

Sections = Mapping[str, Sequence[str]]  # heading -> names of parameters
_ALL = "fabula.help_all"


class HeadedCommand(click.Command):
    """A command whose options stand under headings, the `first` of them alone unless ``--help-all`` is said.

    What stands in none of the `sections` comes last, under "Options".
    """

    def __init__(self, *args: Any, sections: Sections, first: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections, self.first = sections, tuple(first)
        if first:
            how: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": _show_all}
            self.params.append(click.Option(["--help-all"], help="Show every option and exit.", **how))

    def get_help_all(self, ctx: click.Context) -> str:
        """The help with every option."""
        ctx.meta[_ALL] = True
        return self.get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section that has something to show."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = {option.name: option.get_help_record(ctx) for option in options}
        placed = {name for names in self.sections.values() for name in names}
        rest = [name for name in records if name not in placed]
        short = bool(self.first) and not ctx.meta.get(_ALL)
        for heading, names in {**self.sections, "Options": rest}.items():
            shown = [records[name] for name in names if name in rest or not short or name in self.first]
            rows = [record for record in shown if record is not None]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    """Print the whole help and exit."""
    if value and isinstance(ctx.command, HeadedCommand):
        click.echo(ctx.command.get_help_all(ctx), color=ctx.color)
        ctx.exit()
