"""``fabula job``."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from fabula.cli.printing import HeadedCommand, counting_bar, print_json
from fabula.cli.research.recipe import as_dimensions, as_setting, as_where, split_list
from fabula.core.files import write_whole
from fabula.errors import InputError

_PLAN = {
    "The job": ("address", "shards", "model", "columns", "where", "seed"),
    "extract, encode, order": ("spec", "raw", "likeliest"),
    "templates-learn": ("by", "k", "method", "paper"),
    "Trainings: compare, audit, reproduce": ("features", "preset", "settings", "device", "held_out", "seeds", "sweep",
                                             "controls_only", "quick"),
}  # fmt: skip
_CHANGES = ("compare", "audit")  # tasks whose options change a recipe


@click.group("job")
def command() -> None:
    """Cut large work into shards that any number of processes and machines do.

    \b
    Examples:
      fabula job plan encode catalogue.parquet -o DIR --model albums --shards 64
      fabula job work DIR --jobs 8
      fabula job status DIR --watch
      fabula job gather DIR -o essence.parquet
    """


@command.command("plan", cls=HeadedCommand, sections=_PLAN)
@click.argument("task")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", "address", required=True, metavar="DIR|ADDRESS",
    help="Where the job lies: a folder that all workers see, or an address such as s3://bucket/job.",
)  # fmt: skip
@click.option("--shards", type=click.IntRange(1), help="Into how many pieces; by default as suits the task.")
@click.option("--model", metavar="NAME|FILE", help="The model that gives the essence.")
@click.option("--columns", metavar="ROLE=NAME", multiple=True,
              help="Name a table's column, such as collection=Platte; repeatable.")  # fmt: skip
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows that have it; repeatable.")
@click.option("--raw", is_flag=True, default=None, help="encode: not z-scored within each collection.")
@click.option("--likeliest", is_flag=True, default=None, help="order: the likeliest ordering, not the best guess.")
@click.option("--spec", metavar="NAME", help="extract: what to measure.")
@click.option("--by", metavar="COLUMN", help="The column to use as the essence.")
@click.option("-k", type=click.IntRange(1, 1000), help="How many.")
@click.option("--method", type=click.Choice(["refined", "evolution"]), help="Refined by default.")
@click.option(
    "--paper", is_flag=True, default=None, help="With --method evolution: Algorithm 1 of the paper to the letter."
)
@click.option("--seed", type=int, help="For the same result again.")
@click.option("--features", metavar="A,B,...", help="The columns to train on.")
@click.option("--preset", help="Settings to start from.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Any other setting, such as epochs=20; repeatable.")  # fmt: skip
@click.option("--device", help="auto, cpu, cuda or cuda:1.")
@click.option("--held-out", type=float, help="Share held out where there is no column split.")
@click.option("--seeds", type=click.IntRange(1, 100), help="compare, reproduce: runs of each.")
@click.option("--sweep", metavar="1,2,4,...", help="compare: by the number of dimensions instead.")
@click.option("--controls-only", is_flag=True, default=None, help="audit: leave the real collections out.")
@click.option("--quick", is_flag=True, default=None, help="reproduce: fewer seeds, epochs and collections.")
def plan_(*, task: str, inputs: tuple[str, ...], address: str, model: str | None, shards: int | None,
          **options: Any) -> None:  # fmt: skip
    """Plan a job: what is to be done, with which model and inputs, in which shards.

    \b
    TASK is one of
      extract          measure files: a row a file
      encode           the essence of every item of a table of collections
      order            an ordering of every collection of a table
      templates-learn  templates from a table of ordered collections
      reproduce        every table and figure of the paper
      compare          what each feature tells about the order
      audit            the controls that would catch a leak
    The same command again finds the same plan; another model, input or version is refused.

    \b
    Examples:
      fabula job plan extract ~/Music -o measured
      fabula job plan order catalogue.parquet -o s3://bucket/ordered --model albums
      fabula job plan templates-learn albums.parquet -o learned --by energy -k 4
      fabula job plan compare albums.parquet -o compared --features energy,loudness --set epochs=20
    """
    from fabula.jobs.job import plan_job
    from fabula.jobs.task import find_task

    plan, new = plan_job(address, task, inputs, options=_options(task, options), model=model, shards=shards)
    cut = f"{plan.items:,} {find_task(task).items} in {len(plan.shards):,} shard{'s' * (len(plan.shards) != 1)}"
    click.echo(f"{'planned' if new else 'planned before'}: {task}, {cut}, {address}")
    if dict(plan.options).get("where"):
        kept = ", ".join(f"{name} = {value!r}" for name, value in plan.options["where"].items())
        click.echo(f"rows with {kept}")


@command.command("work")
@click.argument("address", metavar="DIR|ADDRESS")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes over the shards.")
@click.option("--dask", metavar="tcp://HOST:PORT|local[:N]", help="Let the workers of a Dask cluster do the shards.")
@click.option("--inputs", multiple=True, metavar="PATH", help="Where its inputs lie on this machine, if elsewhere.")
@click.option("--expiry", type=click.FloatRange(0.5), default=60.0, show_default=True,
              help="Seconds of silence after which a worker counts as lost.")  # fmt: skip
@click.pass_context
def work_(
    ctx: click.Context, /, *, address: str, jobs: int, dask: str | None, inputs: tuple[str, ...], expiry: float
) -> None:
    """Work on a job until it is complete; any number of these, anywhere, at once.

    \b
    Whatever ends a worker, what is done is kept and what was under way is done again by another.
    Exit code 1: some shards failed, the rest is done.

    \b
    Examples:
      fabula job work DIR --jobs 8
      fabula job work s3://bucket/ordered
      fabula job work DIR --dask tcp://scheduler:8786
    """
    from fabula.jobs.worker import work, work_on_cluster, work_side_by_side

    if dask is not None and jobs > 1:
        raise InputError("--dask has its own workers: leave --jobs out, or say --dask local:N")
    with counting_bar("working") as report:
        how: dict[str, Any] = {"inputs": inputs, "expiry": expiry, "report": report}
        if dask is not None:
            worked = work_on_cluster(address, dask, tell=lambda line: click.echo(line, err=True), **how)
        else:
            worked = work(address, **how) if jobs == 1 else work_side_by_side(address, jobs, **how)
    for name, why in worked.failed.items():
        click.echo(f"shard {name} failed: {why}", err=True)
    failed = f"{len(worked.failed)} failed; see fabula job status {address}"
    state = "the job is complete" if worked.complete else failed
    click.echo(f"done here: {len(worked.done):,} shards; {state}")
    ctx.exit(0 if worked.complete else 1)


@command.command("status")
@click.argument("address", metavar="DIR|ADDRESS")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page that stands by itself.")
@click.option("--watch", is_flag=True, help="Look again and again until the job is complete.")
@click.option("--every", type=click.FloatRange(0.1), default=2.0, show_default=True, help="Seconds between two looks.")
def status_(*, address: str, as_json: bool, html: Path | None, watch: bool, every: float) -> None:
    """Say what is done, how fast, by whom, what failed, and how long the rest will take.

    \b
    Examples:
      fabula job status DIR
      fabula job status DIR --html status.html --watch
    """
    from fabula.jobs.status import Watch, describe
    from fabula.report.boards import job_page

    looking = Watch(address)
    while True:
        standing = looking.look()
        if html is not None:
            write_whole(html, job_page(standing, every=every if watch and not standing.complete else None))
        if as_json:
            print_json(asdict(standing))
        else:
            if watch:
                click.clear()
            click.echo("\n".join(describe(standing)))
        if not watch or standing.complete:
            return
        time.sleep(every)


@command.command("gather")
@click.argument("address", metavar="DIR|ADDRESS")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Where it goes: .parquet or .csv; .json for templates-learn, compare and audit; "
                   "a folder for reproduce.")  # fmt: skip
@click.option("--partial", is_flag=True, help="Take what is there of an incomplete job.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def gather_(*, address: str, output: Path, partial: bool, as_json: bool) -> None:
    """Put all parts together, in the order of the shards, and say their digest.

    \b
    Examples:
      fabula job gather DIR -o essence.parquet
      fabula job gather DIR -o so-far.csv --partial
    """
    from fabula.jobs.job import gather

    found = gather(address, output, partial=partial)
    if as_json:
        print_json(found)
        return
    counted = [f"{found[name]:,} {name}" for name in ("rows", "files", "templates", "collections") if name in found]
    lost = [f"{found[name]:,} {name}" for name in ("failures", "missing") if found.get(name)]
    click.echo(f"gathered: {', '.join([*counted, *lost])}")
    click.echo(f"digest: {found['digest']}")
    click.echo(f"written: {found['path']}")


def _options(task: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the options say, as the task takes them; those not given are left out."""
    from fabula.cli.order import as_columns

    options = {name: value for name, value in given.items() if value is not None and value != ()}
    if "columns" in options:
        options["columns"] = dict(as_columns(options["columns"]))
    if "where" in options:
        options["where"] = as_where(options["where"])
    if "sweep" in options:
        options["dimensions"] = list(as_dimensions(options.pop("sweep")))
    if "features" in options:
        options["features"] = split_list(options["features"])
    if task in _CHANGES:
        changes = dict(as_setting(text) for text in options.pop("settings", ()))
        changes |= {name: options.pop(name) for name in ("features", "seed") if name in options}
        options["changes"] = changes
    return options
