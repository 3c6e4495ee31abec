"""Work on the page is not lost: closed, opened again, in two tabs, with a server started anew, under names."""

from __future__ import annotations

import pytest

from fabula.web.server_store import Settings

from .conftest import open_demo, serving, settled, table, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def kept(page):
    page.get_by_text("Saved", exact=True).and_(page.locator("#kept")).wait_for()


def choose(page, template):
    page.get_by_role("button", name=template, exact=True).click()
    settled(page)
    kept(page)
    return titles(page)


def test_the_same_items_opened_again_are_as_they_were_left(visit, demo):
    page = visit()
    open_demo(page)
    order = choose(page, "tragedy")
    page.click("#again")
    page.click("#demo")
    settled(page)
    assert titles(page) == order
    page.locator("#notice", has_text="As you left it").wait_for()
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.wait_for_selector("html[data-ready]")
    assert (tab.locator("#start").is_visible(), tab.locator("#desk").is_visible()) == (True, False)
    tab.click("#recent .recent-open")
    settled(tab)
    assert titles(tab) == order


def test_two_tabs_agree_or_say_so(visit, demo, server):
    page = visit(refusals=True, collection=demo)
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.wait_for_selector("html[data-ready]")
    settled(tab)
    order = choose(page, "tragedy")
    tab.locator("#arc-name", has_text="tragedy").wait_for()
    settled(tab)
    assert titles(tab) == order

    desk = server.client.get(
        f"/api/collections/{demo}/desk"
    ).json()  # a page elsewhere, of which this one does not hear
    theirs = {**desk["state"], "wishes": {**desk["state"]["wishes"], "sides": 2}}
    answer = server.client.put(f"/api/collections/{demo}/desk", json={"revision": desk["revision"], "state": theirs})
    assert answer.status_code == 200
    page.get_by_role("button", name="icarus", exact=True).click()
    page.locator("#notice.shown", has_text="Another page has changed").wait_for()
    assert page.locator("#kept").text_content() == "Not saved"
    page.get_by_role("button", name="Close this notice").click()
    page.get_by_role("button", name="wave", exact=True).click()  # it is asked again until it is said
    page.locator("#notice.shown", has_text="Another page has changed").wait_for()
    page.get_by_role("button", name="Take its changes").click()
    settled(page)
    assert (page.input_value("#sides"), page.locator("#arc-name").text_content()) == ("2", "tragedy")


def test_a_server_started_anew_has_everything(browser, tmp_path, root):
    settings = Settings(roots=(root.resolve(),), token="the same one, for the test")
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(20_000)
    with serving(settings) as first:
        page.goto(first.entrance)
        page.wait_for_selector("html[data-ready]")
        open_demo(page)
        order = choose(page, "tragedy")
        port = first.address.rpartition(":")[2]
    with serving(settings, port=int(port)):
        page.get_by_role("button", name="steady-rise", exact=True).click()
        page.locator("#notice", has_text="started anew").wait_for()
        settled(page)
        assert titles(page) != order
        page.keyboard.press("Control+z")
        settled(page)
        assert titles(page) == order
    context.close()


def test_what_is_dropped_while_something_is_measured_waits_its_turn(visit, going):
    page = visit()
    page.click("#demo")
    page.locator("#total", has_text="0 of 9").wait_for()
    page.set_input_files("#files", {"name": "b.csv", "mimeType": "text/csv", "buffer": table(8).encode()})
    page.locator("#title").get_by_text("b", exact=True).wait_for()
    settled(page)
    assert [page.locator(f"#{screen}").is_visible() for screen in ("start", "job", "desk")] == [False, False, True]
    assert len(titles(page)) == 8
    going.set()
    page.get_by_role("button", name="Show it").click()
    page.locator("#title", has_text="Nine Short Pieces").wait_for()
    settled(page)
    assert len(titles(page)) == 9
    page.click("#again")
    assert [page.locator(f"#{screen}").is_visible() for screen in ("start", "job", "desk")] == [True, False, False]
    page.locator("#recent").get_by_text("b", exact=True).wait_for()
    names = page.locator("#recent b").all_text_contents()
    assert "b" in names
    assert any(name.startswith("Nine Short Pieces") for name in names)
    assert len(set(names)) == len(names)  # told apart
    page.get_by_role("button", name="Close b", exact=True).click()
    page.locator("#recent").get_by_text("b", exact=True).wait_for(state="detached")


def test_versions_and_a_beside_b(visit, demo):
    page = visit(collection=demo)
    tragic = choose(page, "tragedy")
    page.click("#versions summary")
    page.fill("#version-name", "the sad one")
    page.keyboard.press("Enter")
    page.locator("#version-list b", has_text="the sad one").wait_for()
    page.keyboard.press("Escape")
    rising = choose(page, "steady-rise")
    page.click("#versions summary")
    page.get_by_role("button", name="Compare with the sad one").click()
    settled(page)
    assert (titles(page), page.locator("#ab").text_content()) == (tragic, "B")
    page.click("#ab")
    settled(page)
    assert (titles(page), page.locator("#ab").text_content()) == (rising, "A")


def test_leaving_with_something_unsaved_asks(visit, demo):
    page = visit(collection=demo)
    leaves = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert page.evaluate(leaves) is False
    page.route("**/desk", lambda route: None)  # never answered
    page.get_by_role("button", name="tragedy", exact=True).click()
    assert page.evaluate(leaves) is True


def test_titles_are_edited_and_saved(visit, demo, tmp_path):
    page = visit(collection=demo)
    page.locator(".row .name").nth(1).click()
    page.click("#one-edit")
    page.fill("#one-name", "مرحبا")
    page.keyboard.press("Enter")
    settled(page)
    assert titles(page)[1] == "مرحبا"
    assert page.locator(".row .name").nth(1).evaluate("name => getComputedStyle(name).direction") == "rtl"
    assert page.locator("#one-title").text_content() == "2. مرحبا"
    page.click("#save summary")
    with page.expect_download() as download:
        page.click('[data-format="m3u8"]')
    download.value.save_as(tmp_path / "x.m3u8")
    assert "مرحبا" in (tmp_path / "x.m3u8").read_text(encoding="utf-8")


def test_a_session_of_dropped_files_says_why_nothing_is_heard(visit, server, sound):
    files = [(name, sound(name)) for name in ("01 Embers.ogg", "04 Parade.ogg")]
    collection = server.opened(server.upload(*files))
    saved = server.client.post(f"/api/collections/{collection}/session", json={"state": {}}).content
    page = visit()
    page.set_input_files("#files", {"name": "x.json", "mimeType": "application/json", "buffer": saved})
    settled(page)
    assert "drop them again" in page.locator("#silent").text_content()
    assert page.locator("#player").is_hidden()
