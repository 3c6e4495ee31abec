"""``fabula copy``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli.printing import counting_bar, print_lines
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered


@click.command("copy")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--to", metavar="FOLDER", help="Where the numbered copies go; made when it is absent.")
@click.option("--link", is_flag=True, help="Write links instead of copies.")
@click.option("--tags", is_flag=True, help="Write the numbers into the copies, too: of the position and of the side.")
@click.option("--gain", is_flag=True, help="Write what brings each to one level into the copies, as ReplayGain.")
@click.option("--in-place", is_flag=True, help="Instead of copies: write the numbers into the files themselves.")
@click.option("--collection", metavar="ID", help="Which collection of a table that holds several.")
def command(*, paths: tuple[str, ...], to: str | None, link: bool, tags: bool, gain: bool, in_place: bool,
            collection: str | None) -> None:  # fmt: skip
    """Write numbered copies of files, in the order in which a playlist, a table or a folder has them.

    With sides, as `fabula order --sides` writes them into a playlist or a table, the numbers are A1, A2, B1, ... What
    is copied is never changed; what --in-place replaces is kept as a version, for fabula restore.

    \b
    Examples:
      fabula order ~/Music/new-album -o new-album.m3u8
      fabula copy new-album.m3u8 --to /media/stick --tags
      fabula copy new-album.m3u8 --to even --gain
      fabula copy new-album.m3u8 --in-place
    """
    from fabula.media.extraction import Measuring
    from fabula.session.open import open_ordered
    from fabula.sources.registry import Opening

    if (to is None) != in_place or (to is not None and not to.strip()):
        raise InputError("name a folder for the copies with --to, or say --in-place")
    if in_place and (link or gain):
        raise InputError("goes with --to", field="link" if link else "gain")
    with counting_bar("measuring") as progress:
        measuring = Measuring(progress=progress) if gain else None
        ordered = open_ordered(paths, opening=Opening(collection=collection), measuring=measuring)
    written = write_copies(ordered, to, link=link, tags=tags, gain=gain)
    words, count = ordered.session.medium.words, len(ordered.ordering)
    done = "numbered" if in_place else "linked" if link else "copied"
    print_lines(
        f"{done}: {count} {words.item if count == 1 else words.items}",
        *(f"note: {note}" for note in ordered.session.notes),
        *(f"written: {path}" for path in written),
    )


def write_copies(ordered: "Ordered", to: str | None, *, link: bool, tags: bool, gain: bool) -> list[Path]:
    """Write numbered copies; without a folder numbers into the files. Returns the folder, or the files."""
    from fabula.session.export import copy_numbered, number_in_place

    if to is None:
        with counting_bar("writing numbers") as progress:
            return number_in_place(ordered, progress)
    with counting_bar("copying") as progress:
        copy_numbered(ordered, to, link=link, tags=tags, gain=gain, progress=progress)
    return [Path(to)]
