"""``fabula encode``."""

import click

from fabula.cli.printing import counting_bar, print_lines


@click.command("encode")
@click.argument("path")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the table goes: .parquet .csv .npz")
@click.option("--model", metavar="NAME|FILE", help="The model: see `fabula info`; by default the one for the columns.")
@click.option("--raw", is_flag=True, help="As the encoder gives it, not z-scored within each collection.")
@click.option(
    "--columns", metavar="ROLE=NAME", multiple=True, help="Name a table's column, such as title=Titel; repeatable."
)
@click.option("--jobs", type=click.IntRange(1), help="Of a folder: files to measure at a time.")
@click.option("--cache/--no-cache", default=True, help="Keep what was measured.")
def command(
    *, path: str, output: str, model: str | None, raw: bool, columns: tuple[str, ...], jobs: int | None, cache: bool
) -> None:
    """Write the essence of every item of a table of collections, or of a folder.

    \b
    Out comes one row an item: collection, row of the table, id, essence. A Parquet file of more than a million rows is
    read in pieces; the rows of each collection must stand together there.

    \b
    Examples:
      fabula encode catalogue.parquet -o essence.parquet
      fabula encode catalogue.parquet -o essence.npz --model music --raw
    """
    from fabula.cli.order import as_columns
    from fabula.media.extraction import Measuring
    from fabula.session.catalogue import CatalogueRequest, encode_catalogue
    from fabula.sources.registry import Opening

    with counting_bar("encoding") as report:
        asked = CatalogueRequest(path, model, Opening(columns=as_columns(columns)), Measuring(jobs, cache), report)
        done = encode_catalogue(asked, output, raw=raw)
    print_lines(f"encoded: {done.items:,} items of {done.collections:,} collections", f"written: {done.path}")
