"""What goes out: files, and sound in ranges."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest

from fabula.sources.playlists.playlist import read_playlist

CURVE = {"knots": [0, 0.5, 1], "values": [-1, 1, -1], "name": "arch"}


@pytest.fixture(scope="module")
def ordering(server, demo) -> list[int]:
    return server.order(collection=demo, template="tragedy")["ordering"]


def export(server, collection, ordering, form):
    asked = {"ordering": ordering, "template": CURVE, "format": form, "pinned": [0]}
    return server.client.post(f"/api/collections/{collection}/export", json=asked)


@pytest.mark.parametrize("form", ["m3u8", "m3u", "pls", "xspf", "jspf"])
def test_playlists_hold_the_order_on_the_screen(server, demo, ordering, form, tmp_path):
    items = server.client.get(f"/api/collections/{demo}").json()["items"]
    answer = export(server, demo, ordering, form)
    assert answer.headers["content-disposition"].endswith(f"Nine%20Short%20Pieces.{form}")
    file = tmp_path / f"x.{form}"
    file.write_bytes(answer.content)
    assert [entry.location for entry in read_playlist(file).entries] == [items[i]["path"] for i in ordering]


def test_tables_json_report_and_picture(server, demo, ordering):
    items = server.client.get(f"/api/collections/{demo}").json()["items"]
    titles = [items[i]["title"] for i in ordering]
    rows = list(csv.DictReader(io.StringIO(export(server, demo, ordering, "csv").text)))
    assert [row["title"] for row in rows] == titles
    whole = json.loads(export(server, demo, ordering, "json").text)
    assert (whole["ordering"], whole["template"]) == (ordering, "arch")
    report = export(server, demo, ordering, "html").text
    assert [report.index(f"<td>{title}</td>") for title in titles] == sorted(
        report.index(f"<td>{title}</td>") for title in titles
    )
    assert export(server, demo, ordering, "svg").text.startswith("<svg")


def test_numbered_copies(server, demo, ordering, sound):
    archive = zipfile.ZipFile(io.BytesIO(export(server, demo, ordering, "zip").content))
    assert archive.testzip() is None
    items = server.client.get(f"/api/collections/{demo}").json()["items"]
    names = [f"{j:02d} {items[i]['title']}.ogg" for j, i in enumerate(ordering, start=1)]
    assert archive.namelist() == ["order.m3u8", *names]
    first = items[ordering[0]]["path"].rpartition("/")[2]
    assert archive.read(names[0]) == sound(first)
    assert archive.read("order.m3u8").decode().splitlines()[1:] == names


@pytest.mark.parametrize("form", ["m3u8", "csv", "json", "html", "zip"])
def test_what_is_left_out_is_in_no_file(server, demo, ordering, form):
    items = server.client.get(f"/api/collections/{demo}").json()["items"]
    asked = {"ordering": ordering[2:], "left_out": ordering[:2], "template": CURVE, "format": form, "pinned": [0, 8]}
    answer = server.client.post(f"/api/collections/{demo}/export", json=asked)
    assert answer.status_code == 200, answer.text
    kept, out = ([items[i]["title"] for i in part] for part in (ordering[2:], ordering[:2]))
    if form == "zip":
        names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()[1:]
        assert names == [f"{place:02d} {title}.ogg" for place, title in enumerate(kept, start=1)]
    elif form == "json":
        whole = json.loads(answer.text)
        assert [row["title"] for row in whole["items"]] == kept
        assert abs(sum(row["essence"] for row in whole["items"])) < 1e-9  # on the scale of those that are left
        assert f"left out: {', '.join(sorted(out, key=[i['title'] for i in items].index))}" in whole["notes"]
    else:
        places = [answer.text.index(title) for title in kept]
        assert places == sorted(places)
        assert form == "html" or not any(title in answer.text for title in out)
    for wrong in ({"left_out": []}, {"left_out": ordering[:1]}, {"left_out": ordering[1:3]}, {"left_out": [7, 99]}):
        refused = server.client.post(f"/api/collections/{demo}/export", json={**asked, **wrong})
        assert (refused.status_code, "ordering" in refused.json()["error"]) == (400, True)


def test_mistakes_are_told(server, demo, root):
    assert "ordering" in export(server, demo, [0, 0], "m3u8").json()["error"]
    table = server.opened(server.client.post("/api/collections", json={"path": str(root / "table.csv")}))
    order = list(range(7))
    for form in ("zip", "m3u8"):
        answer = export(server, table, order, form)
        assert answer.status_code == 400
        assert "Item 0" in answer.json()["error"]
    assert export(server, table, order, "csv").status_code == 200
    assert export(server, demo, order, "doc").status_code == 422


def test_sound_comes_in_ranges(server, demo, sound):
    data, address = sound("01 Embers.ogg"), f"/api/collections/{demo}/sound/0"
    whole = server.client.get(address)
    assert (whole.status_code, whole.headers["accept-ranges"], whole.content) == (200, "bytes", data)
    part = server.client.get(address, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, data[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(data)}"
    tail = server.client.get(address, headers={"Range": "bytes=-50"})
    assert (tail.status_code, tail.content) == (206, data[-50:])
    assert server.client.get(address, headers={"Range": f"bytes={len(data)}-"}).status_code == 416
    assert server.client.get(address, headers={"Range": "bytes=x-y"}).status_code == 400
