"""``fabula order``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.session.ordering import Ordered
    from fabula.session.wishes import Wishes


@click.command("order")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--template", metavar="NAME|FILE|POINTS", help="A template: see `fabula templates list`.")
@click.option("--like", metavar="PATH", help="Take the arc of that collection.")
@click.option("--flip", is_flag=True, help="Turn the template upside down.")
@click.option("--model", metavar="NAME|FILE", help="The model that gives the essence: see `fabula info`.")
@click.option("--by", metavar="COLUMN", help="Use a column as the essence instead of a model.")
@click.option("--collection", metavar="ID", help="Which collection of a table that holds several.")
@click.option("--first", metavar="TITLE", help="The item to open with.")
@click.option("--last", metavar="TITLE", help="The item to close with.")
@click.option("--at", metavar="PLACE=TITLE", multiple=True, help="Put an item at a place, such as 3=Intro; repeatable.")
@click.option(
    "--together", metavar="TITLE", multiple=True, nargs=2, help="Two titles that follow each other; repeatable."
)
@click.option(
    "--before", metavar="TITLE", multiple=True, nargs=2, help="The first somewhere before the second; repeatable."
)
@click.option("--apart", metavar="COLUMN", help="No two neighbours share it, such as artist.")
@click.option("--sides", type=click.IntRange(1), default=1, metavar="N", help="Sides with an arc each, as on vinyl.")
@click.option("--side-limit", metavar="TIME", help="The longest a side may take, such as 22:00.")
@click.option("--limit", metavar="TIME", help="The longest it may take in all; what fits worst is left out.")
@click.option(
    "--smooth",
    "smoothness",
    type=float,
    default=0.0,
    metavar="WEIGHT",
    help="Prefer small steps between neighbours (loudness, tempo, key); negative for contrast.",
)
@click.option("--alternatives", type=int, default=4, show_default=True, metavar="N", help="Orderings to propose.")
@click.option("-o", "--output", metavar="FILE", help="Write the order: .m3u8 .m3u .pls .xspf .jspf .csv .json")
@click.option("--copy-to", metavar="FOLDER", help="Write numbered copies of the files there.")
@click.option("--link", is_flag=True, help="With --copy-to: write links instead of copies.")
@click.option("--restore", metavar="FILE", help="Bring back the file that an earlier -o FILE replaced.")
@click.option("--report", metavar="FILE.html", help="Write a page with the arc, the table and the alternatives.")
@click.option("--plot", metavar="FILE", help="Write the arc as a picture: .svg .png .pdf")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
@click.option("--why", is_flag=True, help="Say in a sentence why each item stands where it stands.")
@click.option("--recursive/--no-recursive", default=True, help="Go into folders within folders.")
@click.option("--jobs", type=click.IntRange(1), help="Files to measure at a time; by default one per core.")
@click.option("--cache/--no-cache", default=True, help="Keep what was measured.")
def command(*, paths: tuple[str, ...], restore: str | None, as_json: bool, why: bool, recursive: bool, jobs: int | None,
            cache: bool, **options: Any) -> None:  # fmt: skip
    """Put a folder of music, a playlist or a table in an order that tells a story.

    \b
    Examples:
      fabula order ~/Music/new-album -o new-album.m3u8
      fabula order album.csv --by energy --template icarus
      fabula order mix.m3u8 --first "Intro" --apart artist -o mix-ordered.m3u8
      fabula order ~/Music/new-album --sides 2 --side-limit 22:00 --report new-album.html
      fabula order album.csv --by energy --template "0:0.2,0.5:1,1:0" --json
    """
    from fabula.cli.printing import show_ordered
    from fabula.cli.progress import counting_bar
    from fabula.session.ordering import order
    from fabula.session.sources import Measuring

    if restore is not None:
        _restore(restore, paths)
        return
    if not paths:
        raise click.UsageError("Missing argument 'PATH...'.")
    keep = _Keep(**{name: options.pop(name) for name in ("output", "report", "plot", "copy_to", "link")})
    keep.check()
    with counting_bar("measuring") as progress:
        how = Measuring(recursive, jobs, cache, progress)
        ordered = order(paths, wishes=_as_wishes(options), measuring=how, **options)
    show_ordered(ordered, keep.write(ordered), as_json=as_json, why=why)


@dataclass(frozen=True)
class _Keep:
    """What to write."""

    output: str | None
    report: str | None
    plot: str | None
    copy_to: str | None
    link: bool

    def check(self) -> None:
        """Refuse what cannot be written, before any work is done."""
        from fabula.core.writing import check_target
        from fabula.session.outputs import check_output

        if self.output is not None:
            check_output(self.output)
        if self.report is not None and check_target(self.report).suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{self.report}: the ending must be .html")
        if self.plot is not None:
            from fabula.report.pictures import check_picture

            check_picture(self.plot)
        if self.link and self.copy_to is None:
            raise InputError("--link goes with --copy-to")

    def write(self, ordered: Ordered) -> list[Path]:
        """Write all of it."""
        from fabula.cli.progress import counting_bar
        from fabula.report.page import write_page
        from fabula.report.pictures import write_picture
        from fabula.session.copies import copy_numbered
        from fabula.session.outputs import write_ordered

        wanted = ((self.output, write_ordered), (self.report, write_page), (self.plot, write_picture))
        written = [write(ordered, path) for path, write in wanted if path is not None]
        if self.copy_to is not None:
            with counting_bar("copying") as progress:
                copy_numbered(ordered, self.copy_to, link=self.link, progress=progress)
            written.append(Path(self.copy_to))
        return written


def _restore(path: str, paths: tuple[str, ...]) -> None:
    from fabula.cli.printing import console
    from fabula.session.outputs import restore

    if paths:
        raise InputError("--restore stands alone; it orders nothing")
    console().print(f"restored: {restore(path)}", markup=False, soft_wrap=True)


def _as_wishes(options: dict[str, Any]) -> Wishes:
    """Take what belongs to the wishes out of the options."""
    from fabula.session.limits import as_seconds
    from fabula.session.wishes import Wishes

    names = ("first", "last", "together", "before", "apart", "smoothness", "sides")
    limit, side_limit = options.pop("limit"), options.pop("side_limit")
    if side_limit is not None and options["sides"] < 2:
        raise InputError("--side-limit goes with --sides 2 or more")
    return Wishes(
        at=_as_places(options.pop("at")),
        limit=None if limit is None else as_seconds(limit, "--limit"),
        side_limit=None if side_limit is None else as_seconds(side_limit, "--side-limit"),
        **{name: options.pop(name) for name in names},
    )


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
