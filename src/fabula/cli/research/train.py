"""``fabula train``."""

from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.printing import HeadedCommand, counting_bar, hint, print_json, print_lines, training_bar
from fabula.cli.research.recipe import RECIPE, as_recipe, recipe_options, require_recipe
from fabula.core.files import check_target
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.evaluation.information import Information
    from fabula.research.kinds import Gain
    from fabula.research.splits import Recipe
    from fabula.research.train import TrainedModel
    from fabula.training.loop import Progress


_OUT = ("output", "as_json", "checkpoint", "onnx", "history", "tensorboard", "write_recipe", "show_recipe")
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the lines.")
def command(*, output: Path | None, show_recipe: bool, jobs: int, as_json: bool, **options: Any) -> None:
    """Train an essence on ordered collections: a table, or a folder of numbered folders and playlists.

    \b
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
    from fabula.media.extraction import Measuring
    from fabula.research import splits as recipes
    from fabula.research.train import EpochLog, TensorBoardLog, train_recipe

    history, tensorboard, written = (options.pop(name) for name in ("history", "tensorboard", "write_recipe"))
    beside = {name: options.pop(name) for name in ("checkpoint", "onnx")}
    if show_recipe:
        click.echo(recipes.recipe_text(recipes.whole_recipe(as_recipe(**options))), nl=False)
        return
    if output is None:
        raise InputError("where does the model go? give -o FILE.safetensors")
    recipe = require_recipe(**options)
    if written is not None:
        check_target(written)
    with (
        counting_bar("measuring") as bar,
        training_bar("training") as epochs,
        ExitStack() as stack,
    ):
        measuring, told = Measuring(progress=bar), [epochs]
        for log, target in ((EpochLog, history), (TensorBoardLog, tensorboard)):
            told += [stack.enter_context(closing(log(target)))] if target is not None else []

        def report(epoch: "Progress") -> None:
            for each in told:
                each(epoch)

        found = train_recipe(recipe, output, **beside, measuring=measuring, jobs=jobs, progress=report)
    if not found.first:
        return
    if written is not None:
        recipes.write_recipe(written, replace(recipe, changes=found.settings))
    if as_json:
        print_json({"output": str(output), **found.to_dict()})
        return
    _show(found, recipe)
    print_lines(*(f"written: {path}" for path in (output, written, history, tensorboard) if path is not None))


def _show(found: "TrainedModel", recipe: "Recipe") -> None:
    """Say what it was trained on, what it knows, and what it gained."""
    split, more = found.split, found.more
    told = f"trained on {len(split.training):,} collections, held out {len(split.held_out):,} ({split.rule})"
    if recipe.kind == "neighbours":
        told = f"trained on {more['collections']:,} collections by {more['makers']:,} makers"
    lines = [told, *(f"note: {note}" for note in split.notes)]
    lines += [_line(name, info, recipe.kind, found) for name, info in found.information.items()]
    if found.gained is not None:
        lines.append(_gain(found.gained, short=recipe.kind == "neighbours"))
    if recipe.kind == "neighbours" and more["bits"].low <= 0:
        lines.append("nothing sure about the order is known: the interval of its bits holds zero")
    print_lines(*lines)


def _line(name: str, info: "Information", kind: str, found: "TrainedModel") -> str:
    """The bits of a scorer with their interval, and over what."""
    if kind == "neighbours":
        bits, beaten = found.more["bits"], found.more["beaten"]
        return (
            f"{name}: {bits.mean:z.3f} bits [{bits.low:z.3f}, {bits.high:z.3f}] of at most 5, the true order beats "
            f"{100 * beaten.mean:.0f} % [{100 * beaten.low:.0f}, {100 * beaten.high:.0f}] of its shuffles "
            "(95 % intervals, each maker set aside)"
        )
    most = f"{info.ceiling:.2f}" if kind != "steps" else f"{(info.negatives + 1).bit_length() - 1}"
    few = hint(info.groups) if kind != "steps" else ""
    told = f"{name}: {info.bits:z.3f} bits [{info.low:z.3f}, {info.high:z.3f}] of at most {most}"
    return f"{told} (95 % interval{few}, {info.negatives} negatives, held-out collections)"


def _gain(gained: "Gain", *, short: bool) -> str:
    """What was gained over the model it went on from."""
    bits = gained.bits
    more = f"{bits.mean:+z.3f} bits [{bits.low:+z.3f}, {bits.high:+z.3f}]"
    if short:
        return f"{'gained over' if bits.low > 0 else 'no sure gain over'} {gained.start}: {more}"
    more += f" on {bits.n} held-out collections"
    if gained.kept:
        return f"nothing was gained over {gained.start}: it is kept as it is"
    if bits.low > 0:
        return f"gained over {gained.start}: {more}"
    return f"no sure gain over {gained.start}: {more}, an interval that holds zero or less"
