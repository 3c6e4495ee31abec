"""``fabula reproduce``."""

from pathlib import Path
from typing import Any

import click

from fabula.cli.printing import console, counting_bar, print_lines
from fabula.cli.research.evaluate import show_rows
from fabula.cli.research.recipe import split_list


@click.command("reproduce")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The folder for all results.")
@click.option("--quick", is_flag=True, help="Fewer seeds, epochs and collections: minutes on two cores.")
@click.option("--seeds", type=click.IntRange(1, 100), help="Runs of all that is trained; 5, or 2 when quick.")
@click.option("--preset", help="Settings of all that is trained: default, arcs or paper; arcs when quick.")
@click.option("--features", metavar="A,B,...", help="Columns of a table to train on.")
@click.option("--held-out", type=float, default=0.1, show_default=True,
              help="Share held out where a table has no column split.")  # fmt: skip
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Trainings side by side, each with memory of its own; they share a GPU best under MPS.")  # fmt: skip
def command(*, data: Path, output: Path, features: str | None, held_out: float, **plan: Any) -> None:
    """Reproduce every table and figure of the paper, with controls and paired tests.

    \b
    DATA is a table of ordered collections, or a folder or archive of FMA. Writes report.html,
    numbers.json, tables/*.csv and figures/*.svg. An interrupted run goes on where it stopped
    when the same command is given again.

    \b
    Examples:
      fabula reproduce albums.parquet --quick -o study
      fabula reproduce fma_metadata.zip -o study --device cuda --jobs 8
    """
    from fabula.report.study import write_report
    from fabula.research.reproduce import reproduce
    from fabula.research.workspace import make_plan

    names = split_list(features) if features else None
    out = console(err=True)
    with counting_bar("reproducing") as bar:

        def report(stage: str, note: str, count: int, total: int) -> None:
            bar(count, total, f"{stage}: {note}")
            if note.startswith("done") and not out.is_terminal:
                out.print(f"{stage}: {note}", markup=False)

        study = reproduce(data, output, make_plan(**plan), features=names, held_out=held_out, progress=report)
    page = write_report(study, output)
    show_rows(study.recovery)
    print_lines(f"written: {page}")
