"""What goes out: files that hold what was answered, and previews in ranges."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile

import pytest

from fabula.sources.playlists.playlist import read_playlist

PAGE_ONLY = (
    "result",
    "given_name",
    "explained",
    "length_texts",
    "sequence",
    "final",
    "steps",
)  # of the answer: what an export does not have


@pytest.fixture
def result(server, demo) -> dict:
    return server.order(collection=demo, template="tragedy", fixed={"0": 3})


def export(server, collection, result, form):
    return server.client.post(f"/api/collections/{collection}/export", json={"result": result, "format": form})


WISHES = {
    "the model's arcs": {},
    "a template": {"template": "icarus"},
    "another proposal": {"choose": 2},
    "two sides": {"sides": 2},
    "two sides of a template": {"sides": 2, "template": "icarus", "side_limit": "0:58"},
    "three sides with ends": {"sides": 3, "template": "wave", "first": {"0": "Parade", "2": 1}, "last": {"1": 0}},
    "a limit": {"limit": "1:06"},
    "a limit and sides": {"limit": 66, "sides": 2, "template": "icarus"},
    "wishes": {"first": "Embers", "together": [[1, 2], [2, 3]], "before": [[8, 4]], "smoothness": 0.5,
               "apart": "creator", "apart_soft": True},
    "a drawn template": {"template": {"knots": [0, 0.4, 1], "values": [-1.3, 1.7, 0.2]}, "scaled": False},
    "an order made by hand": {"ordering": [8, 7, 6, 5, 4, 3, 2, 1, 0], "template": "icarus"},
    "sides made by hand": {"ordering": [3, 1, 4, 0, 5, 2, 6], "sides": 2, "side_sizes": [2, 5]},
    "sides cut by the server": {"ordering": [3, 1, 4, 0, 5, 2, 6, 8, 7], "sides": 3},
}  # fmt: skip


@pytest.mark.parametrize("asked", WISHES.values(), ids=WISHES)
def test_the_export_is_the_answer_to_the_last_number(server, demo, asked):
    answered = server.order(collection=demo, **asked)
    exported = export(server, demo, answered["result"], "json").json()
    assert exported == {name: value for name, value in answered.items() if name not in PAGE_ONLY}
    n = len(exported["items"])
    assert sum(exported["sides"]) in (0, n)
    assert sorted(exported["ordering"] + exported["left_out"]) == list(range(9))
    if asked.get("sides", 1) > 1:
        assert len(exported["sides"]) == len(exported["lengths"]) == asked["sides"]
        assert [row["side"] for row in exported["items"]] == [
            letter for letter, size in zip("ABC", exported["sides"], strict=False) for _ in range(size)
        ]
        assert (
            len([row for row in exported["items"] if row["why"].split(": ", 1)[-1].startswith(("opener", "opens"))])
            == asked["sides"]
        )


def test_the_export_of_a_column_is_the_answer_to_the_last_number(server):
    rows = "".join(f"Item {i},{(i * 37 % 101) / 101:.4f},{180000 + 1000 * i}\n" for i in range(11))
    collection = server.opened(server.upload(("t.csv", f"title,energy,duration_ms\n{rows}".encode()), by="duration_ms"))
    answered = server.order(collection=collection, template="steady-rise", sides=2, limit="27:00")
    assert answered["left_out"]
    exported = export(server, collection, answered["result"], "json").json()
    assert exported == {name: value for name, value in answered.items() if name not in PAGE_ONLY}
    table = list(csv.DictReader(io.StringIO(export(server, collection, answered["result"], "csv").text)))
    assert [float(row["deviation"]) for row in table] == [item["deviation"] for item in exported["items"]]
    assert [row["side"] for row in table] == [item["side"] for item in exported["items"]]


def test_a_result_stays_what_it_was(server, demo):
    """Another order, and another essence, change nothing of what was on the screen before."""
    saved = server.client.post(f"/api/collections/{demo}/session", json={}).json()
    collection = server.client.post("/api/sessions", json=saved).json()["collection"]["id"]
    first = server.order(collection=collection, template="icarus", sides=2)
    server.order(collection=collection, template="tragedy")
    server.client.put(f"/api/collections/{collection}/essence", json={"by": "loudness"})
    exported = export(server, collection, first["result"], "json").json()
    assert exported == {name: value for name, value in first.items() if name not in PAGE_ONLY}


def test_results_are_few_and_belong_to_a_collection(server, demo, root):
    results = [server.order(collection=demo, template="wave", explain=False)["result"] for _ in range(14)]
    assert len(set(results)) == 14
    for gone in results[:2]:
        answer = export(server, demo, gone, "json")
        assert (answer.status_code, "order the collection again" in answer.json()["error"]) == (404, True)
    assert export(server, demo, results[-1], "json").status_code == 200
    other = server.opened(server.client.post("/api/collections", json={"path": str(root / "table.csv")}))
    assert export(server, other, results[-1], "json").status_code == 404
    assert export(server, demo, "nosuch", "json").status_code == 404
    assert server.order(items=[{"essence": 1}, {"essence": 2}])["result"] is None


@pytest.mark.parametrize("form", ["m3u8", "m3u", "pls", "xspf", "jspf"])
def test_playlists_hold_the_order_on_the_screen(server, demo, form, tmp_path):
    result = server.order(collection=demo, template="tragedy", sides=2)
    answer = export(server, demo, result["result"], form)
    assert answer.headers["content-disposition"].endswith(f"Nine%20Short%20Pieces.{form}")
    file = tmp_path / f"x.{form}"
    file.write_bytes(answer.content)
    assert [entry.location for entry in read_playlist(file).entries] == [item["path"] for item in result["items"]]


def test_a_playlist_of_this_machine_loses_nothing_and_leads_to_its_files(server, root, tmp_path):
    collection = server.opened(server.client.post("/api/collections", json={"path": str(root / "list.m3u8")}))
    result = server.order(collection=collection, ordering=[1, 0])
    assert [entry["position"] for entry in result["unmeasured"]] == [3]  # it lies outside, and keeps its position
    file = tmp_path / "x.m3u8"
    file.write_bytes(export(server, collection, result["result"], "m3u8").content)
    locations = [entry.location for entry in read_playlist(file).entries]
    album = root / "album"
    assert locations[:2] == [str(album / "04 Parade.ogg"), str(album / "01 Embers.ogg")]
    assert locations[2].endswith("secret.ogg")


def test_tables_report_and_picture(server, demo):
    result = server.order(collection=demo, template="tragedy", sides=2)
    titles = [item["title"] for item in result["items"]]
    rows = list(csv.DictReader(io.StringIO(export(server, demo, result["result"], "csv").text)))
    assert [row["title"] for row in rows] == titles
    assert [row["side"] for row in rows] == [item["side"] for item in result["items"]]
    report = export(server, demo, result["result"], "html").text
    places = [report.index(f">{title}</td>") for title in titles]
    assert places == sorted(places)
    for text in result["length_texts"]["sides"]:
        assert text in report
    assert all(item["why"] in report for item in result["items"])
    assert export(server, demo, result["result"], "svg").text.startswith("<svg")


def test_numbered_copies(server, demo, result, sound):
    archive = zipfile.ZipFile(io.BytesIO(export(server, demo, result["result"], "zip").content))
    assert archive.testzip() is None
    names = [f"{j:02d} {item['title']}.ogg" for j, item in enumerate(result["items"], start=1)]
    assert archive.namelist() == ["order.m3u8", *names]
    assert archive.read(names[0]) == sound(result["items"][0]["path"].rpartition("/")[2])
    listed = archive.read("order.m3u8").decode().splitlines()
    assert [line for line in listed if not line.startswith("#")] == names
    sides = server.order(collection=demo, template="tragedy", sides=2)
    archive = zipfile.ZipFile(io.BytesIO(export(server, demo, sides["result"], "zip").content))
    numbers = [name.split()[0] for name in archive.namelist()[1:]]
    assert numbers == [
        f"{side}{k}" for side, size in zip("AB", sides["sides"], strict=True) for k in range(1, size + 1)
    ]


@pytest.mark.parametrize("form", ["m3u8", "csv", "json", "html", "zip"])
def test_what_is_left_out_is_in_no_file(server, demo, form):
    items = server.client.get(f"/api/collections/{demo}").json()["items"]
    result = server.order(collection=demo, template="tragedy", limit=66)
    answer = export(server, demo, result["result"], form)
    assert answer.status_code == 200, answer.text
    kept = [items[i]["title"] for i in result["ordering"]]
    out = [items[i]["title"] for i in result["left_out"]]
    assert (len(kept), len(out)) == (6, 3)
    if form == "zip":
        names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()[1:]
        assert names == [f"{position:02d} {title}.ogg" for position, title in enumerate(kept, start=1)]
    elif form == "json":
        whole = json.loads(answer.text)
        assert [row["title"] for row in whole["items"]] == kept
        assert f"left out to keep within 1:06: {', '.join(out)}" in whole["notes"]
    else:
        cell = ">{}</td>" if form == "html" else "{}"
        positions = [answer.text.index(cell.format(title)) for title in kept]
        assert positions == sorted(positions)
        assert form == "html" or not any(title in answer.text for title in out)


def test_mistakes_are_told(server, demo, root, result):
    table = server.opened(server.client.post("/api/collections", json={"path": str(root / "table.csv")}))
    ordered = server.order(collection=table)["result"]
    for form in ("zip", "m3u8"):
        answer = export(server, table, ordered, form)
        assert answer.status_code == 400
        assert "'Item " in answer.json()["error"]
    assert export(server, table, ordered, "csv").status_code == 200
    unknown = export(server, demo, result["result"], "doc")
    assert (unknown.status_code, "the ending must be one of .m3u" in unknown.json()["error"]) == (400, True)
    assert export(server, demo, result["result"], "../m3u8").status_code == 422


def test_previews_come_in_ranges(server, demo, sound):
    data, address = sound("01 Embers.ogg"), f"/api/collections/{demo}/preview/0"
    whole = server.client.get(address)
    assert (whole.status_code, whole.headers["accept-ranges"], whole.content) == (200, "bytes", data)
    part = server.client.get(address, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, data[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(data)}"
    tail = server.client.get(address, headers={"Range": "bytes=-50"})
    assert (tail.status_code, tail.content) == (206, data[-50:])
    assert server.client.get(address, headers={"Range": f"bytes={len(data)}-"}).status_code == 416
    assert server.client.get(address, headers={"Range": "bytes=x-y"}).status_code == 400


def test_a_title_of_eighty_emoji_is_exported_under_a_name_that_fits(server):
    rows = "".join(f"Track {k},0.{k}\n" for k in range(1, 6))
    collection = server.opened(server.upload((f"{'😀' * 80}.csv", f"title,energy\n{rows}".encode())))
    answer = server.order(collection=collection)
    for form in ("csv", "json"):
        done = export(server, collection, answer["result"], form)
        assert done.status_code == 200, done.text
        assert f".{form}" in done.headers["content-disposition"]


def workbook(merged: str = "") -> bytes:
    """A workbook of five rows with a bold cell, and cells that are merged."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["title", "energy"], *([f"song {k}", k / 5] for k in (3, 1, 4, 2, 5))):
        sheet.append(row)
    sheet["A2"].font = openpyxl.styles.Font(bold=True)
    out = io.BytesIO()
    book.save(out)
    if not merged:
        return out.getvalue()
    made = io.BytesIO()
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            cells = f'</sheetData><mergeCells><mergeCell ref="{merged}"/></mergeCells>'.encode()
            new.writestr(name, old.read(name).replace(b"</sheetData>", cells))
    return made.getvalue()


def test_a_workbook_is_written_back(server):
    import openpyxl

    collection = server.opened(server.upload(("my songs.xlsx", workbook())))
    answer = export(server, collection, server.order(collection=collection)["result"], "xlsx")
    assert answer.status_code == 200, answer.text
    rows = list(openpyxl.load_workbook(io.BytesIO(answer.content)).active.iter_rows(min_row=2))
    assert sorted(row[0].value for row in rows) == [f"song {k}" for k in range(1, 6)]
    assert [row[0].font.bold for row in rows] == [row[0].value == "song 3" for row in rows]


@pytest.mark.slow
def test_a_workbook_that_swells_is_refused_by_the_name_it_came_with(server):
    """To merge all its cells takes openpyxl for ever, and all memory: in a child."""
    collection = server.opened(server.upload(("my songs.xlsx", workbook("A20:XFD1048576"))))
    answer = export(server, collection, server.order(collection=collection)["result"], "xlsx")
    assert answer.status_code == 400
    assert re.fullmatch(r"my songs\.xlsx: (needs|takes) more than .* to be read; write \.csv", answer.json()["error"])
