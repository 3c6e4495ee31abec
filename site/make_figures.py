"""Draw the figures of docs/how-it-works.md, each from what fabula computes.

python site/make_figures.py [DATA]     DATA: movies/ and published_templates.npz, for the one beside the paper's
python site/make_figures.py --leak     train on noise with and without the published error, and keep the bits of each epoch
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from draw import Figure, Plot

import fabula
from fabula.session.open import demo_folder

LEAK = Path(__file__).with_name("leak.json")  # measured by --leak, which takes minutes
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SHAPES = ("rags-to-riches", "tragedy", "man-in-a-hole", "icarus", "cinderella", "oedipus")


def main() -> None:
    session = fabula.open(demo_folder())
    figures = {
        "how-essence": draw_essence(session), "how-templates": draw_templates(), "how-matching": draw_matching(session),
        "how-tables": draw_tables(session), "how-leak": draw_leak(),
    }  # fmt: skip
    if len(sys.argv) > 1:
        figures["how-paper"] = draw_paper(Path(sys.argv[1]))
    for name, figure in figures.items():
        (IMAGES / f"{name}.svg").write_text(figure.svg() + "\n", encoding="utf-8")
        print(name, len(figure.svg()))


def measure_leak() -> None:
    """Bits of every epoch on noise, with the errors of the published code and without."""
    rng, noise = np.random.default_rng(0), []
    for number in range(4000):
        items = [fabula.Item(str(j), artist=f"a{number}") for j in range(rng.integers(3, 9))]
        noise.append(fabula.Collection(f"c{number}", items, rng.normal(size=(len(items), 2)), ["a", "b"]))
    config = fabula.training.preset("paper", scorers=("bilstm",), epochs=12, learning_rate=0.003, dimensions=1)
    runs: dict[str, list[float]] = {"published": [], "repaired": []}
    for name, bits in runs.items():

        def keep(control: str, epoch: Any, bits: list[float] = bits) -> None:
            if control == "noise features":
                bits.append(round(float(epoch.bits["bilstm"]), 3))
                print(epoch.epoch, bits[-1], flush=True)

        fabula.audit(noise, config, controls_only=True, published_bug=name == "published", callback=keep)
    LEAK.write_text(json.dumps(runs) + "\n", encoding="utf-8")


def draw_essence(session: fabula.Session) -> Figure:
    """What is measured of each track, and the one number made of it."""
    tracks = session.collection
    names = ("loudness", "heard_tempo", "onset_density", "duration_ms")
    values = np.array(
        [
            fabula.normalise(session.features[name] if isinstance(session.features, dict) else tracks.column(name))
            for name in names
        ]
    )
    figure = Figure(720, 300)
    labels = ("loudness", "tempo", "density", "length", "…", "energy")
    for column, words in enumerate(labels):
        figure.text(190 + 62 * column + (70 if column == 5 else 0), 24, words, "soft", 12, "middle")
    order = np.argsort(session.essence)[::-1]
    for row, item in enumerate(order):
        y = 50 + 27 * row
        figure.text(140, y + 4, tracks.items[item].label, size=13, anchor="end")
        for column in range(4):
            figure.dot(
                190 + 62 * column,
                y,
                "fa" if values[column, item] > 0 else "fe",
                2 + 3.2 * min(2.2, abs(values[column, item])),
            )
        figure.text(190 + 62 * 4, y + 4, "…", "soft", 13, "middle")
        figure.line([(470, y), (510, y)], "e line", 'stroke-width="1"')
        height = (session.essence[item] - session.essence.min()) / np.ptp(session.essence)
        figure.rect(520, y - 8, 6 + 170 * height, 16, "fa")
    return figure


def draw_templates() -> Figure:
    figure = Figure(720, 260)
    for number, name in enumerate(SHAPES):
        template, u = fabula.template(name), np.linspace(0, 1, 61)
        plot = Plot(figure, (14 + 240 * (number % 3), 30 + 128 * (number // 3), 200, 84), (0, 1), (-2.4, 2.4))
        plot.frame(name)
        figure.line(plot.points(u, fabula.normalise(template.at(u))))
        inner = fabula.normalise(np.concatenate([template.at(u), template.at(np.array(template.knots))]))[61:]
        for x, y in plot.points(template.knots, inner):
            figure.dot(x, y, "fb", 3.2)
    return figure


def draw_matching(session: fabula.Session) -> Figure:
    """Two sorts: the highest item goes where the template is highest."""
    n, rng = 9, np.random.default_rng(4)
    values = fabula.normalise(rng.normal(size=n))
    template = fabula.template("man-in-a-hole")
    targets = fabula.normalise(template.at(np.linspace(0, 1, n)))
    fit = fabula.fit(values, fabula.Template(np.linspace(0, 1, n).tolist(), targets.tolist(), "man in a hole"))
    figure = Figure(720, 270)
    left = Plot(figure, (40, 34, 60, 200), (0, 1), (-2.2, 2.2))
    middle = Plot(figure, (190, 34, 60, 200), (0, 1), (-2.2, 2.2))
    right = Plot(figure, (350, 34, 340, 200), (0, n - 1), (-2.2, 2.2))
    figure.text(40, 20, "the items, by value", size=13)
    figure.text(190, 20, "the targets", size=13)
    figure.text(350, 20, "the order: each where it strays least", size=13)
    for position, item in enumerate(fit.ordering):
        a, b = left.at(0.5, values[item]), middle.at(0.5, targets[position])
        figure.line([a, b], "e line", 'stroke-width="1"')
        figure.dot(*a, "fa", 5)
        figure.dot(*b, "fb", 4)
    right.frame(x_ticks=[(k, str(k + 1)) for k in range(n)])
    u = np.linspace(0, 1, 81)
    curve = template.at(u)
    scaled = (curve - template.at(np.linspace(0, 1, n)).mean()) / template.at(np.linspace(0, 1, n)).std()
    figure.line(right.points(u * (n - 1), scaled), "b line")
    for position, item in enumerate(fit.ordering):
        figure.line(
            [right.at(position, values[item]), right.at(position, targets[position])],
            "e line",
            'stroke-dasharray="2 3" stroke-width="1.2"',
        )
        figure.dot(*right.at(position, values[item]), "fa", 5)
    return figure


def draw_tables(session: fabula.Session) -> Figure:
    """What the model says of the demo album: where a track likes to stand, and what likes to follow it."""
    energy = session.likelihood.energy if session.likelihood is not None else None
    assert energy is not None
    energy = energy() if callable(energy) else energy
    ordering = session.order().ordering
    titles = [item.label for item in session.collection.items]
    figure, n, cell = Figure(720, 330), len(titles), 27
    tables = [("arcs: at which position", energy.positions, 120), ("flow: followed by which", energy.flow, 470)]
    for words, table, x0 in tables:
        if table is None:
            continue
        shown = table[np.ix_(ordering, np.arange(n) if table is energy.positions else ordering)]
        shown = shown - shown.mean(axis=1, keepdims=True)
        most = np.abs(shown).max()
        figure.text(x0, 26, words, size=13, more='font-weight="600"')
        for row in range(n):
            if x0 < 200:
                figure.text(x0 - 8, 58 + row * cell, titles[ordering[row]], size=12, anchor="end")
            for column in range(n):
                value = shown[row, column] / most
                if table is energy.flow and row == column:
                    continue
                figure.rect(
                    x0 + column * cell,
                    40 + row * cell,
                    cell - 2,
                    cell - 2,
                    "fa" if value > 0 else "fb",
                    f'opacity="{abs(value):.2f}"',
                )
            chosen = row if table is energy.positions else row + 1
            if chosen < n:
                figure.rect(
                    x0 + chosen * cell + 1, 41 + row * cell, cell - 4, cell - 4, "e", 'fill="none" stroke-width="2"'
                )
        for column in range(n):
            figure.text(x0 + column * cell + 12, 300, str(column + 1), "soft", 11, "middle")
    return figure


def draw_leak() -> Figure:
    """How the end token shows the true first item, slot by slot; and what a control says of it."""
    figure = Figure(720, 290)
    rows = (
        ("as it should be", ["B", "A", "D", "C", "end", "pad"], 5),
        ("as published", ["B", "A", "D", "end", "A"], 5),
    )
    for row, (words, slots, length) in enumerate(rows):
        y = 44 + 92 * row
        figure.text(20, y - 12, f"a shuffled album, {words}", size=13)
        for column, slot in enumerate(slots):
            wrong = row == 1 and column in (3, 4)
            figure.rect(
                20 + 56 * column,
                y,
                52,
                34,
                "well" if not wrong else "b",
                'rx="6"' + (' fill="none" stroke-width="2"' if wrong else ""),
            )
            figure.text(46 + 56 * column, y + 22, slot, "soft" if slot == "pad" else "", 14, "middle")
        figure.line([(20, y + 42), (20 + 56 * length - 4, y + 42)], "a line")
        figure.text(20 + 56 * length + 4, y + 46, "read so far", "soft", 11)
    figure.text(20, 212, "The end token is written one slot early: it erases C, and the reading", size=12)
    figure.text(20, 229, "goes on into padding, which holds item 0: the true opener, A.", size=12)
    figure.text(20, 246, "Whoever compares it with the first slot knows the answer.", size=12)
    figure.text(440, 24, "bits by epoch, fed with pure noise", size=13, more='font-weight="600"')
    runs = json.loads(LEAK.read_text(encoding="utf-8"))
    epochs = len(runs["published"])
    plot = Plot(figure, (470, 44, 220, 180), (1, epochs), (-0.15, 2.1))
    plot.frame(ticks=((0, "0"), (1, "1"), (2, "2")), x_ticks=((1, "1"), (epochs, str(epochs))), zero=0)
    for name, kind, words in (
        ("published", "b", "with the error"),
        ("repaired", "a", "repaired: a control that is zero"),
    ):
        figure.line(plot.points(range(1, len(runs[name]) + 1), runs[name]), f"{kind} line")
        figure.text(690, plot.at(0, runs[name][-1])[1] - 9, words, "", 12, "end")
    return figure


def draw_paper(data: Path) -> Figure:
    """Four templates of 4,750 movies: the best of the ten published runs, and ours."""
    movies = json.loads((data / "movies" / "training.json").read_text(encoding="utf-8"))
    movies = list(movies.values()) if isinstance(movies, dict) else movies
    essences = [fabula.normalise(np.array(movie["narrative_essence"], float).ravel()) for movie in movies]
    positions = [(at - at[0]) / (at[-1] - at[0]) for at in (np.array(movie["indices"], float) for movie in movies)]
    stored = np.load(data / "published_templates.npz")
    knots = stored["knots"].tolist()
    sets = [
        fabula.TemplateSet([fabula.Template(knots, one.tolist(), f"{k}") for k, one in enumerate(run)])
        for run in stored["movies_4"]
    ]
    costs = [one.cost(essences, positions=positions) for one in sets]
    theirs, ours = sets[int(np.argmin(costs))], fabula.learn_templates(essences, k=4, positions=positions, seed=0)
    ours_cost = ours.cost(essences, positions=positions)
    from scipy.optimize import linear_sum_assignment

    u = np.linspace(0, 1, 61)
    a, b = (np.array([template.at(u) for template in one.templates]) for one in (theirs, ours))
    _, match = linear_sum_assignment(((a[:, None] - b[None]) ** 2).mean(axis=2))
    figure = Figure(720, 190)
    for k in range(4):
        plot = Plot(figure, (14 + 178 * k, 34, 158, 120), (0, 1), (-1.7, 1.7))
        plot.frame(zero=0)
        figure.line(plot.points(u, a[k]), "b line", 'stroke-dasharray="5 4"')
        figure.line(plot.points(u, b[match[k]]), "a line")
    figure.text(
        14,
        20,
        f"dashed: published, mean squared error {min(costs):.4f} (its mean of ten runs {np.mean(costs):.4f})",
        size=12,
    )
    figure.text(14, 178, f"solid: fabula templates learn, {ours_cost:.4f}", size=12)
    return figure


if __name__ == "__main__":
    measure_leak() if "--leak" in sys.argv else main()
