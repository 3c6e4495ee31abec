"""POST /api/order against the command line and the core."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import fabula
from fabula.cli import run
from fabula.session import explain
from fabula.session.open import demo_folder
from fabula.web import orders


def test_the_answer_is_what_the_command_line_prints(server, demo, capsys):
    assert run(["order", str(demo_folder()), "--json", "--template", "man-in-a-hole"]) == 0
    printed = json.loads(capsys.readouterr().out)
    answered = server.order(collection=demo, template="man-in-a-hole")
    assert answered.pop("result")
    assert answered.pop("steps") == []
    assert answered.pop("explained") == 9
    assert answered.pop("given_name") in ("the order given", "the order of the file names")
    assert answered.pop("length_texts") == {"sides": ["1:43"], "all": "1:43", "left_out": "0:00", "before": "1:43"}
    assert (answered.pop("sequence"), answered.pop("final")) == (None, True)
    assert answered == printed


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ([], {}),
        (["--sides", "2", "--first", "B=Parade"], {"sides": 2, "first": {"1": "Parade"}}),
        (["--limit", "1:06", "--choose", "2"], {"limit": "1:06", "choose": 2}),
        (["--template", "wave", "--smooth", "1"], {"template": "wave", "smoothness": 1}),
        (["--apart", "artist", "--apart", "soft"], {"apart": "creator", "apart_soft": True}),
    ],
)
def test_wishes_are_answered_as_the_command_line_answers_them(server, demo, capsys, options, asked):
    assert run(["order", str(demo_folder()), "--json", *options]) == 0
    printed = json.loads(capsys.readouterr().out)
    answered = server.order(collection=demo, **asked)
    assert {name: answered[name] for name in printed} == printed
    assert answered["knots"][-1] == 1.0


def test_the_steps_that_count_are_told_and_chosen(server, demo):
    plain = server.order(collection=demo, template="wave", smoothness=1)
    named = [step["name"] for step in plain["steps"]]
    assert [step["name"] for step in plain["steps"] if step["counts"]] == [one["name"] for one in plain["changes"]]
    chosen = server.order(collection=demo, template="wave", smoothness=1, smooth_by={"silence": 1})
    assert [step["name"] for step in chosen["steps"]] == named
    assert [one["name"] for one in chosen["changes"]] == ["silence"]


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
    answered = server.order(items=items, template={"knots": [0, 1], "values": [-5, 7]}, scaled=False)
    assert (answered["knots"], answered["values"]) == ([0.0, 1.0], [-5.0, 7.0])
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
    assert max(sides["lengths"]) <= 60
    assert sides["left_out"] == []
    within = server.order(collection=demo, template="icarus", limit="1:00", fixed={"-1": 3})
    assert len(within["items"]) < 9
    assert within["items"][-1]["title"] == "Parade"
    assert any("left out" in note for note in within["notes"])
    items = server.client.get(f"/api/collections/{demo}").json()["items"]
    assert [items[i]["title"] for i in within["ordering"]] == [row["title"] for row in within["items"]]
    assert sum(items[i]["length"] for i in within["ordering"]) <= 60
    assert sorted(within["ordering"] + within["left_out"]) == list(range(9))
    assert server.order(collection=demo, limit=600)["left_out"] == []


def test_openers_and_closes_by_side_hold(server, demo):
    answered = server.order(collection=demo, template="icarus", sides=2, first={"1": 0}, last={"0": "Parade"})
    size = answered["sides"][0]
    assert (answered["ordering"][size], answered["ordering"][size - 1]) == (0, 3)
    assert server.order(collection=demo, first="Embers", last=4)["ordering"][::8] == [0, 4]


def test_runs_of_three_hold(server, demo):
    ordering = server.order(collection=demo, template="icarus", together=[[1, 2], [2, 3]])["ordering"]
    assert ordering[ordering.index(1) :][:3] == [1, 2, 3]


def test_an_order_made_by_hand_is_taken_as_it_is(server, demo):
    made = [8, 1, 2, 0, 4, 5, 6, 7, 3]
    answered = server.order(collection=demo, ordering=made, template="icarus")
    assert (answered["ordering"], answered["gap"], answered["sides"]) == (made, None, [])
    sides = server.order(collection=demo, ordering=made, template="icarus", sides=2, side_sizes=[3, 6])
    assert (sides["sides"], sides["gap"], len(sides["lengths"])) == ([3, 6], None, 2)
    part = server.order(collection=demo, ordering=made[:4], template="icarus")
    assert part["left_out"] == [3, 4, 5, 6, 7]


def test_items_of_the_request_have_lengths(server):
    items = [{"title": f"T{k}", "essence": k, "length": 10 * k + 1} for k in range(6)]
    answered = server.order(items=items, template="steady-rise", sides=2, limit=100)
    assert (answered["unit"], sum(answered["lengths"]) <= 100) == ("items", True)
    assert answered["length_texts"]["sides"] == [f"{length:g}" for length in answered["lengths"]]


@pytest.mark.parametrize(
    ("asked", "words", "field"),
    [
        ({"limit": 5}, "0:05", None),
        ({"limit": 20, "together": [[0, 1, 2]]}, "0:20", None),
        ({"sides": 2, "side_limit": 12.0}, "0:12", None),
        ({"sides": 2, "side_limit": "0:30"}, "0:30", None),
        ({"limit": "soon"}, "limit: takes a time such as 22:00", "limit"),
        ({"limit": -3}, "limit: must be above 0", "limit"),
    ],
)
def test_limits_that_cannot_be_kept_are_told_in_the_unit_of_the_medium(server, demo, asked, words, field):
    answer = server.client.post("/api/order", json={"collection": demo, "template": "icarus", **asked})
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert answer.json()["field"] == field


def test_reasons_can_be_left_out(server, demo):
    assert all(row["why"] for row in server.order(collection=demo)["items"])
    assert not any(row["why"] for row in server.order(collection=demo, explain=False)["items"])


def test_rows_further_down_are_explained_when_they_are_asked_for(server, demo, monkeypatch):
    """With four rows told at once, the others are told by their own request, as they would have been."""
    whole = [row["why"] for row in server.order(collection=demo)["items"]]
    monkeypatch.setattr(explain, "MOST_CAUSES", 4)
    first = server.order(collection=demo)
    assert first["explained"] == 4
    assert [row["why"] for row in first["items"]][:4] == whole[:4]
    address = f"/api/collections/{demo}/reasons/{first['result']}"
    assert server.client.get(f"{address}?first=5&count=3").json() == {"first": 5, "why": whole[5:8]}
    assert server.client.get(f"{address}?first=900").json()["why"] == []
    assert server.client.get(f"{address}?first=0&count=61").status_code == 422
    assert server.client.get(f"/api/collections/{demo}/reasons/nosuch?first=0").status_code == 404


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({}, 400, "either a collection or items"),
        ({"items": [{"id": "a", "essence": 1}], "template": "nosuch"}, 400, "no built-in template"),
        ({"items": [{"id": "a", "essence": 1}], "template": "/etc/passwd"}, 400, "no built-in template"),
        ({"items": [{"id": "a", "essence": 1}], "template": "x:y"}, 400, "points such as 0:0.2"),
        ({"items": [{"id": "a", "essence": 1}] * 2}, 400, "an id of its own"),
        ({"items": [{"id": "a", "essence": "loud"}]}, 422, "items.0.essence"),
        ({"items": [{"id": "a", "essence": 1}], "fixed": {"7": 0}}, 400, "fixed: positions go from 1 to 1"),
        ({"items": [{"id": "a", "essence": 1}], "fixed": {"0": "b"}}, 400, "fixed: no item is called 'b'"),
        ({"items": [{"id": "a", "essence": 1}], "first": "b"}, 400, "first: no item is called 'b'"),
        ({"items": [{"id": "a", "essence": 1}], "first": {"1": "a"}}, 400, "first: there is 1 side; got side B"),
        ({"items": [{"id": "a", "essence": 1}], "ordering": [1]}, 400, "ordering: "),
        ({"items": [{"id": "a", "essence": 1}], "ordering": [10**30]}, 400, "ordering: "),
        ({"items": [{"id": "a", "essence": 1}], "side_sizes": [1]}, 400, "side_sizes: goes with an ordering"),
        (
            {"items": [{"essence": 1}] * 3, "ordering": [0, 1, 2], "sides": 2, "side_sizes": [1]},
            400,
            "side_sizes: must",
        ),
        ({"items": [{"id": "a", "essence": 1}], "choose": 3}, 400, "choose: there are 1 proposals"),
        ({"items": [{"id": "a", "essence": 1}], "apart": "creator"}, 400, "no item has 'creator'"),
        ({"items": [{"id": "a", "essence": 1}], "template": {"knots": [0, 0, 1], "values": [1, 2, 3]}}, 400, "rise"),
        ({"collection": "nosuch"}, 404, "no such collection"),
        ({"items": [{"id": "a", "essence": 1}], "smoothness": 1e9}, 422, "smoothness"),
        ({"items": [{"id": "a", "essence": 1}], "colour": 1}, 422, "colour"),
    ],
)
def test_a_mistake_is_told_in_one_line(server, asked, status, words):
    answer = server.client.post("/api/order", json=asked)
    assert answer.status_code == status
    assert list(answer.json())[:2] == ["error", "field"]
    assert words in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_what_cannot_hold_is_told_with_titles(server, demo):
    answer = server.client.post("/api/order", json={"collection": demo, "apart": "creator"})
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
    assert refused.json()["field"] == "by"


def test_items_without_an_id_are_called_by_their_number(server):
    told = server.order(items=[{"title": "a", "essence": 2}, {"essence": 1}], template="steady-rise")
    assert told["ordering"] == [1, 0]
    assert [(row["id"], row["title"]) for row in told["items"]] == [("2", "2"), ("1", "a")]


def test_an_answer_tells_to_which_question_it_belongs(server, demo):
    assert server.order(collection=demo, sequence=7)["sequence"] == 7
    assert server.order(collection=demo)["sequence"] is None
    assert server.client.post("/api/order", json={"collection": demo, "sequence": -1}).status_code == 422


def test_a_first_answer_is_there_soon_and_keeps_the_wishes(server, rng):
    items = [{"essence": float(v), "creator": f"c{k % 40}", "length": 200} for k, v in enumerate(rng.normal(size=300))]
    wishes = {"items": items, "template": "icarus", "together": [[1, 2], [5, 9]], "apart": "creator", "explain": False}
    server.order(**wishes, budget_ms=50)  # what is loaded once
    begun = time.process_time()  # the server runs in this process
    soon = server.order(**wishes, budget_ms=50, sequence=1)
    took = time.process_time() - begun
    whole = server.order(**wishes, sequence=2)
    assert took < time.process_time() - begun - took
    assert (soon["final"], whole["final"]) == (False, True)
    assert whole["worst"] <= soon["worst"] + 1e-9
    places = {item: position for position, item in enumerate(soon["ordering"])}
    assert places[2] == places[1] + 1
    assert places[9] == places[5] + 1
    assert soon["alternatives"] == []
    assert server.order(items=items[:8], template="icarus", alternatives=1, budget_ms=50)["final"]  # exact already


@pytest.mark.parametrize(
    ("asked", "wishes"),
    [
        ({"fixed": {"0": 2, "3": 5}, "before": [[1, 2], [4, 5]]}, [("fixed", 0), ("before", 0)]),
        ({"together": [[0, 1], [3, 4]], "before": [[1, 0]]}, [("together", 0), ("before", 0)]),
        ({"first": 2, "before": [[1, 2]]}, [("first", None), ("before", 0)]),
        ({"sides": 2, "side_limit": 3}, [("sides", None), ("side_limit", None)]),
        ({"fixed": {"0": 2, "1": 2}}, [("fixed", None)]),
        ({"limit": 0.5, "first": 1}, [("first", None), ("limit", None)]),
    ],
)
def test_wishes_that_cannot_hold_are_named(server, asked, wishes):
    items = [{"essence": k, "length": 2} for k in range(6)]
    answer = server.client.post("/api/order", json={"items": items, "template": "icarus", **asked})
    assert answer.status_code == 400
    assert [(wish["field"], wish["key"]) for wish in answer.json()["wishes"]] == wishes


def test_items_are_called_as_the_person_wants(server, demo):
    answered = server.order(collection=demo, titles={1: "Another Name"}, template="tragedy")
    plain = server.order(collection=demo, template="tragedy")
    assert answered["ordering"] == plain["ordering"]
    place = plain["ordering"].index(1)
    assert (answered["items"][place]["title"], plain["items"][place]["title"]) == ("Another Name", "Red Line")
    asked = {"result": answered["result"], "format": "m3u8"}
    assert "Another Name" in server.client.post(f"/api/collections/{demo}/export", json=asked).text
    refused = server.client.post("/api/order", json={"collection": demo, "titles": {"9": "x"}})
    assert (refused.status_code, refused.json()["field"]) == (400, "titles")


def test_a_drawn_template_says_how_it_runs(server):
    items = [{"id": str(k), "essence": k} for k in range(5)]
    points = {"knots": [0, 0.25, 0.5, 0.75, 1], "values": [0, 0, 2, 0, 0], "interpolation": "monotone"}
    answered = server.order(items=items, template=points, scaled=False)
    assert answered["interpolation"] == "monotone"
    drawn = fabula.Template(points["knots"], points["values"], interpolation="monotone")
    assert [item["target"] for item in answered["items"]] == drawn.samples(5).tolist()


def test_whether_a_model_knows_many_items_is_told_at_once(server, monkeypatch):
    rows = "".join(f"Item {k},{180000 + k},{-9 - k % 7},{k % 11}\n" for k in range(300))
    collection = server.opened(
        server.upload(("x.csv", f"title,duration_ms,loudness,energy\n{rows}".encode()), by="energy")
    )
    asked = []
    plain = orders._set_model
    monkeypatch.setattr(
        orders, "_set_model", lambda session, model: (asked.append(len(session.collection)), plain(session, model))[1]
    )
    assert server.client.get(f"/api/collections/{collection}").json()["knows_model"] is True
    assert asked == [12]
