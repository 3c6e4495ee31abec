"""How results look in the terminal."""

from __future__ import annotations

import json
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING

import click

_FEW = 20  # groups below which intervals hold the truth in 88 to 96 of 100 cases, not in 95

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fabula.core.arrays import Floats
    from fabula.core.template import Template
    from fabula.session.ordered import Ordered


def console(*, err: bool = False) -> Console:
    """A terminal to print on; plain text of full width where it is not one."""
    from rich.console import Console

    out = Console(stderr=err, highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(stderr=err, highlight=False, width=100)


def hint(groups: int) -> str:
    """What to say of an interval over so few that it may not hold what it should.

    >>> hint(12), hint(200)
    ('; over 12 only: take it for a hint', '')
    """
    return f"; over {groups} only: take it for a hint" if groups < _FEW else ""


def make_table(*columns: str, left: Container[str] = (), wrap: Container[str] = (), title: str | None = None) -> Table:
    """A table without lines to which rows are added: columns stand to the right but those named, and do not wrap."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    for name in columns:
        table.add_column(name, justify="left" if name in left else "right", no_wrap=name not in wrap)
    return table


def print_lines(*lines: str) -> None:
    """Print lines as they are, however long."""
    out = console()
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def print_ordered(
    ordered: Ordered, written: list[Path], *, as_json: bool = False, why: bool = False, show: tuple[str, ...] = ()
) -> None:
    """Print an ordering as a table with its arc and some facts, or as JSON; with the reason for each position."""
    if as_json:
        click.echo(json.dumps(ordered.to_json(), ensure_ascii=False))
        return
    from fabula.session.answer import headline, rows_of

    out = console()
    out.print(headline(ordered), style="bold", markup=False)
    out.print(_table(ordered, out.width, show))
    if why:
        rows = zip(rows_of(ordered), ordered.reasons, strict=True)
        print_lines(*(f"{row.label:>3}  {row.item.label}: {reason}" for row, reason in rows))
    print_lines(*_verdict(ordered), *(f"written: {path}" for path in written))


def _table(ordered: Ordered, width: int, show: tuple[str, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from fabula.report.terminal import bar
    from fabula.session.answer import facts_of, rows_of, side_line

    rows, facts = rows_of(ordered), facts_of(ordered, show)
    creator = ordered.session.medium.words.creator if any(row.item.creator for row in rows) else ""
    timed = any(row.length for row in rows)
    widths = {"#": max(len(row.label) for row in rows)}
    if creator:
        widths[creator] = min(24, max(6, *(len(row.item.creator) for row in rows)))
    if timed:
        widths["length"] = max(6, *(len(row.length) for row in rows))
    widths |= {fact.name: max(len(fact.name), *map(len, fact.texts)) for fact in facts}
    widths["was"] = max(3, len(str(len(ordered.session.collection))))
    widths["arc" if ordered.session.essence.ndim == 1 else "off"] = 16
    room = width - sum(widths.values()) - 2 * len(widths)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, wide in widths.items():
        right = name in ("#", "length", "was", *(fact.name for fact in facts))
        table.add_column(name, justify="right" if right else "left", no_wrap=True, overflow="ellipsis", width=wide)
        if name == "#":
            table.add_column("title", overflow="ellipsis", no_wrap=True, max_width=max(8, room))
    for row, share in zip(rows, _shares(ordered), strict=True):
        if row.side and row.number == 1:
            table.add_row("", Text(side_line(ordered, ordered.side_of(row.position)[0]), style="bold"))
        cells: list[str | Text] = [row.label, Text(row.item.label)]
        cells += [Text(row.item.creator)] if creator else []
        cells += [row.length] if timed else []
        cells += [fact.texts[row.position] for fact in facts]
        table.add_row(*cells, str(row.index + 1), bar(share, 0.0, 1.0))
    return table


def _shares(ordered: Ordered) -> list[float]:
    """How long the bar of each row is, in [0, 1]: its essence, or how far off it is where that has dimensions."""
    essence, fit = ordered.session.essence, ordered.fit
    values = essence[fit.ordering] if essence.ndim == 1 else fit.deviations
    low = values.min() if essence.ndim == 1 else 0.0
    spread = float(values.max() - low)
    return [float((value - low) / spread) if spread else 0.5 for value in values]


def _verdict(ordered: Ordered) -> list[str]:
    """What is to be said of an order below its table."""
    from fabula.session import answer
    from fabula.session.explain import story

    chosen, given, drawn = ordered.fit, ordered.given, ordered.task.likelihood is None
    lines = [story(ordered)] if len(ordered.ordering) > 2 else []
    heard, named = ", ".join(answer.knows(ordered)), answer.model_name(ordered)
    lines.append(f"model {named}, which knows {heard}" if named else f"ordered by {heard}")
    likely = answer.likely_text(ordered)
    shape = "template" if drawn else "nearest template"
    lines.append(f"{shape}: {chosen.template.name or 'unnamed'}{f'; {likely}' if likely else ''}")
    if drawn:
        off = f"off the template by {chosen.mean:.2f} on average, {chosen.worst:.2f} at worst"
        lines.append(f"{off} (as given: {given.mean:.2f} and {given.worst:.2f})")
    if ordered.gap is None:
        lines.append("how close this is to the best is not known")
    elif ordered.gap or not chosen.exact:
        lines.append(f"found by search: another ordering could be better by {answer.gap_text(ordered.gap)} at most")
    lines += [
        f"steps in {c.name}: {c.mean[0]:.1f} -> {c.mean[1]:.1f} {c.unit} on average, "
        f"{c.worst[0]:.1f} -> {c.worst[1]:.1f} at worst"
        for c in ordered.changes
    ]
    others = [
        f"{number} ({one.fit.template.name or 'unnamed'}{answer.beside_text(one, chosen)})"
        for number, one in enumerate(ordered.proposals, start=1)
        if number != ordered.chosen + 1
    ]
    lines += [f"other orders, by --choose: {'; '.join(others)}"] if others else []
    return [*filter(None, lines), *(f"note: {note}" for note in ordered.notes)]


def print_arc(ordered: Ordered) -> None:
    """Print the arc before and after as two rows of small columns."""
    from fabula.report.terminal import spark

    essence = ordered.session.essence
    if essence.ndim > 1:
        return
    print_lines(f"as given  {spark(essence)}", f"ordered   {spark(essence[ordered.fit.ordering])}", "")


def print_template(template: Template) -> None:
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
