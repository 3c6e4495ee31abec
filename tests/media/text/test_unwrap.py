"""Lines of a paragraph that was wrapped are joined; those of verse stay."""

from fabula.media.text.books import _unwrap


def test_short_lines_are_verse_and_stay() -> None:
    assert _unwrap("Roses are red,\nviolets are blue") == "Roses are red,\nviolets are blue"


def test_long_lines_were_wrapped_and_are_joined() -> None:
    assert _unwrap("x" * 60 + "\n" + "y" * 20) == "x" * 60 + " " + "y" * 20
