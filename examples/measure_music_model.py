"""How the model `music` does on the validation albums: its bits, one proposal for each album, and tests against others.

    python examples/measure_music_model.py FOLDER --out music-measured.json --transformer models/transformer.safetensors

FOLDER holds the tables of `train_music_model.py`. Items are shuffled before anything orders them, so that no tie
is decided by the truth. The transformer of `fabula reproduce` is what `train_music_transformer.py` wrote.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import train_music_model as recipe
import train_music_transformer as transformer

import fabula
from fabula.core.collection import Collection, fold
from fabula.core.posterior import agreement, posterior
from fabula.evaluation.controls import keep_only
from fabula.evaluation.information import makers
from fabula.evaluation.intervals import compare_scores
from fabula.evaluation.metrics import METRICS
from fabula.models.model import Model
from fabula.models.order import likeliest
from fabula.models.titles import TITLE_PAIRS, read_titles, title_pairs, words_of

FOLDER = recipe.FOLDER
HEARD = (*FOLDER, *recipe.hearing.HEARD)
CASES = {
    "all inputs": (recipe.TRUE, True),
    "a folder of sound, heard": (HEARD, True),
    "duration, loudness and titles": (FOLDER, True),
    "features without titles": (recipe.TRUE, False),
    "a folder of sound, heard, without titles": (HEARD, False),
    "duration and titles": (("duration_ms",), True),
    "duration and loudness": (FOLDER, False),
    "titles alone": ((), True),
}
LENGTHS = ((3, 6), (7, 10), (11, 20))
SHOWN = ("spearman", "kendall", "first", "last", "neighbours")
Orders = list[np.ndarray]


def seen(albums: Sequence[Collection], case: str) -> list[Collection]:
    """The albums of which only some things are known."""
    features, titles = CASES[case]
    return keep_only(albums, features, titles=titles)


def bits(music: Model, albums: Sequence[Collection]) -> dict[str, Any]:
    """Bits by what is known, by scorer and by length."""
    found = {}
    for case in CASES:
        found[case] = fabula.mutual_information(music, seen(albums, case), draws=16)
    whole = seen(albums, "all inputs")
    for scorer in ("arcs", "flow"):
        found[f"all inputs, {scorer} alone"] = fabula.mutual_information(music, whole, draws=16, scorer=scorer)
    for low, high in LENGTHS:
        some = [album for album in whole if low <= len(album) <= high]
        found |= {f"{low} to {high} items": fabula.mutual_information(music, some, draws=16)} if some else {}
    return {case: {"bits": i.bits, "low": i.low, "high": i.high, "n": i.collections} for case, i in found.items()}


def leave_known(train: Sequence[Collection], albums: Sequence[Collection]) -> list[Collection]:
    """Albums without those of whose titles one training album has three, and most: a cover, another spelling."""
    holders: dict[str, list[int]] = {}
    for number, album in enumerate(train):
        for title in {fold(item.title) for item in album.items}:
            holders.setdefault(title, []).append(number)

    def share(album: Collection) -> int:
        shared = Counter(i for title in {fold(item.title) for item in album.items} for i in holders.get(title, ()))
        return max(shared.values(), default=0)

    return [album for album in albums if share(album) < max(3, 0.6 * len(album))]


def shuffled(albums: Sequence[Collection], order: Callable[[list[Collection]], Orders]) -> Orders:
    """Orderings of albums, found with their items shuffled, in the true numbering."""
    return several(albums, lambda mixed: {"": order(mixed)})[""]


def several(albums: Sequence[Collection], order: Callable[[list[Collection]], dict[str, Orders]]) -> dict[str, Orders]:
    """The same for some ways of ordering at once."""
    rng = np.random.default_rng(7)
    mixed = [rng.permutation(len(album)) for album in albums]
    found = order([album.reordered(mix) for album, mix in zip(albums, mixed, strict=True)])
    return {way: [mix[o] for mix, o in zip(mixed, orders, strict=True)] for way, orders in found.items()}


def by_music(music: Model, name: str) -> Callable[[list[Collection]], dict[str, Orders]]:
    """What is proposed, expected to agree best; the likeliest; and items sorted by their expected positions."""

    def order(albums: list[Collection]) -> dict[str, Orders]:
        found: dict[str, Orders] = {f"{name}, {way}": [] for way in ("proposed", "likeliest", "expected position")}
        for energy in music.energies(albums):
            expected = posterior(energy)
            by_mean = (expected.positions @ np.arange(energy.n)).argsort()
            proposed = likeliest(agreement(expected), seconds=0.5).ordering
            found[f"{name}, proposed"].append(proposed)
            found[f"{name}, likeliest"].append(likeliest(energy, seconds=0.5).ordering)
            found[f"{name}, expected position"].append(by_mean)
        return found

    return order


def by_model(name: str) -> Callable[[list[Collection]], Orders]:
    """The best ordering of one of the paper's models."""
    model = fabula.load_model(name)
    return lambda albums: [model.order(album, alternatives=1)[0].ordering for album in albums]


def by_column(name: str, sign: int) -> Callable[[list[Collection]], Orders]:
    """Sorted by one feature, what is not known last."""
    return lambda albums: [np.argsort(sign * album.column(name), kind="stable") for album in albums]


def upward(albums: Sequence[Collection], name: str) -> int:
    """1 where sorting training albums up by a feature agrees better with their order than sorting down, else -1."""
    up = shuffled(albums, by_column(name, 1))
    return 1 if np.mean([METRICS["spearman"](order) for order in up]) > 0 else -1


def by_transformer(music: Model, path: Path) -> Callable[[list[Collection]], Orders]:
    """The transformer of `fabula reproduce`, as `train_music_transformer.py` trained it."""
    from fabula.training.sequencer import load_sequencer, sequence_all

    made = load_sequencer(path)
    return lambda mixed: sequence_all(made, [transformer.numbers_of(music, album) for album in mixed])


def obvious(orders: Orders, albums: Sequence[Collection]) -> dict[str, str]:
    """In how many albums Intro comes first, Outro last, a part before the next, of those where they truly do."""
    kept: dict[str, list[bool]] = {"intro first": [], "outro last": [], "parts in order": []}
    for order, album in zip(orders, albums, strict=True):
        if "intro" in words_of(album.items[0].title):
            kept["intro first"].append(bool(order[0] == 0))
        if "outro" in words_of(album.items[-1].title):
            kept["outro last"].append(bool(order[-1] == len(order) - 1))
        pairs = title_pairs([read_titles([item.title for item in album.items])])[0]
        first, second = np.nonzero(pairs[:, :, TITLE_PAIRS.index("next part")])
        parts, place = first < second, np.argsort(order)
        if parts.any():
            kept["parts in order"].append(bool((place[first[parts]] < place[second[parts]]).all()))
    return {name: f"{sum(each)} of {len(each)}" for name, each in kept.items()}


def compared(orders: dict[str, Orders], albums: Sequence[Collection]) -> dict[str, Any]:
    """Metrics of each way of ordering, and two ways of `music` against each other one: one family of tests."""
    scores = {f"{m}, {name}": [METRICS[m](order) for order in each] for name, each in orders.items() for m in SHOWN}
    means = {name: {m: round(float(np.mean(scores[f"{m}, {name}"])), 4) for m in SHOWN} for name in orders}
    others = [name for name in orders if not name.startswith("music")]
    ours = ("music, proposed", "music, likeliest")
    pairs = [(f"{m}, {one}", f"{m}, {name}") for one in ours for name in others for m in ("spearman", "first", "last")]
    tests = compare_scores(scores, pairs=pairs, groups=makers(albums))
    return {"means": means, "tests": [vars(each) for each in tests]}


def ways(music: Model, albums: recipe.Albums, table: str, other: Path | None) -> dict[str, Orders]:
    """Way of ordering -> one ordering of each validation album of a table."""
    whole, train = albums[table]["validation"], albums[table]["train"]
    found = several(seen(whole, "all inputs"), by_music(music, "music"))
    if table != "titles":
        found |= several(seen(whole, "a folder of sound, heard"), by_music(music, "music of a folder, heard"))
        found |= several(seen(whole, "duration, loudness and titles"), by_music(music, "music of a folder"))
    found |= several(seen(whole, "features without titles"), by_music(music, "music without titles"))
    column = "duration_ms" if table == "titles" else "loudness"
    found[f"sorted by {column}"] = shuffled(whole, by_column(column, upward(train, column)))
    if table != "titles":
        found |= {name: shuffled(whole, by_model(name)) for name in ("albums", "audio")}
    if other:
        found["transformer"] = shuffled(whole, by_transformer(music, other))
    return found


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("music-measured.json"))
    parser.add_argument("--transformer", type=Path, metavar="FILE")
    parser.add_argument("--tables", nargs="*", default=recipe.TABLES)
    parser.add_argument("--strict", action="store_true", help="without albums whose titles a training album has")
    parser.add_argument("--only", choices=("bits", "orders"))
    options = parser.parse_args()
    music = fabula.load_model("music")
    if "titles" not in music.reads:
        raise SystemExit("music must be a set model")
    albums = recipe.as_albums(recipe.read_tables(options.folder))
    report: dict[str, Any] = {}
    for table in options.tables:
        whole = albums[table]["validation"]
        if options.strict:
            whole = leave_known([album for part in albums.values() for album in part["train"]], whole)
        report[table] = {"bits": bits(music, whole)} if options.only != "orders" else {}
        if options.only != "bits":
            orders = ways(music, albums, table, options.transformer)
            plain = {name: obvious(each, whole) for name, each in orders.items() if name.startswith("music")}
            report[table] |= {**compared(orders, whole), "the obvious": plain}
        options.out.write_text(json.dumps(report, indent=1) + "\n")
        print(table, json.dumps(report[table]), flush=True)


if __name__ == "__main__":
    main()
