"""The first minute of the page as a film strip: a folder of long tracks opened by the command, a picture every second.

python -m benchmarks.film_strip FOLDER [--seconds 240] [--width 1440 --width 390] [--scheme dark]

Writes FOLDER/WIDTH-SCHEME-SECOND.png and prints, for each width and scheme, when the first row stood there, how long
after the last measure the first order did, and how far things were shifted meanwhile (cumulative layout shift).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from benchmarks.bench_page import find_browser

TRACKS, RATE, MOST = 16, 22050, 120  # MOST pictures at most
SERVE = "import sys; from fabula.cli.serve import command; command.main(sys.argv[1:], standalone_mode=False)"
# When rows are there first, when all are measured, when there is an order; and how far things are shifted.
WATCH = """
window.film = { row: null, measured: null, order: null, shift: 0 };
new PerformanceObserver((list) => list.getEntries().forEach((one) => one.hadRecentInput || (film.shift += one.value)))
    .observe({ type: "layout-shift", buffered: true });
const plain = window.fetch;
window.fetch = async (...asked) => {
    const answer = await plain(...asked);
    if (/api\\/jobs\\/[\\w-]+$/.test(asked[0])) {
        const job = await answer.clone().json();
        if (job.state === "done" || (job.total && job.done === job.total)) film.measured ??= performance.now();
    }
    return answer;
};
const look = () => {
    const rows = document.getElementById("rows");
    if (rows?.querySelector(".row")) film.row ??= performance.now();
    if (film.row && !rows.hasAttribute("aria-busy")) film.order ??= performance.now();
    if (!film.order) requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=240, help="how long the tracks are on average")
    parser.add_argument("--width", type=int, action="append", choices=(1440, 1024, 390))
    parser.add_argument("--scheme", action="append", choices=("light", "dark"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as started:
        music = render_tracks(Path(scratch) / "A Long Evening", asked.seconds)
        browser = started.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        for width in asked.width or (1440, 1024, 390):
            for scheme in asked.scheme or ("light", "dark"):
                with serve(music, Path(scratch) / f"{width}-{scheme}") as address:
                    print(film(browser, address, width, scheme, asked.folder))
        browser.close()


def render_tracks(folder: Path, seconds: float) -> Path:
    """Tracks that differ in level, tempo and length."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(TRACKS):
        time = np.arange(int(RATE * seconds * rng.uniform(0.7, 1.3))) / RATE
        beat = np.exp(-8 * ((time * rng.uniform(70, 160) / 60) % 1)) * rng.standard_normal(len(time))
        tone = np.sin(2 * np.pi * 110 * 2 ** (rng.integers(24) / 12) * time)
        wave = rng.uniform(0.1, 0.9) * (0.3 * tone + 0.2 * rng.uniform(0.1, 1) * beat)
        soundfile.write(folder / f"{number + 1:02d} Hour {number + 1} of the evening.flac", wave, RATE)
    return folder


@contextmanager
def serve(music: Path, scratch: Path) -> Iterator[str]:
    """The command with the folder, nothing measured before: its address."""
    env = {**os.environ, "FABULA_DATA_DIR": f"{scratch}-data", "FABULA_CACHE_DIR": f"{scratch}-cache"}
    command = [sys.executable, "-c", SERVE, str(music), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as server:
        try:
            yield re.findall(r"http://\S+", server.stdout.readline() if server.stdout else "")[0]
        finally:
            server.terminate()


def film(browser: Any, address: str, width: int, scheme: str, folder: Path) -> str:
    """A picture every second until the order stands, and two after it."""
    height = {1440: 900, 1024: 768, 390: 844}[width]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.add_init_script(WATCH)
    page.goto(address)
    after = 2
    for second in range(MOST):
        page.screenshot(path=folder / f"{width}-{scheme}-{second:02d}.png")
        after -= page.evaluate("film.order !== null")
        if after < 0:
            break
        page.wait_for_timeout(1000)
    seen = page.evaluate("film")
    page.close()
    late = seen["order"] - seen["measured"]
    return (
        f"{width} {scheme}: first row after {seen['row']:.0f} ms, first order {late:.0f} ms after the last measure, "
        f"shift {seen['shift']:.4f}"
    )


if __name__ == "__main__":
    main()
