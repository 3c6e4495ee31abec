"""``fabula sources``."""

import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from importlib.util import find_spec

import click

from fabula.cli.printing import print_json, print_lines


@dataclass(frozen=True)
class SourceKind:
    """Where collections come from and go back to: what it is, how it is known, and a command that works."""

    name: str
    known_by: tuple[str, ...]  # endings or schemes
    example: str
    writes: bool = True
    package: str = ""  # that it needs beyond the base
    extra: str = ""  # which brings that

    @property
    def installed(self) -> bool:
        """Whether what it needs is there."""
        return not self.package or find_spec(self.package) is not None


_ROWS = json.loads(files("fabula.cli").joinpath("sources.json").read_text(encoding="utf-8"))
PLACES = tuple(SourceKind(**{**row, "known_by": tuple(row["known_by"])}) for row in _ROWS)


@click.command("sources")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead.")
def command(*, as_json: bool) -> None:
    """List where collections may come from and go back to, what is installed, and an example of each.

    \b
    Example:
      fabula sources
    """
    places = [*PLACES, *_others()]
    if as_json:
        print_json([{**asdict(one), "installed": one.installed} for one in places], indent=1)
        return
    for one in places:
        needed = f"'fabula[{one.extra}]'" if one.extra else one.package
        state = "" if one.installed else f"; not installed: pip install {needed}"
        known = f" ({' '.join(one.known_by)})" if one.known_by else ""
        print_lines(f"{one.name}{known}: {'in and out' if one.writes else 'in'}{state}", f"    {one.example}")


def _others() -> list[SourceKind]:
    """What other packages bring."""
    from fabula.media.registry import added
    from fabula.sources.registry import readers

    known = {name for place in PLACES for name in place.known_by}
    found = []
    for medium in added():
        written = f"NAME{next(iter(medium.outputs), '.m3u8')}"
        example = f"fabula order FOLDER --medium {medium.name} -o {written}"
        endings = tuple(sorted(medium.endings))
        found.append(SourceKind(f"folders and files of {medium.name}", endings, example, writes=False))
    for reader in readers():
        names = (*reader.endings, *(f"{scheme}://" for scheme in reader.schemes))
        if new := tuple(name for name in names if name not in known):
            named = f"FILE{new[0]}" if new[0][0] == "." else f"{new[0]}..."
            found.append(SourceKind(reader.name, new, f"fabula order {named}"))
    return found
