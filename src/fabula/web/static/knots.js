// The arc under a hand: knots dragged or moved by keys, a line drawn across.

import { heightAt, MARGIN, nearest, nodes, positionAt, view, x, y } from "./arc.js";
import { preview, restore, templateNow } from "./ordering.js";
import { changed, commit, state } from "./state.js";
import { at, fromLine, handles } from "./template.js";

export function start() {
  nodes.root.addEventListener("pointerdown", onDown);
  nodes.root.addEventListener("dblclick", onDouble);
  nodes.root.addEventListener("keydown", onKey);
}

export function setDrawing(on) {
  view.drawing = on;
  nodes.root.classList.toggle("drawing", on);
}
export const isDrawing = () => view.drawing;

function inside(event) {
  const box = nodes.root.getBoundingClientRect();
  return { px: event.clientX - box.left, py: event.clientY - box.top };
}

// One picture per frame, however often the pointer speaks.
let waiting = 0;
function soon(template) {
  view.template = template;
  waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    if (view.template) preview({ template: view.template });
  });
}

function settle(template) {
  cancelAnimationFrame(waiting);
  waiting = 0;
  view.template = null;
  if (template) commit({ template });
  else restore();
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

function moved(template, index, u, value) {
  const knots = [...template.knots], values = [...template.values], last = knots.length - 1, room = 0.02;
  if (index > 0 && index < last) knots[index] = Math.min(knots[index + 1] - room, Math.max(knots[index - 1] + room, u));
  const span = view.high - view.low;
  values[index] = Math.min(view.high + span, Math.max(view.low - span, value));
  return { knots, values, name: drawnName(template.name) };
}
const drawnName = (name) => (/drawn|changed/.test(name) ? name : `${name || "a template"}, changed`);

function dragKnot(event, index) {
  const before = handles(templateNow()), from = inside(event);
  nodes.handles[index].focus({ preventScroll: true });
  let now = null;
  const move = (moving) => {
    const { px, py } = inside(moving);
    if (!now && Math.hypot(px - from.px, py - from.py) < 3) return;
    const height = Math.min(view.height - view.bottom, Math.max(MARGIN.top - 10, py));
    soon((now = moved(before, index, positionAt(px), heightAt(height))));
  };
  follow(event, move, (cancelled) => settle(cancelled ? null : now));
}

function drawLine(event) {
  const old = templateNow(), line = [];
  let now = null;
  const move = (moving) => {
    const { px, py } = inside(moving), u = positionAt(px);
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
  addKnot(positionAt(inside(event).px));
}

function addKnot(u) {
  const template = handles(templateNow());
  if (template.knots.length >= 16 || template.knots.some((knot) => Math.abs(knot - u) < 0.03)) return;
  const position = template.knots.findIndex((knot) => knot > u);
  const knots = template.knots.toSpliced(position, 0, u), values = template.values.toSpliced(position, 0, at(template, u));
  commit({ template: { knots, values, name: drawnName(template.name) } });
  nodes.handles[position]?.focus();
}

function removeKnot(index) {
  const template = handles(templateNow());
  if (index === 0 || index === template.knots.length - 1) return;
  commit({ template: { knots: template.knots.toSpliced(index, 1), values: template.values.toSpliced(index, 1), name: drawnName(template.name) } });
  nodes.handles[Math.min(index, nodes.handles.length - 1)]?.focus();
}

function onKey(event) {
  const knot = event.target.closest(".knot");
  if (!knot || state.before || event.ctrlKey || event.metaKey || event.altKey) return;
  const index = Number(knot.dataset.knot), template = handles(templateNow());
  const big = event.shiftKey ? 4 : 1, up = ((view.high - view.low) / 50) * big, right = 0.01 * big;
  const steps = { ArrowUp: [0, up], ArrowDown: [0, -up], ArrowLeft: [-right, 0], ArrowRight: [right, 0] };
  if (event.key in steps) {
    const [du, dv] = steps[event.key];
    commit({ template: moved(template, index, template.knots[index] + du, template.values[index] + dv) });
  } else if (event.key === "Delete" || event.key === "Backspace") removeKnot(index);
  else if (event.key === "Insert" || event.key === "+") {
    const other = index < template.knots.length - 1 ? index + 1 : index - 1;
    addKnot((template.knots[index] + template.knots[other]) / 2);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
