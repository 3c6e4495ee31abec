// The page: puts the parts together.

import { announce, notify } from "./announce.js";
import * as api from "./api.js";
import * as arc from "./arc.js";
import * as arcInput from "./arc-input.js";
import * as autosave from "./autosave.js";
import * as controls from "./controls.js";
import { $, setIcon } from "./dom.js";
import { dragging } from "./drag.js";
import { isFollowing } from "./layout.js";
import * as inspector from "./inspector.js";
import * as itemInput from "./item-input.js";
import * as jobs from "./jobs.js";
import * as list from "./list.js";
import * as open from "./open.js";
import { ask, propose } from "./order.js";
import * as player from "./player.js";
import * as review from "./review.js";
import * as save from "./save.js";
import * as selection from "./selection.js";
import { commit, emit, onChange, openCollection, redo, showScreen, state, undo } from "./state.js";
import * as templates from "./templates.js";
import * as tiles from "./tiles.js";
import { redrawWave } from "./wave.js";
import { NO_WISHES } from "./wishes.js";

// A collection comes onto the desk: with what a file says, else with what was made of it before.
async function openWorkspace(collection, saved = null) {
  const before = await autosave.findWorkspace(collection.id);
  player.reset();
  openCollection(collection, saved ?? before?.desk ?? {});
  tiles.offerLooks();
  autosave.beginSaving({ fromFile: saved !== null });
  document.title = `${collection.title} · fabula`;
  $("title").textContent = collection.title;
  save.resetVersions();
  showScreen("desk");
  showCollection();
  await Promise.all([ask(), state.wishes.template || state.wishes.hand ? propose() : null, templates.findOthers(), findCovers()]);
  templates.render();
  if (!saved && before && state.past.length) notify("As you left it", { actions: [["Start anew", startAnew]], fades: true });
  inspector.explainSilence(collection);
}

const startAnew = () => commit({ ...NO_WISHES, by: state.collection.by });

function showCollection() {
  list.build();
  templates.renderColumns();
  controls.fillWords(state.collection);
  controls.showNotes(state.collection.notes);
}

// Whether the items have pictures is asked of the first.
async function findCovers() {
  const { id, items, medium } = state.collection, first = items.findIndex((one) => one.preview);
  if (first < 0 || !["sound", "picture"].includes(medium.preview.kind)) return;
  const has = await api.hasCover(id, first).catch(() => false);
  if (!has || state.collection.id !== id) return;
  state.covers = (index) => api.cover(id, index);
  emit("chosen");
}

// The server does not know the collection any more: it was started anew. It opens it again, and the desk stays.
let finding = false;
async function reopen() {
  if (finding) return;
  finding = true;
  const { id } = state.collection;
  try {
    let job = await api.reopen(id);
    while (job.state === "running") {
      await new Promise((done) => setTimeout(done, 150));
      job = await api.job(job.id);
    }
    if (job.collection !== id) throw new Error("it is not the same any more");
    const { items } = await api.collection(id);
    if (items.length !== state.collection.items.length) throw new Error("it is not the same any more");
    state.good = null;
    await ask();
    notify("The server was started anew; everything is here");
  } catch {
    notify("The server was started anew and does not have these files. What you made of them is kept: open them again.", { error: true, actions: [["Open…", open.toggleStart]] });
  } finally {
    finding = false;
  }
}

const on = {
  preview() {
    arc.render();
    list.render({ settle: false });
    controls.showVerdict();
  },
  wishes() {
    controls.renderControls();
    templates.render();
    autosave.saveSoon();
    ask();
  },
  essence: showCollection,
  columns: list.refreshColumns,
  marks: () => list.render(),
  proposals: templates.render,
  playing() {
    list.showPlaying();
    showSteps();
  },
  drawing: showHint,
  gone: reopen,
  found() {
    controls.explainModel();
    inspector.drawOddsTable();
    list.refreshColumns();
    controls.showNotes(state.answer.notes);
    templates.render();
    autosave.saveSoon();
    review.refresh();
  },
  chosen() {
    arc.render();
    list.render();
    inspector.inspect();
  },
  order() {
    arc.render({ fresh: true });
    list.render();
    review.markJoins();
    player.refresh();
    controls.renderControls();
    controls.showVerdict();
    inspector.inspect();
    arcInput.showKnotTools();
    showHint();
    rememberFields();
  },
  undone() {
    on.order();
    on.found();
  },
};
onChange((what) => (what === "screen" ? showParts() : state.collection && on[what]?.()));

// The parts that belong to the screen.
function showParts() {
  for (const id of ["start", "job", "desk"]) $(id).hidden = id !== state.screen;
  const desk = state.screen === "desk", hears = desk && player.canPlay(state.collection);
  for (const id of ["undo", "redo", "versions"]) $(id).hidden = !desk;
  $("player").hidden = !hears;
  showSteps(hears);
  $("desk").classList.toggle("mute", !hears);
  document.body.dataset.screen = state.screen;
}

// Open, order, listen, save: where one is, and what comes next.
function showSteps(hears = state.screen === "desk" && player.canPlay(state.collection)) {
  const desk = state.screen === "desk", heard = hears && player.hasPlayed(), there = Boolean(state.collection);
  const save = $("save").querySelector("summary"), steps = { again: $("again"), "go-order": $("go-order"), "play-all": $("play-all"), save };
  const now = !desk ? "again" : heard ? "play-all" : "go-order", next = !desk ? "" : hears && !heard ? "play-all" : "save";
  for (const [name, step] of Object.entries(steps)) {
    step.classList.toggle("next", name === next);
    if (name === now) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
  }
  $("go-order").disabled = !there;
  $("play-all").disabled = !hears;
  $("play-all").hidden = $("listen-mark").hidden = there && desk && !hears;
  $("save").classList.toggle("off", !desk);
  if (desk) save.removeAttribute("aria-disabled");
  else save.setAttribute("aria-disabled", "true");
}

function showHint() {
  const text = arcInput.isDrawing() ? "Draw a line across the picture: the order follows it."
    : isFollowing() ? "Drag a knot and the order follows; drag a point and it is pinned. Double-click adds a knot."
    : "Drag a point and it is pinned. Choose a template, or draw one, and the order follows it.";
  if ($("hint").textContent !== text) $("hint").textContent = text;
}

function setBefore(before) {
  state.before = before;
  if (before) arcInput.setDrawing(false);
  emit("order");
  controls.explainModel();
  inspector.drawOddsTable();
  review.refresh();
  announce(before ? "The order as it was." : "The order as it is now.");
}

function wireButtons() {
  for (const [id, name] of [["undo", "undo"], ["redo", "redo"], ["one-edit", "edit"], ["zoom-prev", "back"], ["zoom-next", "on"], ["zoom-close", "close"]]) setIcon($(id), name);
  $("play-all").addEventListener("click", player.toggle);
  $("go-order").addEventListener("click", goToOrder);
  $("skip-order").addEventListener("click", (event) => {
    event.preventDefault();
    goToOrder();
  });
  $("save").querySelector("summary").addEventListener("click", (event) => state.screen !== "desk" && event.preventDefault());
  $("undo").addEventListener("click", undo);
  $("redo").addEventListener("click", redo);
  $("draw").addEventListener("click", () => arcInput.setDrawing(!arcInput.isDrawing()));
  $("given").addEventListener("click", () => setBefore(!state.before));
  addEventListener("resize", redrawWave);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.collection && (arc.render({ fresh: true }), redrawWave()));
}

// The order, as it is seen: the row or the tile that a Tab would reach.
function goToOrder() {
  if (!state.collection) return;
  showScreen("desk");
  (document.querySelector('#scroller [tabindex="0"][data-item]') ?? $("list")).focus();
}

async function resume() {
  const job = await jobs.findJob();
  if (job) return jobs.watch(job).catch((error) => notify(error.message, { error: !error.cancelled }));
  const { collection } = autosave.readLast(), found = collection ? await api.collection(collection).catch(() => null) : null;
  if (found) return openWorkspace(found);
  if (collection) return open.runJob(() => api.reopen(collection));
  return open.renderRecent();
}

// Keys that work anywhere on the desk. Single letters can be switched off.
const KEY = "fabula-letters";
let actions = {};

function startKeys(letters) {
  actions = letters;
  document.addEventListener("keydown", onKey);
  $("keys").addEventListener("click", () => $("help").showModal());
  const box = $("letters");
  box.checked = localStorage.getItem(KEY) !== "off";
  box.addEventListener("change", () => localStorage.setItem(KEY, box.checked ? "on" : "off"));
}

// In a field with text that is not yet a wish, undoing is the field's own.
function isEditing(field) {
  if (!field || field.matches("[type=range], [type=checkbox], select")) return false;
  const now = field.dataset.kept ?? field.defaultValue ?? "";
  return field.value !== now;
}

function onKey(event) {
  if (dragging.now || state.screen !== "desk" || event.defaultPrevented) return;
  const field = event.target.closest("input, select, textarea"), key = event.key.toLowerCase();
  if (event.target.closest("dialog")) return;
  if (event.ctrlKey || event.metaKey) {
    if (!["z", "y"].includes(key) || isEditing(field)) return;
    if (key === "z" && !event.shiftKey) undo();
    else redo();
    return event.preventDefault();
  }
  if (field || event.altKey) return;
  const free = !event.target.closest("button, summary, a");
  if (key === " " && free) actions[" "]();
  else if (key === "?") $("help").showModal();
  else if ($("letters").checked && key !== " " && key in actions) actions[key]();
  else return;
  event.preventDefault();
}

// What the fields hold when they agree with the wishes.
function rememberFields() {
  for (const id of ["limit", "side-limit", "sides"]) $(id).dataset.kept = $(id).value;
}

wireButtons();
for (const part of [arc, arcInput, list, review, selection, itemInput, tiles, inspector, controls, player, save, autosave]) part.start();
startKeys({ d: () => arcInput.setDrawing(!arcInput.isDrawing()), f: templates.flip, b: () => setBefore(!state.before), r: () => $("review-open").click(), o: open.toggleStart, s: () => $("save").querySelector("summary").click(), " ": player.toggle });
showScreen("start");
await Promise.all([templates.start(), open.start(openWorkspace)]);
await resume();
document.documentElement.dataset.ready = "yes";
