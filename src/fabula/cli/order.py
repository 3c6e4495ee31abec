"""``fabula order``."""

from __future__ import annotations

from typing import Any

import click

from fabula.errors import InputError


@click.command("order")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--by", metavar="COLUMN", help="The column to use as the essence.")
@click.option("--template", metavar="NAME|FILE|POINTS", help="A template: see `fabula templates list`.")
@click.option("--like", metavar="PATH", help="Take the arc of that collection.")
@click.option("--collection", metavar="ID", help="Which collection of a table that holds several.")
@click.option("--first", metavar="TITLE", help="The item to open with.")
@click.option("--last", metavar="TITLE", help="The item to close with.")
@click.option("--at", metavar="PLACE=TITLE", multiple=True, help="Put an item at a place, such as 3=Intro; repeatable.")
@click.option("--flip", is_flag=True, help="Turn the template upside down.")
@click.option("-o", "--output", metavar="FILE", help="Write the order: .m3u8 .m3u .pls .xspf .jspf .csv .json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def command(*, paths: tuple[str, ...], by: str | None, at: tuple[str, ...], output: str | None,
            as_json: bool, **wishes: Any) -> None:  # fmt: skip
    """Put a table or a playlist in an order that tells a story.

    \b
    Examples:
      fabula order album.csv --by energy --template icarus
      fabula order mix.m3u8 --by duration --first "Intro" -o mix-ordered.m3u8
      fabula order album.csv --by energy --template "0:0.2,0.5:1,1:0" --json
    """
    from fabula.cli.showing import show_ordered
    from fabula.pipeline.keeping import check_output, write_ordered
    from fabula.pipeline.ordering import order

    if output is not None:
        check_output(output)
    ordered = order(paths, by=by, at=_as_places(at), **wishes)
    written = [write_ordered(ordered, output)] if output is not None else []
    show_ordered(ordered, written, as_json=as_json)


def _as_places(at: tuple[str, ...]) -> dict[int, str]:
    """From ``3=TITLE`` to place and title."""
    places: dict[int, str] = {}
    for text in at:
        place, _, title = text.partition("=")
        if not place.strip().lstrip("+-").isdecimal() or not title.strip():
            raise InputError(f"--at takes PLACE=TITLE, such as 3=Intro or -1=Outro; got {text!r}")
        if int(place) in places:
            raise InputError(f"--at {int(place)} is given twice: for {places[int(place)]!r} and {title!r}")
        places[int(place)] = title
    return places
