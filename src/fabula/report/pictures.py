"""Arcs as files, by the ending: that of an ordering as a picture, those within items as pages, pictures and tables.

SVG is made here, other pictures by matplotlib.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import positions
from fabula.core.files import check_target, json_text, write_whole
from fabula.errors import InputError, import_extra
from fabula.report.figures import Drawing, arc_figure, inner_figure, inner_label, inner_limits
from fabula.report.markup import NUMBER, add_style, html_page, html_table, limits, shorten
from fabula.session.export import check_ending
from fabula.session.inner_arcs import InnerArc
from fabula.session.ordered import Ordered
from fabula.session.review import Review
from fabula.sources.tables.text_tables import csv_text

ENDINGS = (".svg", ".png", ".pdf")
INNER_ENDINGS = (".html", ".svg", ".png", ".pdf", ".csv", ".json")


def check_picture(path: str | Path, endings: Sequence[str] = ENDINGS) -> Path:
    """Refuse a picture that cannot be written, before any work is done."""
    target = check_target(path)
    if check_ending(target, endings) in (".png", ".pdf"):
        import_extra("matplotlib", extra="plot", purpose=f"a picture as {target.suffix}")
    return target


def write_picture(ordered: Ordered, path: str | Path) -> Path:
    """Write the arc of an ordering: .svg, or with the extra ``plot`` .png and .pdf."""
    session = ordered.session
    caption = session.title + (f": {session.axis.name}" if session.axis is not None else "")
    how = Drawing(ordered.shape_of(ordered.fit), ordered.sides, ordered.pinned, caption)
    figure = partial(arc_figure, session.essence[ordered.ordering], ordered.titles, how)
    return _write(ordered, path, figure, partial(_plot_order, ordered=ordered))


def review_figure(review: Review) -> str:
    """The arc of an order as it stands, what stands oddly in another colour, and its weakest joins dashed."""
    return arc_figure(review.session.essence, [item.label for item in review.items], _draw_review(review))


def _draw_review(review: Review) -> Drawing:
    odd, weak = (one.position - 1 for one in review.clear_odd), (one.after - 1 for one in review.weakest)
    return Drawing(sides=review.sides, pinned=tuple(odd), weak=tuple(weak), caption=review.session.title)


def write_review_picture(review: Review, path: str | Path) -> Path:
    """Write the arc of an order under review: .svg, or with the extra ``plot`` .png and .pdf."""
    return _write(review, path, partial(review_figure, review), partial(_plot_review, review=review))


def _write(made: Ordered | Review, path: str | Path, figure: Callable[[], str], plot: Callable[[Any], None]) -> Path:
    """Write the arc of a collection as SVG, or as another picture by a function that fills axes."""
    target = check_picture(path)
    if made.session.essence.ndim > 1:
        raise InputError("a picture needs an essence of one dimension; this one has several")
    svg = target.suffix.lower() == ".svg"
    return write_whole(target, add_style(figure()) + "\n" if svg else _plot(target, 4.2, [plot]))


def _plot_review(axes: Any, review: Review) -> None:
    _plot_order(axes, ordered=review.as_it_is)
    essence, how = review.session.essence, _draw_review(review)
    for j in how.weak:
        axes.plot((j + 1, j + 2), essence[j : j + 2], "--", color="#d9822b", linewidth=2)
    for j in how.pinned:
        axes.plot(j + 1, essence[j], "o", color="#d9822b")


def write_inner(arcs: Sequence[InnerArc], path: str | Path) -> Path:
    """Write inner arcs: .html, .svg, .csv, .json, or with the extra ``plot`` .png and .pdf."""
    target = check_picture(path, INNER_ENDINGS)
    ending, reach = target.suffix.lower(), inner_limits(arcs)
    if ending == ".html":
        title = arcs[0].item.label if len(arcs) == 1 else f"{len(arcs)} arcs"
        head = f'<h1>{escape(title)}</h1><p class="sub">{escape(_ABOUT_INNER)}</p>'
        return write_whole(target, html_page(title, [head, *(_section(arc, reach) for arc in arcs)]))
    if ending == ".svg":
        return write_whole(target, add_style(inner_figure(arcs, reach)) + "\n")
    if ending == ".csv":
        columns = ("title", "position", "at", "column", "value", "low", "high", "essence", "shape")
        return write_whole(target, csv_text(columns, [row for arc in arcs for row in _windows(arc)]))
    if ending == ".json":
        return write_whole(target, json_text([arc.to_json() for arc in arcs], indent=1) + "\n")
    return write_whole(target, _plot(target, 3.2, [partial(_plot_inner, arc=arc, reach=reach) for arc in arcs]))


def _plot(target: Path, height: float, rows: Sequence[Callable[[Any], None]]) -> bytes:
    """A picture by matplotlib: one row of axes for each function that fills it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height * len(rows)), layout="constrained")
    for fill, axes in zip(rows, figure.subplots(len(rows), squeeze=False)[:, 0], strict=True):
        fill(axes)
        axes.spines[["top", "right"]].set_visible(False)
    content = io.BytesIO()
    figure.savefig(content, format=target.suffix.lower().removeprefix("."), dpi=120)
    return content.getvalue()


def _plot_order(axes: Any, ordered: Ordered) -> None:
    essence = ordered.session.essence[ordered.ordering]
    numbers, shape = np.arange(1, len(essence) + 1), ordered.shape_of(ordered.fit)
    for side, (start, stop) in enumerate(pairwise([0, *ordered.breaks, len(essence)])):
        along = start + 1 + positions(201) * max(stop - start - 1, 1e-9)
        if shape is not None:
            axes.plot(along, shape.samples(201), color="#9aa7bd", label=shape.name if side == 0 else None)
        axes.plot(numbers[start:stop], essence[start:stop], "o-", color="#2f6fde", linewidth=1)
        if start:
            axes.axvline(start + 0.5, color="#d7dbe2", linewidth=1)
    for position in ordered.pinned:
        axes.plot(position + 1, essence[position], "o", color="#d9822b")
    if len(essence) <= 40:
        labels = [shorten(title) for title in ordered.titles]
        axes.set_xticks(numbers, labels, rotation=38, ha="right", parse_math=False)
    axes.set_title(ordered.session.title, parse_math=False)
    axis = ordered.session.axis
    axes.set_ylabel("essence" if axis is None else axis.name)
    if axis is not None and (spread := float(axis.values.std())):  # marks in its own unit
        marks = np.arange(0, 101, 20)
        axes.set_yticks((marks - axis.values.mean()) / spread, [f"{mark:g}" for mark in marks])
        axes.set_ylim(*limits(np.concatenate([essence, ordered.fit.template.samples(41)])))
    if shape is not None and shape.name:
        axes.legend(frameon=False)


def _plot_inner(axes: Any, arc: InnerArc, reach: tuple[float, float]) -> None:
    for start in arc.starts[1:]:
        axes.axvline(start, color="#e3e6ec", linewidth=0.8)
    axes.fill_between(arc.at, arc.low, arc.high, color="#2f6fde", alpha=0.14, linewidth=0)
    axes.plot(arc.at, arc.values, color="#2f6fde", label=arc.medium.shown(arc.column))
    if arc.shape is not None:
        likest = f"{arc.shape.name} ({arc.six.likeness[0]:+.2f})"
        axes.plot(arc.at, arc.template, "--", color="#6b7280", label=likest)
    axes.set_title(arc.item.label, loc="left", parse_math=False)
    axes.set(xlim=(0, 1), ylim=reach, xlabel=inner_label(arc), ylabel=arc.medium.shown(arc.column))
    axes.set_xticks(np.linspace(0, 1, 5), [f"{share:.0%}" for share in np.linspace(0, 1, 5)])
    axes.legend(frameon=False, fontsize=8)


_ABOUT_INNER = (
    "The line is the mean over sliding windows, with the band in which nine in ten of the arcs lie when the pieces "
    "are drawn again. Beside it the six emotional arcs of Reagan et al. (2016): how the arc correlates with each, "
    "and in which share of the arcs drawn again that one is the likest. Thin: where the model that proposes orders "
    "takes a section for a beginning (high) or an end (low)."
)


def _section(arc: InnerArc, reach: tuple[float, float]) -> str:
    learned = arc.learned
    beside = ", ".join(f"{t.name} {r:+.2f}" for t, r in zip(learned.templates, learned.likeness, strict=True))
    rows = [
        (escape(t.name), f"{r:+.2f}", f"{s:.0%}", escape(t.description))
        for t, r, s in zip(arc.six.templates, arc.six.likeness, arc.six.shares, strict=True)
    ]
    columns = [("template", ""), ("correlation", NUMBER), ("likest in", NUMBER), ("", ' class="soft"')]
    if arc.shape is None:
        rows, beside = [], ""
    made_by, words = f" by {arc.item.creator}" if arc.item.creator else "", arc.describe()
    return (
        f'<h2 dir="auto">{escape(arc.item.label)}{escape(made_by)}</h2>'
        f"<p>{escape(words[:1].upper() + words[1:])}.</p>"
        f"<figure>{inner_figure([arc], reach)}</figure>{html_table(columns, rows) if rows else ''}"
        + (f'<p class="soft">Beside the templates learned from collections: {escape(beside)}.</p>' if beside else "")
    )


def _windows(arc: InnerArc) -> Iterable[list[Any]]:
    """A row of the table for each window."""
    sections = np.linspace(0, 1, len(arc.essence))
    rows = zip(arc.at, arc.values, arc.low, arc.high, strict=True)
    for position, (at, value, low, high) in enumerate(rows, start=1):
        essence = f"{np.interp(at, sections, arc.essence):.6f}" if len(arc.essence) else ""
        numbers = [f"{number:.6f}" for number in (at, value, low, high)]
        shape = arc.shape.name if arc.shape else ""
        yield [arc.item.label, position, numbers[0], arc.column, *numbers[1:], essence, shape]
