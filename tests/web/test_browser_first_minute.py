"""The first minute in a browser: rows before they are measured, what is left out, columns, a server that is gone."""

from __future__ import annotations

from itertools import pairwise

import pytest

from fabula.web.server_store import Settings

from .conftest import centre, drag, open_demo, rest, row_height, row_of, serving, settled, table, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def test_items_are_heard_and_put_in_their_places_while_they_are_measured(visit, going):
    page = visit()
    page.click("#demo")
    page.locator("#total", has_text="0 of 9 measured").wait_for()
    given = titles(page)
    assert (len(given), page.locator(".point").first.is_visible()) == (9, False)  # nothing is drawn that is not known
    assert set(page.locator("#rows .sub").all_text_contents()) == {"not measured yet"}
    assert page.locator("#save summary").get_attribute("aria-disabled") == "true"
    page.locator("#rows .hear").nth(1).click()
    page.wait_for_selector('#player[data-state="playing"]')
    page.click("#play")
    x, y = centre(row_of(page, given[4]).locator(".grip"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 4 * row_height(page), steps=8)
    rest(page)
    page.mouse.up()
    assert titles(page)[0] == given[4]
    going.set()
    settled(page)
    assert titles(page)[0] == given[4]
    assert page.locator(".row.pinned .name").all_text_contents() == [given[4]]
    assert page.locator("#total").text_content() == "9 tracks · 1:43"
    page.click("#undo")
    settled(page)
    assert page.locator(".row.pinned").count() == 0


def test_the_three_demos_open(visit):
    page = visit()
    buttons = page.locator("#demos button")
    assert [text.split(",")[0].split()[-1] for text in buttons.all_inner_texts()] == ["music", "text", "pictures"]
    buttons.nth(1).click()
    page.locator("#title", has_text="The Tide Clock").wait_for()
    settled(page)
    page.locator(".row .name").nth(3).click()
    page.locator("#joins .join").nth(1).wait_for()
    assert "---" not in page.inner_text("#inspector")  # no front matter
    for width, height in ((1440, 900), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        rest(page, 100)
        over = "document.getElementById('list').scrollHeight - document.getElementById('list').clientHeight"
        assert page.evaluate(over) <= 0
        box, field = page.locator("#list").bounding_box(), page.locator("#sides").bounding_box()
        assert box["y"] + box["height"] <= height
        assert field["y"] + field["height"] <= height  # wishes stand beside the order


def test_what_is_left_out_is_told_above_the_rows(visit, sound):
    page = visit()
    files = [
        {"name": name, "mimeType": "audio/ogg", "buffer": sound(name)} for name in ("01 Embers.ogg", "04 Parade.ogg")
    ]
    broken = {"name": f"{'a very long name ' * 9}.ogg", "mimeType": "audio/ogg", "buffer": b"OggS nothing"}
    page.set_input_files("#files", [*files, broken])
    settled(page)
    line = page.locator("#left-out")
    assert line.inner_text().startswith("2 of 3 opened; left out: a very long name")
    assert line.bounding_box()["y"] < page.locator("#rows .row").first.bounding_box()["y"] < 500
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_columns_are_chosen_with_units_and_remembered(visit, demo):
    page = visit(collection=demo)
    assert page.locator("#column-heads .number").all_text_contents() == ["Length"]
    page.click("#columns summary")
    page.check("#columns-sheet input[value=tempo]")
    page.keyboard.press("Escape")
    assert page.locator("#column-heads .number").all_text_contents() == ["Tempo, BPM", "Length"]
    assert page.locator(".row .cell.tempo").first.text_content().strip("~").replace(".", "").isdigit()
    page.reload()
    settled(page)
    assert page.locator("#column-heads .number").first.text_content() == "Tempo, BPM"
    page.locator(".row .name").nth(2).click()
    assert "BPM" in page.inner_text("#one-facts")
    assert "LUFS" in page.inner_text("#one-facts")


def test_no_template_is_drawn_that_is_not_followed(visit, demo):
    page = visit(collection=demo)
    assert page.locator("#arc-name").text_content() == "Energy"
    assert (page.locator(".knot").count(), page.locator(".layer-template").get_attribute("d")) == (0, "")
    assert page.locator("#knot-tools").is_hidden()
    page.get_by_role("button", name="rags-to-riches", exact=True).click()
    settled(page)
    assert page.locator("#arc-name").text_content() == "rags-to-riches"
    assert page.locator(".knot").count() > 2
    page.get_by_role("button", name="proposed", exact=True).click()
    settled(page)
    assert page.locator(".knot").count() == 0


def test_a_find_that_finds_nothing_says_so(visit, server):
    page = visit(collection=server.opened(server.upload(("some.csv", table(30).encode()))))
    page.fill("#find", "nobody")
    assert page.locator("#find-count").text_content() == "None of 30 is called that"
    assert titles(page) == []


def test_numbers_of_positions_do_not_collide_at_2000(visit):
    page = visit()
    page.set_input_files("#files", {"name": "m.csv", "mimeType": "text/csv", "buffer": table(2000).encode()})
    settled(page)
    boxes = sorted(
        (box["x"], box["x"] + box["width"]) for box in (tick.bounding_box() for tick in page.locator(".tick").all())
    )
    assert len(boxes) > 4
    assert all(right + 2 < left for (_, right), (left, _) in pairwise(boxes))


def test_the_way_to_the_order_leads_to_what_is_seen(visit, server):
    from fabula.session.open import demo_folder

    files = [(file.name, file.read_bytes()) for file in sorted(demo_folder("images").glob("*.jpg"))[:4]]
    page = visit()
    page.evaluate(
        "(id) => sessionStorage.setItem('fabula-page', JSON.stringify({ collection: id }))",
        server.opened(server.upload(*files)),
    )
    page.reload()
    page.locator("#tiles .tile").first.wait_for()
    page.locator("#skip-order").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('.tile') && document.activeElement.offsetWidth > 0")


COUNT = """() => {
    window.asked = [];
    const plain = window.fetch;
    window.fetch = (address, options) => {
        asked.push(`${options?.method ?? "GET"} ${address}`);
        return plain(address, options);
    };
    window.told = new Set();
    new MutationObserver(() => notice.classList.contains("shown") && told.add(notice.textContent)).observe(
        notice, { subtree: true, childList: true, attributes: true });
}"""


def test_a_server_that_is_gone_is_told_once_and_found_again(browser, root):
    settings = Settings(roots=(root.resolve(),), token="the same one, for the test")
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(20_000)
    with serving(settings) as first:
        page.goto(first.entrance)
        page.wait_for_selector("html[data-ready]")
        open_demo(page)
        page.get_by_role("button", name="icarus", exact=True).click()
        page.get_by_text("Saved", exact=True).and_(page.locator("#kept")).wait_for()
        port = int(first.address.rpartition(":")[2])
    page.evaluate(COUNT)
    page.get_by_role("button", name="tragedy", exact=True).click()
    page.locator("#notice.shown", has_text="does not answer").wait_for()
    page.fill("#sides", "2")
    page.keyboard.press("Tab")
    page.wait_for_timeout(4000)
    asked, told = page.evaluate("[asked, [...told]]")
    assert len(told) == 1, told
    assert len(asked) <= 8, asked
    assert page.locator("#kept").text_content() == "Not saved yet"
    with serving(settings, port=port):
        page.locator("#notice", has_text="everything is here").wait_for()
        settled(page)
        page.get_by_text("Saved", exact=True).and_(page.locator("#kept")).wait_for()
        assert (page.locator("#arc-name").text_content(), page.locator(".side").count()) == ("tragedy", 2)
    context.close()


def test_a_drawn_line_follows_the_trend_where_it_is_not_drawn(visit, demo):
    page = visit(collection=demo)
    page.click("#draw")
    box = page.locator(".arc-svg").bounding_box()
    left, top, width, height = box["x"], box["y"], box["width"], box["height"]
    drag(page, (left + 34, top + height - 40), (left + width / 2, top + 30), steps=30)
    assert page.get_attribute("#draw", "aria-pressed") == "false"
    assert page.locator("#arc-name").text_content() == "drawn by hand"
