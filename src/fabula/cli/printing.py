"""How results, progress and help look in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.core.files import json_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID
    from rich.table import Table

    from fabula.core.arrays import Floats
    from fabula.core.template import Template
    from fabula.session.ordered import Ordered
    from fabula.training.loop import Progress

_ENDLESS = 1000  # characters of a line that nobody looks at
_FEW = 20  # groups below which an interval is called a hint


def console(*, err: bool = False, whole: bool = False) -> Console:
    """A terminal to print on; where it is none, lines of 100 characters, or ``whole``: no digit is cut off."""
    from rich.console import Console

    out = Console(stderr=err, highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(stderr=err, highlight=False, width=_ENDLESS if whole else 100)


def hint(groups: int) -> str:
    """What to say of an interval over so few that it may not hold what it should.

    >>> hint(12), hint(200)
    ('; over 12 only: take it for a hint', '')
    """
    return f"; over {groups} only: take it for a hint" if groups < _FEW else ""


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Container[str] = (),
    wrap: Container[str] = (),
    title: str | None = None,
    whole: bool = True,
) -> None:
    """Print rows without lines: columns stand to the right but those named, and do not wrap but those named."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    for name in columns:
        table.add_column(name, justify="left" if name in left else "right", no_wrap=name not in wrap)
    for row in rows:
        table.add_row(*row)
    console(whole=whole).print(table)


def print_json(value: Any, indent: int | None = None) -> None:
    """Print one JSON value, by default on a line, escaped where the output cannot hold its characters."""
    click.echo(json_text(value, encoding=getattr(sys.stdout, "encoding", None) or "utf-8", indent=indent))


def print_lines(*lines: str) -> None:
    """Print lines as they are, however long."""
    out = console()
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def print_ordered(
    ordered: Ordered,
    written: Sequence[Path | str],
    *,
    as_json: bool = False,
    why: bool = False,
    show: tuple[str, ...] = (),
    lost: str = "",
) -> None:
    """Print an ordering as a table with its arc and some facts, or as JSON; and what the file written has ``lost``."""
    if lost:
        click.echo(f"note: {lost}", err=True)
    if as_json:
        print_json(ordered.to_json() | ({"losses": lost} if lost else {}))
        return
    from fabula.session.ordered import headline

    out = console()
    out.print(headline(ordered), style="bold", markup=False)
    out.print(_table(ordered, out.width, show))
    if why:
        rows = zip(ordered.rows, ordered.reasons, strict=True)
        print_lines(*(f"{row.label:>3}  {row.item.label}: {reason}" for row, reason in rows))
        print_lines(*filter(None, [ordered.reasons_untold]))
    print_lines(*_verdict(ordered), *(f"written: {path}" for path in written))


def _table(ordered: Ordered, width: int, show: tuple[str, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    rows, facts, essence = ordered.rows, ordered.facts(show), ordered.session.essence
    values = essence[ordered.ordering] if essence.ndim == 1 else ordered.fit.deviations
    low, high = values.min() if essence.ndim == 1 else 0.0, values.max()
    creator, names = ordered.session.medium.words.creator, [fact.name for fact in facts]
    columns = {"#": [row.label for row in rows], creator: [row.item.creator for row in rows]}
    columns |= {"length": [row.length for row in rows]}
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    columns |= {fact.name: list(fact.texts) for fact in facts} | {"was": [str(row.index + 1) for row in rows]}
    columns |= {"arc" if essence.ndim == 1 else "off": [bar(value, low, high) for value in values.tolist()]}
    widths = {name: max(len(name), *map(len, cells)) for name, cells in columns.items()}
    widths |= {creator: min(24, widths[creator])} if creator in widths else {}
    room = width - sum(widths.values()) - 2 * len(widths)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, wide in widths.items():
        right = name in ("#", "length", "was", *names)
        table.add_column(name, justify="right" if right else "left", no_wrap=True, overflow="ellipsis", width=wide)
        if name == "#":
            table.add_column("title", overflow="ellipsis", no_wrap=True, max_width=max(8, room))
    for row, number, *cells in zip(rows, *columns.values(), strict=True):
        if row.side and row.number == 1:
            table.add_row("", Text(ordered.side_line(ordered.side_of(row.position)[0]), style="bold"))
        table.add_row(number, Text(row.item.label), *map(Text, cells))
    return table


def _verdict(ordered: Ordered) -> list[str]:
    """What is to be said of an order below its table."""
    from fabula.session import ordered as answer
    from fabula.session.explain import story

    chosen, given, drawn = ordered.fit, ordered.given, ordered.task.likelihood is None
    lines = [story(ordered)] if len(ordered.ordering) > 2 else []
    heard, named = ", ".join(answer.knows(ordered)), answer.model_name(ordered)
    lines.append(f"model {named}, which knows {heard}" if named else f"ordered by {heard}")
    shape = (chosen.template.name or "unnamed") if drawn else answer.shape_text(chosen.template)
    few = not drawn and len(ordered.ordering) < 4  # that show no shape
    lines += [f"{'template' if drawn else 'nearest shape'}: {shape}"] if shape and not few else []
    if drawn:
        off = f"strays from it by {chosen.mean:.2f} on average, {chosen.worst:.2f} at worst"
        lines.append(f"{off} (as given: {given.mean:.2f} and {given.worst:.2f})")
    if (axis := ordered.session.axis) is not None:
        lines.append(f"arc: {axis.name}, {axis.unit}{f', {axis.source}' if axis.source else ''}")
    lines += filter(None, [answer.likely_text(ordered)])
    lines += ["not proven best"] if ordered.gap is None or ordered.gap or not chosen.exact else []
    lines += [
        f"steps in {c.name}: {c.mean[0]:.1f} -> {c.mean[1]:.1f} {c.unit} on average, "
        f"{c.worst[0]:.1f} -> {c.worst[1]:.1f} at worst"
        for c in ordered.changes
    ]
    others = [
        f"{number} ({', '.join(filter(None, (one.fit.template.name, answer.beside_text(one, chosen))))})"
        for number, one in enumerate(ordered.proposals, start=1)
        if number != ordered.chosen + 1
    ]
    lines += [f"other orders, by --choose: {'; '.join(others)}"] if others else []
    return [*filter(None, lines), *(f"note: {note}" for note in ordered.notes)]


def print_arc(ordered: Ordered) -> None:
    """Print the arc before and after as two rows of small columns."""
    essence = ordered.session.essence
    if essence.ndim > 1:
        return
    print_lines(f"as given  {spark(essence)}", f"ordered   {spark(essence[ordered.fit.ordering])}", "")


def print_template(template: Template) -> None:
    """Print a template: its name, its sentence, its curve and its knots."""
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


# Progress on stderr: bars where somebody looks, else a plain line now and then.

_SECONDS = 20.0  # between two plain lines


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int, str, str], None]]:
    """What shows, under a title, how many of how many are done, and a note; or a line where nobody looks."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    out, last = console(err=True), time.monotonic()
    tasks: dict[str, TaskID] = {}  # a bar for each title
    counts = (TextColumn("{task.completed:.0f}/{task.total:.0f}"), TextColumn("{task.fields[note]}"))
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), *counts, TimeRemainingColumn())
    with Progress(*columns, console=out, disable=not out.is_terminal, transient=True) as bars:

        def show(title: str, done: int, total: int, note: str, line: str) -> None:
            nonlocal last
            if title not in tasks:
                tasks[title] = bars.add_task(title, note="")
            bars.update(tasks[title], completed=done, total=total, note=note)
            if line and not out.is_terminal and time.monotonic() - last >= _SECONDS:
                last = time.monotonic()
                out.print(f"{title}: {line}", markup=False, soft_wrap=True)

        yield show


@contextmanager
def training_bar(what: str) -> Iterator[Callable[..., None]]:
    """A bar that follows each of some trainings by name: epochs, loss, bits on validation, time left."""
    with _bars() as show:

        def report(progress: Progress, name: str = "") -> None:
            bits = ", ".join(f"{scorer} {value:.3f}" for scorer, value in progress.bits.items())
            note = f"loss {progress.loss:.3f}" + (f"  bits {bits}" if bits else "")
            line = f"epoch {progress.epoch} of {progress.epochs}, {note}, {progress.seconds_left:.0f} s left"
            show(f"{what} {name}".strip(), progress.epoch, progress.epochs, note, line)

        yield report


@contextmanager
def counting_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that counts things done of a total, naming the last one."""
    with _bars() as show:
        show(what, 0, 1, "", "")

        def report(done: int, total: int, name: str) -> None:
            note = name[-40:].encode("utf-8", "replace").decode()
            show(what, done, total, note, f"{done}{f' of {total}' if total else ''}, {note}")

        yield report


# Help under headings: the options that people use first, and all of them with ``--help-all``.

Sections = Mapping[str, Sequence[str]]  # heading -> names of parameters
_ALL = "fabula.help_all"


medium_option = click.option(
    "--medium",
    metavar="NAME",
    is_eager=True,  # --help behind it shows what is done with such items
    help="What kind of media the files are, such as images, where several know their endings.",
)


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

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what it does; with ``--medium`` before ``--help``, what it does for such items."""
        if ctx.params.get("medium") is None:
            super().format_help_text(ctx, formatter)
            return
        from fabula.media.registry import find_medium

        medium = find_medium(ctx.params["medium"])
        columns = dict.fromkeys((*medium.columns, *medium.measured))
        about = {
            "Examples": medium.examples,
            "Files that are read": sorted(medium.endings | medium.bundles),
            "Files that are written, beside playlists and tables": [*medium.outputs, *medium.sheets],
            "Columns, for --by and --only": [one for one in columns if one not in medium.codes],
        }
        for heading, words in about.items():
            with formatter.section(heading):
                formatter.write_text(("\b\n" + "\n".join(words)) if heading == "Examples" else " ".join(words))

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


# Curves and bars as text.

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # braille dots by row and column of a cell
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_COLUMNS = "▁▂▃▄▅▆▇█"


def curve_lines(template: Template, *, width: int = 56, height: int = 10) -> list[str]:
    """Draw a scalar template in braille: ``height`` lines of ``width`` characters.

    >>> from fabula.core.template import Template
    >>> print("\\n".join(curve_lines(Template([0, 1], [0, 1]), width=4, height=2)))
    ⠀⠀⡠⠊
    ⡠⠊⠀⠀
    """
    columns, rows = 2 * width, 4 * height
    row = [round((1 - share) * (rows - 1)) for share in _heights(template.samples(columns).tolist())]
    cells = [[0] * width for _ in range(height)]
    for x, (here, before) in enumerate(zip(row, [row[0], *row], strict=False)):
        step = (here > before) - (here < before)
        for y in range(min(here, before + step), max(here, before + step) + 1):
            cells[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
    return ["".join(chr(0x2800 + cell) for cell in line) for line in cells]


def bar(value: float, low: float, high: float, *, width: int = 16) -> str:
    """A bar of ``width`` characters, empty at ``low`` and full at ``high``."""
    share = (value - low) / (high - low) if high > low else 0.5
    eighths = min(max(round(share * width * 8), 1), width * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(width)


def spark(values: Iterable[float]) -> str:
    """A row of small columns, one per value."""
    return "".join(_COLUMNS[round(7 * share)] for share in _heights([float(value) for value in values]))


def _heights(values: Sequence[float]) -> list[float]:
    """How far each value is from the lowest to the highest; halfway where all are the same."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]
