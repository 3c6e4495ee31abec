"""``fabula fetch``."""

from pathlib import Path

import click

from fabula.cli.printing import counting_bar, print_lines
from fabula.errors import FileError


@click.group("fetch")
def command() -> None:
    """Fetch a public dataset of ordered collections.

    \b
    Example:
      fabula fetch fma --to data
    """


@command.command("fma")
@click.option("--to", "folder", type=click.Path(path_type=Path), default=Path(), help="The folder it goes into.")
@click.option("--url", help="Another address to fetch it from.")
def fma(*, folder: Path, url: str | None) -> None:
    """Fetch the tables of the Free Music Archive dataset (342 MiB).

    \b
    A download that was cut off goes on where it stopped. The metadata of FMA is under CC BY 4.0:
    Defferrard et al., FMA: A Dataset for Music Analysis, ISMIR 2017.

    \b
    Example:
      fabula fetch fma --to data
    """
    from fabula.sources.fma.archive import fetch_fma

    if not folder.is_dir():
        raise FileError(f"{folder}: the folder does not exist")
    with counting_bar("fetching") as bar:

        def report(done: int, total: int | None) -> None:
            bar(done >> 20, (total or done) >> 20, "MiB")

        path = fetch_fma(folder, progress=report, **({"url": url} if url else {}))
    print_lines(f"written: {path}")
