"""Listening in a real browser: what follows is what follows now, also in the background; levels, gaps, waves, keys."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from fabula.media import Medium, Preview, Spec
from fabula.web.server_store import Settings

from .conftest import row_of, serving, settled, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

DECKS = """async () => {
    const { current, other } = await import("/static/crossfade.js");
    return [current(), other()].map(({ item, paused, volume }) => ({ item, paused, volume }));
}"""
INK = """(canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
}"""
JUMP = """async (before) => {
    const { current } = await import("/static/crossfade.js");
    while (!(current().duration > 0)) await new Promise((done) => setTimeout(done, 20));
    current().currentTime = current().duration - before;
}"""


def item_of(page, title) -> int:
    return int(row_of(page, title).get_attribute("data-item"))


def begin_transition(page, position):
    page.locator(".row .name").nth(position).click()
    page.get_by_role("button", name="Play transition", exact=True).click()
    page.wait_for_selector('#player[data-state="playing"][data-half="end"]')


def test_a_transition_goes_into_what_follows_now_and_ends_in_the_background(visit, demo):
    page = visit(collection=demo)
    order = titles(page)
    begin_transition(page, 0)
    page.evaluate("window.requestAnimationFrame = () => 0")  # as in a tab that is not seen
    row_of(page, order[7]).locator(".name").click()
    page.keyboard.press("Alt+Home")
    page.keyboard.press("Alt+ArrowDown")  # now the eighth follows the first
    settled(page)
    assert titles(page)[:2] == [order[0], order[7]]
    assert page.locator("#now").text_content() == f"{order[0]} → {order[7]}"
    page.evaluate(JUMP, 0.3)
    page.wait_for_selector('#player[data-state="playing"][data-half="start"]')
    heard, silent = page.evaluate(DECKS)
    assert heard["item"] == item_of(page, order[7])
    assert silent["paused"]
    page.evaluate("async () => { (await import('/static/crossfade.js')).current().currentTime = 9.7; }")
    page.wait_for_selector('#player[data-state="paused"]')


def test_gaps_and_crossfades_are_heard_and_written(visit, demo, tmp_path):
    page = visit(collection=demo)
    page.evaluate("(gap.value = -2, gap.dispatchEvent(new Event('change')))")
    assert page.locator("#gap-text").text_content() == "2 s of crossfade"
    begin_transition(page, 0)
    page.evaluate(JUMP, 1.9)
    page.wait_for_selector('#player[data-half="start"]')
    heard, leaving = page.evaluate(DECKS)
    assert (heard["paused"], leaving["paused"]) == (False, False)  # both at once
    page.click("#play")
    page.evaluate("(gap.value = 3, gap.dispatchEvent(new Event('change')))")
    begin_transition(page, 2)
    page.evaluate(JUMP, 0.1)
    until = time.monotonic() + 20
    while not all(deck["paused"] for deck in page.evaluate(DECKS)):  # until the silence between
        assert time.monotonic() < until
    assert page.get_attribute("#player", "data-state") == "playing"
    page.wait_for_selector('#player[data-half="start"]')
    page.click("#play")
    page.click("#save summary")
    with page.expect_download() as download:
        page.click('[data-format="txt"]')
    download.value.save_as(tmp_path / "sheet.txt")
    assert "gap between tracks: 3 s" in (tmp_path / "sheet.txt").read_text(encoding="utf-8")


def test_levels_are_matched_and_the_volume_is_kept(visit, demo):
    page = visit(collection=demo)
    gains = page.evaluate(
        "async () => (await import('/static/state.js')).state.collection.items.map((item) => item.gain)"
    )
    quiet, loud = gains.index(max(gains)), gains.index(min(gains))
    volumes = {}
    for item in (quiet, loud):
        page.locator(f'.row[data-item="{item}"] .hear').click()
        page.wait_for_selector(f'#player[data-state="playing"][data-item="{item}"]')
        page.wait_for_timeout(100)
        volumes[item] = page.evaluate(DECKS)[0]["volume"]
    assert volumes[quiet] == pytest.approx(1)
    assert volumes[loud] == pytest.approx(10 ** ((gains[loud] - gains[quiet]) / 20), rel=0.01)
    page.click("#level")
    assert page.evaluate(DECKS)[0]["volume"] == pytest.approx(1)
    page.evaluate("(volume.value = 40, volume.dispatchEvent(new Event('input')))")
    assert page.evaluate(DECKS)[0]["volume"] == pytest.approx(0.4)
    page.click("#play")


def test_waves_are_drawn_and_media_keys_work(visit, demo):
    page = visit(collection=demo)
    page.locator(".row .hear").nth(0).click()
    page.wait_for_selector("#seek.waved")
    assert page.locator("#wave").evaluate(INK) > 500
    page.locator("#one-wave[data-item*='/']").wait_for()
    assert page.locator("#one-wave").evaluate(INK) > 500
    title, state = page.evaluate("[navigator.mediaSession.metadata.title, navigator.mediaSession.playbackState]")
    assert (title, state) == (titles(page)[0], "playing")
    page.click("#next")
    page.wait_for_selector(f'#player[data-item="{item_of(page, titles(page)[1])}"]')
    assert page.evaluate("navigator.mediaSession.metadata.title") == titles(page)[1]
    page.click("#play")


def draw_nothing(path, stop):
    return np.array([float(Path(path).stat().st_size)])


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_what_is_to_be_seen_is_seen_while_it_plays(browser, bring, tmp_path):
    spec = Spec("clips", 1, ("size",), draw_nothing, (1,))
    clips = Medium("clips", endings=frozenset({".mp4"}), specs={"clips": lambda: spec}, preview=Preview("video"))
    bring(clips)
    for name in ("red", "green", "blue"):
        drawn = ["-f", "lavfi", "-i", f"color={name}:s=64x48", "-t", "2", "-pix_fmt", "yuv420p"]
        command = ["ffmpeg", "-v", "error", *drawn, str(tmp_path / f"{name}.mp4")]
        subprocess.run(command, check=True, timeout=60)
    with serving(Settings(roots=(tmp_path.resolve(),), first=tmp_path.resolve())) as served:
        page = browser.new_page()
        page.goto(served.entrance)
        settled(page)
        assert page.locator("#screen").is_hidden()
        page.click("#play-all")
        page.wait_for_selector('#player[data-state="playing"]')
        until = time.monotonic() + 20
        while not page.evaluate("document.querySelector('#screen video:not([hidden])').currentTime > 0.1"):
            assert time.monotonic() < until
        assert page.locator("#screen video:visible").count() == 1
        assert page.evaluate("document.querySelector('#screen video:not([hidden])').videoWidth") == 64
        page.click("#again")
        assert page.locator("#kind option").all_text_contents() == ["what their endings say", "clips", "music"]
        page.close()
