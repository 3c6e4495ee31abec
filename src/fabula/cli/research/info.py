"""``fabula info``."""

import click

from fabula.cli.printing import print_json, print_lines


@click.command("info")
@click.argument("model", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the lines.")
def command(*, model: str | None, as_json: bool) -> None:
    """Say what a model takes, what it was trained on and how it did.

    \b
    Without a MODEL, list those that come with the package.

    \b
    Examples:
      fabula info albums
      fabula info mine.safetensors --json
    """
    from fabula.models.file import card_lines, describe_training
    from fabula.models.model import load_model, shipped_models

    if model is None:
        print_lines(*(f"{name:12} {load_model(name).card.get('purpose', '')}" for name in shipped_models()))
        return
    loaded = load_model(model)
    if as_json:
        training = {**loaded.training, "seen": describe_training(loaded.training)["seen"]}
        whole = {"features": loaded.feature_names, "dimensions": loaded.dimensions, "config": loaded.config,
                 "training": training, "card": loaded.card}  # fmt: skip
        print_json(whole)
        return
    lines = card_lines(loaded)
    width = min(max(len(label) for label, _ in lines), 32)
    print_lines(*(f"{label:{width}}  {value}" for label, value in lines))
