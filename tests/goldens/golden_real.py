"""Cases on the real data, where they are: validation parts alone. Nothing of the data is stored, only what it gives."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from golden_cases import ESSENCE_MODELS, MUSICAL, WISHES, bits, case, reached, sketch, told, word
from golden_commands import answer

import fabula

_FILTER = {"kind": "", "alpha_sorted": False, "one_song": False}


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _rows(file: Path, sizes: range, number: int, **having: Any) -> Any:
    """The rows of some validation collections of a table, spread over all that have some sizes, as an Arrow table."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    keys = ["collection_id", *having]
    table = pq.read_table(file, filters=[("split", "=", "validation")], columns=keys)
    for name, value in having.items():
        table = table.filter(pc.equal(table[name], value))
    counts = {row["values"]: row["counts"] for row in pc.value_counts(table["collection_id"]).to_pylist()}
    there = sorted(key for key, count in counts.items() if count in sizes)
    chosen = [there[int(i)] for i in np.linspace(0, len(there) - 1, number)]
    found = pq.read_table(file, filters=[("collection_id", "in", chosen)])
    parts = [found.filter(pc.equal(found["collection_id"], key)).sort_by("position") for key in chosen]
    return pa.concat_tables(parts)


@cache
def _albums(data: Path, name: str, number: int, least: int = 4, most: int = 16) -> Path:
    """Some albums of a table, as a table of their own."""
    import pyarrow.parquet as pq

    path = Path(_scratch().name) / f"{name}-{least}.parquet"
    pq.write_table(_rows(data / f"{name}.parquet", range(least, most + 1), number, **_FILTER), path)
    return path


def _read(path: Path) -> fabula.Collections:
    return fabula.read_table(path, collection="collection_id", position="position", title="track_name")


def _album_models(name: str, models: tuple[str, ...], number: int) -> None:
    @case(f"real/{name}", real=True, single=True)
    def make(data: Path) -> Any:
        albums = _read(_albums(data, name, number))
        found: dict[str, Any] = {"sizes": [len(c) for c in albums]}
        for model_name in models:
            model = fabula.load_model(model_name)
            rules: list[dict[str, Any]] = [{"rule": r} for r in ("likeliest", "agreeing", "arcs")]
            many = [model.order_many(albums, **rule) for rule in (rules if model_name == "music" else [{}])]
            found[model_name] = {
                "essence": sketch(model.encode_many(albums)),
                "orders": [" ".join(map(word, orders)) for orders in many],
                "scores": [sketch(orders.scores) for orders in many],
                "metrics": [_metrics(orders) for orders in many],
                "alone": [[word(f.ordering), f.score] for f in model.order(albums[2], alternatives=3)],
                "bits": bits(model_name, albums, negatives=31, draws=2, seed=1),
            }
        return found


def _metrics(orders: Any) -> dict[str, float]:
    found = fabula.evaluate(list(orders))
    return {name: getattr(found, name) for name in ("edit", "spearman", "kendall", "first", "last", "neighbours")}


_album_models("albums", ("music", *ESSENCE_MODELS), 36)
_album_models("albums-more", ("music", *ESSENCE_MODELS), 36)
_album_models("titles", ("music",), 36)

_ASKED = {
    k: WISHES[k] for k in ("plain", "first and last", "before", "smooth on sides", "template", "likeliest", "all")
}
_ASKED |= {k: MUSICAL[k] for k in ("limit", "smooth by")}


def _wished(name: str, model: str) -> None:
    @case(f"real/{name} under wishes, {model}", real=True, single=True)
    def make(data: Path) -> Any:
        path = _albums(data, name, 36)
        found = []
        for collection in [c for c in _read(path) if 7 <= len(c) <= 13][:6]:
            session = fabula.open(path, collection=collection.id, model=model)
            found.append([_short(session, wish) for wish in _ASKED.values()])
        return found


def _short(session: fabula.Session, wish: dict[str, Any]) -> Any:
    """What comes of a wish, briefly; that it is refused, without the words, which may name titles."""
    try:
        all_told = told(session.order(**wish))
    except fabula.FabulaError:
        return "refused"
    return [all_told[key] for key in ("order", "template", "worst", "mean", "score", "exact", "gap", "sides", "others")]


_wished("albums", "music")
_wished("albums-more", "albums")
_wished("titles", "music")


@case("real/long albums", real=True, single=True, search=True)
def _long(data: Path) -> Any:
    path = _albums(data, "albums", 3, 20, 24)
    found = {}
    for k, collection in enumerate(_read(path)):
        session = fabula.open(path, collection=collection.id, model="music")
        found[f"{k}"] = reached(session.order(likeliest=True, alternatives=1))
        found[f"{k} on sides"] = reached(session.order(likeliest=True, alternatives=1, sides=2, first=2))
    return found


@cache
def _texts(data: Path, name: str, number: int, largest: int) -> list[Path]:
    """Some books of a table of texts, each as a folder of files whose names do not tell the order."""
    import pyarrow.parquet as pq

    rows = pq.read_table(data / "text" / f"{name}.parquet", filters=[("split", "=", "validation")]).to_pylist()
    books: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        books.setdefault(row["collection_id"], []).append(row)
    small = [key for key, parts in books.items() if 6 <= len(parts) <= 18 and _size(parts) < largest]
    return [_as_files(f"{name}-{key}", books[key]) for key in sorted(small)[:number]]


def _size(parts: list[dict[str, Any]]) -> int:
    return sum(len(part["text"]) for part in parts)


def _as_files(name: str, parts: list[dict[str, Any]]) -> Path:
    folder = Path(_scratch().name) / name
    folder.mkdir(exist_ok=True)
    for at, part in zip(np.random.default_rng(len(parts)).permutation(len(parts)), parts, strict=True):
        (folder / f"{at:02d}.txt").write_text(part["text"], encoding="utf-8")
    return folder


_TEXTUAL = {k: WISHES[k] for k in ("plain", "first and last", "before", "sides", "smooth", "template", "likeliest")}


def _text_model(name: str, model: str, number: int, largest: int) -> None:
    @case(f"real/{name}", real=True, single=True)
    def make(data: Path) -> Any:
        found = []
        for folder in _texts(data, name, number, largest):
            session = fabula.open(folder, model=model)
            measures = {c: sketch(session.collection.column(c)) for c in session.collection.feature_names[:4]}
            found.append([sketch(session.essence), measures, [_short(session, wish) for wish in _TEXTUAL.values()]])
        return found


_text_model("novels", "prose", 4, 320_000)
_text_model("poems", "poems", 4, 40_000)


@case("real/pictures", real=True, single=True)
def _pictures(data: Path) -> Any:
    found = []
    for folder in sorted(f for f in (data / "images" / "books").iterdir() if f.is_dir())[:12]:
        pictures = sorted(folder.glob("*.jpg"))
        if len(pictures) > 14:
            continue
        shown = Path(_scratch().name) / f"pictures-{folder.name}"
        shown.mkdir(exist_ok=True)
        for at, picture in zip(np.random.default_rng(0).permutation(len(pictures)), pictures, strict=True):
            (shown / f"{at:02d}.jpg").write_bytes(picture.read_bytes())
        session = fabula.open(shown)
        found.append([sketch(session.essence), [_short(session, wish) for wish in _TEXTUAL.values()]])
    return found


def _evaluated(table: str, model: str) -> None:
    @case(f"real/evaluate {table} by {model}", real=True, single=True)
    def make(data: Path) -> Any:
        import pyarrow.parquet as pq

        if table == "poems":
            path = Path(_scratch().name) / "evaluated.parquet"
            pq.write_table(_rows(data / "text" / "poems.parquet", range(6, 11), 16), path)
        else:
            path = _albums(data, table, 36)
        found = answer("evaluate", path, "--model", model, "--json")
        rows = {row["method"]: {m: one["mean"] for m, one in row["metrics"].items()} for row in found["rows"]}
        return {"bits": found.get("bits"), "rows": rows}


_evaluated("albums", "music")
_evaluated("albums-more", "albums-16")
_evaluated("poems", "poems")


@case("real/movies", real=True)
def _movies(data: Path) -> Any:
    lists = json.loads((data / "movies" / "validation.json").read_text())
    rows = lists if isinstance(lists, list) else lists["items"]
    essences = [fabula.normalise(np.asarray(row["narrative_essence"], float)) for row in rows][:400]
    places = [np.asarray(row["indices"], float) for row in rows][:400]
    positions = [(p - p[0]) / (p[-1] - p[0]) for p in places]
    published = np.load(data / "published_templates.npz")
    knots = published["knots"]
    found: dict[str, Any] = {}
    for k in (1, 3):
        learned = fabula.learn_templates(essences, k=k, positions=positions, seed=0)
        found[f"learned {k}"] = {"values": learned.values, "cost": learned.cost(essences, positions=positions)}
    letter = fabula.TemplateSet([fabula.Template(knots, values) for values in published["movies_4"][0]])
    fits = [fabula.fit(e, fabula.template("man-in-a-hole").normalised()) for e in essences[:40]]
    return found | {
        "published": letter.cost(essences, positions=positions),
        "fits": [sketch([f.worst for f in fits]), sketch([f.mean for f in fits])],
        "metrics": _metrics([f.ordering for f in fits]),
    }
