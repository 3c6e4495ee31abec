"""The headings that columns usually carry, in several languages: which say what an item is, which are features.

Headings are compared without case, accents and separators: "Künstler", "kunstler" and "KÜNSTLER" are one.
"""

from __future__ import annotations

import re
import unicodedata

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

    Examples
    --------
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

    Examples
    --------
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
