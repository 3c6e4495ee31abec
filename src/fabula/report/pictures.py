"""The arc of an ordering as a picture file: SVG by ourselves, other formats by matplotlib."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from fabula.core.ordering import positions
from fabula.core.writing import check_target, write_whole
from fabula.errors import InputError, import_extra
from fabula.report import svg
from fabula.session.ordering import Ordered

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
    if ordered.essence.ndim > 1:
        raise InputError("a picture needs an essence of one dimension; this one has several")
    labels = [item.label for item in ordered.collection.items]
    title = ordered.source.collection.title or ordered.source.path.stem
    essence = ordered.essence[ordered.fit.ordering]
    if target.suffix.lower() == ".svg":
        figure = svg.arc_figure(
            essence, labels, template=ordered.fit.template, pinned=ordered.pinned, caption=title, standalone=True
        )
        return write_whole(target, figure + "\n")
    return write_whole(target, _drawn(ordered, essence, labels, title, target.suffix.lower().removeprefix(".")))


def _drawn(
    ordered: Ordered,
    essence: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    labels: list[str],
    title: str,
    kind: str,
) -> bytes:
    import_extra("matplotlib", extra="plot", purpose=f"a picture as .{kind}")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots()
    places = np.arange(1, len(essence) + 1)
    along = 1 + positions(201) * (len(essence) - 1)
    axes.plot(along, ordered.fit.template.samples(201), color="#9aa7bd", label=ordered.fit.template.name)
    axes.plot(places, essence, "o-", color="#2f6fde", linewidth=1)
    for position in ordered.pinned:
        axes.plot(position + 1, essence[position], "o", color="#d9822b")
    if len(essence) <= 40:
        axes.set_xticks(places, [svg.short(label) for label in labels], rotation=38, ha="right", parse_math=False)
    axes.set_title(title, parse_math=False)
    axes.set_ylabel("essence")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    content = io.BytesIO()
    figure.savefig(content, format=kind, dpi=120)
    return content.getvalue()
