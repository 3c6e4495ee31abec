"""The whole way in Firefox: opened, dragged by hand and finger, moved by keys, heard, undone and kept."""

from __future__ import annotations

import pytest

from . import firefox
from .conftest import TRIES, forget_workspaces

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=TRIES)]

TITLES = "[...document.querySelectorAll('#rows .row .name')].map((name) => name.textContent)"
CENTRE = """(({ left, top, width, height }) => [left + width / 2, top + height / 2])(
    document.querySelectorAll(%r)[%d].getBoundingClientRect())"""
ALT, END, CONTROL = "\ue00a", "\ue010", "\ue009"


@pytest.fixture
def page(server, demo, tmp_path_factory):
    program = firefox.found()
    if program is None:
        pytest.skip("no Firefox can be found (install firefox-esr)")
    pytest.importorskip("websockets", reason="websockets is not installed")
    page = firefox.Firefox(program, tmp_path_factory.mktemp("firefox") / "profile")
    page.send("browsingContext.setViewport", context=page._window, viewport={"width": 1280, "height": 900})
    forget_workspaces()
    page.goto(server.entrance)
    page.wait("document.documentElement.dataset.ready === 'yes'")
    yield page
    page.close()


def settled(page):
    page.wait("document.querySelector('#rows .row') !== null")
    page.wait("!document.getElementById('rows').hasAttribute('aria-busy')")


def test_the_whole_way_in_firefox(page):
    page.evaluate("document.getElementById('demo').click()")
    settled(page)
    first = page.evaluate(TITLES)
    assert len(first) == 9
    page.evaluate("[...document.querySelectorAll('.template')].find((one) => one.textContent === 'icarus').click()")
    settled(page)
    for kind in ("mouse", "touch"):
        before = page.evaluate(TITLES)
        x, y = page.evaluate(CENTRE % (".knot", 2))
        page.drag((x, y), (x, y + (60 if kind == "mouse" else -40)), kind=kind)
        settled(page)
        assert page.evaluate(TITLES) != before, kind
    order = page.evaluate(TITLES)
    x, y = page.evaluate(CENTRE % (".grip", 4))
    page.drag((x, y), (x, y - 2 * page.evaluate("document.querySelector('.row').offsetHeight")))
    settled(page)
    assert page.evaluate(TITLES).index(order[4]) == 2
    page.press(ALT, END)
    settled(page)
    assert page.evaluate(TITLES)[-1] == order[4]
    page.evaluate("document.querySelector('.row .hear').click()")
    page.wait("document.getElementById('player').dataset.state === 'playing'")
    page.evaluate("document.getElementById('play').click()")
    page.evaluate("document.getElementById('main').focus()")
    for _ in range(5):
        page.press(CONTROL, "z")
    settled(page)
    assert page.evaluate(TITLES) == first
    page.wait("document.getElementById('kept').textContent === 'Saved'")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
