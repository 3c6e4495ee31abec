"""The review on the page and by its endpoint: what is said, moves taken with one tap, an opener chosen."""

from __future__ import annotations

import json

import pytest

from fabula.cli import run
from fabula.session.open import demo_folder

from .conftest import settled, titles


def ask(server, collection, **asked):
    return server.client.post(f"/api/collections/{collection}/review", json=asked)


def test_the_endpoint_answers_what_the_command_line_prints(server, demo, capsys):
    assert run(["review", str(demo_folder()), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    answered = ask(server, demo).json()
    assert {name: answered[name] for name in printed} == printed
    assert "of 100 random orders" in answered["verdict"]


def test_another_ordering_is_reviewed_with_its_sides(server, demo):
    given = ask(server, demo).json()
    move = given["moves"][0]
    order = list(range(9))
    at, to = move["from"] - 1, move["to"] - 1
    if move["swap"] is None:
        order.insert(to, order.pop(at))
    else:
        order[at], order[to] = order[to], order[at]
    better = ask(server, demo, ordering=order, titles={str(order[0]): "Another name"}).json()
    assert better["percentile"] > given["percentile"]
    assert any("Another name" in join["titles"] for join in better["joins"])
    sides = ask(server, demo, ordering=order, side_sizes=[4, 5]).json()
    assert sides["sides"] == [4, 5]
    assert sorted(join["after"] for join in sides["joins"]) == [1, 2, 3, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("asked", "field"),
    [({"ordering": [0, 0]}, "ordering"), ({"ordering": [99]}, "ordering"), ({"side_sizes": [2, 2]}, "side_sizes")],
)
def test_what_is_no_order_is_refused(server, demo, asked, field):
    answer = ask(server, demo, **asked)
    assert answer.status_code == 400
    assert answer.json()["field"] == field


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_moves_are_taken_and_an_opener_is_chosen(visit, demo):
    page = visit(1280, 860, collection=demo)
    page.click("#review-open")
    page.locator("#review .verdict").wait_for()
    assert "of 100 random orders" in page.inner_text("#review .verdict")
    opener = page.locator("#review [role=group] button[aria-pressed=false]").first
    name = opener.inner_text().rsplit(" ", 2)[0]
    opener.click()
    settled(page)
    assert titles(page)[0] == name
    page.locator(f'#review button[aria-pressed=true]:has-text("{name}")').first.wait_for()
    page.click("#undo")
    settled(page)
    worst = list(reversed(titles(page)))
    for position, title in enumerate(worst[:4]):  # by hand into an order that is worse
        page.locator("#rows .row", has=page.get_by_text(title, exact=True)).focus()
        for _ in range(titles(page).index(title) - position):
            page.keyboard.press("Alt+Shift+ArrowUp")
    settled(page)
    page.locator("#review li button").first.wait_for()
    before = titles(page)
    assert page.locator("#rows .row.weak").count() >= 1
    page.locator("#review li button").first.click()
    settled(page)
    assert titles(page) != before
    page.click("#review-open")
    assert page.locator("#rows .row.weak").count() == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_axe_finds_nothing_in_the_review(visit, demo, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = visit(width, 860, scheme, collection=demo)
    page.click("#given")
    page.click("#review-open")
    page.locator("#review .verdict").wait_for()
    page.wait_for_timeout(250)
    violations = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in violations] == []
