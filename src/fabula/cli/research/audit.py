"""``fabula audit``."""

from typing import TYPE_CHECKING, Any

import click

from fabula.cli.printing import HeadedCommand, print_json, print_lines, print_table, training_bar
from fabula.cli.research.recipe import RECIPE, recipe_options, require_recipe

if TYPE_CHECKING:
    from fabula.training.audit import AuditReport


_SECTIONS = {"The audit": ("controls_only", "published_bug", "as_json"), **RECIPE}


@click.command("audit", cls=HeadedCommand, sections=_SECTIONS)
@recipe_options
@click.option("--controls-only", is_flag=True, help="Leave the real collections out.")
@click.option("--published-bug", is_flag=True, help="Put in the errors of the published code, to see them caught.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
@click.pass_context
def command(ctx: click.Context, /, *, controls_only: bool, published_bug: bool, as_json: bool, **options: Any) -> None:
    """Measure the information about the order, with the controls that would catch a leak.

    \b
    Trains the recipe on the real collections and on controls, which must come out zero: noise
    features, shuffled orders and, with --titles, shuffled titles. Exit codes: 1 when one does not, 3
    when there are too few collections to judge. No control sees a column that tells the order: for
    that the data are looked through, and what is found is told.

    \b
    Examples:
      fabula audit albums.parquet --where kind= --features energy,loudness
      fabula audit albums.parquet --where kind= --titles track_name
      fabula audit albums.parquet --preset paper --scorers bilstm --published-bug --controls-only
    """
    from fabula.research.train import audit_recipe

    recipe = require_recipe(**options)
    with training_bar("auditing") as bar:
        report = audit_recipe(
            recipe, controls_only=controls_only, published_bug=published_bug, progress=lambda name, p: bar(p, name)
        )
    from fabula.training.distributed import is_first

    if as_json and is_first():
        print_json(report.to_dict())
    elif is_first():
        _show(report)
    ctx.exit(1 if not report.ok else 0 if report.judged else 3)


_SAID = {
    "zero": "zero, as it must be",
    "below zero": "below zero: it learned noise by heart, no leak",
    "leak": "NOT ZERO: a leak",
    "too few": "cannot be judged: too few",
}


def _show(report: "AuditReport") -> None:
    rows = []
    for row in report.rows:
        bits, low, high = (f"{value:z.3f}" for value in (row.bits, row.low, row.high))
        said = _SAID[report.verdict(row)] if row in report.controls else ""
        rows.append((row.data, row.scorer, bits, f"{low} to {high}", f"{row.collections:,}", said))
    print_table(("data", "scorer", "bits", "95 % interval", "n", ""), rows, left=("data", "scorer", ""))
    if not report.ok:
        lines = ["a control is not zero: the estimate cannot be trusted"]
    elif not report.judged:
        lines = [f"too few collections to judge by: it takes about {report.needed:,} to measure on (--held-out)"]
    else:
        lines = ["the controls are zero"]
    lines += [f"note: {note}" for note in report.notes]
    if report.ok and report.judged and not any("LEAK" in note for note in report.notes):
        clean = "the controls see no leak in the data; the columns were looked through, and none used tells the order"
        lines.append(clean)
    print_lines(*lines)
