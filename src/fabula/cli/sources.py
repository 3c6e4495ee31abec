"""``fabula sources``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.util import find_spec

import click

from fabula.cli.printing import print_lines
from fabula.core.files import json_text


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


_ORDER = "fabula order"
PLACES = (
    SourceKind("folders and files of music, text or pictures", (), f"{_ORDER} ~/Music/new -o new.m3u8",
               writes=False),
    SourceKind("M3U and PLS playlists", (".m3u", ".m3u8", ".pls"), f"{_ORDER} mix.m3u8 -o mix-ordered.m3u8"),
    SourceKind("XSPF and JSPF (ListenBrainz)", (".xspf", ".jspf"), f"{_ORDER} jams.jspf -o jams-ordered.jspf"),
    SourceKind("Windows Media Player, Zune, Groove", (".wpl", ".zpl"), f"{_ORDER} evening.wpl -o evening.m3u8"),
    SourceKind("Windows Media streams", (".asx", ".wax", ".wvx"), f"{_ORDER} radio.asx -o radio-ordered.asx"),
    SourceKind("iTunes and Apple Music libraries", (".xml",), f"{_ORDER} Library.xml --collection Night -o Night.xml"),
    SourceKind("rekordbox and Traktor collections", (".xml", ".nml"),
          f"{_ORDER} rekordbox.xml --collection Night --sort-into-mix -o rekordbox.xml"),
    SourceKind("Mixxx and Engine DJ databases", (".sqlite", ".db"),
          f"{_ORDER} ~/.mixxx/mixxxdb.sqlite --collection Night --sort-into-mix --as 'Night, mixed'"),
    SourceKind("Serato crates", (".crate",), f"{_ORDER} Night.crate -o 'Night, ordered.crate'"),
    SourceKind("cue sheets, of files or of one long file", (".cue",), f"{_ORDER} disc.cue -o new.cue"),
    SourceKind("tables of any program", (".csv", ".tsv", ".json", ".jsonl"), f"{_ORDER} playlist.csv -o ordered.csv"),
    SourceKind("Parquet tables", (".parquet",), f"{_ORDER} all.parquet --all -o orders.parquet",
          package="pyarrow", extra="tables"),
    SourceKind("Excel and other spreadsheets", (".xlsx",), f"{_ORDER} set.xlsx -o set-ordered.xlsx",
          package="openpyxl", extra="xlsx"),
    SourceKind("rekordbox, iTunes, Serato, Audacity as text; lists as people write them, or of files", (".txt",),
          f"{_ORDER} rekordbox.txt -o ordered.txt"),
    SourceKind("what is pasted", ("-",), f"{_ORDER} -", writes=False),
    SourceKind("tables at an address", ("s3://", "gs://", "gcs://", "abfs://", "az://", "hf://", "https://", "http://",
          "ftp://", "sftp://", "memory://"), f"{_ORDER} s3://bucket/songs.csv -o ordered.csv", writes=False,
          package="fsspec", extra="remote"),
    SourceKind("Navidrome, gonic and other Subsonic servers", ("subsonic://", "subsonic+http://"),
          f"{_ORDER} subsonic://ann@music.example/playlist/Night --as 'Night, ordered'"),
    SourceKind("Jellyfin", ("jellyfin://", "jellyfin+http://"),
          f"{_ORDER} jellyfin://ann@music.example/playlist/Night --as 'Night, ordered'"),
    SourceKind("Plex", ("plex://", "plex+http://"),
          f"{_ORDER} plex://music.example/playlist/Night --as 'Night, ordered'"),
    SourceKind("MPD: queue and playlists", ("mpd://",),
          f"{_ORDER} mpd://localhost/playlist/Night --as 'Night, ordered'",
          package="mpd", extra="mpd"),
    SourceKind("beets, by its own command", ("beet fabula",), "beet fabula album:Night", package="beets"),
)  # fmt: skip


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
        click.echo(json_text([{**asdict(one), "installed": one.installed} for one in places], indent=1))
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
    found = [
        SourceKind(f"folders and files of {medium.name}", tuple(sorted(medium.endings)),
                   f"{_ORDER} FOLDER --medium {medium.name} -o NAME{next(iter(medium.outputs), '.m3u8')}", writes=False)
        for medium in added()
    ]  # fmt: skip
    for reader in readers():
        names = (*reader.endings, *(f"{scheme}://" for scheme in reader.schemes))
        if new := tuple(name for name in names if name not in known):
            found.append(
                SourceKind(reader.name, new, f"{_ORDER} FILE{new[0]}" if new[0][0] == "." else f"{_ORDER} {new[0]}...")
            )
    return found
