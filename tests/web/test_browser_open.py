"""Opening in a real browser: what the command named, albums with other things beside them; and saving what is shown."""

from __future__ import annotations

import csv
import json
import re

import pytest

from fabula.web.server_store import Settings

from .conftest import open_demo, serving, settled, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def tab(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()


def test_the_folder_that_was_named_is_open_without_a_click(tab, root):
    album = (root / "album").resolve()
    with serving(Settings(roots=(album,), first=album)) as served:
        tab.goto(served.entrance)
        settled(tab)
        assert len(titles(tab)) == 4
        assert tab.locator("#start").is_hidden()


def test_a_shelf_of_albums_is_not_opened_but_listed(tab, root):
    with serving(Settings(roots=(root.resolve(),), first=root.resolve())) as served:
        tab.goto(served.entrance)
        tab.wait_for_selector("html[data-ready]")
        assert tab.locator("#browse").is_visible()
        assert titles(tab) == []


def make_files(sound) -> list[dict]:
    music = [(name, sound(name)) for name in ("01 Embers.ogg", "04 Parade.ogg", "07 Paper Waltz.ogg")]
    others = [("stray.csv", b"title,energy\nx,1\ny,2\n"), ("cover.png", PNG + bytes(20)), ("x.exe", b"MZ")]
    return [{"name": name, "mimeType": "", "buffer": data} for name, data in music + others]


def test_music_with_a_stray_list_and_a_cover_is_music_with_a_cover(visit, server, sound):
    page = visit()
    page.set_input_files("#files", make_files(sound))
    settled(page)
    assert sorted(titles(page)) == ["Embers", "Paper Waltz", "Parade"]
    line = page.locator("#left-out").inner_text()
    assert re.search(r"stray\.csv.*names none of the 3 files here", line)
    assert "x.exe" in line
    assert "cover.png" not in line
    collection = page.evaluate("JSON.parse(sessionStorage.getItem('fabula-page')).collection")
    cover = server.client.get(f"/api/collections/{collection}/items/0/cover")
    assert (cover.status_code, cover.content[:8]) == (200, PNG)


def download(page, form, target):
    page.click("#save summary")
    with page.expect_download() as download:
        page.click(f'[data-format="{form}"]')
    download.value.save_as(target)
    return target.read_text(encoding="utf-8")


def seconds(text: str) -> float:
    return sum(60**k * float(part) for k, part in enumerate(reversed(text.split(":"))))


@pytest.mark.parametrize("gap", ["2", "-1.5"])
def test_what_the_page_shows_of_sides_and_gaps_is_what_it_saves(visit, demo, tmp_path, gap):
    page = visit(collection=demo)
    page.get_by_role("button", name="icarus", exact=True).click()
    settled(page)
    page.fill("#sides", "2")
    page.keyboard.press("Tab")
    page.locator(".side").nth(1).wait_for()
    settled(page)
    page.evaluate("(value) => (gap.value = value, gap.dispatchEvent(new Event('change')))", gap)
    settled(page)
    page.wait_for_timeout(500)
    heads = " ".join(page.locator(".side").all_inner_texts())
    shown = re.findall(r"\d+:\d\d", heads)
    whole = re.search(r"\d+:\d\d", page.locator("#total").text_content())[0]
    assert len(shown) == 2
    assert sum(map(seconds, shown)) == seconds(whole)
    saved = json.loads(download(page, "json", tmp_path / "x.json"))
    assert saved["gap_seconds"] == float(gap)
    assert all(abs(seconds(text) - side) < 1 for text, side in zip(shown, saved["side_seconds"], strict=True))
    assert round(saved["total_seconds"] + 1e-9) == seconds(whole)
    sheet = download(page, "txt", tmp_path / "x.txt")
    assert [seconds(text) for text in re.findall(r"^Side [AB], ([\d:.]+)$", sheet, re.M)] == pytest.approx(
        saved["side_seconds"], abs=0.051
    )
    rows = list(csv.DictReader(download(page, "csv", tmp_path / "x.csv").splitlines()))
    assert [row["title"] for row in rows] == titles(page)
    assert [float(row["off"]) for row in rows] == pytest.approx([item["off"] for item in saved["items"]])
    page.click("#columns summary")
    page.get_by_label("off the template", exact=False).check()
    page.keyboard.press("Escape")
    off = [text.replace("\u2212", "-") for text in page.locator("#rows .row .off").all_text_contents()]
    if any(off):
        assert [float(text) for text in off] == pytest.approx([item["off"] for item in saved["items"]], abs=0.051)


def test_after_a_restart_under_another_token_the_page_says_how_it_goes_on(tab, root):
    settings = Settings(roots=(root.resolve(),))
    with serving(settings) as first:
        tab.goto(first.entrance)
        tab.wait_for_selector("html[data-ready]")
        open_demo(tab)
        port = int(first.address.rpartition(":")[2])
    with serving(Settings(roots=(root.resolve(),)), port=port) as second:
        tab.get_by_role("button", name="tragedy", exact=True).click()
        tab.locator("#notice.shown", has_text="started anew").wait_for()
        other = tab.context.new_page()
        other.goto(second.entrance)
        other.wait_for_selector("html[data-ready]")
        tab.locator("#notice", has_text="started anew").wait_for(state="hidden", timeout=45_000)
        settled(tab)
        assert tab.locator("#arc-name").text_content() == "tragedy"
