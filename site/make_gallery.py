"""Compute site/gallery.json: famous albums, novels and picture books as `fabula review` sees them.

python site/make_gallery.py DATA

DATA holds the tables of albums, text/novels.parquet and images/books. What is kept are facts (titles, years, names), what fabula
says, and heights in a picture, from 0 to 100 between the lowest and the highest of a collection: nothing of the tables.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fabula
from fabula.report.reviews import review_lines
from fabula.session.inner_arcs import inner_arcs
from fabula.session.session import Session

TARGET = Path(__file__).with_name("gallery.json")
TABLES = ("albums", "albums-more", "features-more", "features-more2")
# (artist and title in the tables, as people spell them, year)
ALBUMS = (
    ("Miles Davis", "Bitches Brew", 1970),
    ("The Rolling Stones", "Sticky Fingers (Remastered)", 1971),
    ("Led Zeppelin", "Led Zeppelin IV", 1971),
    ("Stevie Wonder", "Innervisions", 1973),
    ("pescado rabioso", "Artaud", 1973),
    ("Patti Smith", "Horses", 1975),
    ("Eagles", "Hotel California (2013 Remaster)", 1976),
    ("Fleetwood Mac", "Rumours", 1977),
    ("Billy Joel", "The Stranger", 1977),
    ("Joy Division", "Unknown Pleasures", 1979),
    ("Michael Jackson", "Thriller", 1982),
    ("Bruce Springsteen", "Born In The U.S.A.", 1984),
    ("Prince", "Purple Rain", 1984),
    ("Metallica", "Master Of Puppets (Remastered)", 1986),
    ("Janet Jackson", "Control", 1986),
    ("U2", "The Joshua Tree", 1987),
    ("Def Leppard", "Hysteria", 1987),
    ("My Bloody Valentine", "Loveless", 1991),
    ("Dr. Dre", "The Chronic", 1992),
    ("Nas", "Illmatic", 1994),
    ("OutKast", "ATLiens", 1996),
    ("Radiohead", "OK Computer", 1997),
    ("Shakira", "Donde Estan Los Ladrones", 1998),
    ("Daft Punk", "Discovery", 2001),
    ("Alicia Keys", "Songs In A Minor", 2001),
    ("Kanye West", "Graduation", 2007),
    ("Vampire Weekend", "Vampire Weekend", 2008),
    ("Kendrick Lamar", "To Pimp A Butterfly", 2015),
    ("Billie Eilish", "WHEN WE ALL FALL ASLEEP, WHERE DO WE GO?", 2019),
    ("Phoebe Bridgers", "Punisher", 2020),
)
SPELLINGS = {"pescado rabioso": "Pescado Rabioso", "Donde Estan Los Ladrones": "Dónde Están los Ladrones?"}
NOVELS = (
    "ENG18471_Bronte", "ENG18530_Dickens", "ENG18652_Carroll", "ENG18760_Collins", "ENG18860_Hardy",
    "ENG18900_Doyle", "ENG18952_Wells", "ENG19000_Conrad", "ENG19080_Chesterton", "ENG19100_Forster",
)  # fmt: skip
BOOKS = (
    "00dae6045962", "092c2a504dc9", "51decc7ab2a4", "611724459bda", "9b8484f17f0c", "9bf474af74ed",
    "a1d63dc4025c", "bd9e2e63d3a5", "d5478568d64b", "dd6081d5050b",
)  # fmt: skip
KNOWN = ["collection_id", "artist", "album", "position", "track_name", "duration_ms", "danceability", "energy", "loudness",
         "speechiness", "acousticness", "instrumentalness", "liveness", "valence", "tempo", "key", "mode"]  # fmt: skip
EXTRA = re.compile(
    r"\s*(?:[-–]\s*|\()(?:\d{4}\s*)?(?:Digital\s*)?Remaster(?:ed)?(?:\s*\d{4})?(?: Version)?\)?\s*$", re.IGNORECASE
)


HEADING = re.compile(
    r"^(?:(?:VOLUME|BOOK|PHASE) \S+\s*)?(?:CHAPTER|CHAP\.?)?\s*(?:THE )?(?:[IVXLC]+|\d+)\b[.:]?\s*", re.IGNORECASE
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    found = {"version": fabula.__version__, "albums": albums(data), "novels": novels(data), "books": books(data)}
    TARGET.write_text(
        json.dumps(found, ensure_ascii=False, indent=None, separators=(",", ":")).replace('},{"slug"', '},\n{"slug"')
        + "\n"
    )
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} kB")


def albums(data: Path) -> list[dict[str, Any]]:
    tables = [pd.read_parquet(data / f"{name}.parquet") for name in TABLES]
    return [album(tables, *one) for one in ALBUMS]


def album(tables: Sequence[pd.DataFrame], artist: str, title: str, year: int) -> dict[str, Any]:
    of = next(rows for table in tables if len(rows := table[(table.artist == artist) & (table.album == title)]))
    rows = of[of.collection_id == of.collection_id.iloc[0]].sort_values("position")
    rows = rows.assign(
        tempo=rows.tempo.where(rows.tempo > 0),
        track_name=[EXTRA.sub("", name) for name in rows.track_name],
        album=EXTRA.sub("", title),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "album.csv"
        rows.assign(artist=SPELLINGS.get(artist, artist))[KNOWN].to_csv(path, index=False)
        session = fabula.open(path)
        told = tell(session)
    print(artist, title, len(rows), told["percentile"])
    title, artist = EXTRA.sub("", SPELLINGS.get(title, title)), SPELLINGS.get(artist, artist)
    return {
        "slug": slug(f"{artist} {title}"), "title": title, "by": artist, "year": year,
        "trained": bool((rows.split == "train").all()), **told, "heights": heights(session), "arc": "energy",
    }  # fmt: skip


def novels(data: Path) -> list[dict[str, Any]]:
    table = pd.read_parquet(data / "text" / "novels.parquet", filters=[("collection_id", "in", NOVELS)])
    return [novel(table[table.collection_id == name].sort_values("position")) for name in NOVELS]


def novel(rows: pd.DataFrame) -> dict[str, Any]:
    first = rows.iloc[0]
    author = re.sub(r"\s*[\[(].*", "", first.author).rstrip(". ,").split(", ")[::-1]
    title = re.sub(r"\s*[:;].*", "", first.title).strip()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / title
        folder.mkdir()
        for row in rows.itertuples():
            name = HEADING.sub("", re.sub(r"[/\n\s]+", " ", str(row.part_title or ""))).strip(" .:—-")[:60].strip()
            (folder / f"{row.position:02d} {name or f'Chapter {row.position}'}.txt").write_text(
                row.text, encoding="utf-8"
            )
        session = fabula.open(folder)
        told, threads = tell(session), session.threads
        [inner] = inner_arcs([folder])
    print(title, len(rows), told["percentile"], inner.describe())
    people = [] if threads is None else [
        {"name": name, "in": np.flatnonzero(threads.counts[:, k]).tolist()} for k, name in list(enumerate(threads.names))[:8]
    ]  # fmt: skip
    return {
        "slug": slug(f"{' '.join(author)} {title}"), "title": title, "by": " ".join(author), "year": int(first.year),
        "trained": first.split == "train", **told, "words": int(inner.length), "window": int(inner.window), "people": people,
        "heights": scale(inner.values), "low": scale(inner.low, inner.values), "high": scale(inner.high, inner.values),
        "shape": None if inner.shape is None else inner.shape.name, "described": inner.describe(), "arc": "valence",
    }  # fmt: skip


def books(data: Path) -> list[dict[str, Any]]:
    folder = data / "images" / "books"
    table = pd.read_parquet(folder / "books.parquet")
    return [book(folder / name, table[table.collection_id == name].iloc[0]) for name in BOOKS]


def book(folder: Path, facts: pd.Series[Any]) -> dict[str, Any]:
    session = fabula.open(folder)
    told = tell(session)
    colours = next(
        fact.texts for fact in session.order(ordering=list(range(len(session.collection)))).facts() if fact.coloured
    )
    print(facts.title, len(session.collection), told["percentile"])
    return {
        "slug": slug(facts.title), "title": facts.title, "by": facts.owner, "year": None, "licence": "CC BY", "from": "African Storybook"
        if "asp" in facts.source else "Little Cree Books", "trained": False, **told, "heights": heights(session),
        "colours": [text.split() for text in colours], "arc": "brightness",
    }  # fmt: skip


def tell(session: Session) -> dict[str, Any]:
    """What is said of the order as it stands, and the order that fabula proposes."""
    review, ordered = session.review(), session.order()
    first, *lines = review_lines(review)
    return {
        "items": [item.label for item in session.collection.items],
        "percentile": None if review.percentile is None else min(99, round(review.percentile)),
        "head": first.split(": ", 1)[1],
        "lines": [line for line in lines if not line.startswith("note: the files have no numbers")],
        "proposed": [int(item) for item in ordered.ordering],
        "weak": [join.after for join in review.weakest],
    }


def heights(session: Session) -> list[int]:
    """How high each item stands in the picture of the order as it is."""
    shown = session.order(ordering=list(range(len(session.collection)))).to_json()["arc"]
    return scale(session.essence if shown is None else np.array(shown["values"], float))


def scale(values: Any, among: Any = None) -> list[int]:
    among = values if among is None else among
    low, high = np.nanmin(among), np.nanmax(among)
    return [round(float(value)) for value in 100 * (np.asarray(values) - low) / (high - low or 1)]


def slug(text: str) -> str:
    import unicodedata

    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


if __name__ == "__main__":
    main()
