"""Files that break, slow down or swell whoever reads them: on the page they are read in children."""

from __future__ import annotations

import io
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fabula.media import children
from tests.sources.tables.test_bombs import text_bomb


def words(count: int) -> bytes:
    rng = np.random.default_rng(4)
    known = np.array(
        [f"{a}{b}" for a in ("rain", "hill", "night", "home", "stone") for b in ("", "s", "ly", "er", "ing")]
    )
    lines = [" ".join(rng.choice(known, 12)).capitalize() + "." for _ in range(count // 12)]
    return "\n\n".join(lines).encode()


@pytest.mark.slow
def test_a_long_text_is_cancelled_at_once_and_others_are_answered(server):
    """Twelve million characters: measured in one go, whatever was cancelled, before."""
    text = words(2_000_000)
    job = server.upload(("long.md", text), ("other.md", text[: len(text) // 2])).json()
    slowest, until = 0.0, time.monotonic() + 1.5
    while time.monotonic() < until:
        start = time.monotonic()
        assert server.client.get("/api/templates").status_code == 200
        slowest = max(slowest, time.monotonic() - start)
        time.sleep(0.05)
    assert slowest < 5.0  # measured in one go it would take the rest of the minute
    start = time.monotonic()
    server.client.delete(f"/api/jobs/{job['id']}")
    while (now := server.client.get(f"/api/jobs/{job['id']}").json())["state"] == "running":
        assert time.monotonic() - start < 20
        time.sleep(0.02)
    assert now["state"] == "cancelled"


def test_a_bomb_costs_one_line_that_names_it(server, tmp_path):
    path = text_bomb(tmp_path / "x.parquet", 1500)
    job = server.finish(server.upload(("my table.parquet", path.read_bytes())))
    assert job["state"] == "failed"
    assert job["error"].startswith("my table.parquet: ")
    assert "unpack" in job["error"] or "memory" in job["error"]


def test_one_file_that_kills_its_reader_does_not_stop_the_others(server, monkeypatch):
    """As a bug in a decoder would: one line, the others are opened, and the server lives."""
    files = [(f"{k}.txt", words(600 + 50 * k)) for k in range(3)]
    monkeypatch.setattr("fabula.media.extraction.measure_at", kill_for_second)
    collection = server.opened(server.upload(*files))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert [item["id"] for item in told["items"]] == ["0.txt", "2.txt"]
    assert any("1.txt" in note and "breaks the program that reads it (signal 11)" in note for note in told["notes"])
    assert server.client.get("/api/jobs").status_code == 200


def kill_for_second(path: str, place: str):
    """In place of `measure_at`, in the child."""
    import os
    import signal

    from fabula.media import extraction

    if path.endswith("00002.txt"):
        os.kill(os.getpid(), signal.SIGSEGV)
    return extraction.measure_at(path, place)


def test_all_kinds_of_files_are_read_in_children(server, monkeypatch, sound):
    """Texts, pictures, sounds, tables: nothing of theirs is parsed in the server itself."""
    from PIL import Image

    from fabula.media.images import picture_files
    from fabula.media.music import audio, tags
    from fabula.media.text import passages
    from fabula.sources.tables import storage

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("this is read in the server itself")

    for module, name in (
        (passages, "plain_document"),
        (passages, "html_document"),
        (passages, "read_packed"),
        (picture_files, "_formats"),
        (tags, "_tags"),
        (audio, "_open_soundfile"),
        (storage, "_unpack"),
    ):
        monkeypatch.setattr(module, name, fail)
    assert children._pool._able
    out = io.BytesIO()
    Image.fromarray(np.tile(np.arange(64, dtype=np.uint8)[:, None, None], (1, 80, 3))).save(out, "PNG")
    packed, table = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.table({"title": list("abcde"), "energy": [0.1, 0.5, 0.2, 0.9, 0.4]}), table)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word/document.xml", f'<d xmlns:w="w"><w:p><w:t>{words(60).decode()}</w:t></w:p></d>')
    for files in (
        [("a.txt", words(80)), ("b.html", b"<p>" + words(90)), ("c.docx", packed.getvalue())],
        [("a.png", out.getvalue()), ("b.png", out.getvalue() + b" ")],
        [("a.ogg", sound("01 Embers.ogg")), ("b.ogg", sound("04 Parade.ogg"))],
        [("a.parquet", table.getvalue())],
    ):
        collection = server.opened(server.upload(*files))
        items = server.client.get(f"/api/collections/{collection}").json()["items"]
        assert len(items) == (5 if "parquet" in files[0][0] else len(files))
