// The page: puts the parts together.

import { notify } from "./announce.js";
import * as api from "./api.js";
import * as autosave from "./autosave.js";
import * as desk from "./desk.js";
import { $, setIcon } from "./dom.js";
import { dragging } from "./drag.js";
import * as jobs from "./jobs.js";
import * as open from "./open.js";
import * as player from "./player.js";
import { onChange, redo, showScreen, state, undo } from "./state.js";
import { flip } from "./templates.js";

// The parts that belong to the screen.
function showParts() {
  for (const id of ["start", "job", "desk"]) $(id).hidden = id !== state.screen;
  const here = state.screen === "desk", hears = here && player.canPlay(state.collection);
  for (const id of ["undo", "redo", "versions"]) $(id).hidden = !here;
  $("review-open").hidden = $("versions").hidden = !here || Boolean(state.collection.pending);
  $("player").hidden = !hears;
  showSteps();
  $("desk").classList.toggle("mute", !hears);
  document.body.dataset.screen = state.screen;
}

// Open, order, listen, save: where one is, and what comes next.
function showSteps() {
  const there = Boolean(state.collection), hears = there && state.screen === "desk" && player.canPlay(state.collection), heard = hears && player.hasPlayed();
  const ready = state.screen === "desk" && !state.collection.pending;
  const save = $("save").querySelector("summary"), steps = { again: $("again"), "go-order": $("go-order"), "play-all": $("play-all"), save };
  const now = state.screen === "start" ? "again" : heard ? "play-all" : "go-order", next = !ready ? "" : hears && !heard ? "play-all" : "save";
  for (const [name, step] of Object.entries(steps)) {
    step.classList.toggle("next", name === next);
    if (name === now) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
  }
  $("go-order").disabled = !there;
  $("play-all").disabled = !hears;
  $("play-all").hidden = $("listen-mark").hidden = ready && !hears;
  $("save").classList.toggle("off", !ready);
  if (ready) save.removeAttribute("aria-disabled");
  else save.setAttribute("aria-disabled", "true");
}

function wireButtons() {
  for (const [id, name] of [["undo", "undo"], ["redo", "redo"], ["one-edit", "edit"], ["zoom-prev", "back"], ["zoom-next", "on"], ["zoom-close", "close"]]) setIcon($(id), name);
  $("play-all").addEventListener("click", player.toggle);
  $("go-order").addEventListener("click", goToOrder);
  $("skip-order").addEventListener("click", (event) => {
    event.preventDefault();
    goToOrder();
  });
  $("save").querySelector("summary").addEventListener("click", (event) => (state.screen !== "desk" || state.collection.pending) && event.preventDefault());
  $("undo").addEventListener("click", undo);
  $("redo").addEventListener("click", redo);
}

// Keys that work anywhere on the desk, and what they do. Single letters can be switched off.
const LETTERS = "fabula-letters";
/** @type {Record<string, () => void>} */
const KEYS = {
  d: desk.toggleDrawing,
  f: flip,
  b: desk.toggleBefore,
  r: () => $("review-open").click(),
  o: open.toggleStart,
  s: () => $("save").querySelector("summary").click(),
  " ": player.toggle,
};

function wireKeys() {
  document.addEventListener("keydown", onKey);
  $("keys").addEventListener("click", () => $("help").showModal());
  const box = $("letters");
  box.checked = localStorage.getItem(LETTERS) !== "off";
  box.addEventListener("change", () => localStorage.setItem(LETTERS, box.checked ? "on" : "off"));
}

// In a field with text that is not yet a wish, undoing is the field's own.
function isEditing(field) {
  if (!field || field.matches("[type=range], [type=checkbox], select")) return false;
  const now = field.dataset.kept ?? field.defaultValue ?? "";
  return field.value !== now;
}

function onKey(event) {
  if (dragging.now || event.defaultPrevented) return;
  const field = event.target.closest("input, select, textarea"), key = event.key.toLowerCase();
  if (event.target.closest("dialog")) return;
  if (state.screen !== "desk" && key !== "?") return;
  if (event.ctrlKey || event.metaKey) {
    if (!["z", "y"].includes(key) || isEditing(field)) return;
    if (key === "z" && !event.shiftKey) undo();
    else redo();
    return event.preventDefault();
  }
  if (field || event.altKey) return;
  const free = !event.target.closest("button, summary, a");
  if (key === " " && free) KEYS[" "]();
  else if (key === "?") $("help").showModal();
  else if ($("letters").checked && key !== " " && key in KEYS) KEYS[key]();
  else return;
  event.preventDefault();
}

// The order, as it is seen: the row or the tile that a Tab would reach.
function goToOrder() {
  if (!state.collection) return;
  showScreen("desk");
  const stops = [...$("scroller").querySelectorAll('[tabindex="0"][data-item]')];
  (stops.find((node) => node.offsetParent !== null) ?? $("list")).focus();
}

async function resume() {
  const [first, job] = await Promise.all([open.findFirst().catch(() => null), jobs.findJob()]);
  if (job) return jobs.watch(job).catch((error) => notify(error.message, { error: !error.cancelled }));
  const { collection } = autosave.readLast(), found = collection ? await api.collection(collection).catch(() => null) : null;
  if (found) return desk.openWorkspace(found);
  if (collection) return open.runJob(() => api.reopen(collection));
  if (first) return open.runJob(first);
  return open.renderRecent();
}

onChange((what) => {
  if (what === "screen") showParts();
  else if (["playing", "pending", "found"].includes(what)) showSteps();
});
wireButtons();
wireKeys();
showScreen("start");
await Promise.all([desk.start(), open.start(desk.openWorkspace, autosave.flush)]);
await resume();
document.documentElement.dataset.ready = "yes";
