// The desk: a collection comes onto it, and its parts follow what happens there.

import { announce, notify } from "./announce.js";
import * as api from "./api.js";
import * as arc from "./arc.js";
import * as arcInput from "./arc-input.js";
import * as autosave from "./autosave.js";
import * as controls from "./controls.js";
import { $ } from "./dom.js";
import * as inspector from "./inspector.js";
import * as itemInput from "./item-input.js";
import { isFollowing } from "./layout.js";
import * as list from "./list.js";
import { toggleStart } from "./open.js";
import { ask, propose } from "./order.js";
import * as player from "./player.js";
import * as review from "./review.js";
import * as save from "./save.js";
import * as selection from "./selection.js";
import { commit, emit, onChange, openCollection, showScreen, state } from "./state.js";
import * as templates from "./templates.js";
import * as tiles from "./tiles.js";
import { NO_WISHES, renumber } from "./wishes.js";

export async function start() {
  for (const part of [arc, arcInput, list, review, selection, itemInput, tiles, inspector, controls, player, save, autosave]) part.start();
  $("draw").addEventListener("click", toggleDrawing);
  $("given").addEventListener("click", toggleBefore);
  addEventListener("resize", player.redrawWave);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.collection && (arc.render({ fresh: true }), player.redrawWave()));
  onChange((what) => state.collection && on[what]?.());
  await templates.start();
}

// A collection comes onto the desk: with what a file says, else with what was made of it before.
export async function openWorkspace(collection, saved = null) {
  const before = await autosave.findWorkspace(collection.id), early = takeEarly(collection);
  if (!early.same) player.reset();
  openCollection(collection, saved ?? early.desk ?? before?.desk ?? {});
  tiles.offerLooks();
  autosave.beginSaving({ fromFile: saved !== null });
  showTitled();
  await Promise.all([ask(), state.wishes.template || state.wishes.hand ? propose() : null, templates.findOthers(), findCovers()]);
  templates.render();
  if (!saved && before && state.past.length) notify("As you left it", { actions: [["Start anew", startAnew]], fades: true });
  inspector.explainSilence(collection);
}

function showTitled() {
  document.title = `${state.collection.title} · fabula`;
  $("title").textContent = state.collection.title;
  save.resetVersions();
  showScreen("desk");
  showCollection();
}

// What was asked for while the items were measured, in the numbers that they have now; and whether these are the same.
function takeEarly({ items }) {
  if (!state.collection?.pending) return { same: false, desk: null };
  const then = state.collection.items, same = then.length === items.length, free = new Set(items.keys());
  const find = ({ title }) => [...free].find((item) => items[item].title === title);
  const numbers = then.map((one, item) => {
    const now = same ? item : find(one);
    free.delete(now);
    return now;
  });
  const wishes = state.past.length ? renumber(state.wishes, (item) => numbers[item]) : null;
  return { same, desk: wishes && { wishes: { ...wishes, by: undefined }, past: [{}] } };
}

// The items of a job come onto the desk, before anything else is known of them.
function showPending() {
  player.reset();
  tiles.offerLooks();
  $("kept").textContent = "";
  showTitled();
  $("silent").hidden = true;
  ask();
  templates.render();
  controls.explainModel();
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
  if (first < 0 || !["sound", "picture", "video"].includes(medium.preview.kind)) return;
  const has = await api.hasCover(id, first).catch(() => false);
  if (!has || state.collection.id !== id) return;
  state.covers = (index) => api.cover(id, index);
  emit("chosen");
}

// From where it came, what nothing is kept of: the demo, a folder of this computer, or what the server was started with.
async function openOrigin({ kind, path }, error) {
  if (kind === "demo") return api.demo(path || "music");
  if (kind === "path") return api.openPath(path);
  return (await api.begin()).open ?? Promise.reject(error);
}

// The server does not know the collection any more: it was started anew. It opens it again, and the desk stays.
let finding = false;
async function reopen() {
  if (finding) return;
  finding = true;
  const { id, origin } = state.collection;
  try {
    let job = await api.reopen(id).catch((error) => openOrigin(origin, error));
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
    autosave.saveSoon();
  } catch (error) {
    if (error.lost) return;
    notify("The server was started anew and does not have these files. What you made of them is kept: open them again.", { error: true, actions: [["Open…", toggleStart]] });
  } finally {
    finding = false;
  }
}

// What the parts do when something has happened.
/** @type {Partial<Record<import("./state.js").Event, () => void>>} */
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
  pending: showPending,
  measured: () => list.render(),
  columns: list.refreshColumns,
  marks: () => list.render(),
  proposals: templates.render,
  playing: list.showPlaying,
  drawing: showHint,
  gone: reopen,
  back() {
    autosave.saveSoon();
    if (!state.settled) ask();
  },
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

function showHint() {
  const text = arcInput.isDrawing() ? "Draw a line across: the order follows it."
    : state.collection.pending ? "Drag a row to pin it; play it by its triangle."
    : isFollowing() ? "Drag knots, and the order follows; drag points to pin them."
    : "Drag a point to pin it. Choose or draw a template to follow.";
  if ($("hint").textContent !== text) $("hint").textContent = text;
}

export const toggleDrawing = () => arcInput.setDrawing(!arcInput.isDrawing());

export function toggleBefore() {
  const before = (state.before = !state.before);
  if (before) arcInput.setDrawing(false);
  emit("order");
  controls.explainModel();
  inspector.drawOddsTable();
  review.refresh();
  announce(before ? "The order as it was." : "The order as it is now.");
}

// What the fields hold when they agree with the wishes.
function rememberFields() {
  for (const id of ["limit", "side-limit", "sides"]) $(id).dataset.kept = $(id).value;
}
