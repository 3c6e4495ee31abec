"""What is measured of pictures, against plain arithmetic and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fabula.core.collection import Collection, Item
from fabula.media.images.picture_measures import (
    MEASURES,
    complete_pictures,
    lab,
    measures_of,
    near_groups,
    picture_steps,
)


def _named(picture: Image.Image) -> dict[str, float]:
    return dict(zip(MEASURES, measures_of(picture).tolist(), strict=True))


def test_lab_as_by_its_definition(rng: np.random.Generator) -> None:
    rgb = rng.integers(0, 256, (200, 3), dtype=np.uint8)
    light = np.where(rgb / 255 <= 0.04045, rgb / 255 / 12.92, ((rgb / 255 + 0.055) / 1.055) ** 2.4)
    xyz = light @ np.array(
        [[0.4124564, 0.2126729, 0.0193339], [0.3575761, 0.7151522, 0.1191920], [0.1804375, 0.0721750, 0.9503041]]
    )
    t = xyz / [0.95047, 1.0, 1.08883]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    wanted = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])
    np.testing.assert_allclose(lab(rgb), wanted, atol=0.2)


def test_known_answers() -> None:
    white, black, warm = (_named(Image.new("RGB", (40, 20), colour)) for colour in ("white", "black", "orange"))
    assert (round(white["brightness"]), round(black["brightness"])) == (100, 0)
    assert (white["key_high"], black["key_low"], white["bw"], warm["bw"]) == (1, 1, 1, 0)
    assert warm["warmth"] > 60
    assert warm["hue_agreement"] == pytest.approx(1, abs=1e-3)
    assert (white["entropy"], white["edge_density"], white["symmetry"], white["aspect"]) == (0, 0, 1, 2)


def test_lines_light_and_subject(rng: np.random.Generator) -> None:
    values = np.full((60, 80, 3), 40, np.uint8)
    values[::6] = 220  # horizontal lines
    assert _named(Image.fromarray(values))["horizontality"] > 1
    turned = Image.fromarray(np.ascontiguousarray(values.transpose(1, 0, 2)))
    assert _named(turned)["horizontality"] < -1
    values = np.zeros((60, 80, 3), np.uint8)
    values[:30] = 200
    assert _named(Image.fromarray(values))["top_bottom"] == pytest.approx(200, abs=1)
    values = rng.integers(80, 100, (64, 64, 3)).astype(np.uint8)
    values[8:16, 48:56] = 255  # a subject at the upper right
    found = _named(Image.fromarray(values))
    assert found["subject_x"] > 0.6
    assert found["subject_y"] < 0.4


def test_a_picture_of_one_pixel_has_defined_measures() -> None:
    for size in ((1, 1), (1, 50), (50, 1)):
        assert np.isfinite(measures_of(Image.new("RGB", size, "navy"))).all()


def test_another_size_or_quality_is_nearly_the_same(rng: np.random.Generator) -> None:
    scene = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).resize(
        (240, 180), Image.Resampling.BICUBIC
    )
    other = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).resize(
        (240, 180), Image.Resampling.BICUBIC
    )
    small = scene.resize((160, 120), Image.Resampling.BICUBIC)
    rows = np.stack([measures_of(one) for one in (scene, other, small)])
    series = complete_pictures(Collection("c", [Item("a"), Item("b"), Item("c")], rows, MEASURES))
    np.testing.assert_array_equal(series.column("duplicates"), [1, np.nan, 1])


def test_groups_hang_together_as_in_a_plain_search(rng: np.random.Generator) -> None:
    base = rng.integers(0, 2**32, (40, 2)).astype(np.float64)
    base[20:] = base[:20]
    base[20:, 1] = (base[20:, 1].astype(np.uint64) ^ np.uint64(0b111)).astype(np.float64)  # three bits off
    found = near_groups(base[:, 0], base[:, 1])
    assert (found[:20] == found[20:]).all()
    assert len(set(found.tolist())) == 20


def test_steps_are_distances_in_deviations() -> None:
    features = [[60.0, 10.0, 1.5], [80.0, 10.0, 0.75], [60.0, 21.8, 1.5]]
    series = Collection("c", [Item("a"), Item("b"), Item("c")], features, ("brightness", "warmth", "aspect"))
    steps = {part.name: part.distance for part in picture_steps(series, np.zeros(3)).parts}
    assert set(steps) == {"tone", "colour", "format"}
    assert (steps["tone"][0, 1], steps["format"][0, 1], steps["format"][0, 2]) == pytest.approx((1.0, 1.0, 0.0))
    assert steps["colour"][0, 2] == pytest.approx(1.0)
