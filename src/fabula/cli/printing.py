"""How results look in the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fabula.core.essence import Floats
    from fabula.core.template import Template
    from fabula.session.ordering import Ordered


def console(*, err: bool = False) -> Console:
    """A terminal to print on; plain text of full width where it is not one."""
    from rich.console import Console

    out = Console(stderr=err, highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(stderr=err, highlight=False, width=100)


def show_ordered(ordered: Ordered, written: list[Path], *, as_json: bool, why: bool = False) -> None:
    """Print an ordering as a table with its arc, or as JSON; with the reason for each place where wanted."""
    if as_json:
        from fabula.session.ordering import as_json as to_json

        click.echo(json.dumps(to_json(ordered), ensure_ascii=False))
        return
    out = console()
    out.print(_table(ordered))
    if why:
        for place, (item, reason) in enumerate(zip(ordered.collection.items, ordered.reasons, strict=True), start=1):
            out.print(f"{place:>2}  {item.label}: {reason}", markup=False, soft_wrap=True)
    out.print(_verdict(ordered), markup=False)
    for path in written:
        out.print(f"written: {path}", markup=False, soft_wrap=True)


def _table(ordered: Ordered) -> Table:
    from rich.table import Table
    from rich.text import Text

    from fabula.report.terminal import bar

    chosen = ordered.fit
    scalar = ordered.essence.ndim == 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("title", ratio=1, overflow="ellipsis", no_wrap=True)
    artists = any(item.artist for item in ordered.collection.items)
    if artists:
        table.add_column("artist", overflow="ellipsis", no_wrap=True, max_width=24)
    for name in ("essence", "target") if scalar else ("off",):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("arc" if scalar else "", no_wrap=True, min_width=16)
    values = ordered.essence[chosen.ordering]
    ends = set(np.cumsum(ordered.sides[:-1]).tolist())
    for place, item in enumerate(ordered.collection.items):
        if place in ends:
            table.add_section()
            table.add_row()
        row: list[str | Text] = [str(place + 1), Text(item.label), *([Text(item.artist)] if artists else [])]
        value, target = values[place], chosen.targets[place]
        if scalar:
            row += [f"{value:+.2f}", f"{target:+.2f}", bar(value, values.min(), values.max())]
        else:
            off = chosen.deviations[place]
            row += [f"{off:.2f}", bar(off, 0.0, chosen.worst)]
        table.add_row(*row)
    return table


def _verdict(ordered: Ordered) -> str:
    chosen, given = ordered.fit, ordered.given
    score = (
        ""
        if chosen.score is None or given.score is None
        else (f", score {chosen.score:.2f} (the order given: {given.score:.2f})")
    )
    lines = [
        f"template: {chosen.template.name or 'unnamed'}{score}",
        f"deviation from it: worst {chosen.worst:.2f}, mean {chosen.mean:.2f}"
        f" (as given: worst {given.worst:.2f}, mean {given.mean:.2f})",
    ]
    if ordered.sides:
        lines.append(f"the split into sides was searched; each side is within {ordered.gap:.1%} of its best")
    elif not chosen.exact:
        lines.append(f"found by search: another ordering could be better by {ordered.gap:.1%} at most")
    lines += [f"note: {note}" for note in ordered.notes]
    return "\n".join(lines)


def show_arc(ordered: Ordered) -> None:
    """Print the arc before and after as two rows of small columns."""
    from fabula.report.terminal import spark

    if ordered.essence.ndim > 1:
        return
    out = console()
    out.print(ordered.source.collection.title, style="bold", markup=False)
    out.print(f"as given  {spark(ordered.essence)}", markup=False)
    out.print(f"ordered   {spark(ordered.essence[ordered.fit.ordering])}", markup=False)
    out.print()


def show_template(template: Template) -> None:
    """Print a template: its name, its sentence, its curve and its knots."""
    from fabula.report.terminal import curve_lines

    out = console()
    out.print(template.name or "unnamed", style="bold", markup=False)
    if template.description:
        out.print(template.description, markup=False)
    if template.values.ndim == 1:
        for line in curve_lines(template):
            out.print("  " + line, markup=False)
    points = ", ".join(f"{x:g}:{_height(y)}" for x, y in zip(template.knots, template.values, strict=True))
    out.print(f"points: {points}", markup=False)


def _height(value: Floats) -> str:
    return f"{value:.3g}" if value.ndim == 0 else "(" + " ".join(f"{v:.3g}" for v in value) + ")"
