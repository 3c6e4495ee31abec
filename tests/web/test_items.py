"""Waves, covers and levels of items, and exports that keep sides and gaps."""

from __future__ import annotations

import csv
import io

import pytest


def test_a_wave_of_an_item(server, demo):
    told = server.client.get(f"/api/collections/{demo}/items/0/wave").json()
    assert len(told["low"]) == len(told["high"]) == 400
    assert all(low <= high for low, high in zip(told["low"], told["high"], strict=True))
    length = server.client.get(f"/api/collections/{demo}").json()["items"][0]["length"]
    assert 0 <= told["begins"] < told["ends"] <= told["length"] == pytest.approx(length, abs=0.01)
    assert server.client.get(f"/api/collections/{demo}/items/99/wave").status_code == 404


def test_covers_are_pictures_in_the_folder(server, root, sound):
    opened = server.opened(server.client.post("/api/collections", json={"path": str(root / "album")}))
    address = f"/api/collections/{opened}/items/0/cover"
    assert server.client.get(address).status_code == 404
    (root / "album" / "cover.png").write_bytes(b"\x89PNG\r\n\x1a\n...")
    answer = server.client.get(address)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    (root / "album" / "cover.png").write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    assert server.client.get(address).status_code == 404
    (root / "album" / "cover.png").unlink()


def test_gains_bring_all_to_one_level(server, demo):
    items = server.client.get(f"/api/collections/{demo}").json()["items"]
    gains = [item["gain"] for item in items]
    assert max(gains) == 0 > min(gains)
    table = server.opened(server.upload(("t.csv", b"title,weight\na,1\nb,2\n")))
    assert [i["gain"] for i in server.client.get(f"/api/collections/{table}").json()["items"]] == [None, None]


@pytest.mark.parametrize("form", ["m3u8", "m3u", "pls", "xspf", "jspf", "csv", "json", "html", "cue", "txt"])
def test_every_export_that_can_keeps_the_sides(server, demo, form):
    ordering = [8, 7, 6, 5, 4, 3, 2, 1, 0]
    result = server.order(collection=demo, ordering=ordering, sides=3, side_sizes=[2, 3, 4])
    asked = {"result": result["result"], "format": form, "gap_s": 2}
    answer = server.client.post(f"/api/collections/{demo}/export", json=asked)
    assert answer.status_code == 200, answer.text
    if form == "csv":
        assert [row["side"] for row in csv.DictReader(io.StringIO(answer.text))] == list("AABBBCCCC")
    elif form == "json":
        assert answer.json()["sides"] == [2, 3, 4]
    else:
        text = answer.text
        titles = [item["title"] for item in result["items"]]
        name = "Side {}" if form != "cue" else "REM SIDE {}"
        starts = [text.index(name.format(side)) for side in "ABC"]
        assert starts == sorted(starts)
        if form != "html":  # where the third side begins, its first item is next, and the last of the second before
            third = text.index(titles[5], starts[1])
            assert text.index(titles[4], starts[1]) < max(starts[2], third)
    if form == "cue":
        assert answer.text.count("PREGAP 00:02:00") == 6  # within sides alone


def test_a_gap_must_be_a_gap(server, demo):
    result = server.order(collection=demo)["result"]
    for gap in (-61, 61, "x"):
        asked = {"result": result, "format": "cue", "gap_s": gap}
        assert server.client.post(f"/api/collections/{demo}/export", json=asked).status_code == 422
