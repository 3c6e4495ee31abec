// The picture: the arc of the order as it stands, the template that it follows, if any, and the way back from a pointer.

import { $, svg } from "./dom.js";
import { count, currentTemplate, hasArc, isFollowing, label, layRows, lengthOfSide, pins, readScale, sideName, sideOf, sides } from "./layout.js";
import { state, titleOf } from "./state.js";
import { at, thinKnots } from "./template.js";

const SAMPLES = 120;
const MANY = 100; // from here on the points are painted: cheap to move, all at once
const MOST_PICTURES = 500; // that are drawn in place of points
const PATHS = new Set(["area", "template", "line", "arc"]);
export const nodes = { points: new Map(), handles: [], focus: 0 };

export function start() {
  const root = svg("svg", { class: "arc-svg", role: "group", "aria-label": "The order as a picture" });
  for (const name of ["grid", "area", "template", "arc", "line", "chip", "items", "knots", "marker"]) {
    nodes[name] = svg(PATHS.has(name) ? "path" : "g", { class: `layer-${name}` });
    root.append(nodes[name]);
  }
  nodes.ring = svg("circle", { r: 11, class: "ring" });
  nodes.marker.append(nodes.ring);
  nodes.chipText = svg("text", { class: "chip" });
  nodes.chip.append(nodes.chipText);
  nodes.marker.style.display = "none";
  nodes.canvas = document.createElement("canvas");
  nodes.canvas.className = "arc-paint";
  nodes.root = root;
  $("plot").append(nodes.canvas, root);
  new ResizeObserver(() => state.collection && render({ fresh: true })).observe($("plot"));
}

// fresh: sizes and scale may have changed. While dragging they stay as they are.
export function render({ fresh = false } = {}) {
  if (!state.collection || $("desk").hidden) return;
  const template = view.template || currentTemplate(), alone = !isFollowing();
  document.querySelector(".arc").classList.toggle("bare", !hasArc());
  nodes.root.classList.toggle("alone", alone);
  $("plot").classList.toggle("blank", Boolean(state.collection.pending));
  if (fresh) {
    measurePlot($("plot").getBoundingClientRect(), alone ? null : template);
    nodes.root.setAttribute("viewBox", `0 0 ${view.width} ${view.height}`);
  }
  drawGrid();
  view.rows = layRows(template);
  if (alone) drawArea(view.rows);
  else drawTemplate(template);
  drawItems(view.rows);
  drawKnots(alone ? { knots: [], values: [] } : thinKnots(template));
  drawChip();
}

let drawnGrid = "";
function drawGrid() {
  const n = count(), marks = sides().map((size, side) => `${size}:${lengthOfSide(side)}`).join();
  const scale = readScale(), key = [n, view.width, view.height, view.low, view.high, marks, scale?.a, scale?.b].join();
  if (drawnGrid === key) return;
  drawnGrid = key;
  const zero = y(0), parts = scale ? makeScale(scale) : [svg("line", { x1: 4, x2: view.width - 4, y1: zero, y2: zero, class: "zero" })];
  const step = roundUp((n * (14 + 8 * String(n).length)) / view.width);
  for (let position = 0; position < n; position++) {
    const { side, first, size } = sideOf(position), number = position - first + 1;
    if (number > 1 ? number % step : size < step && side > 0) continue;
    const text = svg("text", { x: across(position).toFixed(1), y: floor() + 20, class: "tick" });
    text.textContent = label({ position, side, number });
    parts.push(text);
  }
  nodes.grid.replaceChildren(...parts, ...makeSideMarks());
}

// The next of 1, 2, 5, 10, 20, 50 ...
function roundUp(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least);
}

// Lines at round numbers of what rises and falls, each with its number.
function makeScale({ a, b }) {
  const [low, high] = [a * view.low + b, a * view.high + b].sort((one, other) => one - other);
  const power = 10 ** Math.floor(Math.log10((high - low) / 3)), step = [1, 2, 5, 10].map((times) => times * power).find((one) => (high - low) / one <= 5);
  const parts = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    const py = y((value - b) / a), text = svg("text", { x: 2, y: (py - 3).toFixed(1), class: "scale" });
    if (py < MARGIN.top - 8 || py > floor() + 1) continue;
    text.textContent = String(Number(value.toPrecision(6))).replace("-", "−");
    parts.push(svg("line", { x1: 2, x2: view.width - 4, y1: py.toFixed(1), y2: py.toFixed(1), class: "scale-line" }), text);
  }
  return parts;
}

// A line where a new side begins, and above each side its name and its length.
function makeSideMarks() {
  const sizes = sides(), parts = [];
  if (sizes.length < 2) return parts;
  let first = 0;
  sizes.forEach((size, side) => {
    if (first) {
      const middle = ((across(first - 1) + across(first)) / 2).toFixed(1);
      parts.push(svg("line", { x1: middle, x2: middle, y1: 4, y2: floor(), class: "break" }));
    }
    const text = svg("text", { x: (across(first) - 4).toFixed(1), y: 14, class: "side-mark" });
    const room = (across(first + size - 1) - across(first)) / 8;
    text.textContent = [sideName(side), room > 8 ? lengthOfSide(side) : ""].filter(Boolean).join(" · ");
    parts.push(text);
    first += size;
  });
  return parts;
}

// Of the items alone, what lies under their line.
function drawArea(rows) {
  const points = (size, first) => rows.slice(first, first + size).map(({ position, value }) => `${across(position).toFixed(1)},${y(value).toFixed(1)}`).join("L");
  let first = 0;
  const areas = sides().map((size) => {
    const from = first;
    first += size;
    return size > 1 ? `M${across(from)},${floor()}L${points(size, from)}L${across(from + size - 1)},${floor()}Z` : "";
  });
  nodes.area.setAttribute("d", areas.join(""));
  nodes.template.setAttribute("d", "");
}

function drawTemplate(template) {
  const paths = [], areas = [], heights = Array.from({ length: SAMPLES + 1 }, (_, i) => y(at(template, i / SAMPLES)).toFixed(1));
  sides().forEach((_, side) => {
    const points = heights.map((height, i) => `${x(i / SAMPLES, side).toFixed(1)},${height}`).join("L");
    paths.push(`M${points}`);
    areas.push(`M${x(0, side)},${floor()}L${points}L${x(1, side)},${floor()}Z`);
  });
  nodes.template.setAttribute("d", paths.join(""));
  nodes.area.setAttribute("d", areas.join(""));
}

function drawItems(rows) {
  const many = rows.length > MANY;
  nodes.root.classList.toggle("many", many);
  nodes.canvas.hidden = !many;
  if (many) return paint(rows);
  const size = Math.min(44, Math.max(18, (1.5 * view.width) / rows.length));
  nodes.arc.setAttribute("d", traceItems(rows));
  const missing = nodes.points.size !== rows.length || rows.some(({ item }) => !nodes.points.has(item));
  if (missing || nodes.owner !== state.collection.id) makePoints(rows);
  const pinned = pins();
  for (const { item, position, value, target } of rows) {
    const node = nodes.points.get(item), py = y(value);
    node.group.style.transform = `translate(${across(position).toFixed(1)}px, ${py.toFixed(1)}px)`;
    node.stem.setAttribute("y2", target === null ? "0" : (y(target) - py).toFixed(1));
    const on = item === state.chosen || state.several.has(item);
    if (state.covers && node.covered !== size) showCover(node, item, size);
    const kind = `point${pinned.has(item) ? " pinned" : ""}${on ? " chosen" : ""}${node.image ? " covered" : ""}`;
    if (node.kind !== kind) node.group.setAttribute("class", (node.kind = kind));
  }
}

// The line through the items, side by side.
const traceItems = (rows) => rows.map(({ position, number, value }) => `${number === 1 ? "M" : "L"}${across(position).toFixed(1)},${y(value).toFixed(1)}`).join("");

// An item that has a picture is drawn as it.
function showCover(node, item, size) {
  node.covered = size;
  node.image ??= node.group.appendChild(svg("image", { href: state.covers(item), class: "point-image" }));
  for (const [name, value] of Object.entries({ x: -size / 2, y: -size / 2, width: size, height: size })) node.image.setAttribute(name, value);
}

// Pictures of items that are painted, as they come in.
const images = new Map();
let due = 0;
function imageOf(item) {
  const address = state.covers(item);
  if (!images.has(address)) {
    if (images.size > 2000) images.clear();
    const image = new Image();
    image.onload = () => (due ||= requestAnimationFrame(() => ((due = 0), state.collection && render())));
    image.src = address;
    images.set(address, image);
  }
  const image = images.get(address);
  return image.complete && image.naturalWidth ? image : null;
}

// Where a picture of this height lies around a point, in its own format.
function frameImage(image, size) {
  const scale = size / Math.max(image.naturalWidth, image.naturalHeight);
  return [image.naturalWidth * scale, image.naturalHeight * scale];
}

// Many points are painted: one picture a frame.
function paint(rows) {
  if (nodes.points.size) nodes.items.replaceChildren();
  nodes.points.clear();
  nodes.arc.setAttribute("d", isFollowing() || rows.length > 400 ? "" : traceItems(rows));
  const { canvas } = nodes, ratio = Math.min(2, devicePixelRatio || 1), pinned = pins();
  const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d"), style = getComputedStyle(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  pen.fillStyle = style.color;
  const size = rows.length > 600 ? 3 : 4;
  const pictured = state.covers && rows.length <= MOST_PICTURES;
  for (const { item, position, value } of rows) {
    const image = pictured ? imageOf(item) : null;
    if (!image) pen.fillRect(across(position) - size / 2, y(value) - size / 2, size, size);
    else drawImage(pen, image, across(position), y(value), 20);
  }
  for (const { item, position, value } of rows) {
    const on = item === state.chosen || state.several.has(item);
    if (!on && !pinned.has(item)) continue;
    const image = pictured ? imageOf(item) : null, [wide, high] = image ? frameImage(image, on ? 54 : 26) : [4, 4];
    pen.fillStyle = on ? style.borderTopColor : style.outlineColor;
    pen.fillRect(across(position) - wide / 2 - 2, y(value) - high / 2 - 2, wide + 4, high + 4);
    if (image) drawImage(pen, image, across(position), y(value), on ? 54 : 26);
  }
}

function drawImage(pen, image, px, py, size) {
  const [wide, high] = frameImage(image, size);
  pen.drawImage(image, px - wide / 2, py - high / 2, wide, high);
}

function makePoints(rows) {
  nodes.points.clear();
  nodes.owner = state.collection.id;
  for (const { item } of rows) {
    const stem = svg("line", { class: "stem", x1: 0, x2: 0, y1: 0, y2: 0 });
    const group = svg("g", { class: "point" }, stem, svg("circle", { r: 16, class: "reach" }), svg("circle", { r: rows.length > 60 ? 4 : 6, class: "dot" }));
    group.dataset.item = item;
    nodes.points.set(item, { group, stem });
  }
  nodes.items.replaceChildren(...[...nodes.points.values()].map((node) => node.group));
}

// Its name beside the item that is chosen or under the pointer.
export function drawChip(item = nodes.hovered ?? state.chosen) {
  const row = item === null || item === undefined ? null : view.rows.find((one) => one.item === item);
  nodes.chip.style.display = row ? "" : "none";
  if (!row) return;
  const title = titleOf(item), text = `${label(row)}  ${title.length > 34 ? `${title.slice(0, 33)}…` : title}`;
  if (nodes.chipText.textContent !== text) nodes.chipText.textContent = text;
  const px = across(row.position), end = px > view.width * 0.66 ? "end" : px < view.width * 0.33 ? "start" : "middle";
  nodes.chipText.setAttribute("text-anchor", end);
  const above = y(row.value) - 14, py = above < 14 ? y(row.value) + 24 : above;
  nodes.chip.style.transform = `translate(${px.toFixed(1)}px, ${py.toFixed(1)}px)`;
}

function drawKnots({ knots, values }) {
  while (nodes.handles.length > knots.length) nodes.handles.pop().remove();
  while (nodes.handles.length < knots.length) {
    const knot = svg("g", { class: "knot", role: "slider", "aria-orientation": "vertical" });
    knot.append(svg("circle", { r: 22, class: "reach" }), svg("circle", { r: 7, class: "handle" }));
    knot.dataset.knot = nodes.handles.length;
    nodes.handles.push(knot);
    nodes.knots.append(knot);
  }
  nodes.focus = Math.max(0, Math.min(nodes.focus, knots.length - 1));
  nodes.handles.forEach((knot, i) => (knot.style.transform = `translate(${x(knots[i]).toFixed(1)}px, ${y(values[i]).toFixed(1)}px)`));
  if (!view.template) nameKnots(knots, values);
}

// What those hear who do not see it; not while it is dragged.
function nameKnots(knots, values) {
  nodes.handles.forEach((knot, i) => {
    const height = values[i].toFixed(2);
    for (const [name, value] of Object.entries({
      tabindex: i === nodes.focus ? 0 : -1,
      "aria-label": `Knot ${i + 1} of ${knots.length}`,
      "aria-valuenow": height,
      "aria-valuetext": `height ${height}, at ${Math.round(100 * knots[i])} percent of the way`,
      "aria-valuemin": Math.min(view.low, values[i]).toFixed(2),
      "aria-valuemax": Math.max(view.high, values[i]).toFixed(2),
    })) if (knot.getAttribute(name) !== String(value)) knot.setAttribute(name, value);
  });
}

// The point that moves along while something plays; null hides it.
export function markPosition(position) {
  nodes.marker.style.display = position === null ? "none" : "";
  if (position === null) return;
  const { side, first, size } = sideOf(Math.floor(position)), u = size > 1 ? Math.min(1, (position - first) / (size - 1)) : 0;
  const height = isFollowing() ? at(view.template || currentTemplate(), u) : heightAlong(first + u * (size - 1));
  nodes.ring.style.transform = `translate(${x(u, side).toFixed(1)}px, ${y(height).toFixed(1)}px)`;
}

// Between two items the line is straight.
function heightAlong(position) {
  const one = view.rows[Math.floor(position)], other = view.rows[Math.ceil(position)], share = position - Math.floor(position);
  return one && other ? one.value + share * (other.value - one.value) : 0;
}

const MARGIN = { left: 30, right: 22, top: 26, bottom: 30 };
export const view = { width: 600, height: 300, low: -2, high: 2, drawing: false, template: null, rows: [] };

// Sizes and the range of heights; while dragging they stay as they are.
function measurePlot(box, template) {
  view.width = Math.max(240, Math.round(box.width));
  view.height = Math.max(96, Math.round(box.height));
  const values = template ? state.collection.items.map((item) => item.essence) : layRows().map(({ value }) => value);
  for (let i = 0; template && i <= 40; i++) values.push(at(template, i / 40));
  let [low, high] = template ? [-1, 1] : [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const room = 0.12 * (high - low) || 1;
  Object.assign(view, { low: low - room, high: high + room });
}

// Where a position, and a point of the template (u in [0, 1], on one side), stand on the screen.
function across(position) {
  const n = count(), room = view.width - MARGIN.left - MARGIN.right;
  return MARGIN.left + (n > 1 ? position / (n - 1) : 0.5) * room;
}

export function x(u, side = 0) {
  const counts = sides();
  if (count() < 2) return MARGIN.left + u * (view.width - MARGIN.left - MARGIN.right);
  let first = 0;
  for (let before = 0; before < side; before++) first += counts[before];
  return across(first + u * (counts[side] - 1));
}

const tall = () => view.height - MARGIN.top - MARGIN.bottom;
export const y = (v) => MARGIN.top + ((view.high - v) / (view.high - view.low)) * tall();
const floor = () => view.height - MARGIN.bottom;

// The way back: a height, a place along the first side, and a position.
export const heightAt = (py) => view.high - ((Math.min(floor(), Math.max(4, py)) - MARGIN.top) / tall()) * (view.high - view.low);
export function alongAt(px) {
  const left = x(0), right = x(1);
  return Math.min(1, Math.max(0, (px - left) / (right - left || 1)));
}
export function positionAt(px) {
  const n = count(), room = view.width - MARGIN.left - MARGIN.right;
  return Math.min(n - 1, Math.max(0, Math.round(((px - MARGIN.left) / room) * (n - 1))));
}

// The item whose point is nearest to the pointer, within reach.
export function nearest({ px, py }, reach = 16) {
  let best = null, least = reach;
  for (const { item, position, value } of view.rows) {
    const distance = Math.hypot(across(position) - px, y(value) - py);
    if (distance < least) [best, least] = [item, distance];
  }
  return best;
}
