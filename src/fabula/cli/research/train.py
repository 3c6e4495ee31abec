"""``fabula train``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.help import HeadedCommand
from fabula.cli.research.recipe import RECIPE, as_recipe, named_recipe, recipe_options
from fabula.core.files.atomic import check_target
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.studies.recipe import Recipe


_OUT = ("output", "checkpoint", "onnx", "history", "tensorboard", "write_recipe", "show_recipe")
_SECTIONS = {"What comes out": _OUT, **RECIPE, "Training": (*RECIPE["Training"], "start", "jobs")}


@click.command("train", cls=HeadedCommand, sections=_SECTIONS)
@recipe_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where the model goes (.safetensors).")
@click.option(
    "--checkpoint", type=click.Path(path_type=Path), help="Where to keep the run; by default beside the model."
)
@click.option("--from", "start", metavar="MODEL", help="Go on from this set model, such as music.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes, for --kind steps.")
@click.option("--onnx", type=click.Path(path_type=Path), help="Also write the encoder as ONNX.")
@click.option("--history", metavar="FILE.jsonl", help="Write every epoch as a line of JSON.")
@click.option("--tensorboard", metavar="FOLDER", help="Write every epoch for TensorBoard, where it is installed.")
@click.option(
    "--write-recipe", metavar="FILE.toml", help="Write all settings of this run; --recipe FILE.toml gives it again."
)
@click.option(
    "--show-recipe", is_flag=True, help="Print the recipe, every setting of the preset included; train nothing."
)
def command(*, output: Path | None, show_recipe: bool, jobs: int, **options: Any) -> None:
    """Train an essence on ordered collections: a table, or a folder of numbered folders and playlists.

    \b
    They come from a table, or from a folder of numbered folders and playlists, each in its order.
    With --titles, --from or a folder it is a set model, which reads titles and sees the whole collection.
    An interrupted run goes on from its last epoch when the same command is given again.
    Several GPUs: torchrun --nproc-per-node 4 -m fabula train ...; the table may lie on the disk of any machine.

    \b
    Examples:
      fabula train albums.parquet --where kind= --features energy,loudness,duration_ms -o mine.safetensors
      fabula train albums.parquet --where kind= --titles track_name -o mine.safetensors
      fabula train label/ --from music -o label.safetensors
      fabula train albums.parquet --where kind= --preset arcs -o mine.safetensors --write-recipe mine.toml
      fabula train --recipe mine.toml --seed 1 -o again.safetensors
      fabula train --preset paper --show-recipe
      fabula train novels.parquet --kind steps --jobs 4 -o mine.safetensors
      fabula train exhibitions/ --kind neighbours -o mine.safetensors
    """
    if show_recipe:
        _show_recipe(options)
        return
    if output is None:
        raise InputError("where does the model go? give -o FILE.safetensors")
    kept = _Kept(*(options.pop(name) for name in ("checkpoint", "onnx", "history", "tensorboard", "write_recipe")))
    recipe = named_recipe(**options)
    if kept.recipe is not None:
        check_target(kept.recipe)
    if recipe.kind == "neighbours":
        _train_neighbours(recipe, output)
    elif recipe.kind == "steps":
        _train_steps(recipe, output, jobs)
    elif recipe.kind == "set":
        if kept.checkpoint is not None or kept.onnx is not None:
            raise InputError("a set model is trained in one go and has no ONNX form: leave --checkpoint and --onnx out")
        _train_sets(recipe, output, kept)
    else:
        _train(recipe, output, kept)


@dataclass(frozen=True)
class _Kept:
    """What is written beside the model."""

    checkpoint: Path | None
    onnx: Path | None
    history: str | None
    tensorboard: str | None
    recipe: str | None


def _show_recipe(options: dict[str, Any]) -> None:
    from fabula.studies.recipe_files import recipe_text, whole_recipe

    for name in ("checkpoint", "onnx", "history", "tensorboard", "write_recipe"):
        options.pop(name)
    click.echo(recipe_text(whole_recipe(as_recipe(**options))), nl=False)


def _train(recipe: Recipe, output: Path, kept: _Kept) -> None:
    from fabula.cli.printing import console, hint
    from fabula.cli.progress import training_bar
    from fabula.studies.logs import logging
    from fabula.studies.train import train_table

    with training_bar("training") as bar, logging(bar, log=kept.history, tensorboard=kept.tensorboard) as report:
        found = train_table(recipe, output, checkpoint=kept.checkpoint, onnx=kept.onnx, progress=report)
    if not found.first:
        return
    done, split, out = found.trained, found.split, console()
    out.print(f"trained on {len(split.training):,} collections, held out {len(split.held_out):,} ({split.rule})")
    for note in split.notes:
        out.print(f"note: {note}", markup=False)
    for name, info in done.information.items():
        out.print(
            f"{name}: {info.bits:.3f} bits [{info.low:.3f}, {info.high:.3f}] of at most {info.ceiling:.2f} "
            f"(95 % interval{hint(info.groups)}, {info.negatives} negatives, held-out collections)",
            markup=False,
        )
    if done.best_epoch == 0:
        out.print("nothing about the order could be learned: the model knows no more than chance")
    settings = {name: value for name, value in done.config.to_dict().items() if name != "preset"}
    _say_written(output, replace(recipe, changes=settings), kept)


def _train_steps(recipe: Recipe, output: Path, jobs: int) -> None:
    from fabula.cli.printing import console
    from fabula.cli.progress import counting_bar
    from fabula.studies.steps import NEGATIVES, train_steps_of

    with counting_bar("training") as bar:
        found = train_steps_of(recipe, output, jobs=jobs, progress=lambda name, done, total: bar(done, total, name))
    out, split, info = console(), found.split, found.information
    out.print(f"trained on {len(split.training):,} collections, held out {len(split.held_out):,} ({split.rule})")
    for note in split.notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)
    out.print(
        f"arcs + flow + reach: {info.mean:.3f} bits [{info.low:.3f}, {info.high:.3f}] of at most "
        f"{(NEGATIVES + 1).bit_length() - 1} (95 % interval, {NEGATIVES} negatives, held-out collections)",
        markup=False,
    )
    out.print(f"written: {output}", markup=False, soft_wrap=True)


def _train_neighbours(recipe: Recipe, output: Path) -> None:
    from fabula.cli.printing import console
    from fabula.cli.progress import counting_bar
    from fabula.media.extraction import Measuring
    from fabula.studies.neighbours import NEGATIVES, train_neighbours_of

    with counting_bar("measuring") as measured, counting_bar("training") as bar:
        found = train_neighbours_of(
            recipe,
            output,
            measuring=Measuring(progress=measured),
            progress=lambda name, done, total: bar(done, total, name),
        )
    out, info, beaten = console(), found.information, found.beaten
    out.print(f"trained on {found.collections:,} collections by {found.makers:,} makers")
    for note in found.notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)
    out.print(
        f"flow: {info.mean:.3f} bits [{info.low:.3f}, {info.high:.3f}] of at most "
        f"{(NEGATIVES + 1).bit_length() - 1}, the true order beats {100 * beaten.mean:.0f} % "
        f"[{100 * beaten.low:.0f}, {100 * beaten.high:.0f}] of its shuffles (95 % intervals, each maker set aside)",
        markup=False,
        soft_wrap=True,
    )
    if found.gained is not None:
        more = f"{found.gained.mean:+.3f} bits [{found.gained.low:+.3f}, {found.gained.high:+.3f}]"
        sure = "gained over" if found.gained.low > 0 else "no sure gain over"
        out.print(f"{sure} {found.start}: {more}", markup=False)
    if info.low <= 0:
        out.print("nothing sure about the order is known: the interval of its bits holds zero")
    out.print(f"written: {output}", markup=False, soft_wrap=True)


def _say_written(output: Path, recipe: Recipe, kept: _Kept) -> None:
    from fabula.cli.printing import console
    from fabula.studies.recipe_files import write_recipe

    if kept.recipe is not None:
        write_recipe(kept.recipe, recipe)
    for path in (output, kept.recipe, kept.history, kept.tensorboard):
        if path is not None:
            console().print(f"written: {path}", markup=False, soft_wrap=True)


def _train_sets(recipe: Recipe, output: Path, kept: _Kept) -> None:
    from fabula.cli.printing import console, hint
    from fabula.cli.progress import counting_bar, epochs_bar
    from fabula.media.extraction import Measuring
    from fabula.studies.logs import logging
    from fabula.studies.sets import train_sets_of

    with (
        counting_bar("measuring") as measured,
        epochs_bar("training") as bar,
        logging(bar, log=kept.history, tensorboard=kept.tensorboard) as report,
    ):
        found = train_sets_of(recipe, output, measuring=Measuring(progress=measured), progress=report)
    if not found.first:
        return
    out, split, info = console(), found.split, found.information
    out.print(f"trained on {len(split.training):,} collections, held out {len(split.held_out):,} ({split.rule})")
    for note in split.notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)
    out.print(
        f"arcs + flow: {info.bits:.3f} bits [{info.low:.3f}, {info.high:.3f}] of at most {info.ceiling:.2f} "
        f"(95 % interval{hint(info.groups)}, {info.negatives} negatives, held-out collections)",
        markup=False,
    )
    gained = found.gained
    if gained is not None:
        more = f"{gained.mean:+.3f} bits [{gained.low:+.3f}, {gained.high:+.3f}] on {gained.n} held-out collections"
        if found.kept:
            out.print(f"nothing was gained over {recipe.start}: it is kept as it is", markup=False)
        elif gained.low > 0:
            out.print(f"gained over {recipe.start}: {more}", markup=False)
        else:
            out.print(f"no sure gain over {recipe.start}: {more}, an interval that holds zero or less", markup=False)
    _say_written(output, replace(recipe, changes=found.settings), kept)
