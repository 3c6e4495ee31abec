// The arc under a hand: knots dragged or moved by keys, added and removed, a line drawn across, and items dragged along it.

import { announce } from "./announce.js";
import { alongAt, drawChip, heightAt, nearest, nodes, positionAt, view, x, y } from "./arc.js";
import { findPosition, moveByHand, placeAt } from "./constraints.js";
import { $ } from "./dom.js";
import { follow, holdStill } from "./drag.js";
import { currentTemplate, isFollowing, layRows, sides } from "./layout.js";
import { preview, restore, takeSnapshot } from "./order.js";
import { commit, emit, state, titleOf } from "./state.js";
import { at, fromLine, normalise, thinKnots, withKnots } from "./template.js";

const ROOM = 0.02, MOST = 16;

export function start() {
  nodes.root.addEventListener("pointerdown", onDown);
  nodes.root.addEventListener("dblclick", (event) => !event.target.closest(".knot, .point") && addKnot(alongAt(pointIn(event).px)));
  nodes.root.addEventListener("keydown", onKey);
  nodes.root.addEventListener("focusin", (event) => event.target.closest(".knot") && chooseKnot(Number(event.target.closest(".knot").dataset.knot)));
  holdStill(nodes.root, () => (view.drawing ? ".arc-svg" : ".knot, .point"));
  $("knot-add").addEventListener("click", () => addBeside(nodes.focus));
  $("knot-remove").addEventListener("click", () => removeKnot(nodes.focus));
  nodes.root.addEventListener("pointermove", (event) => event.pointerType === "mouse" && !event.buttons && hover(itemUnder(event)));
  nodes.root.addEventListener("pointerleave", () => hover(null));
}

export function setDrawing(on) {
  view.drawing = on;
  nodes.root.classList.toggle("drawing", on);
  $("draw").setAttribute("aria-pressed", on);
  emit("drawing");
}
export const isDrawing = () => view.drawing;

function pointIn(event) {
  const box = nodes.root.getBoundingClientRect();
  return { px: (event.clientX ?? event.x) - box.left, py: (event.clientY ?? event.y) - box.top };
}

// The knot that the buttons below the picture and the Tab key are about.
function chooseKnot(index) {
  nodes.focus = index;
  nodes.handles.forEach((knot, i) => knot.setAttribute("tabindex", i === index ? 0 : -1));
  showKnotTools();
}

export function showKnotTools() {
  const { knots } = thinKnots(currentTemplate()), last = knots.length - 1;
  $("knot-tools").hidden = !isFollowing();
  $("knot-name").textContent = `Knot ${nodes.focus + 1} of ${knots.length}`;
  $("knot-remove").disabled = state.before || nodes.focus === 0 || nodes.focus >= last;
  $("knot-add").disabled = state.before || knots.length >= MOST;
}

function onDown(event) {
  if (event.button || state.before) return;
  const knot = event.target.closest(".knot");
  if (view.drawing) return drawLine(event);
  if (knot) return dragKnot(event, Number(knot.dataset.knot));
  pressPoint(event);
}

function moveKnot(template, index, u, value) {
  const knots = [...template.knots], values = [...template.values], last = knots.length - 1;
  if (index > 0 && index < last) knots[index] = Math.min(knots[index + 1] - ROOM, Math.max(knots[index - 1] + ROOM, u));
  const span = view.high - view.low;
  values[index] = Math.min(view.high + span, Math.max(view.low - span, value));
  return withKnots(template, knots, values);
}

// A template that is dragged is shown at once; let go, it is brought to the scale of the items like every other.
function showTemplate(template) {
  view.template = template;
  preview({ template });
}

function settleTemplate(kept, shown) {
  const template = view.template;
  view.template = null;
  if (!kept || !template) return restore(shown);
  const before = shown.ordering;
  commit({ template: normalise(template) });
  const places = state.ordering.filter((item, position) => item !== before[position]).length;
  announce(places ? `${places} of ${before.length} moved.` : "The order is as it was.");
}

function dragKnot(event, index) {
  const before = thinKnots(currentTemplate()), shown = takeSnapshot();
  event.preventDefault();
  nodes.handles[index].focus({ preventScroll: true });
  chooseKnot(index);
  const move = (now) => {
    const { px, py } = pointIn(now);
    showTemplate(moveKnot(before, index, alongAt(px), heightAt(py)));
  };
  follow(event, { move, end: (kept, { moved: far }) => (far ? settleTemplate(kept, shown) : null) });
}

function drawLine(event) {
  const old = isFollowing() ? currentTemplate() : traceTrend(), line = [], shown = takeSnapshot();
  event.preventDefault();
  const move = (now) => {
    const { px, py } = pointIn(now), u = alongAt(px);
    while (line.length && Math.abs(line.at(-1).x - u) < 0.004) line.pop();
    line.push({ x: u, y: heightAt(py) });
    nodes.line.setAttribute("d", `M${line.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join("L")}`);
    if (line.length > 3) showTemplate(fromLine(line, old));
  };
  const end = (kept) => {
    nodes.line.setAttribute("d", "");
    setDrawing(false);
    settleTemplate(kept, shown);
  };
  follow(event, { move, end, near: 0 });
}

// Where no line is drawn, the order stays as high as it is.
function traceTrend() {
  const rows = layRows(), last = Math.max(1, rows.length - 1), knots = Array.from({ length: 11 }, (_, i) => i / 10);
  const values = knots.map((u) => {
    const weights = rows.map(({ position }) => Math.exp(-(((position / last - u) / 0.1) ** 2)));
    return rows.reduce((sum, { value }, k) => sum + weights[k] * value, 0) / weights.reduce((a, b) => a + b, 0);
  });
  return { knots, values, name: "", interpolation: "monotone" };
}

function addKnot(u) {
  const template = thinKnots(currentTemplate());
  if (!isFollowing()) return;
  if (view.drawing || state.before || template.knots.length >= MOST) return;
  if (template.knots.some((knot) => Math.abs(knot - u) < 0.03)) return announce("There is no room for another knot here.");
  const position = template.knots.findIndex((knot) => knot > u);
  const knots = template.knots.toSpliced(position, 0, u), values = template.values.toSpliced(position, 0, at(template, u));
  changeTemplate(withKnots(template, knots, values), position, "Added");
}

function addBeside(index) {
  const { knots } = thinKnots(currentTemplate()), other = index < knots.length - 1 ? index + 1 : index - 1;
  addKnot((knots[index] + knots[other]) / 2);
}

function removeKnot(index) {
  const template = thinKnots(currentTemplate());
  if (index === 0 || index === template.knots.length - 1) return announce("The first and the last knot stay.");
  changeTemplate(withKnots(template, template.knots.toSpliced(index, 1), template.values.toSpliced(index, 1)), Math.min(index, template.knots.length - 2), "Removed");
}

function changeTemplate(template, focus, word) {
  const here = nodes.root.contains(document.activeElement);
  commit({ template: normalise(template) });
  chooseKnot(focus);
  if (here) nodes.handles[focus]?.focus({ preventScroll: true });
  announce(`${word}. ${template.knots.length} knots.`);
}

function onKey(event) {
  const knot = event.target.closest(".knot");
  if (!knot || state.before || event.ctrlKey || event.metaKey || event.altKey) return;
  const index = Number(knot.dataset.knot), template = thinKnots(currentTemplate()), last = template.knots.length - 1;
  const big = event.shiftKey ? 4 : 1, up = ((view.high - view.low) / 50) * big, right = 0.01 * big;
  const steps = { ArrowUp: [0, up], ArrowDown: [0, -up], ArrowLeft: [-right, 0], ArrowRight: [right, 0] };
  const goes = { PageUp: index - 1, PageDown: index + 1, Home: 0, End: last };
  if (event.key in steps) {
    const [du, dv] = steps[event.key];
    commit({ template: normalise(moveKnot(template, index, template.knots[index] + du, template.values[index] + dv)) });
  } else if (event.key in goes) nodes.handles[Math.min(last, Math.max(0, goes[event.key]))].focus();
  else if (event.key === "Delete" || event.key === "Backspace") removeKnot(index);
  else if (event.key === "Insert" || event.key === "+") addBeside(index);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function itemUnder(event) {
  const point = event.target.closest(".point");
  return point ? Number(point.dataset.item) : nodes.points.size ? null : nearest(pointIn(event));
}

function hover(item) {
  if (nodes.hovered === (item ?? undefined)) return;
  nodes.hovered = item ?? undefined;
  nodes.root.classList.toggle("over", item !== null);
  drawChip();
}

// Press an item: it is chosen; drag it along: it is pinned where it is let go, and the rest flows around it.
function pressPoint(event) {
  const item = itemUnder(event);
  if (item === null) return;
  event.preventDefault();
  state.chosen = item;
  emit("chosen");
  const shown = takeSnapshot(), from = findPosition(item), sizes = sides();
  let to = from;
  const move = (now) => {
    const position = positionAt(pointIn(now).px);
    if (position !== to) preview(placeAt(item, (to = position), from, sizes));
  };
  const end = (kept, { shift, moved }) => {
    if (!moved) return;
    if (!kept || to === from) return restore(shown);
    if (shift) {
      Object.assign(state, shown); // nothing but this one moves
      moveByHand(item, to);
    } else commit(placeAt(item, to, from, sizes));
    announce(`${titleOf(item)} is let go at ${to + 1}.`);
  };
  follow(event, { move, end });
}
