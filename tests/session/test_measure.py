"""Embeddings of the user's own: from a column of lists, and from an ONNX model."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import fabula
from fabula.errors import FileError, InputError, MissingExtraError
from fabula.session.measure import along, embedding_step
from fabula.session.session import open_session

TEXTS = [f"It rained on the {name} and then it stopped for a while." for name in ("sea", "land", "hill", "town")]


@pytest.fixture
def table(tmp_path):
    angles = [0.1, 1.2, 0.5, 0.9, 0.3]
    rows = [{"title": f"t{a}", "weight": k, "vec": [np.cos(a), np.sin(a)]} for k, a in enumerate(angles)]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(rows))
    return path


def test_it_gives_an_essence_and_steps(table):
    session = open_session(table, by="embedding", embedding="vec")
    ordered = session.order(template="steady-rise", smoothness=1)
    angles = [float(title[1:]) for title in ordered.titles]
    assert angles in (sorted(angles), sorted(angles, reverse=True))
    [change] = ordered.changes
    assert change.name == "embedding"
    rows = session.vectors[ordered.ordering]
    cosines = [1 - float(a @ b) for a, b in pairwise(rows)]
    assert change.mean[1] == pytest.approx(100 * np.mean(cosines))
    assert np.array_equal(session.by("weight").vectors, session.vectors)


def test_without_a_say_a_note_tells_so(table):
    notes = open_session(table, by="weight", embedding="vec").order(template="icarus").notes
    assert any("the embedding has no say" in note for note in notes)


def test_the_first_component_explains_most():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((40, 5)) * [5, 1, 1, 1, 1]
    found = along(vectors)
    values, directions = np.linalg.eigh(np.cov(vectors.T))
    assert found.var(ddof=1) == pytest.approx(values[-1])
    assert abs(np.corrcoef(found, vectors @ directions[:, -1])[0, 1]) == pytest.approx(1)
    assert embedding_step(vectors).distance.shape == (40, 40)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[1, 2], [1]], "must be a list of numbers"),
        ([[1, 2], [1, 2, 3]], "all must be of one length; got 2 and 3"),
        ([[1, 2], "x"], "row 2, column 'vec': must be a list of numbers"),
        ([[1, 2], [1, None]], "must be a list of numbers"),
    ],
)
def test_bad_cells(tmp_path, cells, words):
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"title": str(k), "energy": k, "vec": cell} for k, cell in enumerate(cells)]))
    with pytest.raises(InputError, match=words):
        open_session(path, by="energy", embedding="vec")


def test_bad_names(table, tmp_path):
    with pytest.raises(InputError, match="there is no column 'nope'"):
        open_session(table, by="weight", embedding="nope")
    with pytest.raises(InputError, match="cannot read items"):
        open_session(table, by="weight", embedding="x.onnx")
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    with pytest.raises(InputError, match="takes a column of a table"):
        open_session([tmp_path / "0.txt", tmp_path / "1.txt"], embedding="vec")
    with pytest.raises(FileError, match="no such file"):
        open_session([tmp_path / "0.txt", tmp_path / "1.txt"], embedding="x.onnx")


def model_of(path, pool, kind="string"):
    """A model that tells which of some texts it reads."""
    from onnx import TensorProto, helper, save

    taken = TensorProto.STRING if kind == "string" else TensorProto.FLOAT
    given = helper.make_tensor_value_info("texts", taken, ["N", 1])
    out = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["N", len(pool)])
    if kind == "string":
        node = helper.make_node(
            "TfIdfVectorizer", ["texts"], ["vectors"], min_gram_length=1, max_gram_length=1, max_skip_count=0,
            mode="TF", ngram_counts=[0], ngram_indexes=list(range(len(pool))), pool_strings=pool,
        )  # fmt: skip
    else:
        node = helper.make_node("Identity", ["texts"], ["vectors"])
    graph = helper.make_graph([node], "g", [given], [out])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), path)
    return str(path)


def test_a_model_reads_the_texts(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    model = model_of(tmp_path / "m.onnx", TEXTS)
    session = fabula.open(tmp_path, by="words", embedding=model)
    assert session.vectors.tolist() == np.eye(4).tolist()
    names = [change.name for change in session.order(template="icarus", smoothness=1).changes]
    assert names[-1] == "embedding"
    with pytest.raises(InputError, match=r"must have one input, texts .* got texts: tensor\(float\)"):
        fabula.open(tmp_path, by="words", embedding=model_of(tmp_path / "f.onnx", TEXTS, "float"))
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with pytest.raises(FileError, match="cannot be used"):
        fabula.open(tmp_path, by="words", embedding=str(tmp_path / "broken.onnx"))


def test_without_the_extra_one_line_says_so(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text(TEXTS[0])
    (tmp_path / "b.txt").write_text(TEXTS[1])
    (tmp_path / "m.onnx").write_bytes(b"x")
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"fabula\[embedding\]"):
        open_session(tmp_path, by="words", embedding=str(tmp_path / "m.onnx"))
