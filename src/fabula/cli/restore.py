"""``fabula restore``."""

from __future__ import annotations

import click

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
    from fabula.cli.printing import console
    from fabula.session.export import restore, versions

    out, known = console(), versions(path)
    if number is None and len(known) > 1:
        out.print(f"versions of {path} that were replaced, oldest first:", markup=False, soft_wrap=True)
        for version in known:
            out.print(str(version), markup=False)
        out.print("choose one with --version N", markup=False)
        return
    target, version = restore(path, number)
    out.print(f"restored: {target} (version {version.number})", markup=False, soft_wrap=True)
