"""Inner arcs written: a page, a picture or a table, by the ending."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from fabula.core.files.writing import check_target, write_whole
from fabula.errors import InputError, import_extra
from fabula.report import svg
from fabula.report.figures.colours import STYLE as COLOURS
from fabula.report.figures.inner import inner_figure
from fabula.report.page import STYLE
from fabula.session.inner_arcs import InnerArc


def check_inner(path: str | Path) -> Path:
    """Refuse what cannot be written, before any work is done."""
    target = check_target(path)
    ending = target.suffix.lower()
    if ending not in _WRITERS:
        raise InputError(f"{target}: the ending must be one of {', '.join(_WRITERS)}")
    if ending in (".png", ".pdf"):
        import_extra("matplotlib", extra="plot", purpose=f"a picture as {ending}")
    return target


def write_inner(arcs: Sequence[InnerArc], path: str | Path) -> Path:
    """Write inner arcs: .html, .svg, .csv, .json, or with the extra ``plot`` .png and .pdf."""
    target = check_inner(path)
    return write_whole(target, _WRITERS[target.suffix.lower()](arcs))


def _page(arcs: Sequence[InnerArc]) -> str:
    title = arcs[0].item.label if len(arcs) == 1 else f"{len(arcs)} arcs"
    body = "".join(_section(arc) for arc in arcs)
    note = (
        "The line is the mean over sliding windows, with the band in which nine in ten of the arcs lie when the pieces "
        "are drawn again. Beside it the six emotional arcs of Reagan et al. (2016): how the arc correlates with each, "
        "and in which share of the arcs drawn again that one is the likest. Thin: where the model that proposes orders "
        "takes a section for a beginning (high) or an end (low)."
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · fabula</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}{svg.STYLE}{COLOURS}</style>'
        f'</head><body><h1>{escape(title)}</h1><p class="sub">{escape(note)}</p>{body}</body></html>\n'
    )


def _section(arc: InnerArc) -> str:
    learned = arc.learned
    beside = ", ".join(f"{t.name} {r:+.2f}" for t, r in zip(learned.templates, learned.likeness, strict=True))
    rows = "".join(
        f'<tr><td>{escape(t.name)}</td><td class="n">{r:+.2f}</td><td class="n">{s:.0%}</td>'
        f'<td class="soft">{escape(t.description)}</td></tr>'
        for t, r, s in zip(arc.six.templates, arc.six.likeness, arc.six.shares, strict=True)
    )
    made_by = f" by {arc.item.creator}" if arc.item.creator else ""
    return (
        f'<h2 dir="auto">{escape(arc.item.label)}{escape(made_by)}</h2><p>{escape(_first_up(arc.describe()))}.</p>'
        f"<figure>{inner_figure([arc], standalone=False)}</figure>"
        f'<div class="scroll"><table><thead><tr><th>template</th><th class="n">correlation</th>'
        f'<th class="n">likest in</th><th></th></tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="soft">Beside the templates learned from collections: {escape(beside)}.</p>'
    )


def _first_up(words: str) -> str:
    return words[:1].upper() + words[1:]


def _svg(arcs: Sequence[InnerArc]) -> str:
    return inner_figure(arcs) + "\n"


def _csv(arcs: Sequence[InnerArc]) -> str:
    """One row a window."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["title", "position", "at", "column", "value", "low", "high", "essence", "shape"])
    for arc in arcs:
        sections = np.linspace(0, 1, len(arc.essence))
        rows = zip(arc.at, arc.arc.values, arc.arc.low, arc.arc.high, strict=True)
        for position, (at, value, low, high) in enumerate(rows, start=1):
            essence = f"{np.interp(at, sections, arc.essence):.6f}" if len(arc.essence) else ""
            numbers = [f"{number:.6f}" for number in (at, value, low, high)]
            writer.writerow([arc.item.label, position, numbers[0], arc.column, *numbers[1:], essence, arc.shape.name])
    return out.getvalue()


def _json(arcs: Sequence[InnerArc]) -> str:
    return json.dumps([arc.to_json() for arc in arcs], ensure_ascii=False, indent=1) + "\n"


def _picture(kind: str) -> Callable[[Sequence[InnerArc]], bytes]:
    def drawn(arcs: Sequence[InnerArc]) -> bytes:
        import_extra("matplotlib", extra="plot", purpose=f"a picture as .{kind}")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.2 * len(arcs)), layout="constrained")
        for arc, axes in zip(arcs, figure.subplots(len(arcs), squeeze=False)[:, 0], strict=True):
            spread, shape = float(arc.arc.values.std()), arc.shape.normalised().samples(len(arc.at))
            axes.fill_between(arc.at, arc.arc.low, arc.arc.high, color="#2f6fde", alpha=0.14, linewidth=0)
            axes.plot(arc.at, arc.arc.values, color="#2f6fde", label=arc.medium.shown(arc.column))
            axes.plot(arc.at, arc.arc.values.mean() + spread * shape, "--", color="#6b7280",
                      label=f"{arc.shape.name} ({arc.six.likeness[0]:+.2f})")  # fmt: skip
            axes.set_title(arc.item.label, loc="left", parse_math=False)
            axes.set_xlim(0, 1)
            axes.legend(frameon=False, fontsize=8)
            axes.spines[["top", "right"]].set_visible(False)
        content = io.BytesIO()
        figure.savefig(content, format=kind, dpi=120)
        return content.getvalue()

    return drawn


_WRITERS: dict[str, Callable[[Sequence[InnerArc]], str | bytes]] = {
    ".html": _page,
    ".svg": _svg,
    ".png": _picture("png"),
    ".pdf": _picture("pdf"),
    ".csv": _csv,
    ".json": _json,
}
