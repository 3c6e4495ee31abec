"""What headings, names, date lines and front matter say is a column, is told, and has no say unless it is asked for."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import unquote

import pytest

import fabula
from fabula.media.text.heads import date_of, number_of, viewpoints
from fabula.models.titles import roman

STORY = "It rained on the town and {} went home through the long night, until the lights came up over the hill. "


@pytest.fixture
def diary(tmp_path):
    """Five notes with dates in their front matter, their names or their first lines, which link to each other."""
    folder = tmp_path / "diary"
    folder.mkdir()
    heads = {
        "2021-03-04 a": "# Chapter 3: Ann\n\n",
        "b": "---\ndate: 2020-01-02\ntags: [x, y]\n---\n# Chapter 1: Tom\n\n",
        "c": "# Chapter 4: Ann\n\n5 May 2022\n\n",
        "20190607 d": "# Chapter 5: Tom\n\n",
        "e": "# Chapter 2: Mary\n\nSunday, July 9th, 2023\n\n",
    }
    for k, (name, head) in enumerate(heads.items()):
        links = "[[b|one]] [[2021-03-04 a#x]] [two](20190607%20d.md) [out](https://x.org/b.md) [[gone]]"
        (folder / f"{name}.md").write_text(head + STORY.format("Ann") * (2 + k) + links + "\n", encoding="utf-8")
    return folder


def test_numbers_are_read_as_headings_write_them():
    for number in range(1, 40):
        letters = next(word for word in _romans() if roman(word) == number)
        assert number_of(f"Chapter {letters.upper()}") == number_of(f"{letters.upper()}. Rain") == number
        assert number_of(f"{number:02} - Rain") == number_of(f"Kapitel {number}: Rain") == number
    spelled = {"Chapter the First": 1, "CHAPTER THIRTY-NINE": 39, "Capítulo veintiuno": 21, "Chapitre premier": 1}
    assert {title: number_of(title) for title in spelled} == spelled
    none = ["1984 again", "Seven Boys", "Mix", "MIX", "I went home", "", "2021-03-04", "Part of me", "3 kings"]
    assert [number_of(title) for title in none] == [None] * len(none)


def _romans():
    ones = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    return [tens + one for tens in ("", "x", "xx", "xxx") for one in ones if tens + one]


def test_dates_are_read_as_people_write_them():
    for text in (
        "4. März 2021",
        "le 4 mars 2021",
        "4 de marzo de 2021",
        "March 4, 2021",
        "2021_03_04_x",
        "4th of March 2021",
    ):
        assert date_of(f"{text} at sea") == "2021-03-04"
    assert [date_of(text) for text in ("31 June 2021", "2021-13-01", "1234567890", "in 2021")] == [""] * 4


def test_points_of_view_are_names_that_come_again():
    assert viewpoints(["ANN", "II. Tom", "Ann", "Tom"]) == ["Ann", "Tom", "Ann", "Tom"]
    assert viewpoints(["Ann", "Rain", "The Sea", "Night"]) == [""] * 4


def test_they_are_columns_that_are_told_and_not_used(diary):
    ordered = fabula.order(diary, by="date")
    given = [item.details["date"] for item in ordered.collection.items]
    assert given == sorted(given)
    assert [item.details["number"] for item in fabula.order(diary, by="number").collection.items] == list("12345")
    (note,) = [note for note in ordered.notes if "headings and names say" in note]
    assert "number (1 to 5), date (2019-06-07 to 2023-07-09), pov (Ann, Tom)" in note
    runs = [item.details.get("pov") for item in fabula.order(diary, together_by="pov").collection.items]
    assert sum(a == b for a, b in pairwise(runs) if a) == 2
    (diary / "e.md").write_text((diary / "e.md").read_text().replace("Chapter 2: Mary", "Chapter 9: Joe"))
    renamed = fabula.order(diary)
    assert renamed.titles == [t.replace("Chapter 2: Mary", "Chapter 9: Joe") for t in fabula.order(diary).titles]


def test_copies_of_notes_link_to_each_other_and_say_where_they_stand(diary, tmp_path):
    ordered = fabula.order(diary, by="date")
    before = {path: path.read_bytes() for path in diary.iterdir()}
    copies = ordered.copy(tmp_path / "copies", tags=True)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in copies}
    names = list(texts)
    assert [text.partition("position: ")[2][0] for text in texts.values()] == list("12345")
    for text in texts.values():
        assert f"[[{names[1]}|one]] [[{names[2]}#x]]" in text
        assert f"[two]({names[0].replace(' ', '%20').replace(':', '%3A')}.md)" in text
        assert "[out](https://x.org/b.md) [[gone]]" in text
    assert "tags: [x, y]\nposition: 2\n" in texts[names[1]]
    assert {path: path.read_bytes() for path in diary.iterdir()} == before


def test_links_lead_to_the_copy_of_the_note_they_meant_where_two_are_called_alike(tmp_path):
    notes = {
        "a.md": "[[day]] [[In/day]] [two](In/day.md) [[day.md]]",
        "day.md": "[[In/day|one]] [[a]]",
        "In/day.md": "[[day]] [up](../day.md) [[a]] [[Elsewhere/a]]",
    }
    (tmp_path / "vault" / "In").mkdir(parents=True)
    for k, (name, text) in enumerate(notes.items()):
        (tmp_path / "vault" / name).write_text(STORY.format("Ann") * (2 + k) + text)
    ordered = fabula.order(tmp_path / "vault", by="words", template="steady-rise")
    copies = [file.read_text().rpartition(" over the hill. ")[2] for file in ordered.copy(tmp_path / "copies")]
    assert [file.name for file in sorted((tmp_path / "copies").iterdir())] == ["01 a.md", "02 day.md", "03 day.md"]
    assert copies == [
        "[[02 day]] [[03 day]] [two](03%20day.md) [[02 day.md]]",
        "[[03 day|one]] [[01 a]]",
        "[[03 day]] [up](02%20day.md) [[01 a]] [[01 a]]",
    ]


def test_links_to_what_is_not_copied_lead_back_to_it(tmp_path):
    """A picture that a note shows, whatever it is called, and no file that is not there."""
    vault = tmp_path / "vault"
    (vault / "my pics").mkdir(parents=True)
    (vault / "my pics" / "boat (1).png").write_bytes(b"png")
    shows = f"![b](my%20pics/boat%20%281%29.png) ![g](gone.png) ![l]({'x' * 500}.png) [s](../vault)"
    for k in range(3):
        (vault / f"n{k}.md").write_text(STORY.format("Ann") * (2 + k) + shows)
    [first, *_] = fabula.order(vault, by="words", template="steady-rise").copy(tmp_path / "copies")
    [boat, gone, long, folder] = re.findall(r"\]\((.*?)\)", first.read_text())
    assert boat == "../vault/my%20pics/boat%20%281%29.png"
    assert (first.parent / unquote(boat)).resolve() == vault / "my pics" / "boat (1).png"
    assert (gone, long, folder) == ("gone.png", f"{'x' * 500}.png", "../vault")


def test_pieces_that_share_nothing_are_laid_out_for_variety(tmp_path):
    own = ["sea ship sail wave salt", "court judge law oath jury", "bread oven flour yeast", "horse field plough mud",
           "lamp street fog cab", "star lens night dome", "drum march flag fort", "rose bee hedge wall"]  # fmt: skip
    for k, words in enumerate(own):
        one, *others = words.split()
        told = f"The {one} was old, and nobody spoke of the {' or the '.join(others)} any more. "
        (tmp_path / f"{k}.txt").write_text(told * (40 if k % 2 else 8), encoding="utf-8")
    ordered = fabula.order(tmp_path)
    assert ordered.session.model_name == "variety"
    lengths = [item.length for item in ordered.collection.items]
    assert all((a < b) == (b > c) for a, b, c in zip(lengths, lengths[1:], lengths[2:], strict=False))
    assert ordered.to_json()["sure"] is None
    assert any("laid out for variety" in note for note in ordered.notes)
    assert "nothing can be said" in ordered.session.review().notes[0]
