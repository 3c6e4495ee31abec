"""``fabula templates``."""

from __future__ import annotations

import click


@click.group("templates")
def command() -> None:
    """List and show story templates.

    \b
    Examples:
      fabula templates list
      fabula templates show man-in-a-hole
    """


@command.command("list")
def list_() -> None:
    """List the built-in templates.

    \b
    Example:
      fabula templates list
    """
    from rich.table import Table

    from fabula.cli.showing import console
    from fabula.pipeline.choosing import known_templates
    from fabula.report.terminal import spark

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "arc", "what it does"):
        table.add_column(column, no_wrap=column != "what it does")
    for template in known_templates():
        table.add_row(template.name, spark(template.samples(16)), template.description)
    console().print(table)


@command.command("show")
@click.argument("template")
def show(template: str) -> None:
    """Draw a template: a built-in name, a file (FILE#2 for its second) or points.

    \b
    Examples:
      fabula templates show icarus
      fabula templates show "0:0.2,0.5:1,1:0"
    """
    from fabula.cli.showing import show_template
    from fabula.pipeline.choosing import choose_template

    show_template(choose_template(template))
