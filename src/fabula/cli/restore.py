"""``fabula restore``."""

import click

from fabula.cli.printing import print_lines
from fabula.errors import InputError


@click.command("restore")
@click.argument("file")
@click.option("--version", "number", type=int, metavar="N", help="Which version; needed where there are several.")
def command(*, file: str, number: int | None) -> None:
    """Bring back a version of a file that was replaced; lists them where there are several.

    What it replaces becomes a version itself, so that nothing is lost.

    \b
    Examples:
      fabula restore mix.m3u8
      fabula restore mix.m3u8 --version 1
    """
    if not file.strip():
        raise InputError("name the file to restore")
    restore_version(file, number)


def restore_version(path: str, number: int | None) -> None:
    """Bring a version back and say so; or list them where there are several and none was named."""
    from fabula.session.export import restore, versions

    known = versions(path)
    if number is None and len(known) > 1:
        head = f"versions of {path} that were replaced, oldest first:"
        print_lines(head, *map(str, known), "choose one with --version N")
        return
    target, version = restore(path, number)
    print_lines(f"restored: {target} (version {version.number})")
