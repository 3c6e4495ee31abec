from __future__ import annotations

from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from fabula.core.template import Template, TemplateSet
from fabula.report.charts import (
    Arc,
    ArcPanel,
    Bar,
    Line,
    LinePanel,
    bars_figure,
    genealogy_figure,
    lines_figure,
    panels_figure,
)
from fabula.report.study import StudyTable, format_cell, tables
from fabula.templates.genealogy import trace_genealogy

SVG = "{http://www.w3.org/2000/svg}"


def parse(text):
    return ET.fromstring(text)


def marks(text):
    return [(float(c.get("cx")), float(c.get("cy"))) for c in parse(text).iter(f"{SVG}circle")]


def test_a_rising_line_rises_and_stays_inside():
    figure = lines_figure([LinePanel("bits", "k", [Line("a <b> & c", [1, 2, 4], [0.1, 0.2, 0.9])])], width=400)
    points = marks(figure)
    xs, ys = zip(*points, strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys, reverse=True)
    assert all(0 <= x <= 400 and 0 <= y <= 300 for x, y in points)
    assert (xs[2] - xs[1]) == pytest.approx(2 * (xs[1] - xs[0]), abs=0.2)
    assert "a <b> & c" in "".join(parse(figure).itertext())


def test_a_logarithmic_axis_spaces_powers_evenly():
    xs = [x for x, _ in marks(lines_figure([LinePanel("b", "n", [Line("a", [1, 10, 100], [0, 0, 0])], log=True)]))]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)


def test_a_band_goes_there_and_back():
    line = Line("a", [1, 2], [1.0, 1.0], [0.5, 0.5], [1.5, 1.5])
    [band] = [
        p for p in parse(lines_figure([LinePanel("t", "k", [line])])).iter(f"{SVG}path") if p.get("class") == "band"
    ]
    assert band.get("d").count("L") == 3
    assert band.get("d").endswith("Z")


def test_one_name_stands_in_the_legend_once():
    panels = [LinePanel(title, "k", [Line("same", [1, 2], [0, 1])]) for title in ("left", "right")]
    texts = [t.text for t in parse(lines_figure(panels)).iter(f"{SVG}text")]
    assert texts.count("same") == 1
    assert {"left", "right"} <= set(texts)


def test_panels_share_one_scale():
    rise = Template([0, 1], [-1, 1])
    panels = [ArcPanel(f"p{i}", rise, [Arc("album", [-1.0, 1.0])]) for i in range(3)]
    points = marks(panels_figure(panels, 3))
    assert len({y for _, y in points}) == 2
    assert len({x for x, _ in points}) == 6


def test_marks_and_notes_are_written():
    panels = [ArcPanel("one", None, [Arc("album", [0.0, 1.0], ["1", "2"])])]
    words = [t.text for t in parse(panels_figure(panels, 2, named=False, notes=["1. A & B"])).iter(f"{SVG}text")]
    assert {"1", "2", "1. A & B", "one"} <= set(words)
    assert "album" not in words


def test_the_heights_of_boxes_follow_the_collections():
    rng = np.random.default_rng(0)
    essences = [rng.normal(size=6) + s * np.linspace(-1, 1, 6) for s in (1, 1, 1, -1)]
    rise, fall = Template([0, 1], [-1, 1], "rise"), Template([0, 1], [1, -1], "fall")
    kin = trace_genealogy([TemplateSet([rise]), TemplateSet([rise, fall])], essences).to_dict()
    drawn = parse(genealogy_figure(kin))
    boxes = [float(r.get("height")) for r in drawn.iter(f"{SVG}rect")]
    sizes = [t["collections"] for g in kin["generations"] for t in g["templates"]]
    assert sorted(boxes) == pytest.approx([s * max(boxes) / 4 for s in sorted(sizes)], abs=0.2)
    flows = [p for p in drawn.iter(f"{SVG}path") if p.get("class").startswith("flow")]
    assert len(flows) == len(kin["flows"][0])


def test_a_table_is_the_same_in_html_and_csv():
    table = StudyTable(("name", "n", "p"), [("a, b", 1660, 1e-9), ("<c>", 3, None)])
    assert table.csv() == 'name,n,p\n"a, b",1660,1e-09\n<c>,3,\n'
    html = table.html()
    assert "&lt;c&gt;" in html
    assert '<td class="n">1,660</td>' in html
    assert format_cell(0.0) == "0.000"


def test_bars_grow_from_zero_to_either_side():
    drawn = parse(bars_figure([("bits", [Bar("a", 2.0), Bar("b", -1.0)])]))
    zero = float(next(line.get("x1") for line in drawn.iter(f"{SVG}line") if line.get("class") == "axis"))
    up, down = [(float(r.get("x")), float(r.get("width"))) for r in drawn.iter(f"{SVG}rect")]
    assert up[0] == pytest.approx(zero, abs=0.2)
    assert down[0] + down[1] == pytest.approx(zero, abs=0.2)
    assert up[1] == pytest.approx(2 * down[1], abs=0.2)


def test_templates_stand_beside_those_their_collections_come_from():
    def template(name, count):
        return {"name": name, "lineage": 0, "curve": [0, 1], "collections": count}

    first = {"k": 2, "templates": [template("a", 5), template("b", 5)]}
    second = {"k": 2, "templates": [template("from b", 5), template("from a", 5)]}
    links = [{"source": 0, "target": 1, "collections": 5}, {"source": 1, "target": 0, "collections": 5}]
    drawn = parse(genealogy_figure({"generations": [first, second], "flows": [links]}))
    tops = {r.find(f"{SVG}title").text.split(":")[0]: float(r.get("y")) for r in drawn.iter(f"{SVG}rect")}
    assert tops["from a"] == tops["a"] < tops["b"] == tops["from b"]


def test_bits_that_are_rounding_are_zero_in_tables():
    row = {"data": "noise features", "scorer": "arcs", "bits": -1e-12, "low": -1e-12, "high": 0.25, "verdict": "zero"}
    study = SimpleNamespace(
        table1=[], controls=[row], more_data=[], figure1=None, figure2={"rows": [], "gains": []},
        significance={"rows": []}, recovery={"rows": [], "tests": []},
    )  # fmt: skip
    assert tables(study)["controls"].csv().splitlines()[1] == "noise features,arcs,0,0,0.25,zero"
