"""Pictures in the browser: the light table under pointer and keys, facing pages, one picture large, nothing for axe."""

from __future__ import annotations

import pytest

from .conftest import centre
from .test_browser_accessibility import axe

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
__all__ = ["axe"]


@pytest.fixture(scope="module")
def pictures(server) -> str:
    from fabula.session.open import demo_folder

    folder = demo_folder("images")
    files = [(file.name, file.read_bytes()) for file in sorted(folder.glob("*.jpg"))]
    return server.opened(server.upload(*files))


@pytest.fixture
def desk(visit, pictures):
    def opened(width=1280, scheme="light"):
        page = visit(width, 860, scheme)
        page.evaluate("(id) => sessionStorage.setItem('fabula-page', JSON.stringify({ collection: id }))", pictures)
        page.reload()
        page.wait_for_selector("html[data-ready]")
        still(page)
        return page

    return opened


def still(page):
    page.locator("#tiles .tile").first.wait_for()
    page.wait_for_selector("#rows:not([aria-busy])", state="attached")
    page.wait_for_timeout(350)


def shown(page) -> list[str]:
    """The titles of the tiles, in their order."""
    labels = [tile.get_attribute("aria-label") for tile in page.locator("#tiles .tile").all()]
    return [label.split(", ")[1] for label in labels]


def test_a_tile_is_dragged_and_pinned_and_undone(desk):
    page = desk()
    before = shown(page)
    page.mouse.move(*centre(page.locator("#tiles .tile").nth(1)))
    page.mouse.down()
    page.mouse.move(*centre(page.locator("#tiles .tile").nth(6)), steps=8)
    page.mouse.up()
    still(page)
    after = shown(page)
    assert after[6] == before[1]
    assert page.locator("#tiles .tile.pinned").count() == 1
    page.click("#undo")
    still(page)
    assert shown(page) == before
    assert page.locator("#tiles .tile.pinned").count() == 0


def test_keys_choose_move_and_show_large(desk):
    page = desk()
    before = shown(page)
    page.locator("#tiles .tile").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f'.tile:focus[aria-label*=", {before[1]}"]')
    page.keyboard.press("Alt+ArrowRight")
    still(page)
    assert shown(page)[2] == before[1]
    now = shown(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("#zoom[open]")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f'#zoom-name:text-is("4. {now[3]}")')
    page.keyboard.press("End")
    page.wait_for_selector(f'#zoom-name:text-is("12. {now[-1]}")')
    assert page.locator("#zoom-next").is_disabled()
    page.keyboard.press("Escape")
    page.wait_for_selector(f'.tile:focus[aria-label*=", {now[-1]}"]')
    assert page.locator("#zoom[open]").count() == 0


def test_facing_pages_lie_as_in_a_book(desk):
    page = desk()
    page.click('[data-look="spreads"]')
    page.wait_for_timeout(350)
    boxes = [tile.bounding_box() for tile in page.locator("#tiles .tile").all()]
    papers = [paper.bounding_box() for paper in page.locator(".paper").all()]
    assert len(papers) == 7  # a cover, five times two, and the last alone
    middle = papers[0]["x"] + papers[0]["width"] / 2
    assert boxes[0]["x"] > middle  # the cover lies on the right
    assert boxes[1]["y"] == pytest.approx(boxes[2]["y"], abs=1)
    assert boxes[1]["x"] < boxes[2]["x"]
    page.select_option("#spreads", "match")
    still(page)
    assert "wish-error" not in page.content() or page.locator("#wish-error").is_hidden()
    page.click('[data-look="rows"]')
    page.locator("#rows .row").first.wait_for()
    page.click('[data-look="table"]')


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_axe_finds_nothing_on_the_light_table(desk, axe, width, scheme):
    page = desk(width, scheme)
    page.locator("#tiles .tile").nth(2).click()
    axe(page)
    page.click('[data-look="spreads"]')
    axe(page)
    page.get_by_role("button", name="Show large").click()
    page.wait_for_selector("#zoom[open]")
    axe(page)
    page.keyboard.press("Escape")
    page.click('[data-look="table"]')


def test_the_large_picture_is_fetched_at_its_size(server, pictures):
    from io import BytesIO

    from PIL import Image

    small, large = (
        Image.open(BytesIO(server.client.get(f"/api/collections/{pictures}/items/0/cover?size={size}").content))
        for size in (64, 2000)
    )
    assert max(small.size) == 64
    assert max(large.size) > 500
    assert server.client.get(f"/api/collections/{pictures}/items/0/cover?size=100000").status_code in (400, 422)
