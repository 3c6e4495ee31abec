"""``fabula train``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fabula.cli.recipe import as_recipe, recipe_options


@click.command("train")
@recipe_options
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Where the model goes (.safetensors)."
)
@click.option(
    "--checkpoint", type=click.Path(path_type=Path), help="Where to keep the run; by default beside the model."
)
@click.option("--onnx", type=click.Path(path_type=Path), help="Also write the encoder as ONNX.")
def command(*, output: Path, checkpoint: Path | None, onnx: Path | None, **options: Any) -> None:
    """Train an essence on ordered collections.

    \b
    An interrupted run goes on from its last epoch when the same command is given again.
    Several GPUs: torchrun --nproc-per-node 4 -m fabula train ...

    \b
    Example:
      fabula train albums.parquet --where kind= --features energy,loudness,duration_ms -o mine.safetensors
    """
    from fabula.cli.printing import console
    from fabula.cli.progress import training_bar
    from fabula.studies.train import train_table

    recipe = as_recipe(**options)
    with training_bar("training") as report:
        found = train_table(recipe, output, checkpoint=checkpoint, onnx=onnx, progress=report)
    if not found.first:
        return
    done, split, out = found.trained, found.split, console()
    out.print(f"trained on {len(split.training):,} collections, held out {len(split.held_out):,} ({split.rule})")
    for note in split.notes:
        out.print(f"note: {note}", markup=False)
    for name, info in done.information.items():
        out.print(
            f"{name}: {info.bits:.3f} bits [{info.low:.3f}, {info.high:.3f}] of at most {info.ceiling:.2f} "
            f"(95 % interval, {info.negatives} negatives, held-out collections)",
            markup=False,
        )
    if done.best_epoch == 0:
        out.print("nothing about the order could be learned: the model knows no more than chance")
    out.print(f"written: {output}", markup=False, soft_wrap=True)
