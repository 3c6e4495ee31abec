"""What an order is for: a concert's programme is ordered by what programmes have taught, a band's set as an album."""

from pathlib import Path

import pytest

import fabula
from fabula.errors import InputError

PROGRAMME = {
    "Symphony No. 5 in C minor": "Beethoven",
    "Piano Concerto No. 1 in B-flat minor": "Tchaikovsky",
    "Egmont Overture": "Beethoven",
    "Adagio for Strings": "Barber",
}


def table(folder: Path, rows: dict[str, str]) -> Path:
    path = folder / "concert.csv"
    path.write_text("title,artist\n" + "".join(f"{title},{who}\n" for title, who in rows.items()), encoding="utf-8")
    return path


def test_an_overture_opens_a_programme_and_a_symphony_closes_it(tmp_path):
    session = fabula.open(table(tmp_path, PROGRAMME), occasion="concert")
    titles = session.order().titles
    assert (titles[0], titles[-1]) == ("Egmont Overture", "Symphony No. 5 in C minor")
    assert session.asked_model == "concerts"
    turned = dict(reversed(PROGRAMME.items()))  # whatever order it came in
    assert fabula.order(table(tmp_path, turned), occasion="concert").titles == titles


def test_a_review_is_of_the_same_model(tmp_path):
    symphony, concerto, overture, adagio = PROGRAMME

    def percentile(*titles: str) -> float:
        path = table(tmp_path, {title: PROGRAMME[title] for title in titles})
        return fabula.open(path, occasion="concert").review().percentile

    assert percentile(overture, adagio, concerto, symphony) > 90
    assert percentile(concerto, overture, symphony, adagio) < 50


def test_a_band_is_ordered_as_on_an_album_and_told(tmp_path):
    songs = dict.fromkeys(("Goodnight", "Intro", "Highway", "Rain"), "The Band")
    session = fabula.open(table(tmp_path, songs), occasion="concert")
    assert session.asked_model == "music"
    assert any("no two bands" in note for note in session.notes)
    assert session.order().titles == fabula.open(table(tmp_path, songs), occasion="album").order().titles


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"occasion": "wedding"}, "must be one of album, concert; got 'wedding'"),
        ({"occasion": "concert", "model": "music"}, "goes with neither a column nor a model"),
    ],
)
def test_what_is_not_known_is_refused(tmp_path, asked, said):
    with pytest.raises(InputError, match=said):
        fabula.open(table(tmp_path, PROGRAMME), **asked)


def test_texts_are_for_nothing_in_particular(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"It rained on {name}, and then it stopped. " * 20, encoding="utf-8")
    with pytest.raises(InputError, match="ordered for nothing in particular; got 'concert'"):
        fabula.open(tmp_path, occasion="concert")
