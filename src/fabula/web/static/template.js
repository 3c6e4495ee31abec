// Templates on [0, 1]: the same curves as the server's, through the same knots; and numbers fit to them.

const known = new WeakMap();
const gaps = (x) => Array.from({ length: x.length - 1 }, (_, i) => x[i + 1] - x[i]);

// Slopes of the "not-a-knot" cubic spline at its knots; a line for two knots, a parabola for three.
function cubicSlopes(dx, slope) {
  const q = dx.length + 1;
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
  return solveTridiagonal(low, mid, high, right);
}

// Three diagonals, solved from the top down and back.
function solveTridiagonal(low, mid, high, right) {
  const q = mid.length, out = new Array(q);
  for (let i = 1; i < q; i++) {
    const factor = low[i] / mid[i - 1];
    mid[i] -= factor * high[i - 1];
    right[i] -= factor * right[i - 1];
  }
  out[q - 1] = right[q - 1] / mid[q - 1];
  for (let i = q - 2; i >= 0; i--) out[i] = (right[i] - high[i] * out[i + 1]) / mid[i];
  return out;
}

// Slopes of the curve that never leaves the range of two neighbouring knots (Fritsch and Butland).
function monotoneSlopes(dx, slope) {
  const q = dx.length + 1;
  if (q === 2) return [slope[0], slope[0]];
  const out = [endSlope(dx[0], dx[1], slope[0], slope[1])];
  for (let i = 1; i < q - 1; i++) {
    const before = 2 * dx[i] + dx[i - 1], after = dx[i] + 2 * dx[i - 1];
    out.push(slope[i - 1] * slope[i] <= 0 ? 0 : (before + after) / (before / slope[i - 1] + after / slope[i]));
  }
  return [...out, endSlope(dx[q - 2], dx[q - 3], slope[q - 2], slope[q - 3])];
}

function endSlope(near, far, slope, next) {
  const found = ((2 * near + far) * slope - near * next) / (near + far);
  if (Math.sign(found) !== Math.sign(slope)) return 0;
  return Math.sign(slope) !== Math.sign(next) && Math.abs(found) > 3 * Math.abs(slope) ? 3 * slope : found;
}

function slopes({ knots, values, interpolation }) {
  const dx = gaps(knots), slope = dx.map((d, i) => (values[i + 1] - values[i]) / d);
  return interpolation === "monotone" ? monotoneSlopes(dx, slope) : cubicSlopes(dx, slope);
}

export function at(template, u) {
  let slope = known.get(template);
  if (!slope) known.set(template, (slope = slopes(template)));
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

export const samples = (template, n) => Array.from({ length: n }, (_, j) => at(template, n > 1 ? j / (n - 1) : 0));

export function flipTemplate(template) {
  const name = template.name.endsWith(" (flipped)") ? template.name.slice(0, -10) : `${template.name} (flipped)`;
  return { ...template, values: template.values.map((value) => -value), name };
}

// On the scale of the items, as every template is: mean 0 and deviation 1 along it. A flat one becomes zero.
export function normalise(template) {
  const curve = samples(template, 201), mean = curve.reduce((a, b) => a + b, 0) / curve.length;
  const deviation = Math.sqrt(curve.reduce((sum, v) => sum + (v - mean) ** 2, 0) / curve.length);
  const flat = deviation <= 1e-9 * Math.max(1, ...curve.map(Math.abs));
  return { ...template, values: template.values.map((value) => (flat ? 0 : (value - mean) / deviation)) };
}

// The same template with few knots, so that they can be dragged.
export function thinKnots(template, most = 16) {
  if (template.knots.length <= most) return template;
  const knots = Array.from({ length: 9 }, (_, i) => i / 8);
  return { ...template, knots, values: knots.map((u) => at(template, u)), name: `${template.name} (drawn)` };
}

const drawnName = (name) => (/drawn|changed/.test(name) ? name : `${name || "a template"}, changed`);

// What a hand has changed keeps its shape between the knots.
export const withKnots = (template, knots, values) => ({ knots, values, name: drawnName(template.name), interpolation: "monotone" });

// A freehand line, {x, y} with x in [0, 1], on top of a template: knots where it went, the old template elsewhere.
export function fromLine(points, old) {
  const line = [...points].sort((a, b) => a.x - b.x), near = 0.12; // a line that nearly reaches an end is meant to
  const from = line[0].x < near ? 0 : line[0].x, to = line.at(-1).x > 1 - near ? 1 : line.at(-1).x;
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
  return { knots, values: knots.map(height), name: "drawn by hand", interpolation: "monotone" };
}

const isNear = (a, b) => a.length === b.length && a.every((value, i) => Math.abs(value - b[i]) < 1e-9);
export const isSameTemplate = (a, b) => Boolean(a && b) && isNear(a.knots, b.knots) && isNear(a.values, b.values)
  && (a.interpolation || "cubic") === (b.interpolation || "cubic");

// Numbers laid on targets by sorting both. Equal numbers keep the order given.
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

// The order of numbers along a template: two sorts, exact, at once. With some positions fixed (position -> item):
// ordering[position] = item.
export function fitOrder(values, targets, fixed) {
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
