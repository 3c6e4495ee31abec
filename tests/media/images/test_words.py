"""Words for what joins pictures, each true of what was measured; and palettes against colours that are known."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fabula.core.collection import Collection, Item
from fabula.media.images.picture_measures import (
    COLOURS,
    MEASURES,
    as_hex,
    decode_palette,
    joins,
    lab,
    measures_of,
    palette_codes,
    srgb,
)
from fabula.media.registry import find_medium

NAMES = ("brightness", "warmth", "aspect", "bw", "edge_density", "duplicates")


def told(*rows: tuple[float, ...], breaks: tuple[int, ...] = ()) -> list[str]:
    """What is said of pictures of this light, warmth and aspect; and, where given, greyness, detail and group."""
    whole = [[*row, *(0.0, 0.1, np.nan)[len(row) - 3 :]] for row in rows]
    return joins(Collection("c", [Item(str(k)) for k in range(len(rows))], whole, NAMES), breaks)


def test_the_same_light_has_a_name() -> None:
    assert told((50, 14, 1.5), (52, 15, 1.5))[1] == "same warm light as the one before"
    assert told((75, -8, 1.5), (72, -9, 1.5))[1] == "same bright cold light as the one before"
    assert told((20, 5, 1.5), (22, 4, 1.5))[1] == "same dim light as the one before"
    assert told((50, 14, 1.5), (50, 24, 1.5))[1] == ""
    assert told((50, 14, 1.5), (60, 14, 1.5))[1] == ""


def test_leaps_are_told() -> None:
    assert told((30, 5, 1.5), (60, 5, 1.5))[1] == "much lighter than the one before"
    assert told((50, -10, 1.5), (50, 12, 1.5))[1] == "warm after cold"
    assert told((50, 12, 1.5), (50, -10, 1.5))[1] == "cold after warm"
    assert told((50, -60, 1.5), (50, -40, 1.5))[1] == "warmer than the one before"
    assert told((50, 58, 1.5), (50, 24, 1.5))[1] == "colder than the one before"
    assert told((50, 0, 1.5, 0, 0.1), (60, 0, 1.5, 0, 0.5))[1] == "busy after a calm one"


def test_formats_count_those_before() -> None:
    rows = [(50 + 9 * k, 5, 0.67) for k in range(3)]
    assert told(*rows, (95, 5, 2.4))[3].startswith("the widest, after three uprights")
    assert told(*rows, (95, 5, 1.5), (60, 5, 1.6))[3].startswith("wide after three uprights")
    assert told(*rows, (95, 5, 2.4), breaks=(3,))[3] == ""  # a new side begins


def test_black_and_white_is_told_when_it_comes_and_goes() -> None:
    rows = [(30 + 9 * k, 0, 1.5, 1) for k in range(4)]
    assert "black and white like the one before" in told(*rows)[1]
    assert told(*rows, (75, 0, 1.5, 0))[4].startswith("in colour again after four in black and white")


def test_near_copies_are_told_first() -> None:
    assert told((50, 0, 1.5, 0, 0.1, 1.0), (50, 0, 1.5, 0, 0.1, 1.0))[1].startswith("nearly the same picture")


def test_what_is_not_known_says_nothing() -> None:
    assert told((np.nan, np.nan, np.nan), (50, 5, 1.5)) == ["", ""]
    assert joins(Collection("c", [Item("a"), Item("b")], [[1.0], [2.0]], ["rating"])) == ["", ""]


def test_a_colour_comes_back_from_lab(rng: np.random.Generator) -> None:
    colours = rng.integers(0, 256, (40, 3), dtype=np.uint8)
    for colour in colours:
        assert np.abs(srgb(lab(colour).astype(np.float64)).astype(int) - colour).max() <= 1


@pytest.mark.parametrize(("left", "share"), [(10, 0.1), (50, 0.5), (80, 0.8)])
def test_a_palette_of_two_flat_colours(left: int, share: float) -> None:
    picture = Image.new("RGB", (100, 60), (20, 60, 160))
    picture.paste((240, 120, 30), (0, 0, left, 60))
    found = decode_palette(palette_codes(np.asarray(picture)))
    assert len(found) == 2
    by_hex = {as_hex(colour): part for colour, part in found}
    orange = min(by_hex, key=lambda text: abs(int(text[1:3], 16) - 240))
    assert abs(int(orange[1:3], 16) - 240) <= 4
    assert abs(int(orange[3:5], 16) - 120) <= 4
    assert by_hex[orange] == pytest.approx(share, abs=0.03)


def test_a_palette_is_a_fact_and_no_column(rng: np.random.Generator) -> None:
    pictures = [Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)) for _ in range(3)]
    series = Collection("c", [Item(str(k)) for k in range(3)], [measures_of(one) for one in pictures], MEASURES)
    medium = find_medium("images")
    (fact,) = medium.telling.facts(series)
    assert fact.coloured
    assert all(text.startswith("#") and len(text.split()) <= 5 for text in fact.texts)
    assert set(fact.cells) == {"palette", "palette_lab"}
    assert set(COLOURS) <= medium.codes
