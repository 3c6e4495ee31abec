// The arc of the page, on the demo album, without a server: the page's own picture, player and orders.

import { notify } from "./announce.js";
import * as arc from "./arc.js";
import * as arcInput from "./arc-input.js";
import { toggleLock } from "./constraints.js";
import { $, el, icon, setIcon, svg } from "./dom.js";
import { isFollowing, label, layRows, lengthOfSide, pins, sideName, sides } from "./layout.js";
import { ask } from "./order.js";
import * as player from "./player.js";
import { commit, emit, onChange, openCollection, state, undo } from "./state.js";
import { isSameTemplate } from "./template.js";
import { NO_WISHES } from "./wishes.js";

const FIRST = "icarus"; // what is followed when the page opens
const rows = new Map();

function start() {
  for (const part of [arc, arcInput, player]) part.start();
  openCollection(structuredClone(DEMO.collection));
  state.before = true;
  buildRows();
  onChange((what) => on[what]?.());
  $("draw").addEventListener("click", () => arcInput.setDrawing(!arcInput.isDrawing()));
  $("two-sides").addEventListener("click", () => commit({ sides: state.wishes.sides > 1 ? 1 : 2 }));
  $("anew").addEventListener("click", () => commit(NO_WISHES));
  $("undo").addEventListener("click", () => undo());
  arc.render({ fresh: true });
  renderRows();
  renderTemplates();
  const { samples, description, ...template } = DEMO.templates.find(({ name }) => name === FIRST);
  state.wishes = { ...state.wishes, template };
  ask().then(() => setTimeout(showOrder, matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1400));
}

// First the order of the files, then the one that is found: the points go to where they belong.
function showOrder() {
  state.before = false;
  emit("order");
}

const on = {
  preview: draw,
  order: () => draw({ fresh: true }),
  chosen: draw,
  playing: renderRows,
  drawing: sayWhatToDo,
  found: draw,
  wishes() {
    renderTemplates();
    ask();
  },
};

function draw({ fresh = false } = {}) {
  arc.render({ fresh });
  renderRows();
  renderTemplates();
  player.refresh();
  arcInput.showKnotTools();
  sayWhatToDo();
  $("two-sides").setAttribute("aria-pressed", state.wishes.sides > 1);
  $("draw").disabled = state.wishes.sides > 1;
  $("anew").disabled = $("undo").disabled = !state.past.length;
}

function sayWhatToDo() {
  const text = state.before ? "The order of the files."
    : arcInput.isDrawing() ? "Draw a line across: the order follows it."
    : isFollowing() ? "Drag a knot: the order follows. Drag a point to pin a track."
    : "What the model proposes. Choose or draw a template, or drag a point to pin a track.";
  if ($("hint").textContent !== text) $("hint").textContent = text;
}

function buildRows() {
  for (const [item, one] of state.collection.items.entries()) {
    const number = el("span", { class: "s-number" }), name = el("span", { class: "s-name" }, one.title), why = el("span", { class: "s-why" });
    const play = el("button", { class: "s-hear", "aria-label": `Play ${one.title}`, onclick: () => player.playItem(item) }, icon("play"));
    const lock = el("button", { class: "s-lock", "aria-label": `Pin ${one.title}`, "aria-pressed": "false", onclick: () => toggleLock(item) }, icon("open"));
    const row = el("li", { class: "s-row" }, number, play, el("span", { class: "s-what" }, name, why), el("span", { class: "s-length" }, one.length_text), lock);
    rows.set(item, { row, number, why, play, lock });
    $("rows").append(row);
  }
}

// Rows move to where their items stand; in the document they stand in the order that is read.
function renderRows() {
  const held = pins(), list = $("rows");
  for (const { item, position, ...row } of layRows()) {
    const parts = rows.get(item), on = player.isPlaying(item);
    parts.row.style.transform = `translateY(calc(${position} * var(--row)))`;
    parts.number.textContent = label({ position, ...row });
    parts.why.textContent = state.before ? "" : state.why.get(item) || "";
    parts.row.classList.toggle("playing", on);
    parts.row.classList.toggle("breaks", row.number === 1 && row.side > 0);
    setIcon(parts.play, on ? "pause" : "play");
    setIcon(parts.lock, held.has(item) ? "lock" : "open");
    parts.lock.setAttribute("aria-pressed", held.has(item));
    if (!state.settled && !state.before) continue;
    if (list.children[position] !== parts.row) list.insertBefore(parts.row, list.children[position]);
  }
  $("total").textContent = sides().length > 1 ? sides().map((_, side) => `side ${sideName(side)} ${lengthOfSide(side)}`).join(", ") : `9 tracks, ${state.collection.length_text}`;
}

function drawCurve(values) {
  const low = Math.min(...values), span = Math.max(...values) - low || 1;
  const points = values.map((v, i) => `${(4 + (64 * i) / Math.max(1, values.length - 1)).toFixed(1)},${(32 - (28 * (v - low)) / span).toFixed(1)}`);
  return svg("svg", { viewBox: "0 0 72 36", "aria-hidden": "true" }, svg("path", { d: `M${points.join("L")}` }));
}

let shown = "";
function renderTemplates() {
  const now = state.wishes.template, key = JSON.stringify([now?.name, now?.values]);
  if (key === shown) return;
  shown = key;
  const button = (name, values, title, pressed, action) => el("button", { class: "template", title, "aria-pressed": String(pressed), onclick: action }, drawCurve(values), el("span", { class: "template-name" }, name));
  const proposed = button("proposed", DEMO.answers[""].arc.values, "What the model proposes", !now, () => commit({ template: null }));
  const focused = [...$("templates").children].indexOf(document.activeElement);
  $("templates").replaceChildren(proposed, ...DEMO.templates.map(({ name, description, samples: drawn, ...template }) =>
    button(name, drawn, description, isSameTemplate(now, template), () => commit({ template: { ...template, name } }))));
  const strip = $("templates"), pressed = strip.querySelector('[aria-pressed="true"]'); // what is chosen is seen
  if (pressed && pressed.offsetLeft + pressed.offsetWidth > strip.scrollLeft + strip.clientWidth) strip.scrollLeft = pressed.offsetLeft + pressed.offsetWidth - strip.clientWidth + 60;
  else if (pressed && pressed.offsetLeft < strip.scrollLeft) strip.scrollLeft = pressed.offsetLeft - 60;
  if (focused >= 0) strip.children[focused]?.focus({ preventScroll: true });
}

try {
  start();
} catch (error) {
  notify("This browser is too old for the picture.", { error: true });
  throw error;
}
