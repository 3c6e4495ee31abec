"""The templates that come with the package, learned from albums, and what they are worth.

    python examples/learn_album_templates.py albums.parquet --out src/fabula/core/album_templates.json

Learns k = 1 to 6 templates by contrast from the essence of the training albums and writes them. Then compares, on the
validation albums and on shuffled ones, the order each set proposes with the true one, against templates of least
squares: rank correlation, paired t-tests, Holm's correction over all k.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import fabula
from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats
from fabula.core.files import write_whole
from fabula.core.template import Template
from fabula.evaluation.information import makers
from fabula.evaluation.intervals import compare_scores
from fabula.evaluation.metrics import spearman
from fabula.research.splits import read_split
from fabula.templates.learn import learn_arcs

USUAL = {"kind": "", "alpha_sorted": "false", "one_song": "false"}


def proposals(essences: list[Floats], choose: object, rng: np.random.Generator) -> np.ndarray:
    """Spearman's rho of the proposed order of each collection; items come in random order, so ties tell nothing."""
    out = []
    for essence in essences:
        given = rng.permutation(len(essence))
        out.append(spearman(given[choose(essence[given])]))
    return np.array(out)


def by_fit(templates: fabula.TemplateSet) -> object:
    """The order of the template that a collection can follow most closely."""

    def choose(essence: Floats) -> np.ndarray:
        return min((fabula.fit(essence, t.normalised()) for t in templates), key=lambda fit: fit.mean).ordering

    return choose


def by_likelihood(arcs: Arcs) -> object:
    """The likeliest order under the mixture."""
    return lambda essence: arcs.order(essence, alternatives=1)[0].ordering


def main() -> None:
    """Learn, write, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--model", default="albums")
    parser.add_argument("--most", type=int, default=6)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    split = read_split(options.table, where=USUAL)
    model = fabula.load_model(options.model)
    training, validation = ([e[:, 0] for e in model.encode_all(part)] for part in (split.training, split.held_out))
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(essence) for essence in validation]
    learned: list[Template] = []
    scores: dict[str, np.ndarray] = {}
    for k in range(1, options.most + 1):
        arcs = learn_arcs(training, k, rng=np.random.default_rng(k))
        refined = fabula.learn_templates(training, k, method="refined")
        for i, place in enumerate(np.argsort(-arcs.weights, kind="stable"), start=1):
            shape = arcs.templates[place].normalised()
            about = f"{shape.description.removesuffix('.')} (one of {k} learned from albums)."
            learned.append(Template(shape.knots, shape.values.round(4), f"album-{k}.{i}", about))
        for name, choose in (("contrastive", by_likelihood(arcs)), ("refined", by_fit(refined))):
            for data, essences in (("real", validation), ("shuffled", shuffled)):
                scores[f"{name} {k} {data}"] = proposals(essences, choose, np.random.default_rng(1))
        print(f"k = {k} done", flush=True)
    pairs = [
        (f"contrastive {k} {d}", f"refined {k} {d}") for d in ("real", "shuffled") for k in range(1, options.most + 1)
    ]
    print("| k | data | contrastive | refined | difference (95 %) | d_z | n | p | p, Holm |\n" + "|---" * 9 + "|")
    for row in compare_scores(scores, pairs=pairs, groups=makers(split.held_out)):
        _, k, data = row.a.split()
        print(f"| {k} | {data} | {np.nanmean(scores[row.a]):.4f} | {np.nanmean(scores[row.b]):.4f} | "
              f"{row.difference:.4f} ({row.low:.4f} to {row.high:.4f}) | {row.effect:.3f} | {row.n} | {row.p:.2g} | "
              f"{row.adjusted:.2g} |")  # fmt: skip
    if options.out is not None:
        rows = [{"name": t.name, "description": t.description, "values": t.values.tolist()} for t in learned]
        lines = ",\n ".join(json.dumps(row) for row in rows)
        write_whole(options.out, f"[\n {lines}\n]\n")


if __name__ == "__main__":
    main()
