"""``fabula evaluate``."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fabula.cli.printing import counting_bar, hint, print_json, print_lines, print_table
from fabula.cli.research.recipe import as_where, split_list
from fabula.core.files import check_target, json_text, write_whole
from fabula.errors import InputError

_SHOWN = ("edit", "spearman", "kendall", "first", "last", "neighbours")


@click.command("evaluate")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--model", metavar="MODEL", help="What gives the essence: a shipped name or a file.")
@click.option("--by", metavar="COLUMN", help="Or: a column as the essence.")
@click.option("--templates", type=click.Path(path_type=Path), help="A template file; by default they are learned.")
@click.option("--sequencer", type=click.Path(path_type=Path), help="A direct sequencer that reproduce has written.")
@click.option("--search", type=click.IntRange(0), default=0, metavar="N",
              help="Search under the model's most detailed scorer on N collections, a second each.")  # fmt: skip
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows that have it; repeatable.")
@click.option("--features", metavar="A,B,...", help="Columns to sort by; by default the model's.")
@click.option("--held-out", type=float, default=0.1, show_default=True,
              help="Share held out where the table has no column split.")  # fmt: skip
@click.option("--split", type=click.Choice(["train", "validation", "test"]),
              help="The side of the column split to measure on: validation, unless named.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For the same figures again.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write here: .json or .csv.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def command(
    *, table: Path, where: tuple[str, ...], features: str | None, output: Path | None, as_json: bool, **options: Any
) -> None:
    """Measure how well every method recovers the true order of held-out collections.

    \b
    Chance, each feature and the essence sorted, squared-error templates, the mixture of arcs and,
    where asked for, a search and a direct transformer; with intervals and paired tests over those
    who made the collections. Of a model also its bits, and whether it has seen these collections;
    of a set model what it proposes, and the likeliest order.

    \b
    Examples:
      fabula evaluate albums.parquet --model audio --where kind= -o recovery.csv
      fabula evaluate albums.parquet --model music --where kind=
      fabula evaluate albums.parquet --model mine.safetensors --split test
      fabula evaluate playlists.csv --by energy
    """
    from fabula.research.evaluate import EvaluationRequest, evaluate_table

    if output is not None and check_target(output).suffix.lower() not in (".json", ".csv"):
        raise InputError(f"{output}: the ending must be one of .json, .csv")
    names = split_list(features) if features else None
    request = EvaluationRequest(table, where=as_where(where), features=names, **options)
    turns = itertools.count(1)
    with counting_bar("evaluating") as bar:
        done = evaluate_table(request, progress=lambda name: bar(next(turns), 7, name))
    result = done.to_dict()
    if output is not None:
        text = _csv(result) if output.suffix.lower() == ".csv" else json_text(result, indent=1) + "\n"
        write_whole(output, text)
    if as_json:
        print_json(result)
        return
    show_rows(result)
    _show_tests(result)
    _show_bits(result)


def _show_bits(result: Mapping[str, Any]) -> None:
    """Print what the model tells about the order, and what the user should know."""
    for name, info in result["bits"].items():
        noise = "" if info["noise"] is None else f"; another draw of them moves it by {info['noise']:.3f}"
        over = f"{info['groups']:,} groups{hint(info['groups'])}, {info['collections']:,} collections"
        print_lines(
            f"{name}: {info['bits']:z.3f} bits [{info['low']:z.3f}, {info['high']:z.3f}] of at most "
            f"{info['ceiling']:.2f} (95 % interval over {over}, {info['negatives']} negatives{noise})"
        )
    print_lines(*(f"note: {note}" for note in result["notes"]))


def show_rows(result: Mapping[str, Any]) -> None:
    """Print the table of methods: means, and the interval of Spearman's rho."""
    rows = []
    for row in result["rows"]:
        rho = row["metrics"]["spearman"]
        means = [f"{row['metrics'][name]['mean']:.3f}" for name in _SHOWN]
        rows.append((row["method"], str(row["n"]), *means, f"{rho['low']:.3f} to {rho['high']:.3f}"))
    print_table(("method", "n", *_SHOWN, "95 % of spearman"), rows, left=("method",))


def _show_tests(result: Mapping[str, Any]) -> None:
    """Print the paired tests of the methods that learn: effect and n beside every p."""
    from fabula.research.recovery import METHODS

    columns = ("method", "against", "n", "gain", "95 % interval", "effect", "p adj.")
    for metric in dict.fromkeys(t["metric"] for t in result["tests"]):
        rows = [
            (t["a"], t["b"], str(t["n"]), f"{t['difference']:+.3f}", f"{t['low']:+.3f} {t['high']:+.3f}",
             f"{t['effect']:+.2f}", f"{t['adjusted']:.2g}")
            for t in result["tests"] if t["a"] in METHODS and t["metric"] == metric
        ]  # fmt: skip
        print_lines("")
        print_table(columns, rows, left=("method", "against"), title=f"by {metric}")
    how = "paired t-tests over groups; effect: Cohen's d_z; p adjusted by Holm-Bonferroni"
    print_lines(f"{how} over all {len(result['tests'])} tests; {result['rule']}")


def _csv(result: Mapping[str, Any]) -> str:
    from fabula.sources.tables.text_tables import csv_text

    names = list(result["rows"][0]["metrics"])
    ends = {"": "mean", " low": "low", " high": "high"}
    head = ["method", "n", *(f"{name}{end}" for name in names for end in ends)]
    rows = [
        [row["method"], row["n"], *(f"{row['metrics'][name][end]:.6g}" for name in names for end in ends.values())]
        for row in result["rows"]
    ]
    return csv_text(head, rows)
