"""``fabula cache``."""

import click

from fabula.cli.printing import print_json


@click.group("cache")
def command() -> None:
    """Say what is kept of measured files, or forget it.

    \b
    Examples:
      fabula cache info
      fabula cache clear --spec audio
    """


@command.command("info")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(*, as_json: bool) -> None:
    """Say where the cache lies, what it holds and how large it is.

    \b
    Example:
      fabula cache info
    """
    from rich.filesize import decimal

    from fabula.media.extraction import cache_info

    found = cache_info()
    if as_json:
        entries = [{"spec": spec, "version": version, "files": count} for spec, version, count in found.entries]
        print_json({"path": str(found.path), "entries": entries, "bytes": found.size, "most": found.most})
        return
    click.echo(f"{found.path}: {decimal(found.size)} of at most {decimal(found.most)}")
    for spec, version, count in found.entries:
        click.echo(f"{spec}, version {version}: {count:,} files")


@command.command("clear")
@click.option("--spec", metavar="NAME", help="Only what was measured by this spec, such as audio.")
def clear(*, spec: str | None) -> None:
    """Forget what was measured; it is measured again when it is asked for.

    \b
    Example:
      fabula cache clear
    """
    from fabula.media.extraction import clear_cache

    click.echo(f"forgotten: {clear_cache(spec):,} files")
