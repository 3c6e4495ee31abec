"""How the model `music` does on the validation albums: its bits, one proposal for each album, and tests against others.

    python examples/measure_music_model.py FOLDER --out music-measured.json --sequencer 6000

FOLDER holds albums, albums-more and titles .parquet. Items are shuffled before anything orders them, so that no tie
is decided by the truth. The transformer of `fabula reproduce` is trained on every so-manieth training album, so that
there are --sequencer of them; it gets the twelve features and what `music` reads in a title, as numbers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import train_music_model as recipe

import fabula
from fabula.core.collection import Collection
from fabula.evaluation.comparison import compare_scores
from fabula.evaluation.controls import known_only
from fabula.evaluation.metrics import METRICS
from fabula.models.sets.model import SetModel
from fabula.models.sets.pairs import TITLE_PAIRS
from fabula.models.sets.proposing import likeliest
from fabula.models.sets.sampling import balanced_ordering, position_chances
from fabula.models.sets.tables import Tables
from fabula.models.sets.titles import words_of

FOLDER = ("duration_ms", "loudness")
CASES = {
    "all inputs": (recipe.FEATURES, True),
    "duration, loudness and titles": (FOLDER, True),
    "features without titles": (recipe.FEATURES, False),
    "duration and titles": (("duration_ms",), True),
    "duration and loudness": (FOLDER, False),
    "titles alone": ((), True),
}
SHOWN = ("spearman", "kendall", "first", "last", "neighbours")
Orders = list[np.ndarray]


def seen(albums: Sequence[Collection], case: str) -> list[Collection]:
    """The albums of which only some things are known."""
    features, titles = CASES[case]
    return known_only(albums, features, titles=titles)


def bits(music: SetModel, albums: Sequence[Collection]) -> dict[str, Any]:
    """Bits by what is known, and by scorer."""
    found = {}
    for case in CASES:
        found[case] = fabula.mutual_information(music, seen(albums, case), draws=16)
    found["all inputs, arcs alone"] = fabula.mutual_information(music, albums, draws=16, scorer="arcs")
    found["all inputs, flow alone"] = fabula.mutual_information(music, albums, draws=16, scorer="flow")
    return {case: {"bits": i.bits, "low": i.low, "high": i.high, "n": i.collections} for case, i in found.items()}


def shuffled(albums: Sequence[Collection], order: Callable[[list[Collection]], Orders]) -> Orders:
    """Orderings of albums, found with their items shuffled, in the true numbering."""
    rng = np.random.default_rng(7)
    mixed = [rng.permutation(len(album)) for album in albums]
    found = order([album.reordered(mix) for album, mix in zip(albums, mixed, strict=True)])
    return [mix[ordering] for mix, ordering in zip(mixed, found, strict=True)]


def by_music(music: SetModel, *, flow: bool = True) -> Callable[[list[Collection]], Orders]:
    """The likeliest orderings."""

    def order(albums: list[Collection]) -> Orders:
        both = music.tables_all(albums)
        return [likeliest(Tables(p, f if flow else 0 * f), seconds=0.5).ordering for p, f in both]

    return order


def by_expectation(music: SetModel, *, balanced: bool = False) -> Callable[[list[Collection]], Orders]:
    """Items sorted by their expected positions; balanced: with the likeliest opener and close at the ends."""

    def order(albums: list[Collection]) -> Orders:
        both, rng = music.tables_all(albums), np.random.default_rng(0)
        found: Orders = [np.zeros(0, dtype=np.intp)] * len(albums)
        for n in {len(album) for album in albums}:
            numbers = [i for i, album in enumerate(albums) if len(album) == n]
            for part in (numbers[i : i + 128] for i in range(0, len(numbers), 128)):
                positions, flow = (np.stack([both[i][which] for i in part]) for which in (0, 1))
                for number, chances in zip(part, position_chances(positions, flow, rng), strict=True):
                    by_mean = (chances @ np.arange(n)).argsort()
                    found[number] = balanced_ordering(chances) if balanced else by_mean
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


def numbers_of(music: SetModel, album: Collection) -> Collection:
    """An album with what `music` reads in each title, as numbers beside its features."""
    read = music.inputs(album)
    vectors, tokens = music.tensors["tokens.vectors"], read.tokens[0]
    there = (tokens > 0)[..., np.newaxis]
    mean = (vectors[tokens] * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    columns = np.concatenate([album.columns(recipe.FEATURES), read.marks[0], mean], axis=1)
    names = [*recipe.FEATURES, *(f"t{i}" for i in range(columns.shape[1] - len(recipe.FEATURES)))]
    return Collection(album.id, album.items, columns, names, ordered=album.ordered)


def by_sequencer(music: SetModel, albums: recipe.Albums, count: int) -> Callable[[list[Collection]], Orders]:
    """The transformer of `fabula reproduce`, given the same inputs as numbers."""
    from fabula.training.sequencer.sequencer import SequencerConfig, sequence_all, train_sequencer

    train, aside = ([a for t in recipe.TABLES[:2] for a in albums[t][part]] for part in ("train", "aside"))
    some = train[:: max(1, len(train) // count)][:count]
    began = time.monotonic()
    learned, decides = ([numbers_of(music, album) for album in part] for part in (some, aside))
    made = train_sequencer(learned, decides, SequencerConfig())
    print(f"transformer: {len(some)} albums, {time.monotonic() - began:.0f} s, bits aside {made.history}", flush=True)
    return lambda mixed: sequence_all(made, [numbers_of(music, album) for album in mixed])


def obvious(music: SetModel, orders: Orders, albums: Sequence[Collection]) -> dict[str, str]:
    """In how many albums Intro comes first, Outro last, a part before the next, of those where they truly do."""
    kept: dict[str, list[bool]] = {"intro first": [], "outro last": [], "parts in order": []}
    for order, album in zip(orders, albums, strict=True):
        if "intro" in words_of(album.items[0].title):
            kept["intro first"].append(bool(order[0] == 0))
        if "outro" in words_of(album.items[-1].title):
            kept["outro last"].append(bool(order[-1] == len(order) - 1))
        first, second = np.nonzero(music.inputs(album).pairs[0, :, :, TITLE_PAIRS.index("next part")])
        parts, place = first < second, np.argsort(order)
        if parts.any():
            kept["parts in order"].append(bool((place[first[parts]] < place[second[parts]]).all()))
    return {name: f"{sum(each)} of {len(each)}" for name, each in kept.items()}


def compared(orders: dict[str, Orders]) -> dict[str, Any]:
    """Metrics of each way of ordering, and the likeliest of `music` against each other one: one family of tests."""
    scores = {f"{m}, {name}": [METRICS[m](order) for order in each] for name, each in orders.items() for m in SHOWN}
    means = {name: {m: round(float(np.mean(scores[f"{m}, {name}"])), 4) for m in SHOWN} for name in orders}
    ours, others = next(iter(orders)), [name for name in orders if not name.startswith("music")]
    pairs = [(f"{m}, {ours}", f"{m}, {name}") for name in others for m in ("spearman", "first", "last")]
    return {"means": means, "tests": [vars(each) for each in compare_scores(scores, pairs=pairs)]}


def ways(music: SetModel, albums: recipe.Albums, table: str, sequencer: Any) -> dict[str, Orders]:
    """Way of ordering -> one ordering of each validation album of a table."""
    whole, train = albums[table]["validation"], albums[table]["train"]
    folder = seen(whole, "duration, loudness and titles")
    found = {
        "music, likeliest": shuffled(whole, by_music(music)),
        "music, arcs alone": shuffled(whole, by_music(music, flow=False)),
        "music, expected position": shuffled(whole, by_expectation(music)),
        "music, balanced": shuffled(whole, by_expectation(music, balanced=True)),
        "music of a folder, likeliest": shuffled(folder, by_music(music)),
        "music of a folder, expected position": shuffled(folder, by_expectation(music)),
        "music of a folder, balanced": shuffled(folder, by_expectation(music, balanced=True)),
        "music without titles": shuffled(seen(whole, "features without titles"), by_music(music)),
    }
    column = "duration_ms" if table == "titles" else "loudness"
    found[f"sorted by {column}"] = shuffled(whole, by_column(column, upward(train, column)))
    if table != "titles":
        found |= {name: shuffled(whole, by_model(name)) for name in ("albums", "audio")}
        if sequencer:
            found["transformer"] = shuffled(whole, sequencer)
    return found


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("music-measured.json"))
    parser.add_argument("--sequencer", type=int, default=0, metavar="N")
    parser.add_argument("--bits-only", action="store_true")
    options = parser.parse_args()
    music = fabula.load_model("music")
    if not isinstance(music, SetModel):
        raise SystemExit("music must be a set model")
    albums = recipe.as_albums(recipe.read_tables(options.folder))
    report: dict[str, Any] = {}
    sequencer = by_sequencer(music, albums, options.sequencer) if options.sequencer else None
    for table in recipe.TABLES:
        whole = albums[table]["validation"]
        report[table] = {"bits": bits(music, whole)}
        if not options.bits_only:
            orders = ways(music, albums, table, sequencer)
            plain = {name: obvious(music, each, whole) for name, each in orders.items() if name.startswith("music")}
            report[table] |= {**compared(orders), "the obvious": plain}
        options.out.write_text(json.dumps(report, indent=1) + "\n")
        print(table, json.dumps(report[table]), flush=True)


if __name__ == "__main__":
    main()
