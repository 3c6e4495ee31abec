"""``fabula demo``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("demo")
@click.option("--to", "folder", type=click.Path(path_type=Path), default=Path(), metavar="FOLDER",
              help="Where the playlist and the report go; by default here.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def command(*, folder: Path, as_json: bool) -> None:
    """Order the small collection that comes with the package.

    \b
    Writes fabula-demo.m3u8 and fabula-demo.html.

    \b
    Example:
      fabula demo
    """
    from fabula.cli.printing import Printing, print_arc, print_ordered
    from fabula.cli.progress import counting_bar
    from fabula.media.extraction import Measuring
    from fabula.report.page import write_page
    from fabula.session.demo import order_demo

    with counting_bar("measuring") as progress:
        ordered, playlist = order_demo(folder, measuring=Measuring(progress=progress))
    page = write_page(ordered, folder / "fabula-demo.html")
    if not as_json:
        print_arc(ordered)
    print_ordered(ordered, [playlist, page], Printing(as_json))
