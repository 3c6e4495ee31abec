"""``fabula extract``."""

import click

from fabula.cli.printing import counting_bar, medium_option, print_lines
from fabula.media.registry import media


def _specs() -> str:
    """What can be measured, by medium."""
    found = {medium.name: ", ".join(medium.specs) for medium in media().values() if medium.specs}
    return "; ".join(f"for {name} {specs}" for name, specs in found.items())


@click.command("extract")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the table goes: .csv .json .parquet")
@click.option("--spec", metavar="NAME", help=f"What to measure: {_specs()}; the first is the default.")
@medium_option
@click.option("--tempo-range", "folded", metavar="LOW-HIGH",
              help="Tempi beyond it are halved or doubled into it, such as 88-176.")  # fmt: skip
@click.option("--recursive/--no-recursive", default=True, help="Go into folders within folders.")
@click.option("--jobs", type=click.IntRange(1), help="Files to measure at a time; by default one per core.")
@click.option("--cache/--no-cache", default=True, help="Keep what was measured.")
def command(
    *,
    paths: tuple[str, ...],
    output: str,
    spec: str | None,
    medium: str | None,
    folded: str | None,
    recursive: bool,
    jobs: int | None,
    cache: bool,
) -> None:
    """Measure files and write a table, one row a file.

    \b
    Example:
      fabula extract ~/Music/new-album -o features.csv
    """
    from fabula.cli.order import as_range
    from fabula.media.extraction import Measuring
    from fabula.session.catalogue import extract_table
    from fabula.sources.registry import Opening

    with counting_bar("measuring") as progress:
        measuring = Measuring(jobs, cache, progress)
        opening = Opening(recursive=recursive, tempo_range=as_range(folded), medium=medium)
        done, written = extract_table(paths, output, spec=spec, opening=opening, measuring=measuring)
    names = done.collection.feature_names
    print_lines(
        f"measured: {len(done.collection)} files, {', '.join(names[:4])}{', ...' if len(names) > 4 else ''}",
        *(f"note: {note}" for note in done.tell()),
        f"written: {written}",
    )
