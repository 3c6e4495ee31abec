from __future__ import annotations

import numpy as np
import pytest

from fabula.core.template import Template, name_templates, shape_of, shapes


@pytest.mark.parametrize("name", list(shapes("simple")))
def test_every_shape_is_called_by_its_name_at_any_scale(name):
    shape = shapes("simple")[name][1]
    u = np.linspace(0, 1, 21)
    curve = np.interp(u, list(shape), list(shape.values()))
    assert shape_of(Template(u, curve)) == name
    assert shape_of(Template(u, 0.01 * curve + 7)) == name


def test_opposite_shapes_have_opposite_names():
    opposite = {"rise": "fall", "arch": "valley", "late peak": "late low", "low opening": "high opening"}
    for name, other in opposite.items():
        shape = shapes("simple")[name][1]
        u = np.linspace(0, 1, 21)
        assert shape_of(Template(u, -np.interp(u, list(shape), list(shape.values())))) == other


def test_names_are_unique_and_flat_is_flat():
    templates = name_templates([0, 0.5, 1], [[0, 0, 0], [0, 1, 0], [0, 2, 0.1], [1, 1, 1], [0, 0.5, 1]])
    assert [t.name for t in templates] == ["flat 1", "arch 1", "arch 2", "flat 2", "rise"]
    assert templates[0].description == "Stays where it is."
    np.testing.assert_array_equal(templates[2].values, [0, 2, 0.1])
