"""The genealogy of templates, as SVG: the paper's Figure 5. A box is a template, a band the collections that move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from fabula.report.figures.colours import GREY, frame, path, text

_TOP, _BOX, _GAP, _CURVE = 30.0, 78.0, 14.0, 46.0
_NAMED = 32.0  # height from which a box has room for its name


@dataclass(frozen=True)
class _Node:
    """Where a template's box stands."""

    template: Mapping[str, Any]
    left: float
    top: float
    height: float


def genealogy_figure(
    genealogy: Mapping[str, Any], *, width: int = 960, height: int = 420, standalone: bool = True
) -> str:
    """Templates by their number, and how collections move between them.

    Parameters
    ----------
    genealogy
        As :meth:`fabula.templates.genealogy.Genealogy.to_dict` gives it.

    Examples
    --------
    >>> one = {"name": "rise", "lineage": 0, "curve": [-1, 1], "collections": 3}
    >>> genealogy_figure({"generations": [{"k": 1, "templates": [one]}], "flows": []})[:4]
    '<svg'
    """
    generations = genealogy["generations"]
    total = sum(t["collections"] for t in generations[0]["templates"])
    most = max(len(g["templates"]) for g in generations)
    scale = (height - _GAP * (most - 1)) / max(total, 1)
    step = (width - _BOX - 20) / max(len(generations) - 1, 1)
    columns: list[dict[int, _Node]] = []
    for number, generation in enumerate(generations):
        order = _ordered(generation, genealogy["flows"][number - 1] if number else [], columns[-1:])
        columns.append(_stacked(generation, order, 10 + step * number, scale, height))
    heights = np.array([v for g in generations for t in g["templates"] for v in t["curve"]])
    reach = float(np.abs(heights).max()) or 1.0
    parts: list[str] = []
    for before, after, links in zip(columns[:-1], columns[1:], genealogy["flows"], strict=True):
        parts += _bands(before, after, links, scale)
    for generation, column in zip(generations, columns, strict=True):
        parts.append(text(next(iter(column.values())).left, 16, f"k = {generation['k']}", bold=True))
        parts += [_box(node, reach) for node in column.values()]
    return frame(parts, width=width, height=_TOP + height + 16, label="genealogy of templates", standalone=standalone)


def _ordered(
    generation: Mapping[str, Any], links: Sequence[Mapping[str, int]], before: list[dict[int, _Node]]
) -> list[int]:
    """Templates from top to bottom: by where their collections come from, so that few bands cross."""
    numbers = range(len(generation["templates"]))
    if not before:
        return list(numbers)
    middle = {}
    for j in numbers:
        coming = [(before[0][link["source"]], link["collections"]) for link in links if link["target"] == j]
        weight = sum(count for _, count in coming)
        middle[j] = sum((node.top + node.height / 2) * count for node, count in coming) / weight if weight else 1e9
    return sorted(numbers, key=lambda j: middle[j])


def _stacked(
    generation: Mapping[str, Any], order: Sequence[int], left: float, scale: float, height: float
) -> dict[int, _Node]:
    templates = generation["templates"]
    used = sum(t["collections"] for t in templates) * scale + _GAP * (len(templates) - 1)
    top = _TOP + (height - used) / 2
    column = {}
    for j in order:
        size = templates[j]["collections"] * scale
        column[j] = _Node(templates[j], left, top, size)
        top += size + _GAP
    return column


def _bands(
    before: Mapping[int, _Node], after: Mapping[int, _Node], links: Sequence[Mapping[str, int]], scale: float
) -> list[str]:
    """Bands from box to box, in the colour of the box they leave."""
    out = dict.fromkeys(before, 0.0)
    into = dict.fromkeys(after, 0.0)
    arrivals = {number: rank for rank, number in enumerate(after)}
    ranks = {number: rank for rank, number in enumerate(before)}
    drawn = []
    for link in sorted(links, key=lambda each: (ranks[each["source"]], arrivals[each["target"]])):
        source, target = before[link["source"]], after[link["target"]]
        thick = link["collections"] * scale
        x0, x1 = source.left + _BOX, target.left
        y0, y1 = source.top + out[link["source"]], target.top + into[link["target"]]
        middle = (x0 + x1) / 2
        label = f"{source.template['name']} to {target.template['name']}: {link['collections']} collections"
        drawn.append(
            f'<path class="flow s{_colour(source)}" d="M{x0:.1f},{y0:.1f} C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} '
            f"{x1:.1f},{y1:.1f} L{x1:.1f},{y1 + thick:.1f} C{middle:.1f},{y1 + thick:.1f} {middle:.1f},"
            f'{y0 + thick:.1f} {x0:.1f},{y0 + thick:.1f}Z"><title>{escape(label)}</title></path>'
        )
        out[link["source"]] += thick
        into[link["target"]] += thick
    return drawn


def _box(node: _Node, reach: float) -> str:
    curve = np.asarray(node.template["curve"], dtype=np.float64)
    named = node.height >= _NAMED
    room = min(node.height - (18 if named else 4), _CURVE)
    middle = node.top + node.height / 2 + (6 if named else 0)
    xs = np.linspace(node.left + 6, node.left + _BOX - 6, len(curve))
    points = [(float(x), middle - float(v) / reach * room / 2) for x, v in zip(xs, curve, strict=True)]
    label = f"{node.template['name']}: {node.template['collections']} collections"
    name = text(node.left + 5, node.top + 12, node.template["name"], kind="small") if named else ""
    return (
        f'<g class="s{_colour(node)}"><rect class="node" x="{node.left:.1f}" y="{node.top:.1f}" width="{_BOX:.0f}" '
        f'height="{max(node.height, 1):.1f}" rx="4"><title>{escape(label)}</title></rect>'
        f"{path('line', points) if room > 4 else ''}</g>{name}"
    )


def _colour(node: _Node) -> int:
    return int(node.template["lineage"]) % GREY
