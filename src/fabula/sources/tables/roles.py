"""Which column of a table says what: by the name given, else by the headings such columns usually carry."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection as Names, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from fabula.errors import FileError, InputError
from fabula.sources.tables.source_table import Column, SourceTable, numbers_of

# The headings that columns usually carry, in several languages: which say what an item is, which are features.

# Headings that name the album of a track: of a table of albums the collection, of a playlist only a detail.
_ALBUMS = """
    album albumname albumtitle release albumtitel nomdelalbum titredelalbum nombredelalbum titulodelalbum
    nomedoalbum titulodoalbum nomealbum titoloalbum
"""
# The likeliest heading first. What write_table writes comes first of all, so that its files read back as they were.
# English, then German, French, Spanish, Portuguese, Italian.
ROLES = {
    "collection": f"""
        collectionid collection albumid playlistid releaseid setid playlist playlistname playlisttitle
        {_ALBUMS} collectionname collectiontitle
    """,
    "position": """
        fabulaposition position pos tracknumber trackno tracknum tracknr trackposition track order place index idx
        number no nr # titelnummer tracknummer titelnr nummer reihenfolge numero numerodepiste piste ordre posicion
        numerodepista pista orden posicao numerodafaixa faixa ordem posizione numerotraccia traccia ordine
    """,
    "title": """
        title trackname tracktitle name song songname songtitle track label caption titel liedtitel songtitel lied
        titre nomdutitre chanson morceau titulo nombre cancion nombredelacancion nome nomedafaixa musica faixa titolo
        brano canzone
    """,
    "artist": """
        artist artistname artistnames trackartist artists performer creator author albumartist kunstler kuenstler
        interpret artiste artistes nomdelartiste interprete artista artistas nombredelartista nomedoartista artisti
        nomeartista
    """,
    "path": """
        path filepath file filename location trackuri spotifyuri uri url datei dateiname pfad fichier chemin archivo
        ruta arquivo ficheiro caminho percorso
    """,
    "id": "id itemid trackid songid spotifyid isrc",
    "collection title": """
        collectiontitle collectionname albumtitle albumname album playlistname playlisttitle playlist release
    """,
}
_FOREIGN_DURATION_WORDS = """
    dauer lange laenge spieldauer spielzeit laufzeit titeldauer duree longueur duracion longitud duracao durata
"""
_DURATION_WORDS = "duration trackduration tracklength length time tracktime runtime"
_FEATURE_NAMES = """
    danceability energy loudness speechiness acousticness instrumentalness liveness valence tempo key mode
    time_signature popularity
"""
_LIST_POSITIONS = """
    fabulaposition position pos order index idx # reihenfolge ordre orden ordem ordine posicion posicao posizione
"""
ALBUMS = frozenset(_ALBUMS.split())
# Headings of positions that may be those in a playlist; a track number is the position on an album.
LIST_POSITIONS = frozenset(_LIST_POSITIONS.split())
# Headings that only the list of a streaming service has: when, and by whom, a track was added to a playlist.
ADDED = frozenset({"addedat", "addedby"})
DISCS = frozenset({"disc", "discnumber", "discno", "disk", "disknumber", "cd"})
_FOREIGN_DURATIONS = frozenset(_FOREIGN_DURATION_WORDS.split())
_DURATIONS = _FOREIGN_DURATIONS | frozenset(_DURATION_WORDS.split())
_FEATURES = {name.replace("_", ""): name for name in _FEATURE_NAMES.split()} | {"bpm": "tempo"}
_UNITS = (("ms", "duration_ms"), ("milliseconds", "duration_ms"), ("s", "duration"), ("sec", "duration"))


def plain(heading: str) -> str:
    """A heading without case, accents and separators.

    >>> plain("Künstler"), plain("Artist Name(s)"), plain("Track-ID"), plain("#")
    ('kunstler', 'artistnames', 'trackid', '#')
    """
    letters = unicodedata.normalize("NFKD", heading.casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"[\W_]+", "", bare) or heading.strip()


def is_duration(heading: str) -> bool:
    """Whether a heading names a duration, so that its cells may be written as on a clock."""
    return plain(heading) in _DURATIONS


def feature_name(heading: str) -> str:
    """What a column of numbers is called as a feature; the heading itself where it is none of the usual ones.

    >>> [feature_name(h) for h in ("Duration (ms)", "Track Duration (ms)", "Loudness", "Time Signature", "My Column")]
    ['duration_ms', 'duration_ms', 'loudness', 'time_signature', 'My Column']
    >>> feature_name("Dauer"), feature_name("Length"), feature_name("duration (s)")
    ('duration', 'Length', 'duration')
    """
    bare = plain(heading)
    if bare in _FEATURES:
        return _FEATURES[bare]
    if bare in _FOREIGN_DURATIONS or bare == "trackduration":
        return "duration"
    for unit, name in _UNITS:
        if bare.endswith(unit) and bare.removesuffix(unit) in _FOREIGN_DURATIONS | {"duration", "trackduration"}:
            return name
    return heading


@dataclass(frozen=True)
class Columns:
    """Which columns of a table say what, by their headings."""

    # None: recognise the column by its heading; "": no column has this role
    collection: str | None = None
    position: str | None = None
    title: str | None = None
    artist: str | None = None
    path: str | None = None
    id: str | None = None
    duration: str | None = None  # in seconds or as on a clock (3:20)
    # name -> heading: what a column is called as a feature or a detail, in place of its heading
    others: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    @property
    def roles(self) -> dict[str, str | None]:
        """Role -> heading, None or ""."""
        names = (f.name for f in fields(self) if f.name not in ("duration", "others"))
        return {name: getattr(self, name) for name in names}

    @property
    def names_by_heading(self) -> dict[str, str]:
        """Heading -> what the column is called as a feature or a detail."""
        named = dict(self.others) | ({"duration": self.duration} if self.duration else {})
        return {heading: name for name, heading in named.items()}


def columns_named(*mappings: Mapping[str, str | None]) -> Columns:
    """The columns that several mappings of role or name -> heading give together.

    >>> columns_named({"title": None}, {"title": "Titel", "loudness": "LUFS"}).names_by_heading
    {'LUFS': 'loudness'}
    """
    found: dict[str, str] = {}
    for role, heading in ((role, heading) for mapping in mappings for role, heading in mapping.items()):
        name = role.removeprefix("item_") if role in ("item_path", "item_id") else role
        if heading is not None and found.setdefault(name, heading) != heading:
            raise InputError(f"the {name} cannot be two columns: {found[name]!r} and {heading!r}")
    roles = {f.name for f in fields(Columns)} - {"others"}
    others = MappingProxyType({name: heading for name, heading in found.items() if name not in roles})
    return Columns(**{name: heading for name, heading in found.items() if name in roles}, others=others)


def roles_of(table: SourceTable, given: Mapping[str, str | None], taken: Names[str] = ()) -> dict[str, Column]:
    """The column of each role that has one, of :data:`ROLES`.

    ``given`` names the columns of roles; None: look for it; "": no column has it. Columns taken get no other role.
    """
    roles = {role: find_column(table, name) for role, name in given.items() if name}
    spoken_for = {column.name for column in roles.values()} | set(taken)
    for role, usual in ROLES.items():
        if given.get(role) is not None:
            continue
        free = {plain(name): column for name, column in reversed(table.columns.items()) if name not in spoken_for}
        for column in (free[name] for name in usual.split() if name in free):
            # "track" and "order" may be text, and then they are no positions.
            if role != "position" or numbers_of(table, column) is not None:
                roles[role] = column
                spoken_for.add(column.name)
                break
    return roles


def find_column(table: SourceTable, name: str) -> Column:
    """A column by its name."""
    if name in table.columns:
        return table.columns[name]
    known = {plain(heading): heading for heading in table.columns}
    near = difflib.get_close_matches(plain(name), known, n=1)
    hint = f" (did you mean {known[near[0]]!r}?)" if near else ""
    more = f" and {len(table.columns) - 20} more" if len(table.columns) > 20 else ""
    listed = ", ".join(list(table.columns)[:20]) + more
    raise FileError(f"{table.path}: has no column {name!r}{hint}; it has: {listed}")
