// Templates on [0, 1]: the same splines as the server's, and the same order from them.

const pieces = new WeakMap();

// Slopes of the "not-a-knot" cubic spline at its knots; a line for two knots, a parabola for three.
function slopes(x, y) {
  const q = x.length;
  const dx = Array.from({ length: q - 1 }, (_, i) => x[i + 1] - x[i]);
  const slope = dx.map((d, i) => (y[i + 1] - y[i]) / d);
  if (q === 2) return [slope[0], slope[0]];
  if (q === 3) {
    const middle = (dx[1] * slope[0] + dx[0] * slope[1]) / (dx[0] + dx[1]);
    return [2 * slope[0] - middle, middle, 2 * slope[1] - middle];
  }
  const low = new Float64Array(q), mid = new Float64Array(q), high = new Float64Array(q), right = new Float64Array(q);
  for (let i = 1; i < q - 1; i++) {
    low[i] = dx[i];
    mid[i] = 2 * (dx[i - 1] + dx[i]);
    high[i] = dx[i - 1];
    right[i] = 3 * (dx[i] * slope[i - 1] + dx[i - 1] * slope[i]);
  }
  const first = dx[0] + dx[1], last = dx[q - 3] + dx[q - 2];
  mid[0] = dx[1];
  high[0] = first;
  right[0] = ((dx[0] + 2 * first) * dx[1] * slope[0] + dx[0] ** 2 * slope[1]) / first;
  low[q - 1] = last;
  mid[q - 1] = dx[q - 3];
  right[q - 1] = (dx[q - 2] ** 2 * slope[q - 3] + (2 * last + dx[q - 2]) * dx[q - 3] * slope[q - 2]) / last;
  for (let i = 1; i < q; i++) { // three diagonals: solved from the top down and back
    const factor = low[i] / mid[i - 1];
    mid[i] -= factor * high[i - 1];
    right[i] -= factor * right[i - 1];
  }
  const out = new Array(q);
  out[q - 1] = right[q - 1] / mid[q - 1];
  for (let i = q - 2; i >= 0; i--) out[i] = (right[i] - high[i] * out[i + 1]) / mid[i];
  return out;
}

export function at(template, u) {
  let slope = pieces.get(template);
  if (!slope) pieces.set(template, (slope = slopes(template.knots, template.values)));
  const { knots, values } = template;
  let a = 0, b = knots.length - 1;
  while (b - a > 1) {
    const half = (a + b) >> 1;
    if (knots[half] <= u) a = half;
    else b = half;
  }
  const d = knots[b] - knots[a], h = u - knots[a], rise = (values[b] - values[a]) / d;
  const c2 = (3 * rise - 2 * slope[a] - slope[b]) / d, c3 = (slope[a] + slope[b] - 2 * rise) / (d * d);
  return ((c3 * h + c2) * h + slope[a]) * h + values[a];
}

export function samples(template, n) {
  return Array.from({ length: n }, (_, j) => at(template, n > 1 ? j / (n - 1) : 0));
}

export function flipped(template) {
  const name = template.name.endsWith(" (flipped)") ? template.name.slice(0, -10) : `${template.name} (flipped)`;
  return { ...template, values: template.values.map((value) => -value), name };
}

// The same template with few knots, so that they can be dragged.
export function handles(template, most = 16) {
  if (template.knots.length <= most) return template;
  const knots = Array.from({ length: 9 }, (_, i) => i / 8);
  return { knots, values: knots.map((u) => at(template, u)), name: `${template.name} (drawn)` };
}

// A freehand line, {x, y} with x in [0, 1], on top of a template: knots where it went, the old template elsewhere.
export function fromLine(points, old) {
  const line = [...points].sort((a, b) => a.x - b.x);
  const from = line[0].x, to = line[line.length - 1].x;
  const height = (u) => {
    if (u < from - 0.06 || u > to + 0.06) return at(old, u);
    let weight = 0, sum = 0;
    for (const { x, y } of line) {
      const w = Math.exp(-(((x - u) / 0.03) ** 2));
      weight += w;
      sum += w * y;
    }
    return weight > 1e-6 ? sum / weight : line.reduce((best, p) => (Math.abs(p.x - u) < Math.abs(best.x - u) ? p : best)).y;
  };
  const knots = Array.from({ length: 11 }, (_, i) => i / 10);
  return { knots, values: knots.map(height), name: "drawn by hand" };
}

// Numbers laid on targets by sorting both: exact. Equal numbers keep the order given.
function matchSorted(values, items, targets, positions, out) {
  items.sort((a, b) => values[a] - values[b] || a - b);
  positions.sort((a, b) => targets[a] - targets[b] || a - b);
  for (let start = 0; start < items.length; ) {
    let end = start + 1;
    while (end < items.length && values[items[end]] === values[items[start]]) end++;
    if (end - start > 1) positions.slice(start, end).sort((a, b) => a - b).forEach((position, k) => (positions[start + k] = position));
    start = end;
  }
  positions.forEach((position, k) => (out[position] = items[k]));
}

// The order of numbers along a template with some positions fixed (position -> item): ordering[position] = item.
export function orderAlong(values, targets, fixed) {
  const n = values.length, out = new Array(n).fill(-1), held = new Set();
  for (const [position, item] of Object.entries(fixed)) {
    out[Number(position)] = item;
    held.add(item);
  }
  const items = [], positions = [];
  for (let i = 0; i < n; i++) {
    if (!held.has(i)) items.push(i);
    if (out[i] < 0) positions.push(i);
  }
  matchSorted(values, items, targets, positions, out);
  return out;
}
