"""What is answered and what is saved, number by number, over random sessions: sides, gaps, wishes, media."""

from __future__ import annotations

import csv
import html
import io
import random
import re
from itertools import accumulate, pairwise

import pytest

from .test_exports import PAGE_ONLY, export

DEFAULT, ALL = 20, 200  # sessions
BATCH = 20
GAPS = (0.0, 0.0, 2.0, 0.5, 3.25, -1.5, -20.0)


@pytest.fixture(scope="module")
def collections(server) -> list[dict]:
    """Open collections of every medium: measured ones, and tables with lengths and without."""
    timed, plain = random.Random(5), "title,mood\n" + "".join(f"Thing {i},{i * 7 % 11}\n" for i in range(11))
    rows = "".join(f"Song {i},Band {i % 4},{timed.random():.4f},{timed.uniform(20e3, 400e3):.0f}\n" for i in range(14))
    tables = [("songs.csv", f"title,artist,energy,duration_ms\n{rows}"), ("things.csv", plain)]
    opened = [server.opened(server.client.post("/api/demo", json={"name": n})) for n in ("music", "text", "pictures")]
    opened += [server.opened(server.upload((name, text.encode()))) for name, text in tables]
    return [server.client.get(f"/api/collections/{one}").json() for one in opened]


def make_wishes(chance: random.Random, n: int, lengths: list[float | None]) -> dict:
    """Wishes of somebody, which can hold."""
    asked = {"gap_s": chance.choice(GAPS), "sides": chance.choice((1, 1, 2, 3, 4))}
    if chance.random() < 0.5:
        asked["template"] = chance.choice(("icarus", "steady-rise", {"knots": [0, 0.4, 1], "values": [-1, 2, 0.5]}))
    if chance.random() < 0.3:
        asked["ordering"] = chance.sample(range(n), n)
    else:
        asked["first" if chance.random() < 0.5 else "last"] = chance.randrange(n)
        if None not in lengths and chance.random() < 0.3:
            asked["limit"] = 0.7 * sum(lengths) + 10
    if chance.random() < 0.3:
        asked["titles"] = {str(chance.randrange(n)): "Another <Title>, \u00e9"}
    return asked


def lay_out(lengths: list[float], gap: float) -> tuple[list[float], float]:
    """When each begins as a player plays them: the next starts a gap after the end, or before it; and the end."""
    begins = [0.0]
    for length in lengths[:-1]:
        begins.append(max(begins[-1], begins[-1] + length + gap))
    return begins, max(begin + length for begin, length in zip(begins, lengths, strict=True))


def seconds(text: str) -> float:
    return sum(60**k * float(part) for k, part in enumerate(reversed(text.split(":"))))


def check_session(server, opened: dict, asked: dict, *, whole: bool) -> None:
    answer = server.order(collection=opened["id"], **asked)
    lengths = [opened["items"][i]["length"] for i in answer["ordering"]]
    cuts = [0, *accumulate(answer["sides"] or [len(lengths)])]
    spans = [lengths[a:b] for a, b in pairwise(cuts)]
    timed = opened["medium"]["unit"]["name"] == "seconds"
    if timed and None not in lengths:
        laid = [lay_out(span, asked["gap_s"]) for span in spans]
        ends = [end for _, end in laid]
        assert answer["side_seconds"] == answer["lengths"] == pytest.approx(ends)
        assert answer["total_seconds"] == pytest.approx(sum(ends))
        assert answer["gap_seconds"] == asked["gap_s"]
        assert sum(ends) <= asked.get("limit", 1e9) + 1e-6
        told = [seconds(text) for text in answer["length_texts"]["sides"]]
        assert sum(told) == seconds(answer["length_texts"]["all"])  # parts add up
        assert all(abs(text - end) < 1 for text, end in zip(told, ends, strict=True))
        check_times(server, opened, answer, [begin for begins, _ in laid for begin in begins], ends)
    elif not timed:
        assert (answer["gap_seconds"], answer["side_seconds"], answer["total_seconds"]) == (None, None, None)
    check_order(server, opened, answer, whole=whole)


def check_order(server, opened: dict, answer: dict, *, whole: bool) -> None:
    """The answer, its JSON, its table and its report say the same."""
    saved = export(server, opened["id"], answer["result"], "json").json()
    assert saved == {name: value for name, value in answer.items() if name not in PAGE_ONLY}
    for row in saved["items"]:
        if row["off"] is not None:
            assert row["off"] == pytest.approx(row["essence"] - row["target"])
            assert abs(row["off"]) == pytest.approx(row["deviation"])
    table = list(csv.DictReader(io.StringIO(export(server, opened["id"], answer["result"], "csv").text)))
    names = [row["title"] for row in saved["items"]]
    assert [row["title"] for row in table] == names or opened["origin"]["kind"] == "upload"  # a table keeps its cells
    assert [row.get("side", "") for row in table] == [row["side"] for row in saved["items"]]
    if saved["items"][0]["off"] is not None:
        assert [float(row["off"]) for row in table] == pytest.approx([row["off"] for row in saved["items"]])
    if answer["arc"] is not None and answer["arc"]["name"] == (opened["arc"] or {}).get("name"):
        assert answer["arc"]["values"] == [opened["arc"]["values"][i] for i in answer["ordering"]]
    if whole:
        report = export(server, opened["id"], answer["result"], "html").text
        assert all(html.escape(name) in report for name in names)
        for side, text in enumerate(answer["length_texts"]["sides"] if answer["sides"] else ()):
            assert re.search(rf">\w+ {'ABCD'[side]}{f', {re.escape(html.escape(text))}' if text else ''}<", report)
        assert answer["length_texts"]["all"] in report


def check_times(server, opened: dict, answer: dict, begins: list[float], ends: list[float]) -> None:
    """Tables, sheets and playlists say the same of when each begins and how long a side is."""
    table = list(csv.DictReader(io.StringIO(export(server, opened["id"], answer["result"], "csv").text)))
    if answer["gap_seconds"]:
        assert [float(row["begins"]) for row in table] == pytest.approx(begins)
    sheet = export(server, opened["id"], answer["result"], "txt").text
    assert [seconds(text) for text in re.findall(r"^ *[A-D]?\d+  +([\d:.]+)  ", sheet, re.M)] == pytest.approx(
        begins, abs=0.051
    )
    sides = re.findall(r"^(?:Side [A-D], |in all )([\d:.]+)$", sheet, re.M)
    assert [seconds(text) for text in sides] == pytest.approx(ends, abs=0.051 if answer["sides"] else 0.51)
    cue = export(server, opened["id"], answer["result"], "cue").text
    between = len(begins) - len(ends)
    assert cue.count("PREGAP") == (between if answer["gap_seconds"] > 0 else 0)
    if opened["origin"]["kind"] == "demo" and answer["sides"]:
        listed = export(server, opened["id"], answer["result"], "m3u8").text
        assert re.findall(r"^# Side [A-D], (.+)$", listed, re.M) == answer["length_texts"]["sides"]


@pytest.mark.parametrize(
    "batch",
    [
        *range(DEFAULT // BATCH),
        *(pytest.param(k, marks=pytest.mark.slow) for k in range(DEFAULT // BATCH, ALL // BATCH)),
    ],
)
def test_what_is_shown_is_what_is_saved(server, collections, batch):
    for seed in range(BATCH * batch, BATCH * (batch + 1)):
        chance = random.Random(seed)
        opened = collections[(0, 3, 1, 3, 2, 4)[seed % 6]]
        asked = make_wishes(chance, len(opened["items"]), [item["length"] for item in opened["items"]])
        try:
            check_session(server, opened, asked, whole=seed % 4 == 0)
        except AssertionError as error:
            raise AssertionError(f"session {seed}, {opened['title']}, {asked}: {error}") from error
