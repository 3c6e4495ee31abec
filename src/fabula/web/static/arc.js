// The arc: the template with its knots, and the items as points on it.

import { $, svg } from "./dom.js";
import { count, laid, lengthOfSide, pins, sideName, sides, templateNow } from "./ordering.js";
import { state } from "./state.js";
import { at, handles } from "./template.js";

export const MARGIN = { left: 14, right: 14, top: 18 };
const SAMPLES = 160;
const MANY = 100; // from here on the points are one path: cheap to move, all at once
const PATHS = new Set(["area", "template", "line", "arc", "dots", "pins"]);
export const view = { width: 600, height: 300, bottom: 30, low: -2, high: 2, drawing: false, template: null, line: null, labels: false };
export const nodes = { points: new Map(), handles: [] };

export function start() {
  const root = svg("svg", { class: "arc-svg", role: "group", "aria-label": "The template with its knots, and the items on it" });
  for (const name of ["grid", "area", "template", "line", "arc", "dots", "pins", "items", "knots", "marker"]) {
    nodes[name] = svg(PATHS.has(name) ? "path" : "g", { class: `layer-${name}` });
    root.append(nodes[name]);
  }
  nodes.ring = svg("circle", { r: 11, class: "ring" });
  nodes.marker.append(nodes.ring);
  nodes.marker.style.display = "none";
  nodes.root = root;
  $("plot").append(root);
  new ResizeObserver(() => state.collection && render({ fresh: true })).observe($("plot"));
}

// Where a point of the template (u in [0, 1], on one side) and a height stand on the screen.
export function across(position) {
  const n = count();
  const room = view.width - MARGIN.left - MARGIN.right - (view.labels ? 56 : 0);
  return MARGIN.left + (n > 1 ? position / (n - 1) : 0.5) * room;
}
export function x(u, side = 0) {
  const counts = sides();
  if (count() < 2) return MARGIN.left + u * (view.width - MARGIN.left - MARGIN.right);
  const first = counts.slice(0, side).reduce((a, b) => a + b, 0);
  return across(first + u * (counts[side] - 1));
}
export const y = (v) => MARGIN.top + ((view.high - v) / (view.high - view.low)) * (view.height - MARGIN.top - view.bottom);
export const heightAt = (py) => view.high - ((py - MARGIN.top) / (view.height - MARGIN.top - view.bottom)) * (view.high - view.low);
export function positionAt(px) {
  const left = x(0), right = x(1);
  return Math.min(1, Math.max(0, (px - left) / (right - left || 1)));
}

function measure() {
  const box = $("plot").getBoundingClientRect(), n = count();
  view.width = Math.max(240, Math.round(box.width));
  view.labels = n <= 18 && view.width / n > 34;
  view.bottom = view.labels ? 78 : 30;
  view.height = Math.round(Math.min(view.labels ? 400 : 340, Math.max(250, view.width * 0.52)));
  nodes.root.setAttribute("viewBox", `0 0 ${view.width} ${view.height}`);
  nodes.root.style.height = `${view.height}px`;
  const values = state.collection.items.map((item) => item.essence);
  const template = templateNow();
  for (let i = 0; i <= 40; i++) values.push(at(template, i / 40));
  const low = Math.min(...values, -1), high = Math.max(...values, 1), room = 0.1 * (high - low);
  Object.assign(view, { low: low - room, high: high + room });
}

// fresh: sizes and scale may have changed. While dragging they stay as they are.
export function render({ fresh = false } = {}) {
  if (!state.collection || $("desk").hidden) return;
  if (fresh) {
    measure();
    grid();
  }
  const template = view.template || templateNow();
  drawTemplate(template);
  drawItems(laid(template));
  drawKnots(handles(template));
}

function grid() {
  const n = count(), zero = y(0), parts = [];
  parts.push(svg("line", { x1: 4, x2: view.width - 4, y1: zero, y2: zero, class: "zero" }));
  const foot = view.height - view.bottom + 16;
  if (!view.labels) {
    const step = Math.max(1, Math.ceil(n / (view.width / 42)));
    for (let position = 0; position < n; position += step) {
      const text = svg("text", { x: across(position), y: foot, class: "tick" });
      text.textContent = position + 1;
      parts.push(text);
    }
  }
  nodes.grid.replaceChildren(...parts, ...sideMarks());
}

// A line where a new side begins, and above each side its name and its length.
function sideMarks() {
  const sizes = sides(), parts = [];
  if (sizes.length < 2) return parts;
  let first = 0;
  sizes.forEach((size, side) => {
    if (first) {
      const at = ((across(first - 1) + across(first)) / 2).toFixed(1);
      parts.push(svg("line", { x1: at, x2: at, y1: 4, y2: view.height - view.bottom, class: "break" }));
    }
    const text = svg("text", { x: across(first).toFixed(1), y: 12, class: "side-mark" });
    text.textContent = [sideName(side), lengthOfSide(side)].filter(Boolean).join(" · ");
    parts.push(text);
    first += size;
  });
  return parts;
}

function drawTemplate(template) {
  const base = view.height - view.bottom, paths = [], areas = [];
  sides().forEach((_, side) => {
    const points = [];
    for (let i = 0; i <= SAMPLES; i++) points.push(`${x(i / SAMPLES, side).toFixed(1)},${y(at(template, i / SAMPLES)).toFixed(1)}`);
    paths.push(`M${points.join("L")}`);
    areas.push(`M${x(0, side)},${base}L${points.join("L")}L${x(1, side)},${base}Z`);
  });
  nodes.template.setAttribute("d", paths.join(""));
  nodes.area.setAttribute("d", areas.join(""));
}

function drawItems(rows) {
  const many = rows.length > MANY;
  nodes.arc.setAttribute("d", rows.map(({ position, number, value }) => `${number === 1 ? "M" : "L"}${across(position).toFixed(1)},${y(value).toFixed(1)}`).join(""));
  nodes.root.classList.toggle("many", many);
  view.rows = rows;
  if (many) return drawDots(rows);
  nodes.dots.setAttribute("d", "");
  nodes.pins.setAttribute("d", "");
  const missing = nodes.points.size !== rows.length || rows.some(({ item }) => !nodes.points.has(item));
  if (missing || nodes.owner !== state.collection.id) makePoints(rows);
  const pinned = pins();
  for (const { item, position, value, target } of rows) {
    const node = nodes.points.get(item), py = y(value);
    node.group.style.transform = `translate(${across(position).toFixed(1)}px, ${py.toFixed(1)}px)`;
    node.stem.setAttribute("y2", (y(target) - py).toFixed(1));
    const kind = `point${pinned.has(item) ? " pinned" : ""}${item === state.chosen ? " chosen" : ""}`;
    if (node.kind !== kind) node.group.setAttribute("class", (node.kind = kind));
    node.label.setAttribute("transform", `translate(0 ${(view.height - view.bottom + 14 - py).toFixed(1)}) rotate(36)`);
  }
}

function drawDots(rows) {
  if (nodes.points.size) nodes.items.replaceChildren();
  nodes.points.clear();
  const pinned = pins(), plain = [], held = [];
  for (const { item, position, value } of rows) {
    (pinned.has(item) || item === state.chosen ? held : plain).push(`M${across(position).toFixed(1)},${y(value).toFixed(1)}h0`);
  }
  nodes.dots.setAttribute("d", plain.join(""));
  nodes.pins.setAttribute("d", held.join(""));
}

// Of many points the one nearest to where the pointer is.
export function nearest({ px, py }) {
  let best = null, least = 14;
  for (const { item, position, value } of view.rows) {
    const distance = Math.hypot(across(position) - px, y(value) - py);
    if (distance < least) [best, least] = [item, distance];
  }
  return best;
}

function makePoints(rows) {
  nodes.points.clear();
  nodes.owner = state.collection.id;
  for (const { item } of rows) {
    const stem = svg("line", { class: "stem", x1: 0, x2: 0, y1: 0, y2: 0 });
    const title = svg("title"), label = svg("text", { class: "label" });
    title.textContent = state.collection.items[item].title;
    label.textContent = short(state.collection.items[item].title);
    const group = svg("g", { class: "point" }, stem, svg("circle", { r: rows.length > 60 ? 4 : 6 }), title, label);
    group.dataset.item = item;
    nodes.points.set(item, { group, stem, label });
  }
  nodes.items.replaceChildren(...[...nodes.points.values()].map((node) => node.group));
  labels();
}

function labels() {
  nodes.items.classList.toggle("unlabelled", !view.labels);
}

const short = (text) => (text.length > 17 ? `${text.slice(0, 16)}…` : text);

function drawKnots(template) {
  labels();
  const { knots, values } = template;
  while (nodes.handles.length > knots.length) nodes.handles.pop().remove();
  while (nodes.handles.length < knots.length) {
    const knot = svg("g", { class: "knot", tabindex: 0, role: "slider", "aria-orientation": "vertical" });
    knot.append(svg("circle", { r: 18, class: "reach" }), svg("circle", { r: 7, class: "handle" }));
    knot.dataset.knot = nodes.handles.length;
    nodes.handles.push(knot);
    layer().append(knot);
  }
  nodes.handles.forEach((knot, i) => {
    knot.style.transform = `translate(${x(knots[i]).toFixed(1)}px, ${y(values[i]).toFixed(1)}px)`;
    knot.setAttribute("aria-label", `Knot ${i + 1} of ${knots.length}, at ${Math.round(100 * knots[i])} percent of the way`);
    knot.setAttribute("aria-valuenow", values[i].toFixed(2));
    knot.setAttribute("aria-valuemin", Math.min(view.low, values[i]).toFixed(2));
    knot.setAttribute("aria-valuemax", Math.max(view.high, values[i]).toFixed(2));
  });
}
const layer = () => nodes.root.querySelector(".layer-knots");

// The point that moves along while something plays; null hides it.
export function mark(position) {
  nodes.marker.style.display = position === null ? "none" : "";
  if (position === null) return;
  const counts = sides();
  let side = 0, first = 0;
  while (side < counts.length - 1 && position >= first + counts[side]) first += counts[side++];
  const u = counts[side] > 1 ? Math.min(1, (position - first) / (counts[side] - 1)) : 0;
  nodes.ring.style.transform = `translate(${x(u, side).toFixed(1)}px, ${y(at(view.template || templateNow(), u)).toFixed(1)}px)`;
}
