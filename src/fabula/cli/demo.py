"""``fabula demo``."""

from pathlib import Path

import click

from fabula.cli.printing import counting_bar, print_arc, print_lines, print_ordered


@click.command("demo")
@click.argument("medium", default="music", metavar="[MEDIUM]")
@click.option("--to", "folder", type=click.Path(path_type=Path), default=Path(), metavar="FOLDER",
              help="Where the order and the report go; by default here.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def command(*, medium: str, folder: Path, as_json: bool) -> None:
    """Order a small collection that comes with the package: of music, of text or of pictures.

    \b
    Writes fabula-demo.html, and fabula-demo.m3u8, fabula-demo.md or fabula-demo.png.

    \b
    Examples:
      fabula demo
      fabula demo text
      fabula demo images
    """
    from fabula.media.extraction import Measuring
    from fabula.report.page import write_page
    from fabula.session.open import order_demo, original_order

    with counting_bar("measuring") as progress:
        ordered, written = order_demo(folder, medium, measuring=Measuring(progress=progress))
    page = write_page(ordered, folder / "fabula-demo.html")
    if not as_json:
        print_arc(ordered)
    print_ordered(ordered, [written, page], as_json=as_json)
    if not as_json:
        print_lines(*filter(None, [original_order(ordered)]))
