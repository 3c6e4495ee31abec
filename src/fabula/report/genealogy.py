"""The genealogy of templates as a Sankey figure: the paper's Figure 5, as SVG."""

from __future__ import annotations

from html import escape

import numpy as np

from fabula.core.template import Template
from fabula.report import svg
from fabula.templates.genealogy import Genealogy

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#dd8844", "#557755", "#7766cc", "#999999")
_BOX, _GAP, _TOP = 96.0, 10.0, 44.0


def genealogy_figure(found: Genealogy, *, width: int = 1000, height: int = 560) -> str:
    """Templates as boxes with their curves, a column for each k; bands for the collections that go from one to another.

    A template has the colour of its lineage.

    Returns
    -------
    SVG text.
    """
    columns = len(found.generations)
    step = (width - _BOX - 40) / max(1, columns - 1)
    boxes = [_column(g.sizes, 20 + i * step, height) for i, g in enumerate(found.generations)]
    parts = [band for i in range(len(found.flows)) for band in _bands(found, boxes, i)]
    for i, generation in enumerate(found.generations):
        x = boxes[i][0][0] + _BOX / 2
        parts.append(f'<text x="{x:.1f}" y="24" text-anchor="middle" font-weight="600">k = {i + 1}</text>')
        for j, template in enumerate(generation.templates):
            colour = COLOURS[generation.lineage[j] % len(COLOURS)]
            parts.append(_box(template, boxes[i][j], colour, generation.sizes[j]))
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Genealogy of templates"><style>{svg.STYLE}</style>{"".join(parts)}</svg>\n'
    )


def _column(sizes: list[int], x: float, height: float) -> list[tuple[float, float, float]]:
    """(x, top, height) of each box; heights in proportion to how many collections follow."""
    room = height - _TOP - 16 - _GAP * (len(sizes) - 1)
    total = sum(sizes) or 1
    boxes, y = [], _TOP
    for size in sizes:
        tall = max(6.0, room * size / total)
        boxes.append((x, y, tall))
        y += tall + _GAP
    return boxes


def _bands(found: Genealogy, boxes: list[list[tuple[float, float, float]]], i: int) -> list[str]:
    left, right, flow = boxes[i], boxes[i + 1], found.flows[i]
    out_of = np.zeros(len(left))
    into = np.zeros(len(right))
    bands = []
    for a in range(flow.shape[0]):
        for b in range(flow.shape[1]):
            if not flow[a, b]:
                continue
            start = left[a][2] * flow[a, b] / max(1, flow[a].sum())
            end = right[b][2] * flow[a, b] / max(1, flow[:, b].sum())
            colour = COLOURS[found.generations[i].lineage[a] % len(COLOURS)]
            bands.append(_band(left[a], right[b], out_of[a], into[b], start, end, colour))
            out_of[a] += start
            into[b] += end
    return bands


def _band(
    left: tuple[float, float, float],
    right: tuple[float, float, float],
    out_of: float,
    into: float,
    start: float,
    end: float,
    colour: str,
) -> str:
    x0, x1 = left[0] + _BOX, right[0]
    middle = (x0 + x1) / 2
    y0, y1 = left[1] + out_of, right[1] + into
    return (
        f'<path d="M{x0:.1f},{y0:.1f} C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {x1:.1f},{y1:.1f} '
        f'V{y1 + end:.1f} C{middle:.1f},{y1 + end:.1f} {middle:.1f},{y0 + start:.1f} {x0:.1f},{y0 + start:.1f} Z" '
        f'fill="{colour}" fill-opacity="0.28"/>'
    )


def _box(template: Template, box: tuple[float, float, float], colour: str, size: int) -> str:
    x, y, tall = box
    curve = template.samples(41)
    spread = float(np.ptp(curve)) or 1.0
    inner = max(tall - 8, 2.0)
    points = " L".join(
        f"{x + 6 + (_BOX - 12) * k / 40:.1f},{y + 4 + inner * (curve.max() - v) / spread:.1f}"
        for k, v in enumerate(curve)
    )
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{_BOX:.1f}" height="{tall:.1f}" rx="4" fill="{colour}" '
        f'fill-opacity="0.16" stroke="{colour}"><title>{escape(template.name)}: {size} collections</title></rect>'
        f'<path d="M{points}" fill="none" stroke="{colour}" stroke-width="2.2"/>'
    )
