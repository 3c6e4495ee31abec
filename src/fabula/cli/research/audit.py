"""``fabula audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fabula.cli.help import HeadedCommand
from fabula.cli.research.recipe import RECIPE, named_recipe, recipe_options
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.studies.recipe import Recipe
    from fabula.training.audit import AuditReport, AuditRow


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
    Trains the recipe on the real collections, on noise in place of their features and on shuffled
    orders; with --titles also, as a third control, on titles shuffled among the items. Every control
    must come out zero. Exit codes: 1 when one does not, 3 when there are too few collections to judge.
    The controls catch a scorer that peeks and an estimate that is wrong. They cannot see a column that
    tells the order: for that the data are looked through, and what is found is told.

    \b
    Examples:
      fabula audit albums.parquet --where kind= --features energy,loudness
      fabula audit albums.parquet --where kind= --titles track_name
      fabula audit albums.parquet --preset paper --scorers bilstm --published-bug --controls-only
    """
    import json
    from dataclasses import asdict

    from fabula.cli.progress import training_bar
    from fabula.studies.train import audit_table
    from fabula.training.ranks import is_first

    recipe = named_recipe(**options)
    if recipe.kind == "neighbours":
        report = _audit_neighbours(recipe, controls_only=controls_only)
    elif recipe.kind == "steps":
        report = _audit_steps(recipe, controls_only=controls_only)
    elif recipe.kind == "set":
        report = _audit_sets(recipe, controls_only=controls_only, published_bug=published_bug)
    else:
        with training_bar("auditing") as bar:
            report = audit_table(
                recipe, controls_only=controls_only, published_bug=published_bug, progress=lambda name, p: bar(p, name)
            )
    if as_json and is_first():
        rows = [{**asdict(row), "verdict": _verdict(report, row)} for row in report.rows]
        about = {"ok": report.ok, "judged": report.judged, "needed": report.needed, "notes": list(report.notes)}
        click.echo(json.dumps({**about, "rows": rows}))
    elif is_first():
        _show(report)
    ctx.exit(1 if not report.ok else 0 if report.judged else 3)


def _audit_sets(recipe: Recipe, *, controls_only: bool, published_bug: bool) -> AuditReport:
    from fabula.cli.progress import epochs_bar
    from fabula.studies.sets import audit_sets_of

    if published_bug:
        raise InputError("--published-bug is about the bilstm of the paper, not about set models")
    with epochs_bar("auditing") as bar:
        return audit_sets_of(recipe, controls_only=controls_only, progress=lambda name, epoch: bar(epoch, name))


def _audit_steps(recipe: Recipe, *, controls_only: bool) -> AuditReport:
    from fabula.cli.progress import counting_bar
    from fabula.studies.steps import audit_steps_of
    from fabula.training.audit import AuditReport, AuditRow

    with counting_bar("auditing") as bar:
        found = audit_steps_of(
            recipe, controls_only=controls_only, progress=lambda name, done, total: bar(done, total, name)
        )
    rows = [AuditRow(name, "arcs + flow + reach", one.mean, one.low, one.high, one.n) for name, one in found.items()]
    return AuditReport(rows)


def _audit_neighbours(recipe: Recipe, *, controls_only: bool) -> AuditReport:
    from fabula.cli.progress import counting_bar
    from fabula.studies.neighbours import audit_neighbours_of
    from fabula.training.audit import AuditReport, AuditRow

    with counting_bar("auditing") as bar:
        found = audit_neighbours_of(
            recipe, controls_only=controls_only, progress=lambda name, done, total: bar(done, total, name)
        )
    rows = [AuditRow(name, "flow", one.mean, one.low, one.high, one.n) for name, one in found.items()]
    return AuditReport(rows)


_SAID = {
    "zero": "zero, as it must be",
    "below zero": "below zero: it learned noise by heart, no leak",
    "leak": "NOT ZERO: a leak",
    "too few": "cannot be judged: too few",
    None: "",
}


def _verdict(report: AuditReport, row: AuditRow) -> str | None:
    return report.verdict(row) if row in report.controls else None


def _show(report: AuditReport) -> None:
    from rich.table import Table

    from fabula.cli.printing import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("data", "scorer", "bits", "95 % interval", "n", ""):
        table.add_column(name, justify="right" if name in ("bits", "95 % interval", "n") else "left", no_wrap=True)
    for row in report.rows:
        bits, low, high = (f"{round(value, 3) + 0.0:.3f}" for value in (row.bits, row.low, row.high))  # no "-0.000"
        said = _SAID[_verdict(report, row)]
        table.add_row(row.data, row.scorer, bits, f"{low} to {high}", f"{row.collections:,}", said)
    out = console()
    out.print(table)
    for line in _conclusion(report):
        out.print(line, markup=False, soft_wrap=True)


def _conclusion(report: AuditReport) -> list[str]:
    """What the controls say, and what they cannot."""
    if not report.ok:
        lines = ["a control is not zero: the estimate cannot be trusted"]
    elif not report.judged:
        lines = [f"too few collections to judge by: it takes about {report.needed:,} to measure on (--held-out)"]
    else:
        lines = ["the controls are zero"]
    lines += [f"note: {note}" for note in report.notes]
    if not any("LEAK" in note for note in report.notes):
        lines.append(
            "the controls see no leak in the data; the columns were looked through, and none used tells the order"
        )
    return lines
