"""``fabula review``."""

from typing import TYPE_CHECKING

import click

from fabula.cli.order import as_columns, check_outputs
from fabula.cli.printing import console, counting_bar, medium_option, print_json, print_lines
from fabula.core.files import write_whole
from fabula.errors import InputError
from fabula.media.extraction import Measuring
from fabula.sources.registry import Opening

if TYPE_CHECKING:
    from fabula.session.review import Review


@click.command("review")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--moves", type=click.IntRange(0), metavar="N", help="Apply the first N moves; -o writes the result.")
@click.option("-o", "--output", "outputs", metavar="FILE", multiple=True,
              help="Write the order with the moves applied, as fabula order does; repeatable.")  # fmt: skip
@click.option("--sides", type=click.IntRange(1), default=1, metavar="N",
              help="Sides to cut it into, where a playlist or a column does not say.")  # fmt: skip
@click.option("--model", metavar="NAME|FILE", help="The model that judges: see `fabula info`.")
@click.option("--for", "occasion", metavar="OCCASION", help="What the order is for, such as a concert.")
@click.option("--collection", metavar="ID", help="Which collection of a table that holds several.")
@click.option("--columns", metavar="ROLE=NAME", multiple=True,
              help="Name a table's column, such as title=Titel; repeatable.")  # fmt: skip
@medium_option
@click.option("--report", metavar="FILE.html", help="Write it as a page.")
@click.option("--plot", metavar="FILE", help="Write the arc with its weak joins as a picture: .svg .png .pdf")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the lines.")
@click.option("--recursive/--no-recursive", default=True, help="Go into folders within folders.")
@click.option("--jobs", type=click.IntRange(1), help="Files to measure at a time; by default one per core.")
@click.option("--cache/--no-cache", default=True, help="Keep what was measured.")
def command(*, paths: tuple[str, ...], moves: int | None, outputs: tuple[str, ...], sides: int, model: str | None,
            occasion: str | None, collection: str | None, columns: tuple[str, ...], medium: str | None,
            report: str | None, plot: str | None, as_json: bool, recursive: bool, jobs: int | None,
            cache: bool) -> None:  # fmt: skip
    """Say what is good and what is weak in an order as it stands, and the moves that would help.

    The order is that of a playlist or a table, of the numbers in tags and file names, or else of the names.

    \b
    Examples:
      fabula review ~/Music/new-album
      fabula review mix.m3u8 --report mix.html
      fabula review chapters/ --moves 2 -o chapters.md
      fabula review album.csv --json
    """
    from fabula.session.session import open_session

    check_outputs(outputs, report, plot)
    if outputs and moves is None:
        raise InputError("goes with --moves N, the number of moves to apply", field="output")
    with counting_bar("measuring") as progress:
        opening = Opening(collection, as_columns(columns), recursive, medium=medium)
        measuring = Measuring(jobs, cache, progress)
        session = open_session(paths, model=model, opening=opening, measuring=measuring, occasion=occasion)
    with counting_bar("reviewing") as progress:
        found = session.review(sides=sides, progress=progress)
    written = [found.apply(moves or 0).save(output) for output in outputs]
    if report is not None:
        from fabula.report.reviews import review_page

        written.append(write_whole(report, review_page(found)))
    if plot is not None:
        from fabula.report.pictures import write_review_picture

        written.append(write_review_picture(found, plot))
    if as_json:
        print_json(found.to_json())
        return
    _print(found, moves)
    print_lines(*(f"written: {path}" for path in written))


def _print(review: "Review", moves: int | None) -> None:
    """The lines of a review, the first in bold; and the order after the moves, where they are asked for."""
    from fabula.report.reviews import review_lines

    first, *rest = review_lines(review)
    console().print(first, style="bold", markup=False, soft_wrap=True)
    print_lines(*rest)
    done = min(moves or 0, len(review.steps))
    if done:
        titles = review.apply(done).titles
        print_lines("", f"with {done} of the moves:", *(f"{k:>3}  {title}" for k, title in enumerate(titles, start=1)))
    elif moves:
        print_lines("note: no move helps; the order is as it was")
