"""The page under a hand in a real browser: fingers, keys, drags that are given up, and steps that are undone."""

from __future__ import annotations

import numpy as np
import pytest

import fabula
from fabula.sources.playlists.playlist import read_playlist

from .conftest import centre, drag, follow, rest, row_height, row_of, settled, table, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

HEIGHTS = "() => [...document.querySelectorAll('.knot')].map((knot) => Number(knot.getAttribute('aria-valuenow')))"
PAST = "async () => (await import('/static/state.js')).state.past.length"
TEMPLATE = "async () => (await import('/static/state.js')).state.template"


@pytest.fixture(scope="module")
def many(server) -> str:
    return server.opened(server.upload(("many.csv", table(40).encode())))


def touch(page, *moves, cancel=False):
    """A finger put down, moved, and lifted or taken away by the browser."""
    hand = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(moves):
        points = [{"x": x, "y": y}]
        hand.send("Input.dispatchTouchEvent", {"type": "touchMove" if number else "touchStart", "touchPoints": points})
        rest(page, 30)
    hand.send("Input.dispatchTouchEvent", {"type": "touchCancel" if cancel else "touchEnd", "touchPoints": []})


def test_a_finger_drags_a_knot_up_and_removes_it(visit, demo):
    page = visit(390, 844, collection=demo)
    follow(page)
    before, scroll = page.evaluate(HEIGHTS), page.evaluate("scrollY")
    x, y = centre(page.locator(".knot").nth(3))
    touch(page, *((x, y - step) for step in range(0, 60, 6)))
    settled(page)
    after = page.evaluate(HEIGHTS)
    assert after[3] - np.mean(after) > before[3] - np.mean(before) + 0.3
    assert page.evaluate("scrollY") == scroll
    touch(page, centre(page.locator(".knot").nth(2)))
    rest(page)
    count = page.locator(".knot").count()
    assert page.locator("#knot-name").text_content() == f"Knot 3 of {count}"
    page.locator("#knot-remove").tap()
    settled(page)
    assert page.locator(".knot").count() == count - 1


def test_a_drag_that_is_given_up_leaves_everything_as_it_was(visit, demo):
    page = visit(collection=demo)
    follow(page)
    order, template, verdict = titles(page), page.evaluate(TEMPLATE), page.locator("#verdict").text_content()

    def same():
        settled(page)
        assert titles(page) == order
        assert page.evaluate(TEMPLATE) == template
        assert page.locator("#verdict").text_content() == verdict
        assert page.evaluate(PAST) == 1  # the template

    x, y = centre(page.locator(".knot").nth(2))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 60, steps=5)
    rest(page)
    assert page.locator("#verdict").text_content() != verdict
    page.keyboard.press("Escape")
    same()
    page.mouse.move(x, y + 30, steps=3)
    page.mouse.up()
    same()
    touch(page, (x, y), (x, y + 30), (x, y + 60), cancel=True)
    same()
    x, y = centre(page.locator(".row .grip").nth(1))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 170, steps=5)
    rest(page)
    page.keyboard.press("Escape")
    same()
    page.mouse.up()
    assert page.locator(".ghost").count() == 0


def test_a_row_dragged_among_sides_lands_where_it_is_let_go(visit, demo):
    page = visit(1280, 1400, collection=demo)
    page.fill("#sides", "2")
    page.keyboard.press("Tab")
    page.locator(".side").nth(1).wait_for()
    settled(page)
    for start, wanted in ((1, "B1"), (7, "A2"), (3, "A1")):
        label = page.locator(".grip", has_text=wanted)
        name = titles(page)[start]
        x, y = centre(row_of(page, name).locator(".grip"))
        drag(page, (x, y), (x, centre(label)[1]))
        page.wait_for_timeout(250)
        assert row_of(page, name).locator(".grip").text_content() == wanted


def test_an_item_is_dragged_on_the_arc(visit, demo):
    page = visit(collection=demo)
    name = titles(page)[1]
    item = row_of(page, name).get_attribute("data-item")
    x, y = centre(page.locator(f'.point[data-item="{item}"] .dot'))
    right = centre(page.locator(".tick", has_text="6"))[0]
    drag(page, (x, y), (right, y + 20))
    assert titles(page).index(name) == 5
    assert page.locator(".row.pinned .name").all_text_contents() == [name]


def test_neighbours_are_kept_together_and_nothing_else_moves(visit, many):
    page = visit(collection=many)
    page.check("#apart")
    settled(page)
    order = titles(page)
    page.locator(".row").nth(3).click()
    page.get_by_role("button", name="Keep with next", exact=True).click()
    settled(page)
    assert titles(page) == order
    page.locator(".row .name").nth(8).click()
    page.locator(".row .name").nth(10).click(modifiers=["Shift"])
    assert page.locator("#one-title").text_content() == "3 chosen"
    page.get_by_role("button", name="Keep together", exact=True).click()
    settled(page)
    assert titles(page) == order
    assert page.locator(".row.linked").count() == 3
    page.get_by_role("button", name="Lock here", exact=True).click()
    settled(page)
    assert (titles(page), page.locator(".row.pinned").count()) == (order, 3)


def test_a_drawn_curve_does_not_ring_and_is_scaled_like_every_other(visit, demo):
    page = visit(collection=demo)
    knots, values = [0, 0.2, 0.3, 0.5, 0.65, 0.8, 1], [0, 0, 0, 2, 0, 0, 0]
    page.evaluate(
        """async ([knots, values]) => {
            const { commit } = await import("/static/state.js");
            const { normalise, withKnots } = await import("/static/template.js");
            commit({ template: normalise(withKnots({ name: "flat" }, knots, values)) });
        }""",
        [knots, values],
    )
    settled(page)
    shown, curve = page.evaluate(
        """async () => {
            const { state } = await import("/static/state.js"), { samples } = await import("/static/template.js");
            return [state.template, samples(state.template, 201)];
        }"""
    )
    expected = fabula.Template(knots, values, interpolation="monotone").normalised()
    assert curve == pytest.approx(expected.samples(201).tolist(), abs=1e-9)
    assert shown["interpolation"] == "monotone"
    assert min(curve) == pytest.approx(curve[0])  # nothing dips below what was drawn
    assert (np.mean(curve), np.std(curve)) == (pytest.approx(0, abs=1e-9), pytest.approx(1))


def test_the_page_draws_curves_as_python_does(visit, rng):
    page = visit()
    for q in (2, 3, 4, 9):
        knots = np.concatenate([[0], np.sort(rng.uniform(0.05, 0.95, q - 2)), [1]])
        for interpolation in ("cubic", "monotone"):
            curve = fabula.Template(knots, rng.integers(-2, 3, q).astype(float), interpolation=interpolation)
            told = {
                "knots": knots.tolist(),
                "values": curve.values.tolist(),
                "interpolation": interpolation,
                "name": "",
            }
            plain, scaled = page.evaluate(
                """async (told) => {
                    const { normalise, samples } = await import("/static/template.js");
                    return [samples(told, 50), samples(normalise(told), 50)];
                }""",
                told,
            )
            assert plain == pytest.approx(curve.samples(50).tolist(), abs=1e-9)
            assert scaled == pytest.approx(curve.normalised().samples(50).tolist(), abs=1e-9)


# The whole job by keys alone, and by fingers alone


def save_by_keys(page):
    """Go back to the menu and save in its first format: the download."""
    while not page.evaluate("document.activeElement.closest('#save summary') !== null"):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    return download.value


def tab_to(page, test, most=60):
    """Press Tab until the focus is on what is wanted."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(f"((node) => {test})(document.activeElement)"):
            return
    raise AssertionError(test)


def test_keys_alone(visit, tmp_path):
    page = visit()
    tab_to(page, "node.id === 'demo'")
    page.keyboard.press("Enter")
    settled(page)
    tab_to(page, "node.matches('.template')")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator(".template[aria-pressed=true]").count() == 1
    first = titles(page)
    page.keyboard.press("Shift+Tab")
    while not page.evaluate("document.activeElement.matches('.knot')"):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("PageDown")
    for _ in range(5):
        page.keyboard.press("Shift+ArrowDown")
    settled(page)
    assert titles(page) != first
    tab_to(page, "node.matches('.row')")
    name = titles(page)[0]
    page.keyboard.press("Alt+ArrowDown")
    settled(page)
    assert titles(page)[1] == name
    page.keyboard.press("Enter")
    page.wait_for_selector('#player[data-state="playing"]')
    page.keyboard.press("Enter")
    page.wait_for_selector('#player[data-state="paused"]')
    tab_to(page, "node.id === 'sides'")
    page.keyboard.press("ArrowUp")
    page.locator(".side").nth(1).wait_for()
    settled(page)
    order = titles(page)
    save_by_keys(page).save_as(tmp_path / "keys.m3u8")
    assert [entry.title for entry in read_playlist(tmp_path / "keys.m3u8").entries] == order


@pytest.mark.parametrize(("demo", "form"), [(1, "docx"), (2, "png")])
def test_keys_alone_from_opening_to_saving_what_is_read_or_seen(visit, tmp_path, demo, form):
    page = visit()
    tab_to(page, f"node === document.querySelectorAll('#demos button')[{demo}]")
    page.keyboard.press("Enter")
    stop = "node.matches('#scroller .row, #scroller .tile')"
    page.locator("#scroller [data-item]:visible").first.wait_for(timeout=30_000)
    page.wait_for_selector("#rows:not([aria-busy])", state="attached")
    page.wait_for_timeout(500)
    page.locator("#main").focus()
    tab_to(page, stop)
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    title = label.split(", ")[1]
    page.keyboard.press("Alt+End")
    page.wait_for_selector("#rows:not([aria-busy])", state="attached")
    page.wait_for_timeout(300)
    assert title in page.locator("#scroller .pinned:visible").get_attribute("aria-label")
    assert save_by_keys(page).suggested_filename.endswith(form)


def test_fingers_alone(visit, tmp_path):
    page = visit(390, 844)
    page.locator("#demo").tap()
    settled(page)
    page.get_by_role("button", name="icarus", exact=True).tap()
    settled(page)
    first = titles(page)
    x, y = centre(page.locator(".knot").nth(2))
    touch(page, *((x, y + step) for step in range(0, 70, 8)))
    settled(page)
    bent = titles(page)
    assert bent != first
    row = row_of(page, bent[4])
    row.evaluate("row => row.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(250)
    x, y = centre(row.locator(".grip"))
    touch(page, *((x, y - step) for step in np.linspace(0, 2 * row_height(page), 15)))
    settled(page)
    assert titles(page).index(bent[4]) == 2
    page.locator("#select").tap()
    for title in titles(page)[:2]:
        row_of(page, title).locator(".name").tap()
    page.get_by_role("button", name="Keep together", exact=True).tap()
    settled(page)
    assert page.locator(".row.linked").count() == 1
    page.locator("#select").tap()
    row_of(page, titles(page)[0]).locator(".hear").tap()
    page.wait_for_selector('#player[data-state="playing"]')
    page.locator("#play").tap()
    order = titles(page)
    page.locator("#save summary").tap()
    with page.expect_download() as download:
        page.locator('[data-format="m3u8"]').tap()
    download.value.save_as(tmp_path / "fingers.m3u8")
    assert [entry.title for entry in read_playlist(tmp_path / "fingers.m3u8").entries] == order


# Steps: what counts as one, what undoes it, and what cannot hold


def test_a_column_is_a_step_among_others(visit, demo):
    page = visit(collection=demo)
    first = titles(page)
    page.get_by_role("button", name="tragedy").click()
    settled(page)
    page.select_option("#by", "loudness")
    settled(page)
    assert page.locator("#says").text_content().startswith("What rises and falls is")
    assert page.evaluate(PAST) == 2
    page.locator("#by").focus()
    page.keyboard.press("Control+z")  # a list to choose from has no undo of its own
    settled(page)
    assert page.input_value("#by") == ""
    assert page.locator("#arc-name").text_content() == "tragedy"
    page.keyboard.press("Control+z")
    settled(page)
    assert titles(page) == first
    page.keyboard.press("Control+Shift+z")
    page.keyboard.press("Control+y")
    settled(page)
    assert page.input_value("#by") == "loudness"


def test_undo_in_a_field_is_the_fields_own_only_while_it_is_edited(visit, demo):
    page = visit(collection=demo)
    page.focus("#limit")
    page.keyboard.type("1:06")
    page.keyboard.press("Enter")
    page.locator(".side", has_text="Left out").wait_for()
    settled(page)
    page.keyboard.type("7")
    page.keyboard.press("Control+z")
    assert page.input_value("#limit") in ("1:06", "")  # as the browser undoes typing
    assert page.evaluate(PAST) == 1
    page.fill("#limit", "1:06")
    page.keyboard.press("Control+z")
    settled(page)
    assert page.input_value("#limit") == ""
    assert page.locator(".side").count() == 0


def test_what_changes_nothing_is_no_step(visit, demo):
    page = visit(collection=demo)
    page.get_by_role("button", name="tragedy").click()
    settled(page)
    page.get_by_role("button", name="tragedy").click()
    page.fill("#sides", "0")
    page.keyboard.press("Tab")
    page.fill("#sides", "1")
    page.keyboard.press("Tab")
    row_of(page, titles(page)[0]).locator(".name").click()
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    settled(page)
    assert page.evaluate(PAST) == 2  # the template and one pin


def test_a_wish_that_cannot_hold_is_marked_until_another_is_made(visit, demo):
    page = visit(refusals=True, collection=demo)
    order = titles(page)
    page.fill("#limit", "0:02")
    page.keyboard.press("Tab")
    page.wait_for_selector("#limit[aria-invalid]")
    assert "is not kept; the order shown is the one before" in page.locator("#wish-error").text_content()
    assert (page.input_value("#limit"), titles(page), page.evaluate(PAST)) == ("", order, 0)
    page.get_by_role("button", name="tragedy").click()
    settled(page)
    assert page.locator("#limit[aria-invalid]").count() == 0
    assert page.locator("#wish-error").is_hidden()
