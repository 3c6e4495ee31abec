"""The page for everybody: nothing for axe in any state, few stops of the Tab key, large text, letters switched off."""

from __future__ import annotations

import re

import pytest

from .conftest import centre, drag, follow, rest, settled, table, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture
def axe():
    found = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )

    def check(page):
        page.wait_for_timeout(250)  # colours fade in
        violations = found.Axe().run(page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in violations] == []

    return check


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_axe_finds_nothing_in_any_state(visit, axe, demo, width, scheme):
    page = visit(width, 860, scheme, refusals=True, collection=demo)
    page.locator(".row .lock").nth(1).click()
    page.fill("#sides", "2")
    page.keyboard.press("Tab")
    settled(page)
    page.fill("#limit", "0:02")
    page.keyboard.press("Tab")
    page.wait_for_selector("#limit[aria-invalid]")
    axe(page)  # pinned, sides, refused, a notice
    page.locator(".row .hear").nth(2).click()
    page.click("#given")
    page.locator("#given").hover()
    axe(page)  # a pressed button under the pointer, before, playing
    page.click("#given")
    page.locator(".row .name").nth(0).click()
    page.locator(".row .name").nth(2).click(modifiers=["Shift"])
    page.click("#draw")
    axe(page)  # drawing, several chosen
    page.click("#draw")
    page.click("#versions summary")
    axe(page)
    page.keyboard.press("Escape")
    page.locator(".row .name").nth(0).click()
    page.click("#one-edit")
    axe(page)
    page.keyboard.press("Escape")
    page.click("#again")
    page.locator("#recent b").first.wait_for()
    axe(page)


@pytest.fixture(scope="module")
def texts(server) -> str:
    from fabula.session.open import demo_folder

    files = [(file.name, file.read_bytes()) for file in sorted(demo_folder("text").iterdir())]
    return server.opened(server.upload(*files))


@pytest.mark.parametrize(("width", "scheme"), [(1024, "light"), (390, "dark")])
def test_axe_finds_nothing_on_the_way_with_texts(visit, axe, texts, width, scheme):
    page = visit(width, 768, scheme)
    axe(page)  # nothing open yet
    page.click("#keys")
    axe(page)  # help
    page.keyboard.press("Escape")
    page.evaluate("(id) => sessionStorage.setItem('fabula-page', JSON.stringify({ collection: id }))", texts)
    page.reload()
    settled(page)
    axe(page)
    page.locator(".row .name").nth(2).click()
    page.locator("#joins .join").first.wait_for()
    axe(page)  # the joins of a text, in a panel that scrolls
    if width > 560:
        page.click("#columns summary")
        axe(page)
        page.keyboard.press("Escape")
    page.click("#review-open")
    page.locator("#review .verdict").wait_for()
    axe(page)
    page.click("#review-open")
    page.click("#likes-all summary")
    axe(page)
    follow(page, "man-in-a-hole")
    axe(page)  # a template with its knots
    page.click("#save summary")
    axe(page)


PAINTED = """(node) => {
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = getComputedStyle(node).backgroundColor;
    pen.fillRect(0, 0, 1, 1);
    return `rgb(${[...pen.getImageData(0, 0, 1, 1).data].slice(0, 3)})`;
}"""


def luminance(colour):
    values = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_pressed_buttons_can_be_told_from_the_ground(visit, demo, scheme):
    page = visit(scheme=scheme, collection=demo)
    style = "(node, name) => getComputedStyle(node)[name]"
    follow(page)
    ground = page.locator(".arc").evaluate(style, "backgroundColor")
    for selector, name in ((".layer-template", "stroke"), (".knot .handle", "stroke"), (".point .dot", "fill")):
        assert contrast(page.locator(selector).first.evaluate(style, name), ground) >= 3, selector
    page.locator("#sides").scroll_into_view_if_needed()
    assert contrast(page.locator("#sides").evaluate(style, "borderTopColor"), ground) >= 3
    page.click("#given")
    page.locator("#given").hover()
    page.wait_for_timeout(300)
    pressed = page.locator("#given")
    text, behind = pressed.evaluate(style, "color"), pressed.evaluate(PAINTED)
    assert contrast(text, behind) >= 4.5


def test_the_list_is_one_stop_and_few_lie_before_it(visit, demo):
    page = visit(collection=demo)
    stops = []
    for _ in range(40):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.className?.baseVal ?? document.activeElement.className"))
        if stops[-1].startswith("row"):
            break
    assert len(stops) <= 18, stops
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('#rows') !== null")


def test_a_drag_is_told_once_and_in_words_that_matter(visit, demo):
    page = visit(collection=demo)
    follow(page)
    page.wait_for_timeout(400)
    page.evaluate(
        """() => {
            window.told = [];
            new MutationObserver((changes) => changes.forEach(({ target }) => {
                const node = target.nodeType === 1 ? target : target.parentElement;
                const region = node?.closest("[role=status], [role=alert], [aria-live]");
                if (region && region.textContent) told.push(region.textContent);
            })).observe(document.body, { subtree: true, childList: true, characterData: true });
        }"""
    )
    x, y = centre(page.locator(".knot").nth(2))
    drag(page, (x, y), (x, y + 60), steps=40)
    page.wait_for_timeout(400)
    told = page.evaluate("told")
    assert len(told) == 1, told
    assert re.fullmatch(r"\d of 9 moved\.", told[0])


def test_text_twice_as_large_fits(visit, demo):
    page = visit(collection=demo)
    page.add_style_tag(url="/static/page.css")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    page.evaluate("async () => (await import('/static/state.js')).emit('order')")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    clipped = """(rows) => rows.flatMap((row) => {
        const { bottom } = row.getBoundingClientRect(), parts = [...row.querySelectorAll(".grip, .name, .sub, .time")];
        const low = (part) => part.getBoundingClientRect().bottom > bottom + 1;
        const cut = (part) => !part.matches(".sub") && part.scrollHeight > part.clientHeight + 3;
        return parts.filter((part) => low(part) || cut(part)).map((part) => part.className);
    })"""
    assert page.locator(".row").evaluate_all(clipped) == []


def test_single_letters_can_be_switched_off(visit, demo):
    page = visit(collection=demo)
    pressed = lambda: page.get_attribute("#given", "aria-pressed")  # noqa: E731
    page.locator("#main").focus()
    page.keyboard.press("b")
    assert pressed() == "true"
    page.keyboard.press("b")
    page.keyboard.press("?")
    page.uncheck("#letters")
    page.keyboard.press("Escape")
    page.locator("#main").focus()
    page.keyboard.press("b")
    assert pressed() == "false"
    page.reload()
    page.wait_for_selector("html[data-ready]")
    page.keyboard.press("b")
    assert pressed() == "false"


def test_items_that_are_all_alike_get_honest_words(visit):
    page = visit()
    rows = "".join(f"Item {i},Somebody,0.5,180000\n" for i in range(6))
    text = f"title,artist,energy,duration_ms\n{rows}"
    page.set_input_files("#files", {"name": "alike.csv", "mimeType": "text/csv", "buffer": text.encode()})
    page.locator("#says", has_text="Nothing tells these").wait_for()
    assert page.locator(".row .sub").all_text_contents() == [""] * 6  # no reason


def test_of_2000_items_one_is_found_and_moved(visit):
    page = visit()
    page.set_input_files("#files", {"name": "m.csv", "mimeType": "text/csv", "buffer": table(2000).encode()})
    settled(page)
    assert page.locator(".row").count() < 60
    page.fill("#find", "item 1234")
    assert titles(page) == ["Item 1234"]
    assert page.locator("#find-count").text_content() == "1 of 2000"
    page.locator(".row .name").click()
    page.get_by_role("button", name="First", exact=True).click()
    page.fill("#find", "")
    settled(page)
    page.locator("#scroller").evaluate("(box) => box.scrollTo(0, 0)")
    rest(page, 100)
    assert titles(page)[0] == "Item 1234"
    page.locator(".row").first.focus()
    page.keyboard.press("End")
    rest(page, 100)
    assert page.evaluate("document.activeElement.getAttribute('aria-rowindex')") == "2000"
