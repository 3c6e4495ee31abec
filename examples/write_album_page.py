"""Write docs/albums.md: famous albums, the order people know and the order the model `music` proposes.

    python examples/write_album_page.py FOLDER --out docs/albums.md

FOLDER holds albums, albums-more and titles .parquet. Nothing of the tables but titles in order goes into the page.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

import numpy as np
import train_music_model as recipe

import fabula
from fabula.core.collection import Collection
from fabula.core.posterior import agreement, posterior
from fabula.models.model import Model
from fabula.models.order import explain, likeliest

# (table, artist, beginning of the title, what to know of it)
ALBUMS = (
    ("albums", "Michael Jackson", "Thriller", "Nine songs, seven of them singles: any of them could open a record."),
    ("titles", "Miles Davis", "Kind Of Blue", "Nothing but titles and lengths is known of it here."),
    ("titles", "The Clash", "London Calling", "Nineteen songs over four sides of vinyl, known by titles and lengths."),
    ("albums", "Guns N Roses", "Appetite For Destruction", "On the vinyl the sides were called G and R, not A and B."),
    ("albums", "Billie Eilish", "WHEN WE ALL FALL ASLEEP", "The last three titles are a sentence, if you read on."),
    ("albums-more", "Muse", "Absolution", "It has an Intro and an Interlude, and says so."),
    ("albums-more", "Kanye West", "Graduation", "It begins with a good morning."),
    ("titles", "Public Enemy", "It Takes a Nation", "It begins with a countdown and a concert in London."),
    ("albums", "Vampire Weekend", "Vampire Weekend", "Eleven songs in thirty-four minutes."),
    ("titles", "Oasis", "(What's the Story)", "Two excerpts of one jam stand between the songs."),
    ("titles", "Björk", "Homogenic", "The table has a later version of one of its songs."),
)
GROUPS = {"title": "its title", "duration_ms": "its length", "loudness": "its loudness"}
HEAD = """\
# Eleven albums, twice

On the left the order people know; on the right what the model `music` makes of the same tracks, shuffled: it is told
titles, the album's title, the artist, and the track features where the table has them (of some albums only lengths).
The albums were chosen before any of them was ordered. It is no test of taste: of many orders that would have worked
people know one. How the model does over thousands of albums is told in [results.md](results.md).

A track in **bold** stands where it stands on the record. What is proposed is the order that the model expects to agree
best with the known one ([why](results.md#one-proposal-for-each-validation-album)), not the likeliest. The
share of shuffles says how the known order does among 10,000 random ones: 50 % would be no idea at all.

Page and figures: `python examples/write_album_page.py FOLDER`.
"""


def find(albums: recipe.Albums, table: str, artist: str, title: str) -> tuple[Collection, str]:
    """An album of a table, and what it was used for."""
    for split, of in albums[table].items():
        for album in of:
            if album.items[0].artist == artist and album.title.startswith(title):
                return album, split
    raise SystemExit(f"{table} has no {title} by {artist}")


def cause(music: Model, album: Collection, order: np.ndarray, item: int) -> str:
    """What speaks most for the position of an item."""
    found = explain(music, order, album)
    best = int(found.by_group[item].argmax())
    name = found.groups[best]
    return GROUPS.get(name, f"its {name}") if found.by_group[item, best] > 0 else "the company it keeps"


def remark(music: Model, album: Collection, order: np.ndarray) -> str:
    """How the proposal begins and ends, and why."""
    said = []
    for what, place, true in (("opens", 0, 0), ("closes", -1, len(album) - 1)):
        item = int(order[place])
        why = cause(music, album, order, item)
        agreed = "as the record does" if item == true else f"where the record has *{tidy(album, true)}*"
        said.append(f"{what} with *{tidy(album, item)}*, {agreed} ({why} says so)")
    kept = int((np.diff(order) == 1).sum())
    words = ["none is", "one is", "two are", "three are", "four are", "five are"]
    many = words[kept] if kept < len(words) else f"{kept} are"
    return f"The proposal {said[0]}, and {said[1]}. Of its {len(order) - 1} joins {many} the record's."


def tidy(album: Collection, item: int) -> str:
    """A title that cannot break the page."""
    return album.items[item].title.replace("|", "/").replace("*", "\\*").strip()


def share(part: float) -> str:
    """A share in per cent, never rounded up to all."""
    return "over 99 %" if part > 0.99 else f"{part:.0%}".replace("%", " %")


def section(music: Model, album: Collection, split: str, about: str) -> str:
    """One album: two columns, the figures and a sentence."""
    mix = np.random.default_rng(0).permutation(len(album))
    shown = music.energy(album.reordered(mix))
    order = mix[likeliest(agreement(posterior(shown))).ordering]
    tables = music.energy(album)
    truth = tables.score(np.arange(len(album)))
    rng = np.random.default_rng(1)
    beaten = np.mean([tables.score(rng.permutation(len(album))) < truth for _ in range(10_000)])
    used = {"train": "trained on", "aside": "never trained on; it helped to choose when to stop",
            "validation": "never trained on"}[split]  # fmt: skip
    rows = ["|  | on the record | proposed |", "|---|---|---|"]
    for place, item in enumerate(order):
        proposed = f"**{tidy(album, item)}**" if item == place else tidy(album, item)
        rows.append(f"| {place + 1} | {tidy(album, place)} | {proposed} |")
    names = {"albums": "track features", "albums-more": "track features", "titles": "lengths"}
    known = "titles and " + names["titles" if np.isnan(album.column("loudness")).all() else "albums"]
    first = f"{about} {remark(music, album, order)}"
    last = f"To the model the known order beats {share(beaten)} of shuffles. Known: {known}; {used}."
    told = "\n\n".join("\n".join(textwrap.wrap(text, 120, break_on_hyphens=False)) for text in (first, last))
    title = album.title.replace(" (Remastered)", "")
    return f"## {album.items[0].artist}: {title}\n\n{told}\n\n" + "\n".join(rows) + "\n"


def main() -> None:
    """Read the tables, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/albums.md"))
    options = parser.parse_args()
    music = fabula.load_model("music")
    if "titles" not in music.reads:
        raise SystemExit("music must be a set model")
    albums = recipe.as_albums(recipe.read_tables(options.folder))
    parts = [HEAD]
    for table, artist, title, about in ALBUMS:
        album, split = find(albums, table, artist, title)
        parts.append(section(music, album, split, about))
    options.out.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
