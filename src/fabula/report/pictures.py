"""The arc of an ordering as a picture file: SVG by ourselves, other formats by matplotlib."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import numpy as np

from fabula.core.files.atomic import check_target, write_whole
from fabula.core.ordering import positions
from fabula.errors import InputError, import_extra
from fabula.report import svg
from fabula.session.ordered import Ordered

ENDINGS = (".svg", ".png", ".pdf")


def check_picture(path: str | Path) -> Path:
    """Refuse a picture that cannot be written, before any work is done."""
    target = check_target(path)
    if target.suffix.lower() not in ENDINGS:
        raise InputError(f"{target}: the ending must be one of {', '.join(ENDINGS)}")
    if target.suffix.lower() != ".svg":
        import_extra("matplotlib", extra="plot", purpose=f"a picture as {target.suffix}")
    return target


def write_picture(ordered: Ordered, path: str | Path) -> Path:
    """Write the arc of an ordering: .svg, or with the extra ``plot`` .png and .pdf."""
    target = check_picture(path)
    if ordered.session.essence.ndim > 1:
        raise InputError("a picture needs an essence of one dimension; this one has several")
    if target.suffix.lower() == ".svg":
        how = svg.Drawing(
            ordered.fit.template, ordered.sides, ordered.pinned, caption=ordered.session.title, standalone=True
        )
        essence = ordered.session.essence[ordered.ordering]
        return write_whole(target, svg.arc_figure(essence, ordered.titles, how) + "\n")
    return write_whole(target, _drawn(ordered, target.suffix.lower().removeprefix(".")))


def _drawn(ordered: Ordered, kind: str) -> bytes:
    import_extra("matplotlib", extra="plot", purpose=f"a picture as .{kind}")
    from matplotlib.figure import Figure

    essence = ordered.session.essence[ordered.ordering]
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots()
    numbers = np.arange(1, len(essence) + 1)
    for side, (start, stop) in enumerate(pairwise([0, *ordered.breaks, len(essence)])):
        along = start + 1 + positions(201) * max(stop - start - 1, 1e-9)
        name = ordered.fit.template.name if side == 0 else None
        axes.plot(along, ordered.fit.template.samples(201), color="#9aa7bd", label=name)
        axes.plot(numbers[start:stop], essence[start:stop], "o-", color="#2f6fde", linewidth=1)
        if start:
            axes.axvline(start + 0.5, color="#d7dbe2", linewidth=1)
    for position in ordered.pinned:
        axes.plot(position + 1, essence[position], "o", color="#d9822b")
    if len(essence) <= 40:
        labels = [svg.short(title) for title in ordered.titles]
        axes.set_xticks(numbers, labels, rotation=38, ha="right", parse_math=False)
    axes.set_title(ordered.session.title, parse_math=False)
    axes.set_ylabel("essence")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    content = io.BytesIO()
    figure.savefig(content, format=kind, dpi=120)
    return content.getvalue()
