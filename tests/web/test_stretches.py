"""Items that are stretches of one long file, tracks of a cue sheet and shots of a film: seen and heard on the page."""

from __future__ import annotations

import importlib
import io
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

from fabula.web.server_store import Settings

from .conftest import serving, settled

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fabula-video"
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
STARTS, RATE = [0, 3, 7, 9], 8000  # seconds; the last track goes to the end, at 14
SHEET = 'TITLE "A side"\nFILE "side.wav" WAVE\n' + "".join(
    f'  TRACK {k:02d} AUDIO\n    TITLE "T{k}"\n    INDEX 01 00:{begins:02d}:00\n' for k, begins in enumerate(STARTS, 1)
)


def long_file() -> bytes:
    """Four tones, each half as loud as the one before."""
    time_, tone = np.arange(14 * RATE) / RATE, np.zeros(14 * RATE)
    for k, (begins, ends) in enumerate(zip(STARTS, [*STARTS[1:], 14], strict=True)):
        heard = slice(begins * RATE, ends * RATE)
        tone[heard] = 0.8 * 0.5**k * np.sin(2 * np.pi * 220 * (k + 1) * time_[heard])
    file = io.BytesIO()
    soundfile.write(file, tone, RATE, format="WAV")
    return file.getvalue()


@pytest.fixture
def sides(tmp_path):
    folder = (tmp_path / "sides").resolve()
    folder.mkdir()
    (folder / "side.wav").write_bytes(long_file())
    (folder / "side.cue").write_text(SHEET)
    with serving(Settings(roots=(folder,))) as served:
        yield served, folder


def check_side(served, collection, place):
    """What the page knows of each track, and that its wave is of that stretch alone."""
    body = served.client.get(f"/api/collections/{collection}").json()
    assert [item["title"] for item in body["items"]] == ["T1", "T2", "T3", "T4"]
    assert [item["span"] for item in body["items"]] == [[0, 3], [3, 7], [7, 9], [9, None]]
    assert [item["preview"] for item in body["items"]] == [True] * 4
    assert body["medium"]["preview"]["type"] == "audio"
    assert [item["path"] for item in body["items"]] == [
        f"{place}#t={stretch}" for stretch in ("0,3", "3,7", "7,9", "9,")
    ]
    for k, seconds in enumerate([3, 4, 2, 5]):
        wave = served.client.get(f"/api/collections/{collection}/items/{k}/wave").json()
        assert (wave["length"], max(wave["high"])) == pytest.approx((seconds, 0.8 * 0.5**k), rel=0.02)
    whole = served.client.get(f"/api/collections/{collection}/preview/2")
    assert (whole.status_code, whole.content) == (200, long_file())


def test_the_tracks_of_a_cue_sheet_have_previews_waves_and_their_sheet_again(sides):
    served, folder = sides
    opened = served.opened(served.client.post("/api/collections", json={"path": str(folder / "side.cue")}))
    check_side(served, opened, folder / "side.wav")
    result = served.order(collection=opened, ordering=[3, 1, 0, 2])["result"]
    export = lambda form: served.client.post(  # noqa: E731
        f"/api/collections/{opened}/export", json={"result": result, "format": form}
    )
    sheet = export("cue").text
    titles = [line.split('"')[1] for line in sheet.splitlines() if line.startswith("    TITLE")]
    assert titles == ["T4", "T2", "T1", "T3"]
    copies = export("zip")
    assert (copies.status_code, "cannot be copied (4 of 4)" in copies.json()["error"]) == (400, True)
    lost = served.client.get(f"/api/collections/{opened}/losses/{result}?formats=m3u8,cue").json()
    assert ("#t=" in lost["m3u8"], lost["cue"]) == (True, "")


def test_a_cue_sheet_that_is_sent_with_its_file(sides):
    served, _ = sides
    opened = served.opened(served.upload(("side.cue", SHEET.encode()), ("side.wav", long_file())))
    check_side(served, opened, "side.wav")
    alone = served.opened(served.upload(("side.cue", SHEET.encode())))
    items = served.client.get(f"/api/collections/{alone}").json()["items"]
    assert [(item["preview"], item["path"]) for item in items] == [(False, "")] * 4


def test_a_stretch_of_a_file_that_lies_elsewhere_is_not_to_be_had(sides, tmp_path):
    served, folder = sides
    (tmp_path / "secret.wav").write_bytes(long_file())
    (folder / "away.cue").write_text(SHEET.replace("side.wav", "../secret.wav"))
    job = served.finish(served.client.post("/api/collections", json={"path": str(folder / "away.cue")}))
    items = served.client.get(f"/api/collections/{job['collection']}").json()["items"] if job["collection"] else []
    assert not any(item["preview"] for item in items)


@pytest.fixture
def film(tmp_path, bring, monkeypatch):
    """A film of four shots of two seconds, each of another colour."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    bring(importlib.import_module("fabula_video").MEDIUM)
    inputs = [
        part
        for name in ("red", "green", "white", "navy")
        for part in ("-f", "lavfi", "-t", "2", "-i", f"color={name}:s=64x48")
    ]
    joined = ["-filter_complex", "concat=n=4", "-pix_fmt", "yuv420p", "-g", "5", str(tmp_path / "film.mp4")]
    subprocess.run(["ffmpeg", "-v", "error", *inputs, *joined], check=True, timeout=60)
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        yield served, tmp_path / "film.mp4"


@needs_ffmpeg
def test_the_shots_of_a_film_have_previews_and_frames(film):
    served, path = film
    for opened, place in (
        (served.opened(served.client.post("/api/collections", json={"path": str(path)})), str(path)),
        (served.opened(served.upload(("film.mp4", path.read_bytes()))), "film.mp4"),
    ):
        body = served.client.get(f"/api/collections/{opened}").json()
        assert body["medium"]["preview"] == {"kind": "video", "type": "video"}
        spans = [(item["preview"], *item["span"]) for item in body["items"]]
        assert spans == [(True, 0, 2), (True, 2, 4), (True, 4, 6), (True, 6, 8)]
        assert [item["path"].partition("#")[0] for item in body["items"]] == [place] * 4
        frames = [served.client.get(f"/api/collections/{opened}/items/{k}/cover") for k in range(4)]
        assert [frame.headers["content-type"] for frame in frames] == ["image/jpeg"] * 4
        assert len({frame.content for frame in frames}) == 4
        part = served.client.get(f"/api/collections/{opened}/preview/3", headers={"Range": "bytes=0-99"})
        assert (part.status_code, part.content) == (206, path.read_bytes()[:100])


TIME = """async () => {
    const { current, timeOf, lengthOf } = await import("/static/crossfade.js");
    const { item, currentTime, paused } = current();
    return { item, paused, there: currentTime, at: timeOf(current()), length: lengthOf(current()) };
}"""


@pytest.mark.slow
@needs_ffmpeg
def test_shots_play_from_when_they_begin_to_where_they_end(film, browser):
    served, path = film
    opened = served.opened(served.client.post("/api/collections", json={"path": str(path)}))
    served.client.put(f"/api/collections/{opened}/essence", json={"by": "warmth"})
    page = browser.new_page()
    page.add_init_script(f"sessionStorage.setItem('fabula-page', JSON.stringify({{ collection: '{opened}' }}))")
    page.goto(served.entrance)
    settled(page)
    order = [int(row) for row in page.locator("#rows .row").evaluate_all("rows => rows.map((row) => row.dataset.item)")]
    assert order != sorted(order)
    page.click("#play-all")
    page.wait_for_selector('#player[data-state="playing"]')
    heard, until = [], time.monotonic() + 40
    while page.get_attribute("#player", "data-state") == "playing" and time.monotonic() < until:
        now = page.evaluate(TIME)
        if not now["paused"] and now["there"] > 0:
            heard.append((now["item"], now["there"]))
            assert now["length"] == pytest.approx(2)
            assert 2 * now["item"] - 0.1 <= now["there"] <= 2 * now["item"] + 2.4, now  # in its own two seconds
    assert list(dict.fromkeys(item for item, _ in heard)) == order
    assert page.get_attribute("#player", "data-state") == "paused"
    page.locator(f'.row[data-item="{order[1]}"] .hear').click()
    page.wait_for_selector(f'#player[data-state="playing"][data-item="{order[1]}"]')
    page.evaluate("(seek.value = 500, seek.dispatchEvent(new Event('input')))")
    page.click("#play")
    now = page.evaluate(TIME)
    assert now["there"] == pytest.approx(2 * order[1] + 1, abs=0.5)
    assert page.locator("#clock").text_content().endswith("/ 0:02")
    page.screenshot(path=path.with_name("shots.png"))
    page.close()
