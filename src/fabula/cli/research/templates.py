"""``fabula templates``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.printing import counting_bar, print_json, print_lines, print_table, print_template, spark
from fabula.cli.research.recipe import as_where
from fabula.core.files import check_target, json_text, write_whole
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.research.corpus import Corpus

_EACH = 20  # collections for each template, below which its shape is said to be in doubt


@click.group("templates")
def command() -> None:
    """List, show, learn and compare story templates.

    \b
    Examples:
      fabula templates list
      fabula templates show man-in-a-hole
      fabula templates learn albums.csv --by energy -k 4 -o mine.json
    """


@command.command("list")
def list_() -> None:
    """List the built-in templates.

    \b
    Example:
      fabula templates list
    """
    from fabula.core import template as builtin

    columns, templates = ("name", "arc", "what it does"), map(builtin.template, builtin.template_names())
    rows = [(template.name, spark(template.samples(16)), template.description) for template in templates]
    print_table(columns, rows, left=columns, wrap=columns[2:], whole=False)


@command.command("show")
@click.argument("template")
def show(template: str) -> None:
    """Draw a template: a built-in name, a file (FILE#2 for its second) or points.

    \b
    Examples:
      fabula templates show icarus
      fabula templates show "0:0.2,0.5:1,1:0"
    """
    from fabula.session.request import find_template

    print_template(find_template(template))


_CORPUS = [
    click.argument("table", type=click.Path(path_type=Path)),
    click.option("--by", metavar="COLUMN", help="The column to use as the essence."),
    click.option("--model", metavar="NAME|FILE", help="The model that gives the essence."),
    click.option("--positions", metavar="COLUMN", help="Where the items stand, in any unit; by default evenly."),
    click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows that have it; repeatable."),
    click.option("--split", type=click.Choice(["train", "validation", "test"]),
                 help="The side of the column split to learn from; train by default."),
    click.option("--seed", type=int, default=0, show_default=True, help="For the same result again."),
]  # fmt: skip
_METHOD = click.option(
    "--method", type=click.Choice(["refined", "evolution", "contrastive"]), default="refined", show_default=True,
    help="Least squares, evolution as in the paper but cooled, or what tells true orders from shuffled ones.",
)  # fmt: skip


def _of_a_corpus(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_CORPUS):
        function = option(function)
    return function


def _corpus(*, table: Path, by: str | None, model: str | None, where: tuple[str, ...], **source: Any) -> "Corpus":
    from fabula.research.corpus import read_corpus

    if (by is None) == (model is None):
        raise InputError("say where the essence comes from: one of --by COLUMN and --model MODEL")
    side, positions = source["split"], source["positions"]
    return read_corpus(table, by=by, model=model, where=as_where(where), side=side, positions=positions)


@command.command("learn")
@_of_a_corpus
@_METHOD
@click.option("-k", type=click.IntRange(1, 1000), default=4, show_default=True, help="How many.")
@click.option("--paper", is_flag=True, help="With --method evolution: Algorithm 1 of the paper to the letter.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where they go (.json).")
def learn_(*, k: int, method: str, paper: bool, seed: int, output: Path | None, **source: Any) -> None:
    """Learn templates from ordered collections, those to train on where a column split says which.

    \b
    The table has one row an item; or one row a collection, where the cells of the column are lists.

    \b
    Examples:
      fabula templates learn albums.csv --by energy -k 4 --method contrastive -o mine.json
      fabula templates learn albums.csv --by energy --method evolution --paper -o letter.json
      fabula templates learn training.json --by narrative_essence --positions indices -k 4 -o mine.json
    """
    from fabula.research.corpus import learn_and_save

    corpus = _corpus(**source)
    with counting_bar("learning") as bar:
        templates = learn_and_save(corpus, output, k=k, method=method, paper=paper, seed=seed, progress=_costs(bar))
    for template in templates:
        print_template(template)
    cost, count = templates.cost(corpus.essences, corpus.positions), f"{len(corpus.collections):,} collections"
    lines = [f"learned from {count}{f' ({corpus.rule})' if corpus.rule else ''}; mean squared error {cost:.4f}"]
    if len(corpus.collections) < _EACH * k:
        few = f"{k} templates from {count} may be those of chance"
        lines.append(f"note: {few}: `fabula templates count` says how many tell more than shuffled ones do")
    print_lines(*lines, *_tell_left_out(corpus), *([] if output is None else [f"written: {output}"]))


@command.command("cost")
@click.argument("templates", type=click.Path(path_type=Path))
@_of_a_corpus
def cost_(*, templates: Path, seed: int, **source: Any) -> None:
    """Say what the templates of a file cost on the collections of a table, and how many follow each.

    \b
    Example:
      fabula templates cost mine.json validation.json --by narrative_essence --positions indices
    """
    from fabula.research.corpus import follow

    corpus = _corpus(**source)
    found = follow(templates, corpus)
    each = enumerate(zip(found.templates, found.followers, found.errors, strict=True), start=1)
    rows = [
        (f"{number} {template.name}", spark(template.samples(16)), f"{count:,}", f"{error:.4f}" if count else "")
        for number, (template, count, error) in each
    ]
    print_table(("template", "", "followed by", "mean squared error"), rows, left=("template", ""))
    seen = f"note: the templates were learned from {found.seen:,} of these collections"
    told = f"{len(corpus.collections):,} collections; mean squared error {found.cost:.4f}"
    print_lines(told, *([seen] if found.seen else []), *_tell_left_out(corpus))


def _costs(bar: Callable[[int, int, str], None]) -> Callable[[int, int, float], None]:
    return lambda done, total, cost: bar(done, total, f"cost {cost:.4f}")


def _tell_left_out(corpus: "Corpus") -> list[str]:
    return [f"note: {corpus.left_out:,} collections lack a value and were left out"] if corpus.left_out else []


@command.command("table")
@_of_a_corpus
@_METHOD
@click.option("-k", "most", type=click.IntRange(1, 100), default=9, show_default=True, help="From 1 to this many.")
@click.option("--on", "other", metavar="TABLE", type=click.Path(path_type=Path), help="Also measure the cost there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def table_(*, most: int, other: Path | None, as_json: bool, method: str, seed: int, **source: Any) -> None:
    """Learn 1 to k templates and say what each set costs, on a second table too.

    \b
    Example, the paper's films:
      fabula templates table training.json --on validation.json --by narrative_essence --positions indices
    """
    from dataclasses import asdict

    from fabula.research.corpus import cost_table

    corpus = _corpus(**source)
    second = None if other is None else _corpus(**{**source, "table": other})
    with counting_bar("learning") as bar:
        rows = cost_table(corpus, second, most, method=method, seed=seed, progress=_costs(bar))
    if as_json:
        counts = {"collections": len(corpus.collections), "others": len(second.collections) if second else None}
        print_json({**counts, "method": method, "seed": seed, "rows": [asdict(row) for row in rows]})
        return
    cells = [(str(r.k), f"{r.cost:.4f}", *([] if r.other is None else [f"{r.other:.4f}"])) for r in rows]
    print_table(("k", source["table"].stem, *([other.stem] if other else [])), cells)
    told = "mean squared error of each collection under the template nearest to it, mean over collections"
    print_lines(told, *_tell_left_out(corpus), *(_tell_left_out(second) if second else []))


@command.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
def compare_(*, first: Path, second: Path) -> None:
    """Pair each template of a file with the one most like it in another.

    \b
    Example:
      fabula templates compare mine.json yours.json
    """
    from fabula.research.corpus import compare_files

    a, b, found = compare_files(first, second)
    names = (first.name, "", second.name, "")
    rows = [
        (f"{i + 1} {a[i].name}", spark(a[i].samples(16)), f"{j + 1} {b[j].name}", spark(b[j].samples(16)),
         f"{r:+.2f}", f"{d:.2f}")
        for (i, j), r, d in zip(found.pairs, found.correlations, found.distances, strict=True)
    ]  # fmt: skip
    print_table((*names, "correlation", "distance"), rows, left=names)
    for name, rest in ((first.name, found.unmatched_first), (second.name, found.unmatched_second)):
        if rest:
            print_lines(f"without a partner in {name}: {', '.join(str(i + 1) for i in rest)}")


@command.command("count")
@_of_a_corpus
@click.option("-k", "most", type=click.IntRange(1, 50), default=6, show_default=True, help="Try 1 to this many.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def count_(*, most: int, seed: int, as_json: bool, **source: Any) -> None:
    """Say how many templates suit a set of collections, and how many the same collections shuffled.

    \b
    The cost falls with every template, on shuffled collections too. The bits say whether the
    templates tell anything about the order.

    \b
    Example:
      fabula templates count albums.csv --by energy -k 6
    """
    from fabula.research.corpus import count_templates

    corpus = _corpus(**source)
    with counting_bar("counting") as bar:
        found = count_templates(
            corpus, range(1, most + 1), seed=seed, progress=lambda d, t, bits: bar(d, t, f"bits {bits:.3f}")
        )
    if as_json:
        print_json(found.to_dict())
        return
    rows = [
        (str(row.k), f"{row.cost:.4f}", f"{row.shuffled_cost:.4f}", f"{row.bits:.3f}", f"{row.bits_error:.3f}",
         f"{row.shuffled_bits:.3f}", f"{row.refined_bits:.3f}")
        for row in found.rows
    ]  # fmt: skip
    print_table(("k", "cost", "shuffled", "bits", "± error", "shuffled bits", "refined bits"), rows)
    best = found.suggestion
    print_lines(f"suggested: {best}" if best else "no number of templates tells more about the order than chance")


@command.command("genealogy")
@_of_a_corpus
@_METHOD
@click.option("-k", "most", type=click.IntRange(1, 20), default=6, show_default=True, help="From 1 to this many.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Where it goes: .svg or .json")
def genealogy_(*, most: int, method: str, seed: int, output: Path, **source: Any) -> None:
    """Follow the templates as their number grows: who descends from whom.

    \b
    Writes the figure, and the numbers behind it beside it (or the other way round).

    \b
    Example:
      fabula templates genealogy albums.csv --by energy -k 6 -o genealogy.svg
    """
    from fabula.report.charts import genealogy_figure
    from fabula.report.markup import add_style
    from fabula.research.corpus import descend

    picture, numbers = check_target(output.with_suffix(".svg")), check_target(output.with_suffix(".json"))
    corpus = _corpus(**source)
    with counting_bar("learning") as bar:
        found = descend(corpus, most, method=method, seed=seed, progress=lambda d, t, _: bar(d, t, f"k = {d}"))
    document = {**found.to_dict(), "collections": [c.title or c.id for c in corpus.collections]}
    write_whole(picture, add_style(genealogy_figure(document)))
    write_whole(numbers, json_text(document) + "\n")
    print_lines(*(f"written: {path}" for path in (picture, numbers)))
