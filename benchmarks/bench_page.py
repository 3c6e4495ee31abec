"""The page in a browser: frames while a knot and a row are dragged among many items, and how soon a search is answered.

python -m benchmarks.bench_page
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

STEPS, TRIES = 120, 3
SERVE = "from fabula.cli.serve import command; command.main(['--port', '0', '--no-browser'], standalone_mode=False)"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
WATCH = """() => {
    window.frames_ = [];
    let last = performance.now();
    const next = (now) => { frames_.push(now - last); last = now; window.watching_ = requestAnimationFrame(next); };
    requestAnimationFrame((now) => { last = now; requestAnimationFrame(next); });
}"""
# From the click on a wish to the first order on the screen, and to the one that stays.
SEARCH = """async () => {
    const { commit, state, onChange } = await import("/static/state.js"), began = performance.now();
    let first = null;
    const shown = state.ordering.join();
    return await new Promise((done) => {
        onChange((what) => {
            if (first === null && state.ordering.join() !== shown) first = performance.now() - began;
            if (what === "found") done([first ?? performance.now() - began, performance.now() - began]);
        });
        commit({ apart: true, sides: 2 });
    });
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    found = find_browser()
    with (
        tempfile.TemporaryDirectory() as folder,  # nothing that was made of the same items before
        subprocess.Popen(
            [sys.executable, "-c", SERVE],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "FABULA_DATA_DIR": folder},
        ) as server,
    ):
        try:
            address = re.findall(r"http://\S+", server.stdout.readline() if server.stdout else "")[0]
            with sync_playwright() as started:
                browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
                for items in (500, 2000):
                    measured(browser, address, items)
                browser.close()
        finally:
            server.terminate()


def find_browser() -> str:
    """Where a browser lies."""
    found = os.environ.get("FABULA_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        sys.exit("no browser can be found: install chromium")
    return found


def measured(browser: Any, address: str, items: int) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.set_input_files("#files", {"name": "many.csv", "mimeType": "text/csv", "buffer": table(items)})
    page.locator("#rows .row").first.wait_for()
    page.wait_for_selector("#rows:not([aria-busy])")
    page.get_by_role("button", name="icarus", exact=True).click()
    page.wait_for_selector("#rows:not([aria-busy])")
    meter = page.context.new_cdp_session(page)
    meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    for what, selector, number in (("a knot", ".knot", 2), ("a row", ".row .grip", 4)):
        tries = [dragged(page, meter, selector, number) for _ in range(TRIES)]
        high, middle, work = min(tries)
        frames = f"frames p95 {high:.1f} ms, median {middle:.1f} ms"
        print(f"{items} items, {what} dragged: {frames}; work {work:.1f} ms a frame")
    if items <= 1000:
        first, last = page.evaluate(SEARCH)
        print(f"{items} items, two wishes: first order after {first:.0f} ms, the one that stays after {last:.0f} ms")
    page.close()


def dragged(page: Any, meter: Any, selector: str, number: int) -> tuple[float, float, float]:
    """95th percentile and median of the frames in ms, and processor time of the page per frame."""
    page.wait_for_timeout(700)
    box = page.locator(selector).nth(number).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 8)
    page.evaluate(WATCH)
    before = worked(meter)
    for step in range(STEPS):
        page.mouse.move(x + 15 * math.sin(step / 9), y + 80 * math.sin(step / 7))
        page.wait_for_timeout(8)
    used, frames = worked(meter) - before, page.evaluate("cancelAnimationFrame(watching_), frames_")
    page.keyboard.press("Escape")
    page.mouse.up()
    return float(np.quantile(frames, 0.95)), float(np.median(frames)), 1000 * used / len(frames)


def worked(meter: Any) -> float:
    """Seconds of processor time the page's thread has used."""
    found = {one["name"]: one["value"] for one in meter.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"])


def table(n: int) -> bytes:
    rng = np.random.default_rng(0)
    rows = "".join(
        f"Item {i},Artist {i % 40},{value:.4f},{180000 + 1000 * i}\n" for i, value in enumerate(rng.random(n))
    )
    return f"title,artist,energy,duration_ms\n{rows}".encode()


if __name__ == "__main__":
    main()
