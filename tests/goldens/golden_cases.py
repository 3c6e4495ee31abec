"""What is pinned: cases that turn a folder of collections into plain values, by public names of fabula alone.

Each case is a function of a folder: of the made collections (:mod:`golden_made`) or, with ``real=True``, of the real
data (``tests/conftest.py`` says where they are). It returns what JSON can hold; floats have 9 significant digits.

``single``
    The numbers come out of long products, or of sound: from one processor to another these agree to 1e-4, not to 1e-7.
``search``
    More than 18 items and wishes that need a search: not the order is stored but what it reached. A later version must
    reach as much, or show a gap that is not larger than was stored, or than what is ``close`` enough: the search of
    0.4 ends by the clock, and on a busy machine it shows up to that.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import fabula

CLOSE, CLOSE_ON_SIDES = 0.02, 0.08  # gaps at which a search may always end
ESSENCE_MODELS = ("albums", "albums-16", "audio")


@dataclass(frozen=True)
class Case:
    """One thing that is pinned."""

    name: str
    make: Callable[[Path], Any]
    real: bool = False
    single: bool = False
    search: bool = False

    def values(self, folder: Path) -> Any:
        """What is pinned of a folder of collections, as it is stored."""
        with own_clock():
            return plain(self.make(folder))


CASES: dict[str, Case] = {}


@contextmanager
def own_clock() -> Iterator[None]:
    """Let time be that of this process: where 0.4 draws or searches until some seconds are over, load has no say."""
    clock, time.monotonic = time.monotonic, time.process_time
    try:
        yield
    finally:
        time.monotonic = clock


def case(name: str, **marks: bool) -> Callable[[Callable[[Path], Any]], Callable[[Path], Any]]:
    def keep(make: Callable[[Path], Any]) -> Callable[[Path], Any]:
        if name in CASES:
            raise KeyError(name)
        CASES[name] = Case(name, make, **marks)
        return make

    return keep


def plain(value: Any) -> Any:
    """A value as it is stored: floats with 9 significant digits."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.9g}")
    return int(value) if isinstance(value, np.integer) else value


def differences(stored: Any, found: Any, *, single: bool, where: str = "") -> list[str]:
    """Where two values differ, in words; floats by the last digits that are stored."""
    if isinstance(stored, float | int) and isinstance(found, float | int) and not isinstance(stored, bool):
        relative, absolute = (1e-4, 1e-5) if single else (1e-7, 1e-9)
        both_whole = isinstance(stored, int) and isinstance(found, int)
        same = stored == found if both_whole else bool(np.isclose(found, stored, rtol=relative, atol=absolute))
        return [] if same else [f"{where}: stored {stored!r}, found {found!r}"]
    if isinstance(stored, dict) and isinstance(found, dict):
        if set(stored) != set(found):
            return [f"{where}: stored {sorted(stored)}, found {sorted(found)}"]
        return [
            d for key in stored for d in differences(stored[key], found[key], single=single, where=f"{where}.{key}")
        ]
    if isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        pairs = enumerate(zip(stored, found, strict=True))
        return [d for k, (a, b) in pairs for d in differences(a, b, single=single, where=f"{where}[{k}]")]
    same = stored == found or (isinstance(stored, str) and isinstance(found, str) and same_words(stored, found))
    return [] if same else [f"{where}: stored {stored!r}, found {found!r}"]


def same_words(stored: str, found: str) -> bool:
    """Whether two texts differ in the last digit of some decimals alone, which rounding may turn either way."""
    decimals = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])")
    if decimals.sub("#", stored) != decimals.sub("#", found):
        return False
    pairs = zip(decimals.findall(stored), decimals.findall(found), strict=True)
    return all(len(a) == len(b) and abs(int(a.replace(".", "")) - int(b.replace(".", ""))) <= 1 for a, b in pairs)


def searched_worse(stored: Any, found: Any, where: str = "") -> list[str]:
    """Where a search reached less than was stored, and shows a larger gap as well."""
    if "gap" not in stored:
        return [d for key in stored for d in searched_worse(stored[key], found[key], f"{where}.{key}")]
    if found["count"] != stored["count"] or not found["kept"]:
        return [f"{where}: stored {stored}, found {found}"]
    scored = found["score"] is not None and stored["score"] is not None
    reached = scored and found["score"] >= stored["score"] - 1e-6
    closer = found["gap"] is not None and (stored["gap"] is None or found["gap"] <= max(stored["gap"], stored["close"]))
    return [] if reached or closer else [f"{where}: stored {stored}, found {found}"]


# ---------------------------------------------------------------------------------------------------------------------
# What is told of an ordering


def word(ordering: Iterable[int]) -> str:
    """An ordering of at most 36 items as one word."""
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[i] for i in ordering)


def told(ordered: fabula.Ordered) -> dict[str, Any]:
    """All that is pinned of one result."""
    fit = ordered.fit
    return {
        "order": word(ordered.ordering),
        "template": fit.template.name,
        "values": fit.template.at(np.linspace(0, 1, 5)),
        "worst": fit.worst,
        "mean": fit.mean,
        "score": fit.score,
        "exact": fit.exact,
        "gap": ordered.gap,
        "sides": list(ordered.sides),
        "others": [[word(other.ordering), other.score] for other in ordered.alternatives],
    }


def sketch(array: Any) -> dict[str, Any]:
    """A few numbers that change with any of an array's."""
    values = np.asarray(array, dtype=np.float64)
    flat = values.ravel()
    known = np.where(np.isfinite(flat), flat, 0.0)
    at = np.arange(len(flat))
    return {
        "shape": list(values.shape),
        "mean": float(known.mean()),
        "size": float(np.sqrt((known**2).mean())),
        "waves": [float(known @ np.cos(at * w + 1)) / len(flat) for w in (0.7, 1.9)],
    }


def reached(ordered: fabula.Ordered, *, kept: bool = True) -> dict[str, Any]:
    """What a search reached, and whether the wishes were kept."""
    close = CLOSE_ON_SIDES if ordered.sides else CLOSE
    found = {"score": ordered.fit.score, "gap": ordered.gap, "close": close}
    return found | {"count": len(ordered.ordering), "kept": kept}


# ---------------------------------------------------------------------------------------------------------------------
# Models by themselves


def _album(made: Path) -> fabula.Collection:
    return fabula.read_table(made / "album.csv")[0]


def _columns(model: fabula.Model, collection: fabula.Collection) -> np.ndarray:
    """The features of a collection as the model takes them, (n, f)."""
    known, missing = collection.feature_names, np.full(len(collection), np.nan)
    return np.stack([collection.column(name) if name in known else missing for name in model.feature_names], axis=1)


def _essence_model(name: str) -> None:
    @case(f"model/{name}", single=True)
    def make(made: Path) -> Any:
        model, album = fabula.load_model(name), _album(made)
        features = _columns(model, album)
        essence = model.encode(features)
        fits = model.order(features, alternatives=4)
        fixed = model.order(features, alternatives=2, fixed={0: 3, -1: 5})
        orderings = np.array([np.arange(13), np.arange(13)[::-1], np.roll(np.arange(13), 4)])
        return {
            "features": list(model.feature_names),
            "dimensions": model.dimensions,
            "essence": essence[:, 0],
            "all": sketch(essence),
            "as a collection": sketch(model.encode(album)),
            "scores": [float(model.score(essence[ordering])) for ordering in orderings],
            "orders": [[word(f.ordering), f.score, f.worst, f.mean, f.exact, f.template.name] for f in fits],
            "fixed": [[word(f.ordering), f.score, f.worst, f.mean, f.exact] for f in fixed],
        }


for _name in ESSENCE_MODELS:
    _essence_model(_name)


@case("model/music", single=True)
def _music(made: Path) -> Any:
    model, album = fabula.load_model("music"), _album(made)
    titled = fabula.read_table(made / "titles.csv")[0]
    orderings = np.array([np.arange(13), np.arange(13)[::-1], np.roll(np.arange(13), 4)])
    essence = model.encode(album)
    fits = model.order(album, alternatives=4)
    fixed = model.order(album, alternatives=2, fixed={0: 3, -1: 5})
    by_array = model.order(_columns(model, album), alternatives=1)
    return {
        "features": list(model.feature_names),
        "dimensions": model.dimensions,
        "essence": essence[:, 0],
        "all": sketch(essence),
        "titles": sketch(model.encode(titled)),
        "scores": model.score(album, orderings),
        "scores by titles": model.score(titled, np.array([np.arange(9), np.arange(9)[::-1]])),
        "orders": [[word(f.ordering), f.score, f.worst, f.mean, f.exact] for f in fits],
        "fixed": [[word(f.ordering), f.score] for f in fixed],
        "features alone": [[word(f.ordering), f.score] for f in by_array],
    }


@case("cards")
def _cards(_: Path) -> Any:
    names = ("music", *ESSENCE_MODELS, "prose", "poems", "pictures")
    return {name: dict(sorted(fabula.load_model(name).card.items())) for name in names}


def _many(name: str, **rule: str) -> Any:
    def make(made: Path) -> Any:
        model, albums = fabula.load_model(name), fabula.read_table(made / "albums.csv")
        found = model.order_many(albums, **rule)
        return {
            "essence": sketch(model.encode_many(albums)),
            "orders": " ".join(map(word, found)),
            "scores": found.scores,
            "exact": bool(found.exact.all()),
            "gap": float(np.abs(found.gap).max()),
        }

    return make


for _name in ("albums", "albums-16", "audio"):
    case(f"many/{_name}", single=True)(_many(_name))
for _rule in ("likeliest", "agreeing", "arcs"):
    case(f"many/music {_rule}", single=True)(_many("music", rule=_rule))


def bits(name: str, collections: Any, **how: Any) -> Any:
    """The information a model has about the order of collections."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some may have been trained on
        info = fabula.mutual_information(fabula.load_model(name), collections, **how)
    return {"bits": info.bits, "low": info.low, "high": info.high, "ceiling": info.ceiling}


@case("bits", single=True)
def _bits(made: Path) -> Any:
    albums = fabula.read_table(made / "albums.csv")
    found = {name: bits(name, albums, negatives=15, draws=2, seed=3) for name in (*ESSENCE_MODELS, "music")}
    found |= {f"music {s}": bits("music", albums, negatives=15, draws=1, scorer=s) for s in ("arcs", "flow")}
    return found | {"albums arcs": bits("albums", albums, negatives=15, draws=1, scorer="arcs")}


# ---------------------------------------------------------------------------------------------------------------------
# Sessions under wishes

WISHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "first": {"first": 2},
    "last": {"last": 0},
    "first and last": {"first": 4, "last": 1, "alternatives": 2},
    "at": {"at": {2: 5, -2: 0}},
    "together": {"together": [(1, 4), (0, 5, 2)]},
    "before": {"before": [(3, 0), (0, 2)]},
    "sides": {"sides": 2},
    "ends of sides": {"sides": 2, "first": {1: 3}, "last": {0: 1}},
    "smooth": {"smoothness": 0.5},
    "contrast": {"smoothness": -0.4},
    "smooth on sides": {"smoothness": 0.5, "sides": 2, "first": 2},
    "template": {"template": "man-in-a-hole"},
    "flipped": {"template": "icarus", "flip": True},
    "flip alone": {"flip": True},
    "points": {"template": "0:0.2,0.5:1,1:0", "last": 3},
    "template and smooth": {"template": "freytag-pyramid", "smoothness": 0.3},
    "template on sides": {"template": "icarus", "sides": 2},
    "alternatives": {"alternatives": 7},
    "chosen": {"choose": 2},
    "likeliest": {"likeliest": True},
    "likeliest with wishes": {"likeliest": True, "before": [(2, 1)], "first": 0},
    "as given": {"ordering": [3, 1, 0, 2, 5, 4]},
    "all": {"first": 1, "before": [(4, 2)], "together": [(0, 3)], "smoothness": 0.2, "sides": 2},
}
MUSICAL: dict[str, dict[str, Any]] = {
    "apart": {"apart": "artist"},
    "apart, soft": {"apart": "artist", "apart_soft": True, "smoothness": 0.3},
    "together by": {"together_by": "artist"},
    "limit": {"limit": "20:00"},
    "limit and template": {"limit": 900, "template": "icarus"},
    "side limit": {"sides": 3, "side_limit": "19:00"},
    "smooth by": {"smoothness": 0.7, "smooth_by": {"tempo": 2.0, "key": 1.0}},
}


def under(session: fabula.Session, wishes: dict[str, dict[str, Any]]) -> Any:
    """What a session makes of each wish; a wish that is refused by its message."""
    found = {}
    for name, wish in wishes.items():
        asked = dict(wish)
        if "ordering" in asked:
            asked["ordering"] = [*asked["ordering"], *range(len(asked["ordering"]), len(session.collection))]
        try:
            found[name] = told(session.order(**asked))
        except fabula.FabulaError as error:
            found[name] = f"refused: {error}"
    return found


def _wishes(name: str, source: str, wishes: dict[str, dict[str, Any]], **how: Any) -> None:
    @case(f"order/{name}", single=True)
    def make(made: Path) -> Any:
        session = fabula.open(made / source, **how)
        return {"essence": sketch(session.essence), **under(session, wishes)}


_SOME = {k: WISHES[k] for k in ("plain", "first and last", "together", "sides", "smooth", "template", "likeliest")}
_wishes("music", "album.csv", {k: w for k, w in WISHES.items() if "likeliest" in k or "template" not in w} | MUSICAL)
_wishes("music templates", "album.csv", {k: w for k, w in WISHES.items() if "template" in w})
_wishes("titles", "titles.csv", WISHES | {"apart": MUSICAL["apart"], "limit": MUSICAL["limit"]})
_wishes("albums", "album.csv", WISHES | MUSICAL, model="albums")
_wishes("albums-16", "album.csv", _SOME, model="albums-16")
_wishes("audio", "sounds", WISHES | {"limit": {"limit": 14}}, model="audio")
_wishes("sounds", "sounds", WISHES)
_wishes("prose", "chapters", WISHES | {"limit": {"limit": 2000}})
_wishes("poems", "verses", WISHES, model="poems")
_wishes("pictures", "pictures", WISHES | {"spreads": {"spreads": "match"}, "contrasts": {"spreads": "contrast"}})
_wishes("a column", "album.csv", _SOME | MUSICAL, by="energy")
_wishes("a column of pictures", "pictures", _SOME, by="brightness")
_wishes("eighteen", "eighteen.csv", {k: WISHES[k] for k in ("likeliest", "likeliest with wishes", "template")})


@case("order/eighteen agreeing", single=True)
def _eighteen(made: Path) -> Any:
    session = fabula.open(made / "eighteen.csv")
    return under(session, {"plain": {"alternatives": 1}})


@case("order/like", single=True)
def _like(made: Path) -> Any:
    def like(source: str, other: str, **how: str) -> Any:
        return told(fabula.order(made / source, like=made / other, **how))

    return {
        "albums": like("album.csv", "eighteen.csv", model="albums"),
        "a column": like("album.csv", "eighteen.csv", by="energy"),
        "a collection of several": told(fabula.order(made / "album.csv", by="energy", like=f"{made}/albums.csv#c3")),
        "an open session": told(
            fabula.open(made / "album.csv", model="albums").order(
                like=fabula.open(made / "albums.csv", collection="c5", model="albums")
            )
        ),
    }


@case("order/one of several", single=True)
def _one_of_several(made: Path) -> Any:
    models = ("music", *ESSENCE_MODELS)
    return {name: told(fabula.order(made / "albums.csv", collection="c7", model=name)) for name in models}


@case("order/many items of a column")
def _many_items(made: Path) -> Any:
    session = fabula.open(made / "long.csv", by="energy")
    found = {}
    for name, wish in {
        "plain": {},
        "first": {"first": 7},
        "flip": {"flip": True},
        "fall": {"template": "steady-fall"},
    }.items():
        ordered = session.order(**wish)
        found[name] = [ordered.ordering, ordered.fit.worst, ordered.fit.mean, ordered.fit.exact, ordered.gap]
    return found


@case("order/long search", search=True, single=True)
def _long_search(made: Path) -> Any:
    music, column = fabula.open(made / "long.csv"), fabula.open(made / "long.csv", by="energy")
    apart = music.order(likeliest=True, apart="artist", alternatives=1)
    artists = [item.artist for item in apart.collection.items]
    fixed = music.order(likeliest=True, first=3, before=[(5, 2)], alternatives=1)
    at = fixed.ordering.tolist()
    sides = music.order(likeliest=True, sides=2, alternatives=1)
    return {
        "likeliest": reached(music.order(likeliest=True, alternatives=1)),
        "apart": reached(apart, kept=all(a != b for a, b in pairwise(artists))),
        "first and before": reached(fixed, kept=at[0] == 3 and at.index(5) < at.index(2)),
        "sides": reached(sides, kept=sum(sides.sides) == 40 and len(sides.sides) == 2),
        "a column, smooth": reached(column.order(smoothness=0.5)),
    }


# ---------------------------------------------------------------------------------------------------------------------
# Templates, fits, metrics


@case("templates/built in")
def _built_in(_: Path) -> Any:
    at = np.linspace(0, 1, 11)
    return {name: fabula.template(name).at(at) for name in fabula.template_names()}


@case("fit")
def _fit(made: Path) -> Any:
    found = {}
    essence = fabula.normalise(_album(made).column("energy"))
    for name in fabula.template_names():
        for kind, fixed in {"free": {}, "fixed": {0: 7, -1: 2}}.items():
            fit = fabula.fit(essence, fabula.template(name).normalised(), fixed=fixed)
            found[f"{name}, {kind}"] = [word(fit.ordering), fit.worst, fit.mean, fit.exact]
    bent = fabula.Template(knots=[0, 0.2, 0.3, 0.5, 0.65, 0.8, 1], values=[0.2, 1, -1, 0, 2, -1.5, 0.3], name="bent")
    fit = fabula.fit(essence, bent, forbidden=[(0, 3), (5, -1)])
    return found | {"bent": [word(fit.ordering), fit.worst, fit.mean, fit.exact], "at": bent.at(np.linspace(0, 1, 9))}


def _sequences(made: Path) -> list[np.ndarray]:
    return [fabula.normalise(c.column("energy")) for c in fabula.read_table(made / "albums.csv")]


@case("templates/learned")
def _learned(made: Path) -> Any:
    essences = _sequences(made)
    found = {}
    for method, k, seed in (("refined", 1, 0), ("refined", 4, 0), ("refined", 3, 5), ("evolution", 2, 1)):
        learned = fabula.learn_templates(essences, k=k, method=method, seed=seed)
        found[f"{method} {k} {seed}"] = {"values": learned.values, "cost": learned.cost(essences)}
    uneven = [np.linspace(0, 1, len(e)) ** 1.3 for e in essences]
    learned = fabula.learn_templates(essences, k=2, positions=uneven)
    again = fabula.TemplateSet(learned.templates)
    return found | {"uneven": {"values": learned.values, "cost": again.cost(essences, positions=uneven)}}


@case("evaluate")
def _evaluate(_: Path) -> Any:
    rng = np.random.default_rng(0)
    found = fabula.evaluate([rng.permutation(int(n)) for n in rng.integers(3, 15, 30)])
    return {name: getattr(found, name) for name in ("edit", "spearman", "kendall", "first", "last", "neighbours")}


@case("tables")
def _tables(made: Path) -> Any:
    albums = fabula.read_table(made / "albums.csv", collection="collection_id", position="position", title="track_name")
    first = albums[0]
    named = fabula.read_table(made / "albums.csv", features=["energy", "tempo"], where={"split": "validation"})
    return {
        "number": len(albums),
        "names": list(first.feature_names),
        "titles": [item.title for item in first.items],
        "artists": sorted({item.artist for item in first.items}),
        "lengths": [item.length for item in first.items],
        "features": sketch(first.features),
        "all": sketch(np.concatenate([c.features for c in albums])),
        "validation": [len(named), list(named[0].feature_names), sketch(np.concatenate([c.features for c in named]))],
    }


@case("measures", single=True)
def _measures(made: Path) -> Any:
    found = {}
    for source in ("sounds", "chapters", "verses", "pictures"):
        collection = fabula.open(made / source).collection
        at = np.argsort([item.id for item in collection.items])
        found[source] = {
            "ids": [Path(collection.items[i].id).name for i in at],
            "lengths": [collection.items[i].length for i in at],
            **{name: collection.column(name)[at] for name in collection.feature_names},
        }
    return found
