"""What titles count keeps its order; interludes stand apart; no outro opens; and reasons by titles are true."""

from __future__ import annotations

import csv
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest

import fabula
from benchmarks.famous_albums import INTERLUDES, NUMBERED, items_of, open_shuffled
from fabula.media.extraction import Measuring
from fabula.media.registry import find_medium
from fabula.models.titles import find_closers, find_interludes, find_series
from fabula.session.catalogue import CatalogueRequest, order_catalogue
from fabula.session.request import Request
from fabula.session.session import source_session
from fabula.sources.registry import Source


def album(name: str):
    """One of the famous albums, shuffled; and its tracks, of which the numbered ones come first."""
    numbered, _, others = NUMBERED[name].strip().partition("--")
    wanted = items_of(numbered.strip().splitlines())
    return open_shuffled(name, wanted + items_of(others.strip().splitlines(), len(wanted)), 3), wanted


@pytest.fixture(scope="module")
def funeral():
    return album("Arcade Fire: Funeral")


def test_numbered_tracks_keep_their_order_and_it_is_told(funeral):
    session, wanted = funeral
    ordered = session.order()
    titles = [item.title for item in wanted]
    assert [title for title in ordered.titles if title in titles] == titles
    (note,) = [note for note in ordered.notes if "titles count" in note]
    assert note.startswith("kept in the order their titles count: Neighborhood #1 (Tunnels) to Neighborhood #4")
    assert all(not session.order(alternatives=4).task.constraints.broken(p.fit.ordering) for p in ordered.proposals)


def test_it_can_be_switched_off(funeral):
    session, _ = funeral
    free = session.order(series=False)
    assert not free.task.constraints.before
    assert not any("titles count" in note for note in free.notes)
    assert not any("as its title says" in reason for reason in free.reasons)


def test_a_wish_wins_over_what_titles_count(funeral):
    session, _ = funeral
    ordered = session.order(first="Neighborhood #3", last="Neighborhood #1")
    assert (ordered.titles[0][:15], ordered.titles[-1][:15]) == ("Neighborhood #3", "Neighborhood #1")
    assert any("other wishes are against" in note for note in ordered.notes)


def test_movements_of_two_works_are_not_mixed():
    session, _ = album("Vivaldi: The Four Seasons")
    titles = session.order(alternatives=1).titles
    spring = [k for k, title in enumerate(titles) if "primavera" in title]
    assert spring in ([0, 1, 2], [3, 4, 5])
    assert [title.split(": ")[1].split(".")[0] for title in titles] == ["I", "II", "III"] * 2


def test_along_a_template_they_keep_their_order_too(funeral):
    session, wanted = funeral
    ordered, titles = session.order(template="icarus"), [item.title for item in wanted]
    assert [title for title in ordered.titles if title in titles] == titles
    assert any(note.startswith("kept in the order their titles count") for note in ordered.notes)
    free = session.order(template="icarus", series=False)
    assert [title for title in free.titles if title in titles] != titles
    assert free.fit.worst <= ordered.fit.worst
    assert ordered.fit.exact


def test_by_a_column_of_ones_own_the_column_decides(funeral):
    session, _ = funeral
    ordered = session.by("duration_ms").order(template="steady-rise")
    lengths = [item.length for item in ordered.collection.items]
    assert lengths == sorted(lengths)


def test_of_a_whole_table_each_is_ordered_as_by_itself(tmp_path):
    """Two albums of which one counts: as `fabula order` puts it first, unless titles are left free."""
    rows, shown = [], {}
    for name in ("Arcade Fire: Funeral", "Dr. Dre"):
        session = album(name)[0] if name in NUMBERED else open_shuffled(name, skits(name), 0)
        items = session.collection.items
        rows += [[name, item.title, 1000 * (item.length or 0)] for item in items]
        shown[name] = session
    table = tmp_path / "albums.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["album_id", "title", "duration_ms"], *rows])
    for series in (True, False):
        wishes = Request(series=series)
        done = order_catalogue(CatalogueRequest(table, "music"), tmp_path / "orders.csv", request=wishes)
        found: dict[str, list[str]] = {}
        with done.path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["collection"], []).append(row["title"])
        one = {name: fabula.open(table, collection=name).order(alternatives=1, series=series) for name in shown}
        assert found == {name: ordered.titles for name, ordered in one.items()}
        assert done.counted == (2 if series else 0)


def skits(name: str):
    return items_of(" ".join(INTERLUDES[name].split()).split(" | "))


@pytest.mark.parametrize("name", ["Janet Jackson: Rhythm Nation", "Kanye West: Late Registration", "Dr. Dre"])
def test_interludes_stand_apart_and_no_outro_opens(name):
    titles = open_shuffled(name, skits(name), 0).order(alternatives=1).titles
    assert (np.diff(find_interludes(titles)) > 1).all()
    assert 0 not in find_closers(titles)


# Every reason by a title, held against both titles by a reading of its own: any number of the second is one more than
# one of the first, behind the same words; or the first is these words alone, and the second is 2.

WORDS = (
    "one two three four five six seven eight nine ten eleven twelve", "i ii iii iv v vi vii viii ix x xi xii xiii xiv",
    "first second third fourth fifth sixth", "uno dos tres cuatro cinco seis siete", "un deux trois quatre cinq",
    "primera segunda tercera cuarta quinta", "primero segundo tercero cuarto quinto", "erster zweiter dritter vierter",
    "eins zwei drei vier", "premier deuxieme troisieme", "primeiro segundo terceiro",
)  # fmt: skip
VALUES = {word: k for words in WORDS for k, word in enumerate(words.split(), 1)}
MADE = ("{} No. {}", "{} #{} (x)", "{}, Pt. {}", "{}: {}. Air", "{} (Part {})", "{} Vol. {}", "{} - Movement {}")


def counts_on(before: str, title: str) -> bool:
    """Whether the second title counts one on from the first, as far as this reading can tell."""
    first, second = (set(read_counts(one)) for one in (before, title))
    bare = " ".join(re.findall(r"[^\W_]+", plain(before)))
    return any(
        (words, value - 1) in first or (value == 2 and bare in (words, words.rpartition(" ")[0]))
        for words, value in second
    )


def read_counts(title: str):
    """Each number of a title with the words before it, but for other numbers."""
    tokens = re.findall(r"\d+|[^\W\d_]+", plain(title))
    for at, token in enumerate(tokens):
        value = int(token) if token.isdecimal() else VALUES.get(token, 0)
        if value:
            yield " ".join(word for word in tokens[:at] if not word.isdecimal()), value


def plain(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in folded if not unicodedata.combining(c))


def walk_reasons(session) -> int:
    """How many reasons of an order go by titles; each is true of them."""
    ordered = session.order(alternatives=1)
    told = 0
    for title, reason in zip(ordered.titles, ordered.reasons, strict=True):
        for before in re.findall(r"follows (.+?), as its title says", reason):
            assert counts_on(before, title), reason
            told += 1
    return told


@pytest.mark.parametrize(
    "name",
    ["Arcade Fire: Funeral", "Muse: The Resistance", "John Coltrane: A Love Supreme", "Philip Glass: Solo Piano"],
)
def test_every_reason_by_a_title_is_true_of_the_titles(name):
    session, wanted = album(name)
    assert walk_reasons(session) >= len(wanted) - 2


def test_the_reading_of_the_test_can_fail():
    assert counts_on("Hope", "Hope II")
    assert counts_on("Suite: I. Air", "Suite: II. Gigue")
    assert not counts_on("Neighborhood #4 (7 Kettles)", "Neighborhood #3 (Power Out)")
    assert not counts_on("Hope, Pt. 2", "Hope, Pt. 4")
    assert not counts_on("Hope, Pt. 1", "Love, Pt. 2")


def test_every_reason_by_a_title_is_true_of_made_titles(rng):
    """Works of several forms with gaps, among tracks that have numbers and are none."""
    others = ["7 Rings", "1999", "Song for 3", "Love", "Home, Pt. 9", "Ten", "Hope"]
    told = 0
    for number in range(12):
        form, name = MADE[number % len(MADE)], ("Hope", "Sea 5", "La mer")[number % 3]
        kinds = (str, lambda k: ["I", "II", "III", "IV", "V"][k - 1])
        counted = [form.format(name, kinds[number % 2](k)) for k in rng.choice(5, size=4, replace=False) + 1]
        lines = [f"{title} {rng.integers(2, 6)}:10" for title in [*counted, *rng.choice(others, 4, replace=False)]]
        told += walk_reasons(open_shuffled(f"A: made {number}", items_of(lines), number))
    assert told >= 10


@pytest.mark.slow
def test_every_reason_by_a_title_is_true_of_validation_albums():
    """Three hundred albums whose titles count, as people's libraries have them."""
    data = Path(__file__).parents[2].parent / "shared" / "data"
    wanted = {"split": "validation", "kind": "", "alpha_sorted": "false", "one_song": "false"}
    roles = {"collection": "collection_id", "position": "position", "title": "track_name"}
    counting, told = [], 0
    for table in ("titles", "titles-more"):
        if not (data / f"{table}.parquet").exists():
            pytest.skip("the albums are not here")
        found = fabula.read_table(data / f"{table}.parquet", where=wanted, **roles)
        counting += [c for c in found if 3 <= len(c) <= 16 and find_series(c.texts("title"))]
    for number, c in enumerate(counting[:300]):
        mixed = c.only(np.random.default_rng(number).permutation(len(c)))
        source = Source(Path("album"), mixed, find_medium("music"))
        told += walk_reasons(source_session(source, Measuring()))
    assert told > 100
