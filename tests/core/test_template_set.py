from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.core.template import PAPER_KNOTS, Template, TemplateSet
from fabula.errors import FileError, InputError


def make_set(rng, k=3):
    return TemplateSet([Template(PAPER_KNOTS, v, f"t{i}", "Déjà.") for i, v in enumerate(rng.normal(size=(k, 7)))])


def test_cost_is_the_double_loop(rng):
    templates = make_set(rng)
    essences = [rng.normal(size=n) for n in (1, 2, 5, 9, 9)]
    total = 0.0
    for essence in essences:
        n = len(essence)
        u = [j / (n - 1) if n > 1 else 0.0 for j in range(n)]
        total += min(sum((essence[j] - t.at(u[j])) ** 2 for j in range(n)) / n for t in templates)
    assert templates.cost(essences) == pytest.approx(total / 5, abs=1e-12)


def test_cost_takes_positions(rng):
    templates, essence, u = make_set(rng), rng.normal(size=6), np.sort(rng.random(6))
    expected = min(((essence - t.at(u)) ** 2).mean() for t in templates)
    assert templates.cost([essence], positions=[u]) == pytest.approx(expected)


def test_values_and_sequence_manners(rng):
    templates = make_set(rng)
    assert templates.values.shape == (3, 7)
    assert len(templates) == 3
    assert list(templates)[1] is templates[1]
    with pytest.raises(InputError, match="different knots"):
        _ = TemplateSet([Template([0, 1], [0, 1]), Template([0, 0.5, 1], [0, 1, 0])]).values


def test_a_file_reads_back_equal(tmp_path, rng):
    templates = TemplateSet([*make_set(rng), Template([0, 1], rng.normal(size=(2, 3)), "vector")])
    path = templates.save(tmp_path / "méine templates.json")
    assert list(TemplateSet.load(path)) == list(templates)


@pytest.mark.parametrize(
    ("essences", "positions", "message"),
    [
        ([], None, "at least one collection is needed; got none"),
        ([[1, 2], [np.nan]], None, "essence of collection 1 must be finite; got nan for item 0"),
        ([[[1, 2], [3, 4]]], None, "essence of collection 0 must be one number per item; got shape (2, 2)"),
        ([[1, 2]], [[0, 1], [0, 1]], "one list of positions per collection: got 2 for 1 collections"),
        ([[1, 2]], [[0, 0.5, 1]], "collection 0 has 2 values and 3 positions: they must agree"),
        ([[1, 2]], [[0, 2]], "positions must lie in [0, 1]; got 2.0"),
    ],
)
def test_bad_essences(essences, positions, message, rng):
    with pytest.raises(InputError) as caught:
        make_set(rng).cost(essences, positions)
    assert str(caught.value) == message


GOOD = {"format": "fabula-templates", "version": 1, "templates": [{"knots": [0, 1], "values": [0, 1]}]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a template file (JSON expected: "),
        (b"\xff\xfe\x00", "is not a template file (JSON expected: "),
        ("9" * 5000, "is not a template file (JSON expected: "),
        ("[]," * 4_000_001, "holds more than 4,000,000 lists and objects"),
        (json.dumps([1]), 'is not a template file (it must say "format": "fabula-templates")'),
        (json.dumps({**GOOD, "version": 2}), "template file version 2; this fabula reads version 1"),
        (json.dumps({**GOOD, "templates": []}), '"templates" must be a list of at least one template'),
        (json.dumps({**GOOD, "templates": [3]}), 'template 1: must have "knots" and "values"'),
        (
            json.dumps({**GOOD, "templates": [*GOOD["templates"], {"knots": [0, 2], "values": [0, 1]}]}),
            "template 2: template knots must rise from 0 to 1; got [0., 2.]",
        ),
        (
            json.dumps({**GOOD, "templates": [{"knots": [0, 1], "values": [0, 1], "name": 3}]}),
            'template 1: "name" and "description" must be text',
        ),
    ],
)
def test_bad_files(content, message, tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileError) as caught:
        TemplateSet.load(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_missing_file(tmp_path):
    with pytest.raises(FileError, match=r"none\.json: cannot be read \(No such file or directory\)"):
        TemplateSet.load(tmp_path / "none.json")


def test_a_file_keeps_how_a_template_runs_between_its_knots(tmp_path):
    drawn = Template([0, 0.5, 1], [0, 0, 1], "drawn", interpolation="monotone")
    file = TemplateSet([drawn, Template([0, 1], [0, 1])]).save(tmp_path / "t.json")
    assert TemplateSet.load(file).templates == [drawn, Template([0, 1], [0, 1])]
    assert file.read_text().count("interpolation") == 1
