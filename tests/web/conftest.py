from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from fabula.web.app import Timeouts, create_app, make_server
from fabula.web.page_workspace import data_folder
from fabula.web.server_store import Settings

# The first is Chromium without its windows: the same pages for seven tenths of the computing.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "microsoft-edge")
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--autoplay-policy=no-user-gesture-required", "--mute-audio",
]  # fmt: skip
TRIES = 2  # more of what a browser does too late on a busy machine; what is broken fails each time
LOOKS = [(1280, 860, "light"), (390, 844, "dark")]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests in a browser try again: they wait for sound, frames and pointers, which have their own time."""
    for item in items:
        if "visit" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=TRIES))


@dataclass
class Served:
    """A server that runs, a client of it, and the app inside."""

    address: str
    client: httpx.Client
    app: Any

    @property
    def entrance(self) -> str:
        """The address with the token, as `fabula serve` prints it."""
        return f"{self.address}/?token={self.app.state.access.token}"

    @property
    def authorization(self) -> str:
        """A line of headers that lets a request in."""
        return f"Authorization: Bearer {self.app.state.access.token}"

    def finish(self, answer: httpx.Response) -> dict[str, Any]:
        """Wait for a job to end."""
        assert answer.status_code == 202, answer.text
        job = answer.json()
        until = time.monotonic() + 90
        while job["state"] == "running":
            assert time.monotonic() < until, job
            time.sleep(0.02)
            job = self.client.get(f"/api/jobs/{job['id']}").json()
        return job

    def opened(self, answer: httpx.Response) -> str:
        """Wait for a job to end well: the id of its collection."""
        job = self.finish(answer)
        assert job["state"] == "done", job
        return job["collection"]

    def upload(self, *files: tuple[str, bytes], **params: str) -> httpx.Response:
        return self.client.post("/api/uploads", files=[("files", file) for file in files], params=params)

    def order(self, **asked: Any) -> dict[str, Any]:
        answer = self.client.post("/api/order", json=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def serving(settings: Settings | None = None, timeouts: Timeouts | None = None, port: int = 0) -> Iterator[Served]:
    app = create_app(settings)
    server = make_server(app, timeouts, port=port, timeout_graceful_shutdown=1)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < until
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    token = app.state.access.token
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    alone = httpx.Limits(max_keepalive_connections=0)  # one that lay idle may be closed while it is taken up again
    with httpx.Client(base_url=address, timeout=60, headers=headers, limits=alone) as client:
        yield Served(address, client, app)
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def root(tmp_path_factory) -> Path:
    """A folder named at start, with a table, a playlist, music, and a link that leads out of it."""
    from fabula.session.open import demo_folder

    root = tmp_path_factory.mktemp("music")
    (root / "album").mkdir()
    for file in sorted(demo_folder().glob("*.ogg"))[:4]:
        (root / "album" / file.name).write_bytes(file.read_bytes())
    (root / "table.csv").write_text(table(7), encoding="utf-8")
    several = "".join(f"{'ab'[i % 2]},T{i},{i / 9:.2f}\n" for i in range(8))
    (root / "several.csv").write_text(f"collection,title,energy\n{several}", encoding="utf-8")
    outside = tmp_path_factory.mktemp("outside") / "secret.ogg"
    outside.write_bytes((root / "album" / "01 Embers.ogg").read_bytes())
    (root / "list.m3u8").write_text(f"album/01 Embers.ogg\nalbum/04 Parade.ogg\n{outside}\n", encoding="utf-8")
    (root / "away.ogg").symlink_to(outside)
    return root


@pytest.fixture(scope="session")
def server(root, tmp_path_factory) -> Iterator[Served]:
    with serving(Settings(roots=(root.resolve(),))) as served:
        yield served


@pytest.fixture(scope="session")
def opened_demo(server) -> str:
    return server.opened(server.client.post("/api/demo"))


@pytest.fixture
def demo(server, opened_demo) -> str:
    """The demo, measured once, by the model whatever column another test has chosen for it."""
    told = server.client.put(f"/api/collections/{opened_demo}/essence", json={"by": None})
    if told.status_code == 404:  # so many others were opened since that it has left
        return server.opened(server.client.post("/api/demo"))
    return opened_demo


@pytest.fixture(scope="session")
def sound() -> Callable[[str], bytes]:
    from fabula.session.open import demo_folder

    return lambda name: (demo_folder() / name).read_bytes()


def table(n: int) -> str:
    rows = "".join(f"Item {i},Artist {i % 3},{(i * 37 % 101) / 101:.4f},{180000 + 1000 * i}\n" for i in range(n))
    return f"title,artist,energy,duration_ms\n{rows}"


_browsers = ExitStack()  # the one that runs, and what drives it
_running: list[Any] = []


@pytest.fixture
def browser():
    """One for all tests that come one after another: each has a context of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("FABULA_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get("CI"):
        pytest.fail("no browser can be found: install chromium")
    if found is None:
        pytest.skip("no browser can be found (install chromium, or set FABULA_BROWSER)")
    if not (_running and _running[0].is_connected()):
        _close_browser()
        started = _browsers.enter_context(playwright.sync_playwright())
        _running.append(started.chromium.launch(executable_path=found, args=QUIET))
        _browsers.callback(_running[0].close)
    return _running[0]


def _close_browser() -> None:
    _running.clear()
    _browsers.close()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """The browser ends before a test that needs none: while it is driven, no other loop of asyncio can run."""
    if "browser" not in getattr(nextitem, "fixturenames", ()):
        _close_browser()


@pytest.fixture
def visit(browser, server, demo):
    """Open the page; afterwards nothing may have gone wrong in it, but what the server was meant to refuse."""
    contexts, troubles = [], []
    forget_workspaces()

    def visit(width=1280, height=860, scheme="light", *, refusals=False, collection=None):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=width < 500
        )
        contexts.append(context)
        if collection is not None:  # as after a reload: nothing has to be opened
            kept = json.dumps(json.dumps({"collection": collection}))
            context.add_init_script(
                f"sessionStorage.getItem('fabula-page') ?? sessionStorage.setItem('fabula-page', {kept})"
            )
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        refused = ("status of 400", "status of 404", "status of 409") if refusals else ()

        def listen(message):
            if message.type == "error" and not any(words in message.text for words in refused):
                troubles.append(message.text)

        page.on("console", listen)
        page.goto(server.entrance)
        page.wait_for_selector("html[data-ready]")
        if collection is not None:
            settled(page)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def going(monkeypatch) -> Iterator[threading.Event]:
    """Nothing is measured until it is set."""
    from fabula.media import extraction

    going, plain = threading.Event(), extraction._measure_all

    def waiting(*args, **kwargs):
        going.wait(30)
        return plain(*args, **kwargs)

    monkeypatch.setattr(extraction, "_measure_all", waiting)
    yield going
    going.set()


def forget_workspaces() -> None:
    """Forget what other tests made of the same items."""
    shutil.rmtree(data_folder() / "desks", ignore_errors=True)


def open_demo(page):
    page.click("#demo")
    settled(page)


def settled(page):
    """Wait until the order on the screen is the server's."""
    page.locator("#rows .row").first.wait_for()
    page.wait_for_selector("#rows:not([aria-busy])")
    rest(page)
    page.wait_for_selector("#rows:not([aria-busy])")


def rest(page, milliseconds=60):
    """Wait by the clock of the page: what it put off for a shorter time was done before, however busy the machine."""
    page.evaluate("time => new Promise((done) => setTimeout(done, time))", milliseconds)


def follow(page, template="icarus"):
    """Let the order follow a template, which then has knots to drag."""
    page.get_by_role("button", name=template, exact=True).click()
    settled(page)


def row_height(page) -> float:
    return page.locator("#rows .row").first.bounding_box()["height"]


def titles(page) -> list[str]:
    return page.locator("#rows .row .name").all_text_contents()


def row_of(page, title):
    """The row of an item by its whole title."""
    return page.locator(".row", has=page.get_by_text(title, exact=True).and_(page.locator(".name")))


def centre(locator) -> tuple[float, float]:
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, start, end, steps=12):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)
    rest(page)
    page.mouse.up()
    settled(page)
