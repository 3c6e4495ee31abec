import json
import multiprocessing
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("torch")

from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.report.study import report_page, write_report
from fabula.research.reproduce import NAMES, RANDOM, baseline_name, reproduce, significance
from fabula.research.workspace import StudyPlan, Workspace, make_plan, plain, read_study_data
from fabula.training.audit import AuditReport, AuditRow

TINY = {"epochs": 2, "draws": 1, "widths": (8,), "negatives": 7}
PLAN = StudyPlan(
    seeds=1,
    device="cpu",
    preset="arcs",
    changes=TINY,
    bits_preset="arcs",
    bits_changes=TINY,
    search_changes={"preset": "default", "scorer_hidden": 4, "scorer_layers": 1},
    sequencer={"epochs": 2, "width": 8, "heads": 2, "layers": 1},
    dimensions=(1, 2),
    counts=(1, 2),
    searched=2,
    shares=(0.5, 1.0),
    quick=True,
)


def write_albums(path, count=40, *, kinds=True):
    rng = np.random.default_rng(0)
    lines = ["album,album_title,artist,track,title,energy,tempo,disc,year" + (",kind" if kinds else "")]
    for a in range(count):
        n = int(rng.integers(7, 10))
        energy = rng.normal(size=n) + np.linspace(1, -1, n)
        name = "Thriller" if a == 3 else f'Album <{a}> & "co"'
        for i in range(n):
            cells = [a, '"' + name.replace('"', '""') + '"', f"artist {a}", i + 1, f"song {a}.{i}", energy[i]]
            cells += [rng.normal(), 1 + (i > 4), 1990 + a] + (["live" if a == 5 else ""] if kinds else [])
            lines.append(",".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    table = write_albums(folder / "albums.csv")
    told = []
    study = reproduce(table, folder / "out", plan=PLAN, held_out=0.3, progress=lambda *words: told.append(words))
    return table, folder / "out", study, told


def test_every_table_and_figure_has_its_numbers(done):
    _, _, study, _ = done
    assert [row["dimensions"] for row in study.table1] == [1, 2]
    assert [row["paper"] for row in study.table1] == [1.924, 1.936]
    assert {row["name"] for row in study.figure1} == {"essence", "energy", "tempo"}
    assert {row["data"] for row in study.controls} == {"real", "noise features", "shuffled orders"}
    assert {row["k"] for row in study.figure2["rows"]} == {1, 2}
    assert len(study.significance["rows"]) == 12
    assert all({"n", "effect", "p", "adjusted"} <= set(row) for row in study.significance["rows"])
    assert [g["k"] for g in study.kinship["generations"]] == [1, 2]
    assert study.example["title"].startswith("Thriller")
    assert len(study.example["fits"]) == 2
    methods = [row["method"] for row in study.recovery["rows"]]
    assert methods[0] == "chance"
    assert methods[-5:-2] == ["sorted essence", "squared-error templates", "mixture of arcs"]
    assert methods[-2:] == ["bilstm search", "direct transformer"]
    assert study.recovery["rows"][-2]["n"] == 2


def test_few_collections_get_as_many_steps_as_many(done):
    _, folder, study, _ = done
    epochs = {
        json.loads(path.read_text())["settings"]["config"]["epochs"] for path in (folder / "stages").glob("more-data-*")
    }
    assert epochs == {2, 4}  # all of the training collections, and half of them
    assert [row["collections"] for row in study.more_data][1] == study.data["collections"]["training"]


def test_a_control_that_is_not_zero_is_said_on_the_page(done):
    study = done[2]
    for bits, words in (
        (0.0, "beside them: both are zero, as they must be"),
        (0.3, "beside them: one is above zero: a LEAK, trust no figure"),
        (-0.03, "learned noise by heart, which is no leak"),
    ):
        plain = [{key: value for key, value in row.items() if key != "verdict"} for row in study.controls]
        rows = [{**row, "bits": bits, "low": bits - 0.005, "high": bits + 0.005, "collections": 40} for row in plain]
        judged = AuditReport([AuditRow(**row) for row in rows]).to_dict()["rows"]
        assert words in report_page(replace(study, controls=judged))
    few = AuditReport([AuditRow(**{**row, "collections": 5}) for row in plain]).to_dict()["rows"]
    assert "too few collections were measured" in report_page(replace(study, controls=few))


def test_significance_is_over_creators(rng):
    """Twelve albums of each of four artists who are alike: one by one, the difference would be sure."""
    albums = [Collection(str(k), [Item("0", artist=f"a{k % 4}"), Item("1")]) for k in range(48)]
    gains = np.array([0.5, -0.2, 0.3, 0.1])[np.arange(48) % 4] + 0.01 * rng.normal(size=48)
    named = {RANDOM: 0 * gains, baseline_name("refined"): 0 * gains, NAMES["refined"]: gains}
    figure = {"k": 4, "scores": [[name, 4, m, values] for name, values in named.items() for m in ("edit", "spearman")]}
    rows = significance(SimpleNamespace(study=SimpleNamespace(parts=SimpleNamespace(test=albums))), figure)["rows"]
    assert all(row["low"] < 0 < row["high"] and row["p"] > 0.2 for row in rows)
    assert stats.ttest_1samp(gains, 0).pvalue < 0.001


def test_intervals_go_with_their_tests(done):
    """An interval holds zero where p is above 0.05."""
    study = done[2]
    for row in [*study.significance["rows"], *study.recovery["tests"]]:
        if row["low"] < row["high"]:
            assert (row["low"] <= 0 <= row["high"]) == (row["p"] >= 0.05)


def test_columns_that_give_the_order_away_are_left_out(done):
    _, _, study, _ = done
    assert study.data["features"] == ["energy", "tempo"]
    notes = " ".join(study.data["notes"])
    assert "'disc' left out: it follows the order itself" in notes
    assert "'year' left out: it is the same for all items" in notes
    assert "kind = ''" in notes


def test_a_second_call_takes_up_what_is_there(done):
    table, folder, study, told = done
    assert next(note for stage, note, _, _ in told if stage == "table1-d1-0") == "begins"
    assert told[-1][2:] == (told[-1][3],) * 2  # all stages are done, as many as were announced
    stages = sorted((folder / "stages").glob("*.json"))
    before = {path.name: path.read_bytes() for path in stages}
    (folder / "stages" / "figure1-02-0.json").write_text("{broken")
    again_told = []
    again = reproduce(table, folder, plan=PLAN, held_out=0.3, progress=lambda *words: again_told.append(words))
    assert [stage for stage, note, _, _ in again_told if note == "begins"] == ["figure1-02-0"]
    assert plain(replace(again, folder=None)) == plain(replace(study, folder=None))
    assert {path.name for path in stages} == set(before)
    kept = json.loads(before["recovery.json"])
    assert kept["stage"] == "recovery"
    assert kept["seconds"] >= 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_side_by_side_gives_the_same(done, tmp_path):
    table, _, study, _ = done
    told = []
    again = reproduce(
        table, tmp_path, plan=replace(PLAN, jobs=2), held_out=0.3, progress=lambda *words: told.append(words)
    )
    one, two = plain(replace(again, folder=None)), plain(replace(study, folder=None))
    assert one.pop("sequencer")["bits"]["mean"] == pytest.approx(two.pop("sequencer")["bits"]["mean"], abs=1e-4)
    assert one == two
    assert any(stage == "table1-d2-0" and note.startswith("done") for stage, note, _, _ in told)


@pytest.mark.slow
def test_an_error_side_by_side_stops_all_and_is_told(done, tmp_path):
    table, _, _, _ = done
    broken = replace(PLAN, jobs=2, sequencer={"width": 7, "heads": 2})
    with pytest.raises(InputError, match="width must be a multiple of heads"):
        reproduce(table, tmp_path, plan=broken, held_out=0.3)
    assert not multiprocessing.active_children()


def test_other_settings_are_done_anew(done, tmp_path):
    table, _, _, _ = done
    study = read_study_data(table, held_out=0.3)
    (tmp_path / "stages").mkdir()
    calls = []
    workspace = Workspace(tmp_path, study, PLAN)

    def work(value):
        return lambda: calls.append(value) or {"value": value}

    assert workspace.stage("x", {"a": 1}, work(1)) == {"value": 1}
    assert workspace.stage("x", {"a": 1}, work(2)) == {"value": 1}
    assert workspace.stage("x", {"a": 2}, work(3)) == {"value": 3}
    other = replace(workspace, study=replace(study, features=("other",)))
    assert other.stage("x", {"a": 2}, work(4)) == {"value": 4}
    missing = tmp_path / "absent"
    assert other.stage("x", {"a": 2}, work(5), files=[missing]) == {"value": 5}
    assert calls == [1, 3, 4, 5]


def test_the_parts_share_no_artist(done):
    study = read_study_data(done[0], held_out=0.3)
    parts = [study.parts.training, study.parts.validation, study.parts.test]
    artists = [{c.items[0].artist for c in part} for part in parts]
    assert all(artists)
    aside = [zlib.crc32(artist.encode()) % 10 == 0 for artist in sorted(artists[0] | artists[1])]
    assert aside == [artist in artists[1] for artist in sorted(artists[0] | artists[1])]  # by the name alone
    assert not (artists[0] & artists[1])
    assert not (artists[0] & artists[2])
    assert not (artists[1] & artists[2])
    assert all(c.title != 'Album <5> & "co"' for part in parts for c in part)


def test_the_report_holds_all_figures_and_loads_nothing(done, tmp_path):
    _, _, study, _ = done
    page = write_report(study, tmp_path / "r").read_text(encoding="utf-8")
    pictures = sorted(path.name for path in (tmp_path / "r" / "figures").iterdir())
    assert pictures == [
        "figure1.svg", "figure2-gain.svg", "figure2.svg", "figure3.svg", "figure4.svg", "figure5.svg", "learning.svg",
        "recovery.svg", "table1.svg",
    ]  # fmt: skip
    for picture in pictures:
        ET.parse(tmp_path / "r" / "figures" / picture)
    assert page.count("<svg") == len(pictures)
    seen = []

    class Links(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.extend(value for name, value in attrs if name in ("src", "href"))

    Links().feed(page)
    assert not seen
    assert "url(" not in page
    assert ">nan" not in page
    numbers = json.loads((tmp_path / "r" / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["recovery"]["rows"][0]["method"] == "chance"
    header = (tmp_path / "r" / "tables" / "recovery-tests.csv").read_text().splitlines()[0]
    assert header == "metric,a,b,n,difference,low,high,effect,p,adjusted"


def test_what_is_neither_table_nor_fma_is_refused(tmp_path):
    odd = tmp_path / "notes.txt"
    odd.write_text("hello")
    with pytest.raises(InputError, match="must be a table"):
        read_study_data(odd)


def test_a_table_whose_columns_all_tell_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{a},{i + 1},{i}" for a in range(20) for i in range(6)]
    path.write_text("\n".join(["album,position,number", *rows]) + "\n")
    with pytest.raises(InputError, match="no column is left"):
        read_study_data(path)


def test_the_full_plan_is_the_papers():
    full, quick = make_plan(), make_plan(quick=True)
    assert (full.seeds, full.dimensions, full.counts) == (5, (1, 2, 4, 8, 16), (1, 2, 3, 4, 5, 6))
    assert (quick.dimensions, quick.counts) == (full.dimensions, full.counts)
