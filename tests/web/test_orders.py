"""POST /api/order against the command line and the core."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fabula
from fabula.cli import run
from fabula.session.demo import demo_folder


def test_the_answer_is_what_the_command_line_prints(server, demo, capsys):
    assert run(["order", str(demo_folder()), "--json", "--template", "man-in-a-hole"]) == 0
    printed = json.loads(capsys.readouterr().out)
    answered = server.order(collection=demo, template="man-in-a-hole")
    assert answered == printed


def test_the_likeliest_arcs_come_with_their_curves(server, demo, capsys):
    assert run(["order", str(demo_folder()), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    answered = server.order(collection=demo)
    curves = [alternative.pop("curve") for alternative in answered["alternatives"]]
    assert answered == printed
    assert len(curves) == 3
    assert all(curve["knots"][-1] == 1.0 for curve in curves)


@pytest.mark.parametrize("fixed", [{}, {0: 4}, {0: 4, -1: 1, 3: 2}])
def test_items_in_the_request_are_laid_exactly(server, rng, fixed):
    values = rng.normal(size=12)
    items = [{"id": f"i{k}", "essence": float(v)} for k, v in enumerate(values)]
    points = {"knots": [0, 0.4, 1], "values": [0, 2, -1]}
    asked = {str(place): f"i{item}" for place, item in fixed.items()}
    answered = server.order(items=items, template=points, fixed=asked)
    expected = fabula.fit(
        fabula.normalise(values), fabula.Template(points["knots"], points["values"]).normalised(), fixed=fixed
    )
    assert answered["ordering"] == expected.ordering.tolist()
    assert answered["worst"] == pytest.approx(expected.worst)


def test_a_curve_is_taken_as_it_is_when_it_shall_not_be_normalised(server):
    items = [{"id": str(k), "essence": k} for k in range(3)]
    answered = server.order(items=items, template={"knots": [0, 1], "values": [-5, 7]}, normalise=False)
    assert answered["curve"] == {"knots": [0.0, 1.0], "values": [-5.0, 7.0]}
    assert [row["target"] for row in answered["items"]] == [-5, 1, 7]


def test_points_flip_and_like(server, demo):
    rise = server.order(collection=demo, template="0:0,1:1")["ordering"]
    assert server.order(collection=demo, template="0:0,1:1", flip=True)["ordering"] == rise[::-1]
    own = server.order(collection=demo, like=demo)
    assert own["ordering"] == list(range(9))
    assert own["worst"] == pytest.approx(0, abs=1e-9)


def test_wishes_hold(server, demo):
    answered = server.order(collection=demo, template="icarus", together=[[1, 2]], before=[[8, 0]], fixed={"-1": 5})
    place = np.argsort(answered["ordering"])
    assert place[2] == place[1] + 1
    assert place[8] < place[0]
    assert place[5] == 8


def test_sides_and_limits_hold(server, demo):
    sides = server.order(collection=demo, template="icarus", sides=2, side_limit=60)
    assert sum(sides["sides"]) == 9
    assert len(sides["sides"]) == 2
    within = server.order(collection=demo, template="icarus", limit=60, fixed={"-1": 3})
    assert len(within["items"]) < 9
    assert within["items"][-1]["title"] == "Parade"
    assert any("left out" in note for note in within["notes"])
    told = server.client.get(f"/api/collections/{demo}").json()["items"]
    kept = [i for i in range(9) if i not in within["left_out"]]
    assert [told[kept[i]]["title"] for i in within["ordering"]] == [row["title"] for row in within["items"]]
    assert sum(told[i]["seconds"] for i in kept) <= 60
    assert server.order(collection=demo, limit=600)["left_out"] == []
    assert "left_out" not in sides


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"limit": 5}, "the limit is 0:05; even the shortest item takes 0:07"),
        ({"limit": 20, "together": [[0, 1, 2]]}, "the limit is 0:20; 'Embers', 'Red Line', 'Small Hours' take 0:3"),
        ({"sides": 2, "side_limit": 12.0}, "a side may take 0:12; 'Small Hours' alone takes 0:13"),
        ({"sides": 2, "side_limit": 30.0}, "2 side(s) of 0:30 hold 1:00; the items take 1:43"),
    ],
)
def test_limits_that_cannot_be_kept_are_told_as_clocks(server, demo, asked, words):
    answer = server.client.post("/api/order", json={"collection": demo, "template": "icarus", **asked})
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_pins_that_would_meet_when_items_are_left_out_are_told(server, demo):
    asked = {"collection": demo, "template": "icarus", "limit": 66, "fixed": {"5": 0, "8": 1}}
    assert len(server.order(**{**asked, "fixed": {}})["left_out"]) == 3
    answer = server.client.post("/api/order", json=asked)
    assert answer.status_code == 400
    assert answer.json()["error"] == "'Red Line' cannot have place 9: 6 of 9 items keep within 1:06"


def test_reasons_can_be_left_out(server, demo):
    assert all(row["why"] for row in server.order(collection=demo)["items"])
    assert not any(row["why"] for row in server.order(collection=demo, why=False)["items"])


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({}, 400, "either a collection or items"),
        ({"items": [{"id": "a", "essence": 1}], "template": "nosuch"}, 400, "no built-in template"),
        ({"items": [{"id": "a", "essence": 1}], "template": "/etc/passwd"}, 400, "no built-in template"),
        ({"items": [{"id": "a", "essence": 1}], "template": "x:y"}, 400, "position:height"),
        ({"items": [{"id": "a", "essence": 1}] * 2}, 400, "an id of its own"),
        ({"items": [{"id": "a", "essence": "loud"}]}, 422, "items.0.essence"),
        ({"items": [{"id": "a", "essence": 1}], "fixed": {"7": 0}}, 400, "position"),
        ({"items": [{"id": "a", "essence": 1}], "fixed": {"0": "b"}}, 400, "no item with the id 'b'"),
        ({"items": [{"id": "a", "essence": 1}], "apart": "artist"}, 400, "no item has 'artist'"),
        ({"items": [{"id": "a", "essence": 1}], "template": {"knots": [0, 0, 1], "values": [1, 2, 3]}}, 400, "rise"),
        ({"collection": "nosuch"}, 404, "no such collection"),
        ({"items": [{"id": "a", "essence": 1}], "smoothness": 1e9}, 422, "smoothness"),
        ({"items": [{"id": "a", "essence": 1}], "colour": 1}, 422, "colour"),
    ],
)
def test_a_mistake_is_told_in_one_line(server, asked, status, words):
    answer = server.client.post("/api/order", json=asked)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert words in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_what_cannot_hold_is_told_with_titles(server, demo):
    answer = server.client.post("/api/order", json={"collection": demo, "apart": "artist"})
    assert answer.status_code == 400
    assert "Embers" in answer.json()["error"]


def test_a_number_that_is_none_is_refused(server):
    body = '{"items": [{"id": "a", "essence": NaN}]}'
    answer = server.client.post("/api/order", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


def test_templates_have_pictures(server):
    listed = server.client.get("/api/templates").json()
    assert [one["name"] for one in listed] == fabula.template_names()
    one = listed[0]
    assert one["samples"] == pytest.approx(fabula.template(one["name"]).samples(41), abs=1e-4)


def test_another_column_becomes_the_essence(server, demo):
    copy = server.client.post(f"/api/collections/{demo}/session", json={}).json()
    other = server.client.post("/api/sessions", json=copy).json()["collection"]["id"]
    told = server.client.put(f"/api/collections/{other}/essence", json={"by": "loudness"}).json()
    assert told["by"] == "loudness"
    ranked = server.order(collection=other, template="steady-rise")["ordering"]
    assert np.all(np.diff([told["items"][i]["essence"] for i in ranked]) >= 0)
    assert server.client.put(f"/api/collections/{other}/essence", json={"by": None}).json()["by"] is None
    refused = server.client.put(f"/api/collections/{other}/essence", json={"by": "colour"})
    assert refused.status_code == 400
    assert "there are: duration_ms, loudness" in refused.json()["error"]


def test_items_without_an_id_are_called_by_their_number(server):
    told = server.order(items=[{"title": "a", "essence": 2}, {"essence": 1}], template="steady-rise")
    assert told["ordering"] == [1, 0]
    assert [(row["id"], row["title"]) for row in told["items"]] == [("2", "2"), ("1", "a")]
