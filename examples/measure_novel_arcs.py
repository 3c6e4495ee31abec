"""The emotional arcs of novels beside the six of Reagan et al. (2016), and templates learned from them.

    python examples/measure_novel_arcs.py novels.parquet --to docs/images --table novel-arcs.csv

The table has one row a chapter: collection_id, lang, title, position, text. Novels of a language with a table of
feeling are cut into 200 pieces of as many words; their valence is averaged in windows of 10,000 words, at most a fifth
of the novel, at 100 points, and z-scored. Told are: principal components of the arcs, and of the same novels with their
pieces shuffled; six clusters of them; how many novels are beyond chance like one of the six; and six templates learned
as by ``fabula templates learn``, each with the template it is most like. Two figures go to the folder.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.cluster.vq import kmeans2

import fabula
from fabula.core.arrays import Floats, normalise
from fabula.core.collection import Item
from fabula.core.files import write_whole
from fabula.core.template import Template, template, template_names
from fabula.media.text.text_measures import FELT, pieces_of
from fabula.report.charts import Line, LinePanel, lines_figure
from fabula.report.markup import add_style
from fabula.session.inner_arcs import SIX, fit_shapes, smooth
from fabula.templates.learn import learn_templates

PIECES, WINDOW, SECTIONS = 200, 10_000, 20


def main() -> None:
    """Measure, tell, draw."""
    parser = argparse.ArgumentParser()
    parser.add_argument("novels", type=Path)
    parser.add_argument("--to", type=Path, default=Path())
    parser.add_argument("--table", type=Path, help="where the sections go, for `fabula templates learn --by valence`")
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    novels = valences(asked.novels)
    spans = {name: max(1, round(PIECES * min(0.2, WINDOW / words))) for name, (_, _, words) in novels.items()}
    arcs = np.stack([arc_of(values, spans[name]) for name, (_, values, _) in novels.items()])
    print(f"{len(novels)} novels: {dict(Counter(lang for lang, _, _ in novels.values()))}")
    shuffled = np.stack([arc_of(rng.permutation(v), spans[name]) for name, (_, v, _) in novels.items()])
    components(arcs, shuffled)
    clusters(arcs, rng)
    beyond_chance(novels, spans, rng)
    sections = {name: smooth(v, PIECES // SECTIONS, SECTIONS) for name, (_, v, _) in novels.items()}
    if asked.table is not None:
        write_sections(sections, asked.table)
    learned = learn_templates([normalise(s) for s in sections.values()], 6)
    compared(learned)
    draw(arcs, learned, asked.to)


def valences(path: Path) -> dict[str, tuple[str, Floats, float]]:
    """Novel -> language, valence of its pieces (200,), words."""
    chapters = defaultdict(list)
    for row in pq.read_table(path, columns=["collection_id", "lang", "position", "text"]).to_pylist():
        if row["lang"] in FELT:
            chapters[row["collection_id"], row["lang"]].append((row["position"], row["text"]))
    found = {}
    for (name, lang), parts in sorted(chapters.items()):
        text = "\n\n".join(text for _, text in sorted(parts))
        pieces = pieces_of(Item(name, details={"text": text}), PIECES)
        if pieces is not None and len(pieces) == PIECES and np.isfinite(pieces.column("valence")).all():
            found[name] = (lang, pieces.column("valence"), float(pieces.column("words").sum()))
    return found


def arc_of(values: Floats, span: int) -> Floats:
    """A smoothed arc at 100 points, z-scored."""
    smoothed = smooth(values, span)
    return normalise(np.interp(np.linspace(0, 1, 100), np.linspace(0, 1, len(smoothed)), smoothed))


def likest(curve: Floats, names: list[str], *, either: bool = False) -> tuple[float, str]:
    """The template that a curve correlates with most, upside down too where it has no direction."""
    found = [(float(np.corrcoef(curve, template(name).samples(len(curve)))[0, 1]), name) for name in names]
    return max(found, key=lambda pair: abs(pair[0]) if either else pair[0])


def components(arcs: Floats, shuffled: Floats) -> None:
    """The first principal components, and what they explain of true and of shuffled novels."""
    _, values, modes = np.linalg.svd(arcs, full_matrices=False)
    _, other, _ = np.linalg.svd(shuffled, full_matrices=False)
    shares, by_chance = values**2 / (values**2).sum(), other**2 / (other**2).sum()
    print("\n| component | explains | of shuffled novels | most like |\n|---|---|---|---|")
    for k in range(6):
        likeness, name = likest(modes[k], list(SIX), either=True)
        print(f"| {k + 1} | {shares[k]:.1%} | {by_chance[k]:.1%} | {name} ({abs(likeness):.2f}) |")


def clusters(arcs: Floats, rng: np.random.Generator) -> None:
    """Six clusters by k-means, the best of 20 starts."""
    runs = [kmeans2(arcs, 6, minit="++", rng=rng) for _ in range(20)]
    centres, labels = min(runs, key=lambda run: float(((arcs - run[0][run[1]]) ** 2).sum()))
    print("\n| cluster | novels | most like | correlation |\n|---|---|---|---|")
    for k in np.argsort(-np.bincount(labels, minlength=6)).tolist():
        likeness, name = likest(centres[k], list(SIX))
        print(f"| {k + 1} | {(labels == k).sum()} | {name} | {likeness:+.2f} |")


def beyond_chance(
    novels: dict[str, tuple[str, Floats, float]], spans: dict[str, int], rng: np.random.Generator
) -> None:
    """How many novels follow one of the six farther than 95 % of their shuffles, and which."""
    six = [template(name) for name in SIX]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    known: dict[str, list[bool]] = defaultdict(list)
    for name, (lang, values, _) in novels.items():
        found = fit_shapes(values, six, span=spans[name], rng=rng, draws=200)
        known[lang].append(found.chance <= 0.05)
        known["all"].append(found.chance <= 0.05)
        if found.chance <= 0.05:
            counts["all"][found.templates[0].name] += 1
    print("\nbeyond chance (5 % of novels without a shape would be):")
    print(", ".join(f"{lang} {sum(hits)} of {len(hits)}" for lang, hits in known.items()))
    print(", ".join(f"{name} {count}" for name, count in counts["all"].most_common()))


def write_sections(sections: dict[str, Floats], path: Path) -> None:
    """One row a section, as `fabula templates learn` takes it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["collection", "position", "valence"])
        for name, values in sections.items():
            rows.writerows([name, number, f"{value:.6f}"] for number, value in enumerate(values, start=1))


def compared(learned: fabula.TemplateSet) -> None:
    """Each learned template with the one of the six, and the one learned from albums, that it is most like."""
    albums = [name for name in template_names() if name.startswith("album-6")]
    print("\n| learned | of the six | of the albums' |\n|---|---|---|")
    for number, one in enumerate(learned, start=1):
        curve = one.samples(100)
        (r, name), (s, other) = likest(curve, list(SIX)), likest(curve, albums)
        print(f"| {number} {one.name} | {name} ({r:+.2f}) | {other} ({s:+.2f}) |")


def draw(arcs: Floats, learned: fabula.TemplateSet, folder: Path) -> None:
    """The components and the learned templates, each beside the one of the six it is most like."""
    modes = np.linalg.svd(arcs, full_matrices=False)[2][:3]
    panels = [_panel(f"component {k + 1}", mode, either=True) for k, mode in enumerate(modes)]
    write_whole(folder / "novel-components.svg", add_style(lines_figure(panels, width=900, height=230)) + "\n")
    rows = [_panel(f"learned {k}", one.samples(100)) for k, one in enumerate(learned, start=1)]
    write_whole(folder / "novel-templates.svg", add_style(lines_figure(rows, width=1200, height=210)) + "\n")


def _panel(title: str, curve: Floats, *, either: bool = False) -> LinePanel:
    likeness, name = likest(curve, list(SIX), either=either)
    at = np.linspace(0, 1, len(curve)).tolist()
    own = normalise(curve * (np.sign(likeness) if either else 1.0))
    wanted: Template = template(name)
    lines = [
        Line("of the novels", at, own.tolist()),
        Line("the likest of the six", at, wanted.samples(len(curve)).tolist(), colour=7, dashed=True),
    ]
    return LinePanel(f"{title}: {name}", "", lines)


if __name__ == "__main__":
    main()
