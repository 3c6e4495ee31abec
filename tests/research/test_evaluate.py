import json

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError
from fabula.evaluation.intervals import cohen_dz, compare_scores
from fabula.evaluation.metrics import METRICS
from fabula.models.model import Model, save_model
from fabula.models.transform import Transform
from fabula.research import recovery as recovering
from fabula.research.evaluate import EvaluationRequest, evaluate_table, tabulate
from fabula.research.recovery import Methods, recover
from fabula.research.splits import Split

NAMES = ("energy", "tempo")
SEARCH = recovering.SEARCHES["bilstm"]


def collections(count, *, seed=0, rise=1.0, start=0):
    rng = np.random.default_rng(seed)
    made = []
    for number in range(start, start + count):
        n = int(rng.integers(5, 9))
        features = rng.normal(size=(n, 2))
        features[:, 0] += rise * np.linspace(-2, 2, n)
        made.append(Collection(f"c{number}", [Item(f"{number}-{i}") for i in range(n)], features, NAMES))
    return made


def rise_model():
    transform = Transform(("energy",), (), [0.0], [1.0])
    config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": [{"kind": "arcs", "k": 1, "knots": 2}]}
    tensors = {"arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
    return Model(config, tensors, transform)


def table(path, albums):
    lines = ["album,track,energy,tempo"]
    for c in albums:
        lines += [f"{c.id},{i + 1},{row[0]},{row[1]}" for i, row in enumerate(c.features)]
    path.write_text("\n".join(lines) + "\n")
    return path


def by_method(result):
    return {row.method: row for row in result.rows}


def test_equal_items_never_give_the_true_order_away():
    """With one value for all items every method is as good as chance: none may lean on the order given."""
    rng = np.random.default_rng(0)
    albums = [Collection(str(i), [Item(str(j)) for j in range(8)], np.ones((8, 2)), NAMES) for i in range(60)]
    flat = TemplateSet([Template([0, 1], [-1, 1])])
    found = recover(
        Split(albums, list(albums), ""), NAMES, Methods(rise_model(), templates=flat), seed=int(rng.integers(99))
    )
    learned = {recovering.SORTED, recovering.PAPER, recovering.ARCS}
    assert set(found) == {"energy up", "energy down", "tempo up", "tempo down", *learned}
    for method, orderings in found.items():
        rho = np.mean([METRICS["spearman"](o) for o in orderings])
        assert abs(rho) < 4 / np.sqrt(60 * 7), method


def test_a_rise_is_found_by_those_that_know_it():
    albums = collections(60, rise=2.0)
    result = tabulate(
        recover(Split(albums[:40], albums[40:], ""), NAMES, Methods(rise_model())), [len(c) for c in albums[40:]]
    )
    rows = by_method(result)
    rho = {name: row.metrics["spearman"].mean for name, row in rows.items()}
    assert rho["energy up"] == pytest.approx(rho[recovering.ARCS])
    assert rho[recovering.ARCS] > 0.7
    assert rho["energy down"] == pytest.approx(-rho["energy up"])
    assert rho[recovering.PAPER] > 0.5
    assert abs(rho["chance"]) < 0.2
    assert max(rho, key=rho.get) in ("energy up", recovering.ARCS)
    assert next(row.method for row in result.rows) == "chance"


def test_the_tests_are_paired_t_tests_of_one_family():
    albums = collections(30)
    found = recover(Split(albums, list(albums), ""), NAMES, Methods(rise_model()))
    result = tabulate(found, [len(c) for c in albums])
    methods = len(found)
    assert len(result.tests) == 3 * (methods + 3)  # against chance, and those that learn against each other
    wanted = ("edit", recovering.PAPER, recovering.ARCS)
    [one] = [test for metric, test in result.tests if (metric, test.a, test.b) == wanted]
    a, b = ([METRICS["edit"](o) for o in found[name]] for name in (recovering.PAPER, recovering.ARCS))
    assert one.p == compare_scores({"a": a, "b": b}, [("a", "b")])[0].p
    assert one.n == 30
    assert one.effect == pytest.approx(cohen_dz(np.subtract(a, b)))
    assert all(test.adjusted >= test.p for _, test in result.tests)


def test_a_method_asked_about_some_is_paired_on_those_alone():
    lengths = [6] * 20
    whole = [np.arange(6)] * 20
    part = [np.arange(6)[::-1] if i % 4 == 0 else None for i in range(20)]
    result = tabulate({recovering.ARCS: list(whole), SEARCH: part}, lengths)
    rows = by_method(result)
    assert (rows[recovering.ARCS].n, rows[SEARCH].n) == (20, 5)
    [one] = [test for metric, test in result.tests if metric == "spearman" and test.b == SEARCH]
    assert (one.n, one.difference) == (5, 2.0)


def test_the_search_is_asked_about_some_collections_evenly():
    asked = []

    def orderings(values):
        asked.extend(values)
        return [np.arange(len(v)) for v in values]

    found = recovering.on_subset(orderings, [np.full(3, float(i)) for i in range(10)], 3)
    assert [v[0] for v in asked] == [0, 4, 9]
    assert [o is not None for o in found] == [i in (0, 4, 9) for i in range(10)]


@pytest.mark.slow
def test_a_table_by_a_column_or_a_model(tmp_path):
    path = table(tmp_path / "t.csv", collections(80, rise=2.0))
    by_column = evaluate_table(EvaluationRequest(path, by="energy", held_out=0.3))
    assert by_method(by_column)[recovering.ARCS].metrics["spearman"].mean > 0.6
    model = save_model(tmp_path / "m.safetensors", rise_model())
    templates = TemplateSet([Template([0, 1], [-1, 1])]).save(tmp_path / "rise.json")
    told = []
    result = evaluate_table(
        EvaluationRequest(path, model=model, templates=templates, held_out=0.3), progress=told.append
    )
    assert by_method(result)[recovering.PAPER].metrics["spearman"].mean > 0.6
    assert told == ["features", recovering.PAPER, recovering.ARCS, "bits"]
    assert json.loads(json.dumps(result.to_dict()))["rule"] == "30% held out, by collection"


def test_an_essence_of_two_dimensions_has_arcs_but_no_squared_error_templates():
    transform = Transform(NAMES, (), [0.0, 0.0], [1.0, 1.0])
    config = {"dimensions": 2, "encoder": {"kind": "identity"}, "scorers": [{"kind": "arcs", "k": 1, "knots": 2}]}
    tensors = {"arcs.values": [[[-1, 0], [1, 0]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
    albums = collections(20, rise=2.0)
    found = recover(Split(albums[:5], albums[5:], ""), NAMES, Methods(Model(config, tensors, transform)))
    assert recovering.PAPER not in found
    assert np.mean([METRICS["spearman"](o) for o in found[recovering.ARCS]]) > 0.7


def test_one_essence_is_asked_for(tmp_path):
    path = table(tmp_path / "t.csv", collections(8))
    for wrong in ({}, {"by": "energy", "model": "audio"}):
        with pytest.raises(InputError, match="give a model or a column"):
            evaluate_table(EvaluationRequest(path, **wrong))


def test_a_missing_value_stands_at_the_mean():
    c = Collection("1", [Item("a"), Item("b"), Item("c")], [[1.0], [np.nan], [3.0]], ["energy"])
    essence = recovering.column_essence(c, "energy")
    assert essence[1] == 0
    assert essence[0] == pytest.approx(-essence[2])


def test_a_falling_essence_is_sorted_down():
    falling = [np.sort(np.random.default_rng(i).normal(size=6))[::-1] for i in range(5)]
    assert recovering.sort_one_way(falling)(np.array([1.0, 3.0, 2.0])).tolist() == [1, 2, 0]
    assert recovering.sort_one_way([-each for each in falling])(np.array([1.0, 3.0, 2.0])).tolist() == [0, 2, 1]


def test_features_come_from_the_best_down():
    names = {"worse": [np.array([1, 0, 3, 2])] * 6, "best": [np.arange(4)] * 6, "worst": [np.arange(4)[::-1]] * 6}
    assert [row.method for row in tabulate(names, [4] * 6).rows] == ["chance", "best", "worse", "worst"]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_false_alarms_on_shuffled_collections_are_as_rare_as_they_should_be():
    """100 datasets whose orders mean nothing, all learned and tested anew: p < 0.05 in about one of twenty."""
    from scipy.stats import binomtest

    alarms = {"arcs": 0, "squared error": 0}
    for number in range(100):
        albums = collections(40, seed=1000 + number, rise=0.0)
        split = Split(albums[:20], albums[20:], "")
        found = recover(split, ("energy",), Methods(by="energy", k=2), seed=number)
        tests = tabulate(found, [len(c) for c in split.held_out], seed=number).tests
        p = {test.a: test.p for metric, test in tests if metric == "spearman" and test.b == "chance"}
        alarms["arcs"] += p[recovering.ARCS] < 0.05
        alarms["squared error"] += p[recovering.PAPER] < 0.05
    for method, count in alarms.items():
        interval = binomtest(count, 100).proportion_ci(0.99)
        assert interval.low <= 0.05 <= interval.high, (method, count)


def test_a_set_model_is_evaluated_by_what_it_proposes(tmp_path):
    """With titles that say where they stand; numbers are missing here and there."""
    rng = np.random.default_rng(0)
    lines = ["collection_id,position,artist,title,duration_ms,split"]
    for album in range(12):
        titles = ["Intro", *rng.permutation(["Rain", "Home", "Run"]).tolist(), "Outro"]
        side = "validation" if album < 6 else "train"
        lines += [
            f"{album},{k},A{album},{title},{'' if k == 2 else rng.integers(9, 30) * 10000},{side}"
            for k, title in enumerate(titles)
        ]
    path = tmp_path / "albums.csv"
    path.write_text("\n".join(lines) + "\n")
    done = evaluate_table(EvaluationRequest(path, model="music"))
    assert [row.method for row in done.rows] == ["chance", "proposed order", "likeliest order"]
    for row in done.rows[1:]:
        assert (row.n, row.metrics["first"].mean, row.metrics["last"].mean) == (6, 1.0, 1.0)
    assert list(done.bits) == ["arcs + flow", "arcs", "flow"]
    assert done.bits["arcs + flow"].bits > 1
    assert done.to_dict()["bits"]["arcs"]["collections"] == 6
    with pytest.raises(InputError, match="music gives orders"):
        evaluate_table(EvaluationRequest(path, model="music", search=3))
