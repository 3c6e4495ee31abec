"""``fabula compare``."""

import itertools
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.printing import HeadedCommand, counting_bar, print_json, print_lines, print_table
from fabula.cli.research.recipe import RECIPE, as_dimensions, recipe_options, require_recipe
from fabula.core.files import check_target, json_text, write_whole
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.training.compare import Compared


_SECTIONS = {"The comparison": ("seeds", "sweep", "output", "as_json"), **RECIPE}


@click.command("compare", cls=HeadedCommand, sections=_SECTIONS)
@recipe_options
@click.option("--seeds", type=click.IntRange(1, 100), default=5, show_default=True, help="Runs for each.")
@click.option("--sweep", metavar="1,2,4,...", help="Instead: bits of the essence by its number of dimensions.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Also write here: .json, .csv or .svg (a figure)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def command(*, seeds: int, sweep: str | None, output: Path | None, as_json: bool, **options: Any) -> None:
    """Compare what each feature tells about the order with what the essence tells.

    \b
    Each feature alone gets a scorer of its own; the essence is trained on all of them. A set model
    (--titles) is trained once and asked with all but one input hidden, and by each scorer alone.

    \b
    Examples:
      fabula compare albums.parquet --where kind= --features energy,loudness,valence -o compare.svg
      fabula compare albums.parquet --where kind= --features energy,loudness --sweep 1,2,4
      fabula compare albums.parquet --where kind= --titles track_name --seeds 1
    """
    from fabula.research.train import compare_recipe

    if output is not None and check_target(output).suffix.lower() not in (".json", ".csv", ".svg"):
        raise InputError(f"{output}: the ending must be one of .json, .csv, .svg")
    dimensions = () if sweep is None else as_dimensions(sweep)
    recipe = require_recipe(**options)
    notes: list[str] = []
    turns = itertools.count()
    with counting_bar("comparing") as bar:
        rows = compare_recipe(
            recipe,
            seeds=seeds,
            dimensions=dimensions,
            progress=lambda name, seed: bar(next(turns), 0, f"{name}, seed {seed}"),
            tell=notes.append,
        )
    from fabula.training.distributed import is_first

    if not is_first():
        return
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if output is not None:
        _write(rows, output)
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        _show(rows, output)


def _write(rows: "list[Compared]", path: Path) -> None:
    from fabula.report.charts import Bar, bars_figure
    from fabula.report.markup import add_style
    from fabula.sources.tables.text_tables import csv_text

    if path.suffix.lower() == ".json":
        write_whole(path, json_text([asdict(row) for row in rows], indent=1) + "\n")
    elif path.suffix.lower() == ".csv":
        names = ("name", "dimensions", "bits", "low", "high", "correlation")
        cells = [[getattr(row, name) for name in names] for row in rows]
        digits = [[f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row] for row in cells]
        write_whole(path, csv_text(names, digits))
    else:
        several = len({row.dimensions for row in rows}) > 1
        bits = [Bar(f"d = {r.dimensions}" if several else r.name, r.bits, r.low, r.high) for r in rows]
        panels = [("bits of information about the order", bits)]
        known = [Bar(r.name, r.correlation) for r in rows if r.correlation is not None]
        drawn = bars_figure([*panels, ("correlation with the essence", known)] if known else panels)
        write_whole(path, add_style(drawn))


def _show(rows: "list[Compared]", output: Path | None) -> None:
    cells = []
    for row in rows:
        ends = (row.bits, row.low, row.high, min(row.seeds), max(row.seeds))
        bits, low, high, least, most = (f"{value:z.3f}" for value in ends)
        spread = f"{least} to {most}" if len(row.seeds) > 1 else ""
        correlation = "" if row.correlation is None else f"{row.correlation:+.2f}"
        cells.append((row.name, str(row.dimensions), bits, f"{low} to {high}", spread, correlation))
    print_table(("feature", "d", "bits", "95 % interval", "seeds", "correlation"), cells, left=("feature",))
    if output is not None:
        print_lines(f"written: {output}")
