"""Collections in a real browser: opened, chosen, found again, and kept to wishes."""

from __future__ import annotations

import csv
import io
import threading
from itertools import pairwise

import pytest

from fabula.media import extraction

from .conftest import LOOKS, centre, drag, follow, open_demo, rest, row_height, settled, table, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def test_a_reload_and_a_session_bring_everything_back(visit, tmp_path):
    page = visit()
    open_demo(page)
    page.get_by_role("button", name="tragedy").click()
    settled(page)
    page.locator(".row .name").nth(8).click()
    page.get_by_role("button", name="First", exact=True).click()
    settled(page)
    order = titles(page)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    settled(page)
    assert titles(page) == order
    assert page.locator(".row.pinned").count() == 1
    page.click("#save summary")
    with page.expect_download() as download:
        page.click('[data-format="session"]')
    file = tmp_path / "x.fabula.json"
    download.value.save_as(file)

    other = visit()
    other.set_input_files("#files", file)
    settled(other)
    assert titles(other) == order
    other.click("#undo")
    settled(other)
    assert titles(other) != order


def test_a_job_survives_a_reload_and_can_be_cancelled(visit, monkeypatch):
    going, plain = threading.Event(), extraction._measure_all

    def waiting(names, spec, stop):
        going.wait(20)
        return plain(names, spec, stop)

    monkeypatch.setattr(extraction, "_measure_all", waiting)
    page = visit()
    page.click("#demo")
    page.locator("#total", has_text="0 of 9").wait_for()
    page.reload()
    page.locator("#total", has_text="0 of 9").wait_for()
    assert len(titles(page)) == 9  # they are there before they are measured
    page.click("#opening-cancel")
    going.set()
    page.wait_for_selector("#start:not([hidden])")
    assert page.locator("#notice").text_content() == "cancelled"


def test_folders_tables_and_the_arc_of_another_collection(visit):
    page = visit()
    page.click("#browse")
    page.click("#browser .link.dir")
    page.click("#browser .link.dir")
    page.click("#browser .strong")
    settled(page)
    assert len(titles(page)) == 4
    page.click("#again")
    page.set_input_files("#files", {"name": "songs.csv", "mimeType": "text/csv", "buffer": table(8).encode()})
    settled(page)
    assert len(titles(page)) == 8
    assert page.locator("#player").is_hidden()
    page.get_by_role("button", name="like").first.click()
    settled(page)
    assert page.locator("#arc-name").text_content().startswith("like ")
    page.select_option("#by", "duration_ms")
    settled(page)
    page.get_by_role("button", name="steady-rise").click()
    settled(page)
    assert titles(page) == [f"Item {i}" for i in range(8)]
    page.check("#apart")
    settled(page)
    numbers = [int(title.split()[1]) % 3 for title in titles(page)]
    assert all(a != b for a, b in pairwise(numbers))
    page.fill("#sides", "2")
    page.keyboard.press("Tab")
    page.wait_for_selector(".side")
    assert page.locator(".side").count() == 2
    refused = {"name": "x.mp3", "mimeType": "audio/mpeg", "buffer": b"PK\x03\x04"}
    page.click("#again")
    page.set_input_files("#files", refused)
    page.wait_for_selector("#notice.error.shown")
    assert page.locator("#notice").text_content().startswith("x.mp3: ")


def several(names, items=4) -> dict[str, object]:
    """A table of several collections, as a file to choose."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["collection", "album", "title", "energy", "duration_ms"])
    for number, name in enumerate(names):
        writer.writerows([f"c{number}", name, f"{name} {i}", i * 7 % 5, 60000] for i in range(items))
    return {"name": "all.csv", "mimeType": "text/csv", "buffer": text.getvalue().encode()}


MARKUP = "<img src=x onerror=\"document.body.dataset.bad = 'yes'\"> & co"


def test_one_of_several_collections_is_chosen_by_the_keyboard(visit):
    page = visit()
    page.on("dialog", lambda dialog: dialog.dismiss())  # the browser's own would be no help
    page.set_input_files("#files", several(["Winter", MARKUP, "Summer"]))
    page.wait_for_selector("#which[open]")
    assert page.locator(".pick-name").all_inner_texts() == ["Winter\nc0", f"{MARKUP}\nc1", "Summer\nc2"]
    assert page.locator("#which-find").is_hidden()
    assert page.locator("#which-text").text_content().startswith("It holds 3 collections.")
    page.keyboard.press("Escape")
    page.wait_for_selector("#which:not([open])", state="attached")
    assert page.locator("#start").is_visible()
    assert page.locator("#job").is_hidden()

    page.set_input_files("#files", several(["Winter", MARKUP, "Summer"]))
    page.wait_for_selector("#which[open]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    settled(page)
    assert sorted(titles(page)) == [f"{MARKUP} {i}" for i in range(4)]
    assert page.locator("#title").text_content() == MARKUP
    assert page.evaluate("document.body.dataset.bad") is None

    page.click("#again")
    page.set_input_files("#files", several(["Winter", "Summer"]))
    page.click("#which-cancel")
    assert page.locator("#title").text_content() == MARKUP  # what was open is still open
    assert page.locator("#desk").is_visible()


def test_one_of_many_collections_is_found_by_its_name(visit):
    page = visit()
    page.set_input_files("#files", several([f"Song book {k}" for k in range(300)], items=2))
    page.wait_for_selector("#which[open]")
    assert page.locator(".pick").count() == 200
    assert page.locator("#which-more").text_content() == "and 100 more: type to find one"
    page.keyboard.type("no such")
    page.keyboard.press("Enter")
    assert page.locator("#which-more").text_content() == "No collection has that name."
    assert page.locator("#which").is_visible()  # nothing found, nothing chosen
    page.fill("#which-find", "BOOK 28")
    assert page.locator(".pick").count() == 11
    page.keyboard.press("Enter")
    settled(page)
    assert sorted(titles(page)) == ["Song book 28 0", "Song book 28 1"]


def test_one_of_several_collections_of_this_computer(visit):
    page = visit()
    page.click("#browse")
    page.click("#browser .link.dir")
    page.click("#browser .link.file >> text=several.csv")
    page.click("#which .pick >> text=b")
    settled(page)
    assert sorted(titles(page)) == ["T1", "T3", "T5", "T7"]


@pytest.mark.parametrize(("width", "height", "scheme"), LOOKS)
def test_the_dialog_fits_in_light_and_dark_on_any_screen(visit, width, height, scheme):
    page = visit(width, height, scheme)
    page.set_input_files("#files", several(["A name " * 20, MARKUP, *(f"Songs {k}" for k in range(30))]))
    page.wait_for_selector("#which[open]")
    box = page.locator("#which").bounding_box()
    assert box["x"] > 0
    assert box["x"] + box["width"] < width
    assert box["y"] + box["height"] < height
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(
        "document.getElementById('which-list').scrollWidth <= document.getElementById('which-list').clientWidth"
    )
    check_access(page)


def check_access(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


def limit(page, length):
    page.fill("#limit", length)
    page.keyboard.press("Tab")
    rest(page)
    settled(page)


def ordered(page):
    return page.locator("#rows .row:not(.out) .name").all_text_contents()


def left_out(page):
    return page.locator("#rows .row.out .name").all_text_contents()


def test_a_limit_leaves_out_what_fits_worst(visit, tmp_path):
    page = visit()
    open_demo(page)
    whole = ordered(page)
    assert page.locator("#total").text_content() == "9 tracks · 1:43"
    limit(page, "1:06")
    kept, out = ordered(page), left_out(page)
    assert (len(kept), len(out)) == (6, 3)
    assert sorted(kept + out) == sorted(whole)
    assert titles(page) == kept + out  # in the document as on the screen
    assert page.locator("#total").text_content() in ("6 of 9 tracks · 1:05", "6 of 9 tracks · 1:06")
    assert page.locator(".side").all_inner_texts() == ["Left out\n0:38"]
    assert page.locator(".point").count() == 6
    check_access(page)
    rows = list(csv.DictReader(saved(page, tmp_path, "csv").splitlines()))
    assert [row["title"] for row in rows] == kept

    page.locator(".row.out .name").first.click()  # what is named stays: another goes
    page.get_by_role("button", name="First", exact=True).click()
    settled(page)
    assert ordered(page)[0] == out[0]
    assert out[0] not in left_out(page)
    assert page.locator(".row.pinned .name").all_text_contents() == [out[0]]
    page.keyboard.press("Control+z")
    settled(page)
    assert (ordered(page), left_out(page)) == (kept, out)

    page.click("#given")
    assert len(ordered(page)) == 9
    page.click("#given")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    settled(page)
    assert (ordered(page), left_out(page)) == (kept, out)
    assert page.input_value("#limit") == "1:06"
    limit(page, "")
    assert (len(ordered(page)), left_out(page)) == (9, [])


def saved(page, folder, form):
    page.click("#save summary")
    with page.expect_download() as download:
        page.click(f'[data-format="{form}"]')
    download.value.save_as(folder / form)
    return (folder / form).read_text(encoding="utf-8")


def test_a_limit_goes_with_pins_sides_and_dragging(visit):
    page = visit(1280, 1200)  # room to drag without scrolling
    open_demo(page)
    last = ordered(page)[-1]
    page.locator(".row").nth(8).focus()
    page.keyboard.press("l")
    settled(page)
    limit(page, "1:06")
    assert ordered(page)[-1] == last  # a pin at the end is one from the end
    assert page.locator(".row.pinned .name").all_text_contents() == [last]
    follow(page)
    x, y = centre(page.locator(".knot").nth(2))
    drag(page, (x, y), (x, y + 50))
    assert (len(ordered(page)), ordered(page)[-1]) == (6, last)
    row = page.locator(".row.out").nth(0)
    name = row.locator(".name").text_content()
    row.evaluate("row => row.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(250)
    x, y = centre(row.locator(".grip"))
    drag(page, (x, y), (x, y - 30 - 4 * row_height(page)))
    page.wait_for_timeout(300)
    assert ordered(page).index(name) == 2
    assert set(page.locator(".row.pinned .name").all_text_contents()) == {name, last}
    page.fill("#sides", "2")
    page.keyboard.press("Tab")
    page.locator(".side", has_text="Side B").wait_for()
    settled(page)
    assert [text.split("\n")[0] for text in page.locator(".side").all_inner_texts()] == ["Side A", "Side B", "Left out"]
    page.locator(".row.pinned .lock").last.click()
    settled(page)
    assert page.locator(".row.pinned .name").all_text_contents() == [name]


def test_a_proposal_and_another_column_leave_the_wishes_as_they_are(visit):
    page = visit()
    open_demo(page)
    page.fill("#sides", "2")
    page.keyboard.press("Tab")
    page.locator(".side").nth(1).wait_for()
    settled(page)
    page.locator("#templates .template").nth(1).click()
    settled(page)
    assert page.locator(".side").count() == 2
    page.locator(".row").nth(0).focus()
    page.keyboard.press("l")
    settled(page)
    first = ordered(page)[0]
    limit(page, "1:06")
    page.select_option("#by", "loudness")
    page.wait_for_timeout(300)
    settled(page)
    assert (page.input_value("#limit"), page.input_value("#sides")) == ("1:06", "2")
    assert page.locator(".side").count() == 3
    assert ordered(page)[0] == first
