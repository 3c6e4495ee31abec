"""Steps in a real browser: what counts as one, what undoes it, and what cannot hold."""

from __future__ import annotations

import pytest

from .conftest import row_of, settled, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

PAST = "async () => (await import('/static/state.js')).state.past.length"


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
    assert page.locator("#arc-name").text_content() == "Tragedy"
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
