"""The whole job by keys alone, and by fingers alone: opened, bent, pinned, wished for, heard and saved."""

from __future__ import annotations

import pytest

from fabula.sources.playlists.playlist import read_playlist

from .conftest import centre, row_of, settled, titles
from .test_hands import touch

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


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
    first = titles(page)
    tab_to(page, "node.matches('.knot')")
    page.keyboard.press("PageDown")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowDown")
    settled(page)
    assert titles(page) != first
    tab_to(page, "node.matches('.template')")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator(".template[aria-pressed=true]").count() == 1
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
    while not page.evaluate("document.activeElement.closest('#save summary') !== null"):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "keys.m3u8")
    assert [entry.title for entry in read_playlist(tmp_path / "keys.m3u8").entries] == order


def test_fingers_alone(visit, tmp_path):
    page = visit(390, 844)
    page.locator("#demo").tap()
    settled(page)
    first = titles(page)
    x, y = centre(page.locator(".knot").nth(2))
    touch(page, *((x, y + step) for step in range(0, 110, 12)))
    settled(page)
    bent = titles(page)
    assert bent != first
    row = row_of(page, bent[4])
    row.evaluate("row => row.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(250)
    x, y = centre(row.locator(".grip"))
    touch(page, *((x, y - step) for step in range(0, 113, 8)))
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
