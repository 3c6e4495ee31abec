"""``fabula bench-order``."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.printing import counting_bar, print_lines, print_table
from fabula.cli.research.recipe import as_where
from fabula.core.files import check_target, write_whole
from fabula.errors import InputError

_SHOWN = ("first", "last", "neighbours")  # beside Spearman's rho; the card has all

if TYPE_CHECKING:
    from fabula.research.bench import BenchCard, BenchTask
    from fabula.research.bench_programs import Orderings


@click.command("bench-order")
@click.argument("task", required=False, metavar="[TASK|TABLE]")
@click.option("--method", metavar="COMMAND|MODULE:FUNCTION", help="The method: a program, or a Python function.")
@click.option("--questions", metavar="FILE.jsonl", help="Write the questions, for a method that runs elsewhere.")
@click.option("--orderings", metavar="FILE.jsonl", help="Its answers to them; the key lies beside the questions.")
@click.option("--key", metavar="FILE", help="The key of the questions that were answered.")
@click.option("--name", help="What the method is called; by default as it is written.")
@click.option("--fma", "folder", type=click.Path(path_type=Path), help="Where `fabula fetch fma` put the dataset.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows that have it; repeatable.")
@click.option("--split", type=click.Choice(["validation", "test"]), help="The side of the column split to order.")
@click.option("--titles", is_flag=True, help="Show titles too; see that they hold no numbers of the order.")
@click.option("--texts", is_flag=True, help="Show a column `text`, as of chapters; see that it holds no headings.")
@click.option("--half", type=click.Choice(["open", "sealed"]),
              help="One half of the test: open to develop by, sealed to report; all of it by default.")  # fmt: skip
@click.option("--timeout", type=float, default=10.0, show_default=True, help="Seconds an answer may take.")
@click.option("--start-timeout", type=float, default=600.0, show_default=True, help="And the first one.")
@click.option("--train", "trained", is_flag=True, help="Measure the rows that must be trained anew (minutes).")
@click.option("--card", metavar="FILE.json", help="Write the card.")
@click.option("--page", metavar="FILE.html", help="Write the leaderboard.")
@click.option("--with", "others", multiple=True, metavar="CARD", help="Cards of others for the page; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the card instead of the table.")
def command(*, task: str | None, **options: Any) -> None:
    """Run an ordering method through the benchmark, beside those of this package and the paper's.

    \b
    A method gets a line of JSON for each training collection, items in their true order:
      {"type": "train", "items": [{"features": {"a": 0.3, ...}}, ...]}
    and then, one at a time, a line for each collection to order, items shuffled:
      {"type": "order", "id": "q0", "items": [{"id": "x8k2...", "features": {...}}, ...]}
    which it answers with a line {"id": "q0", "order": ["x8k2...", ...]}.
    No answer, a late one, or one that is no permutation counts as a random ordering. Without a TASK
    the tasks are listed.

    \b
    Examples:
      fabula bench-order arc --method "python my_method.py" --card card.json --page board.html
      fabula bench-order albums.parquet --where kind= --method my_module:order
      fabula bench-order novels.parquet --texts --half open --method "python my_method.py"
      fabula bench-order fma --fma data --questions questions.jsonl
      fabula bench-order fma --fma data --orderings answers.jsonl --key questions.jsonl.key
    """
    if task is None:
        from fabula.research.bench import FAMILIES

        about = {name: about for name, (about, _) in FAMILIES.items()}
        about |= {"fma": "the Free Music Archive dataset, with --fma FOLDER"}
        about |= {"TABLE": "any table of ordered collections"}
        print_lines(*(f"{name:14} {words}" for name, words in about.items()))
        return
    for target in (options["card"], options["page"], options["questions"]):
        if target is not None:
            check_target(target)
    posed = _task(task, options)
    if options["half"] is not None:
        from fabula.research.bench import take_half

        posed = take_half(posed, options["half"])
    if options["questions"] is not None:
        import numpy as np

        from fabula.research.bench_programs import ask_all, write_questions

        written = write_questions(options["questions"], posed, ask_all(posed, np.random.default_rng()))
        print_lines(*(f"written: {path}" for path in written))
        return
    given, name = _orderings(posed, options)
    _finish(posed, given, name, options)


def _task(task: str, options: dict[str, Any]) -> BenchTask:
    from fabula.research.bench import FMA, family_task, fma_task, table_task

    where, side, titles, texts = (options[name] for name in ("where", "split", "titles", "texts"))
    if task == FMA:
        if options["folder"] is None:
            raise InputError("say where the dataset lies: --fma FOLDER (fabula fetch fma --to FOLDER fetches it)")
        return fma_task(options["folder"], titles=titles)
    if Path(task).suffix:
        return table_task(task, where=as_where(where), titles=titles, texts=texts, side=side)
    if titles or texts or where or side:
        raise InputError(f"--titles, --texts, --where and --split are for tables; {task} is drawn by code")
    return family_task(task)


def _orderings(task: BenchTask, options: dict[str, Any]) -> tuple[Orderings | None, str]:
    from fabula.research.bench_programs import read_key, read_orderings, run_program

    method, answers, key = options["method"], options["orderings"], options["key"]
    if method is not None and answers is not None:
        raise InputError("give --method or --orderings, not both")
    if (answers is None) != (key is None):
        raise InputError("--orderings goes with --key, which --questions wrote beside the questions")
    name = options["name"] or method or (Path(answers).name if answers else "")
    if answers is not None:
        return read_orderings(answers, read_key(key, task)), name
    if method is None:
        return None, name
    with counting_bar("asking") as bar:
        limits = {"answer": options["timeout"], "first": options["start_timeout"]}
        return run_program(task, method, **limits, progress=bar), name


def _finish(task: BenchTask, given: Orderings | None, name: str, options: dict[str, Any]) -> None:
    from fabula.report.boards import board_page
    from fabula.research.bench import BenchCard, join_cards, make_card

    turns, command = itertools.count(1), options["method"] or options["orderings"] or ""
    with counting_bar("measuring") as bar:
        how: dict[str, Any] = {"trained": options["trained"], "progress": lambda step: bar(next(turns), 8, step)}
        card = make_card(task, given, name=name, command=command, **how)
    if options["card"] is not None:
        card.save(options["card"])
    if options["page"] is not None:
        write_whole(options["page"], board_page([join_cards([card, *map(BenchCard.load, options["others"])])]))
    if options["as_json"]:
        click.echo(card.text(), nl=False)
        return
    _show(card)
    print_lines(*(f"written: {path}" for path in (options["card"], options["page"]) if path is not None))


def _show(card: BenchCard) -> None:
    from fabula.report.boards import WHOSE

    rows, task = [], card.task
    for row in card.rows:
        rho = row.metrics["spearman"]
        means = [f"{row.metrics[name].mean:.3f}" for name in _SHOWN]
        rows.append((row.method, WHOSE[row.kind], f"{rho.mean:.3f}", f"{rho.low:.3f} to {rho.high:.3f}", *means))
    columns = ("method", "", "spearman", "95 % interval", *_SHOWN)
    print_table(columns, rows, left=("method", ""), wrap=("method",))
    makers = f" by {task['groups']:,} makers" if task["groups"] < task["test"] else ""
    told = f"{task['test']:,} collections{makers}, {task['training']:,} to learn from"
    named = f"{task['name']}, version {task['version']}" + (f", {task['half']} half" if task["half"] else "")
    print_lines(
        f"{named}: {told} ({task['rule']}); test {task['digest']}",
        *(f"counted as random, {count:,}: {why}" for why, count in card.failures.items()),
        *(f"note: {note}" for note in card.notes),
    )
