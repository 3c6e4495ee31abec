"""What values show of themselves: enough to know them, nothing that a name could smuggle in."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import fabula
from fabula.core.display import curve_svg
from fabula.evaluation.information import information_of

EVIL = "<script>alert('x')</script>"
RISE = fabula.Template([0, 1], [-1, 1], EVIL, EVIL)


def shown_things():
    items = [fabula.Item(str(i), title=EVIL, artist=EVIL) for i in range(12)]
    collection = fabula.Collection(EVIL, items, np.arange(24.0).reshape(12, 2), [EVIL, "b"])
    model = fabula.load_model("audio")
    model.card = {EVIL: EVIL}
    info = information_of(lambda s: s[:, -1, 0], [np.arange(4.0)] * 5)
    return [collection, RISE, fabula.TemplateSet([RISE, RISE]), fabula.fit([1.0, 2.0], RISE), model, info]


@pytest.mark.parametrize("thing", shown_things(), ids=lambda thing: type(thing).__name__)
def test_html_is_well_formed_and_escaped(thing):
    html = thing._repr_html_()
    assert "<script" not in html
    ET.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")
    assert len(repr(thing)) < 600


def test_a_collection_shows_a_head():
    items = [fabula.Item(str(i), title=f"song {i}") for i in range(30)]
    collection = fabula.Collection("c", items, np.full((30, 1), 0.123456), ["energy"])
    html = collection._repr_html_()
    assert "song 7" in html
    assert "song 8" not in html
    assert "22 more items" in html
    assert "0.1235" in html
    assert repr(collection) == (
        "<Collection 'c': 30 items, in their true order (song 0, song 1, song 2, and 27 more); features: energy>"
    )


def test_a_curve_goes_up_where_the_values_do():
    svg = ET.fromstring(curve_svg(np.array([0.0, 1.0, 0.5]), label="x"))
    points = [tuple(map(float, p.split(","))) for p in svg[0].attrib["points"].split()]
    assert points[1][1] < points[2][1] < points[0][1]
    assert points[0][0] < points[1][0] < points[2][0]


def test_a_flat_curve_and_a_curve_of_two_dimensions_are_drawn():
    assert "nan" not in curve_svg(np.zeros(3), label="")
    assert curve_svg(np.zeros((3, 2)), label="").count("<polyline") == 2


def test_a_model_shows_its_card():
    model = fabula.load_model("albums")
    assert repr(model).startswith("<Model: ")
    assert "bits, arcs 0.258" in repr(model)
    assert "bits, bilstm" in model._repr_html_()
    assert "settings" not in model._repr_html_()
