// The arc: the curve with its knots, the items as points on it, drawn and dragged.

import { at, fromLine, handles } from "./curve.js";
import { $, svg } from "./dom.js";
import { count, curveNow, laid, pins, preview, sides } from "./ordering.js";
import { changed, commit, state } from "./state.js";

const MARGIN = { left: 14, right: 14, top: 18 };
const SAMPLES = 160;
const MANY = 100; // from here on the points are one path: cheap to move, all at once
const PATHS = new Set(["area", "curve", "line", "arc", "dots", "pins"]);
const view = { width: 600, height: 300, bottom: 30, low: -2, high: 2, drawing: false, curve: null, line: null, labels: false };
const nodes = { points: new Map(), handles: [] };

export function start() {
  const root = svg("svg", { class: "arc-svg", role: "group", "aria-label": "The curve with its knots, and the items on it" });
  for (const name of ["grid", "area", "curve", "line", "arc", "dots", "pins", "items", "knots", "marker"]) {
    nodes[name] = svg(PATHS.has(name) ? "path" : "g", { class: `layer-${name}` });
    root.append(nodes[name]);
  }
  nodes.ring = svg("circle", { r: 11, class: "ring" });
  nodes.marker.append(nodes.ring);
  nodes.marker.style.display = "none";
  nodes.root = root;
  $("plot").append(root);
  root.addEventListener("pointerdown", onDown);
  root.addEventListener("dblclick", onDouble);
  new ResizeObserver(() => state.collection && render({ fresh: true })).observe($("plot"));
}

export function setDrawing(on) {
  view.drawing = on;
  nodes.root.classList.toggle("drawing", on);
}
export const isDrawing = () => view.drawing;

// Where a place of the curve (u in [0, 1], in one side) and a height stand on the screen.
function across(place) {
  const n = count();
  const room = view.width - MARGIN.left - MARGIN.right - (view.labels ? 56 : 0);
  return MARGIN.left + (n > 1 ? place / (n - 1) : 0.5) * room;
}
function x(u, side = 0) {
  const counts = sides();
  if (count() < 2) return MARGIN.left + u * (view.width - MARGIN.left - MARGIN.right);
  const first = counts.slice(0, side).reduce((a, b) => a + b, 0);
  return across(first + u * (counts[side] - 1));
}
const y = (v) => MARGIN.top + ((view.high - v) / (view.high - view.low)) * (view.height - MARGIN.top - view.bottom);
const heightAt = (py) => view.high - ((py - MARGIN.top) / (view.height - MARGIN.top - view.bottom)) * (view.high - view.low);
function placeAt(px) {
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
  const curve = curveNow();
  for (let i = 0; i <= 40; i++) values.push(at(curve, i / 40));
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
  const curve = view.curve || curveNow();
  drawCurve(curve);
  drawItems(laid(curve));
  drawKnots(handles(curve));
}

function grid() {
  const n = count(), zero = y(0), parts = [];
  parts.push(svg("line", { x1: 4, x2: view.width - 4, y1: zero, y2: zero, class: "zero" }));
  const foot = view.height - view.bottom + 16;
  if (!view.labels) {
    const step = Math.max(1, Math.ceil(n / (view.width / 42)));
    for (let place = 0; place < n; place += step) {
      const text = svg("text", { x: across(place), y: foot, class: "tick" });
      text.textContent = place + 1;
      parts.push(text);
    }
  }
  nodes.grid.replaceChildren(...parts);
}

function drawCurve(curve) {
  const base = view.height - view.bottom, paths = [], areas = [];
  sides().forEach((_, side) => {
    const points = [];
    for (let i = 0; i <= SAMPLES; i++) points.push(`${x(i / SAMPLES, side).toFixed(1)},${y(at(curve, i / SAMPLES)).toFixed(1)}`);
    paths.push(`M${points.join("L")}`);
    areas.push(`M${x(0, side)},${base}L${points.join("L")}L${x(1, side)},${base}Z`);
  });
  nodes.curve.setAttribute("d", paths.join(""));
  nodes.area.setAttribute("d", areas.join(""));
}

function drawItems(rows) {
  const many = rows.length > MANY;
  nodes.arc.setAttribute("d", `M${rows.map(({ place, value }) => `${across(place).toFixed(1)},${y(value).toFixed(1)}`).join("L")}`);
  nodes.root.classList.toggle("many", many);
  view.rows = rows;
  if (many) return drawDots(rows);
  nodes.dots.setAttribute("d", "");
  nodes.pins.setAttribute("d", "");
  const missing = nodes.points.size !== rows.length || rows.some(({ item }) => !nodes.points.has(item));
  if (missing || nodes.owner !== state.collection.id) makePoints(rows);
  const pinned = pins();
  for (const { item, place, value, target } of rows) {
    const node = nodes.points.get(item), py = y(value);
    node.group.style.transform = `translate(${across(place).toFixed(1)}px, ${py.toFixed(1)}px)`;
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
  for (const { item, place, value } of rows) {
    (pinned.has(item) || item === state.chosen ? held : plain).push(`M${across(place).toFixed(1)},${y(value).toFixed(1)}h0`);
  }
  nodes.dots.setAttribute("d", plain.join(""));
  nodes.pins.setAttribute("d", held.join(""));
}

// Of many points the one nearest to where the pointer is.
function nearest({ px, py }) {
  let best = null, least = 14;
  for (const { item, place, value } of view.rows) {
    const distance = Math.hypot(across(place) - px, y(value) - py);
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

function drawKnots(curve) {
  labels();
  const { knots, values } = curve;
  while (nodes.handles.length > knots.length) nodes.handles.pop().remove();
  while (nodes.handles.length < knots.length) {
    const knot = svg("g", { class: "knot", tabindex: 0, role: "slider", "aria-orientation": "vertical" });
    knot.append(svg("circle", { r: 18, class: "reach" }), svg("circle", { r: 7, class: "handle" }));
    knot.dataset.knot = nodes.handles.length;
    knot.addEventListener("keydown", onKey);
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
export function mark(place) {
  nodes.marker.style.display = place === null ? "none" : "";
  if (place === null) return;
  const counts = sides();
  let side = 0, first = 0;
  while (side < counts.length - 1 && place >= first + counts[side]) first += counts[side++];
  const u = counts[side] > 1 ? Math.min(1, (place - first) / (counts[side] - 1)) : 0;
  nodes.ring.style.transform = `translate(${x(u, side).toFixed(1)}px, ${y(at(view.curve || curveNow(), u)).toFixed(1)}px)`;
}

function inside(event) {
  const box = nodes.root.getBoundingClientRect();
  return { px: event.clientX - box.left, py: event.clientY - box.top };
}

// One picture per frame, however often the pointer speaks.
let waiting = 0;
function soon(curve) {
  view.curve = curve;
  waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    if (view.curve) preview({ curve: view.curve });
  });
}

function settle(curve) {
  cancelAnimationFrame(waiting);
  waiting = 0;
  view.curve = null;
  if (curve) commit({ curve });
  else changed("order");
}

function onDown(event) {
  if (event.button || state.before) return;
  const knot = event.target.closest(".knot"), point = event.target.closest(".point");
  if (view.drawing) return drawLine(event);
  if (knot) return dragKnot(event, Number(knot.dataset.knot));
  const item = point ? Number(point.dataset.item) : nodes.points.size ? null : nearest(inside(event));
  if (item === null) return;
  state.chosen = item;
  changed("chosen");
}

function follow(event, move, up) {
  event.preventDefault();
  nodes.root.setPointerCapture(event.pointerId);
  const done = (ended) => {
    nodes.root.removeEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) nodes.root.removeEventListener(name, done);
    up(ended.type === "pointercancel");
  };
  nodes.root.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) nodes.root.addEventListener(name, done);
}

function moved(curve, index, u, value) {
  const knots = [...curve.knots], values = [...curve.values], last = knots.length - 1, room = 0.02;
  if (index > 0 && index < last) knots[index] = Math.min(knots[index + 1] - room, Math.max(knots[index - 1] + room, u));
  const span = view.high - view.low;
  values[index] = Math.min(view.high + span, Math.max(view.low - span, value));
  return { knots, values, name: drawnName(curve.name) };
}
const drawnName = (name) => (/drawn|changed/.test(name) ? name : `${name || "a curve"}, changed`);

function dragKnot(event, index) {
  const before = handles(curveNow()), from = inside(event);
  nodes.handles[index].focus({ preventScroll: true });
  let now = null;
  const move = (moving) => {
    const { px, py } = inside(moving);
    if (!now && Math.hypot(px - from.px, py - from.py) < 3) return;
    const height = Math.min(view.height - view.bottom, Math.max(MARGIN.top - 10, py));
    soon((now = moved(before, index, placeAt(px), heightAt(height))));
  };
  follow(event, move, (cancelled) => settle(cancelled ? null : now));
}

function drawLine(event) {
  const old = curveNow(), line = [];
  let now = null;
  const move = (moving) => {
    const { px, py } = inside(moving), u = placeAt(px);
    const point = { x: u, y: heightAt(Math.min(view.height - view.bottom, Math.max(4, py))) };
    while (line.length && Math.abs(line[line.length - 1].x - u) < 0.004) line.pop();
    line.push(point);
    nodes.line.setAttribute("d", `M${line.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join("L")}`);
    if (line.length > 3) soon((now = fromLine(line, old)));
  };
  move(event);
  follow(event, move, (cancelled) => {
    nodes.line.setAttribute("d", "");
    settle(cancelled ? null : now);
  });
}

function onDouble(event) {
  if (view.drawing || state.before) return;
  const knot = event.target.closest(".knot");
  if (knot) return;
  addKnot(placeAt(inside(event).px));
}

function addKnot(u) {
  const curve = handles(curveNow());
  if (curve.knots.length >= 16 || curve.knots.some((knot) => Math.abs(knot - u) < 0.03)) return;
  const place = curve.knots.findIndex((knot) => knot > u);
  const knots = curve.knots.toSpliced(place, 0, u), values = curve.values.toSpliced(place, 0, at(curve, u));
  commit({ curve: { knots, values, name: drawnName(curve.name) } });
  nodes.handles[place]?.focus();
}

function removeKnot(index) {
  const curve = handles(curveNow());
  if (index === 0 || index === curve.knots.length - 1) return;
  commit({ curve: { knots: curve.knots.toSpliced(index, 1), values: curve.values.toSpliced(index, 1), name: drawnName(curve.name) } });
  nodes.handles[Math.min(index, nodes.handles.length - 1)]?.focus();
}

function onKey(event) {
  if (state.before || event.ctrlKey || event.metaKey || event.altKey) return;
  const index = Number(event.currentTarget.dataset.knot), curve = handles(curveNow());
  const big = event.shiftKey ? 4 : 1, up = ((view.high - view.low) / 50) * big, right = 0.01 * big;
  const steps = { ArrowUp: [0, up], ArrowDown: [0, -up], ArrowLeft: [-right, 0], ArrowRight: [right, 0] };
  if (event.key in steps) {
    const [du, dv] = steps[event.key];
    commit({ curve: moved(curve, index, curve.knots[index] + du, curve.values[index] + dv) });
  } else if (event.key === "Delete" || event.key === "Backspace") removeKnot(index);
  else if (event.key === "Insert" || event.key === "+") {
    const other = index < curve.knots.length - 1 ? index + 1 : index - 1;
    addKnot((curve.knots[index] + curve.knots[other]) / 2);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
