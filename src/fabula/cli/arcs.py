"""``fabula arcs``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli.printing import console, counting_bar, print_json, print_lines, spark

if TYPE_CHECKING:
    from fabula.session.inner_arcs import InnerArc


@click.command("arcs")
@click.argument("files", nargs=-1, required=True, metavar="PATH...")
@click.option("--by", metavar="COLUMN", help="The feature to follow; by default valence, of a text.")
@click.option("--window", type=float, default=10_000, show_default=True, metavar="LENGTH",
              help="Of a sliding window, in words for texts; at most a fifth of the whole.")  # fmt: skip
@click.option("-o", "--output", multiple=True, metavar="FILE",
              help="Write them: .html .svg .png .pdf .csv .json; repeatable.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead of the table.")
@click.option("--seed", type=int, default=0, show_default=True, help="For the same result again.")
def command(*, files: tuple[str, ...], by: str | None, window: float, output: tuple[str, ...], as_json: bool,
            seed: int) -> None:  # fmt: skip
    """Show the arc within single items, such as whole books, and which of six emotional arcs it is like.

    \b
    Examples:
      fabula arcs novel.epub
      fabula arcs my-chapters/
      fabula arcs first.txt second.txt -o arcs.html -o arcs.csv
      fabula arcs novel.md --by dialogue --window 5000
    """
    from fabula.report.pictures import INNER_ENDINGS, check_picture, write_inner
    from fabula.session.inner_arcs import inner_arcs

    problems: list[str] = []
    for path in output:
        check_picture(path, INNER_ENDINGS)
    with counting_bar("measuring") as progress:
        arcs = inner_arcs(files, by=by, window=window, seed=seed, progress=progress, problems=problems)
    for problem in problems:
        click.echo(f"left out: {problem}", err=True)
    written = [write_inner(arcs, Path(path)) for path in output]
    if as_json:
        print_json([arc.to_json() for arc in arcs])
        return
    for arc in arcs:
        _print(arc)
    print_lines(*(f"written: {target}" for target in written))


def _print(arc: "InnerArc") -> None:
    unit, at_a_time = arc.medium.unit, -(-len(arc.at) // 50)
    head = f"{arc.item.label}: {unit.text(arc.length)}, in windows of {unit.text(arc.window)}"
    console().print(head, style="bold", markup=False, soft_wrap=True)
    curves = {arc.medium.shown(arc.column): arc.values[::at_a_time], "essence": arc.essence}
    wide = max(map(len, curves))
    beside = []
    if arc.shape is not None:
        six = ", ".join(f"{t.name} {r:+.2f}" for t, r in zip(arc.six.templates, arc.six.likeness, strict=True))
        nearest, likeness = arc.learned.templates[0], arc.learned.likeness[0]
        beside = [f"of the six: {six}", f"of those learned from collections: {nearest.name} {likeness:+.2f}"]
    print_lines(
        *(f"  {name:<{wide}}  {spark(values)}" for name, values in curves.items() if len(values)),
        *(f"  {line}" for line in (arc.describe(), *beside)),
    )
