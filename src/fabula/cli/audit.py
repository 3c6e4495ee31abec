"""``fabula audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fabula.cli.recipe import as_recipe, recipe_options
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.studies.recipe import Recipe
    from fabula.training.audit import AuditReport


@click.command("audit")
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
    must come out zero; when one does not, the exit code is 1.

    \b
    Examples:
      fabula audit albums.parquet --where kind= --features energy,loudness
      fabula audit albums.parquet --where kind= --titles track_name
      fabula audit albums.parquet --preset paper --scorers bilstm --published-bug --controls-only
    """
    import json
    from dataclasses import asdict

    from fabula.cli.progress import training_bar
    from fabula.studies.train import audit_table, first_process

    recipe = as_recipe(**options)
    if recipe.kind == "steps":
        report = _audit_steps(recipe, controls_only=controls_only)
    elif recipe.kind == "set":
        report = _audit_sets(recipe, controls_only=controls_only, published_bug=published_bug)
    else:
        with training_bar("auditing") as bar:
            report = audit_table(
                recipe, controls_only=controls_only, published_bug=published_bug, progress=lambda name, p: bar(p, name)
            )
    if as_json and first_process():
        click.echo(json.dumps({"ok": report.ok, "rows": [asdict(row) for row in report.rows]}))
    elif first_process():
        _show(report)
    ctx.exit(0 if report.ok else 1)


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
    rows = [AuditRow(name, "arcs + flow + reach", one.mean, one.low, one.high) for name, one in found.items()]
    return AuditReport(rows)


def _show(report: Any) -> None:
    from rich.table import Table

    from fabula.cli.printing import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("data", "scorer", "bits", "95 % interval", ""):
        table.add_column(name, justify="right" if name in ("bits", "95 % interval") else "left", no_wrap=True)
    controls = report.controls
    for row in report.rows:
        verdict = "" if row not in controls else "zero, as it must be" if abs(row.bits) < 0.02 else "NOT ZERO: a leak"
        bits, low, high = (f"{round(value, 3) + 0.0:.3f}" for value in (row.bits, row.low, row.high))  # no "-0.000"
        table.add_row(row.data, row.scorer, bits, f"{low} to {high}", verdict)
    out = console()
    out.print(table)
    out.print("the controls are zero" if report.ok else "a control is not zero: the estimate cannot be trusted")
