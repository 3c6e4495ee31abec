// The page: puts the parts together.

import * as api from "./api.js";
import * as arc from "./arc.js";
import * as arcHands from "./arc_hands.js";
import "./joins.js";
import * as desk from "./desk.js";
import { $, say, setIcon } from "./dom.js";
import * as list from "./list.js";
import * as listHands from "./list_hands.js";
import * as opening from "./opening.js";
import { ask, propose, templateNow } from "./ordering.js";
import * as player from "./player.js";
import { asState, changed, commit, onChange, open, redo, state, stored, undo } from "./state.js";
import * as templates from "./templates.js";

async function opened(collection, saved = {}) {
  open(collection, saved);
  for (const id of ["start", "job", "browser"]) $(id).hidden = true;
  for (const id of ["desk", "tools"]) $(id).hidden = false;
  for (const id of ["player", "play-all"]) $(id).hidden = !player.canPlay(collection);
  document.title = `${collection.title} · fabula`;
  $("title").textContent = collection.title;
  player.reset();
  list.build();
  templates.renderColumns();
  desk.fillWords(collection);
  desk.notes(collection.notes);
  const { template, hand } = state.wishes;
  await Promise.all([ask(), template || hand ? propose() : null, templates.findOthers()]);
  templates.render();
}

onChange((what) => {
  if (!state.collection) return;
  if (what === "preview") {
    arc.render();
    list.render({ settle: false });
    player.refresh();
    desk.verdict();
  } else if (what === "wishes") {
    desk.controls();
    templates.render();
    ask();
  } else if (what === "proposals") templates.render();
  else if (what === "playing") list.showPlaying();
  else if (what === "chosen") {
    arc.render();
    list.render();
    desk.inspect();
  } else {
    arc.render({ fresh: true });
    list.render();
    player.refresh();
    desk.controls();
    desk.verdict();
    desk.inspect();
    if (state.settled) settled();
  }
});

// What is said once the server has spoken.
function settled() {
  desk.says();
  desk.notes(state.answer.notes);
  templates.render();
}

// The result that is on the screen, under the id by which the server knows it.
async function result() {
  const { collection, before, answer } = state;
  if (!before && state.settled) return answer.result;
  if (!before) throw new Error("the order is not found yet; try again in a moment");
  const ordering = collection.items.map((_, item) => item);
  return (await api.order({ collection: collection.id, ordering, template: templateNow(), scaled: false })).result;
}

async function write(format) {
  const { id } = state.collection;
  if (format === "session") return api.download(`collections/${id}/session`, { state: asState() });
  const path = `collections/${id}/export`;
  try {
    return await api.download(path, { result: await result(), format });
  } catch (error) {
    if (error.status !== 404 || state.before) throw error;
    await ask(); // the server remembers the last results only
    return api.download(path, { result: await result(), format });
  }
}

async function save(format) {
  $("save").open = false;
  try {
    await write(format);
    say("Saved");
  } catch (error) {
    say(error.message, { error: true });
  }
}

function setDrawing(on) {
  arcHands.setDrawing(on);
  $("draw").setAttribute("aria-pressed", on);
  $("hint").textContent = on ? "Draw a line across the picture with the pointer."
    : "Drag a knot of the template: the order follows. Double-click adds a knot, Delete removes it.";
}

function setBefore(on) {
  state.before = on;
  if (on) setDrawing(false);
  changed("order");
}

async function chooseEssence(by) {
  try {
    const collection = await api.setEssence(state.collection.id, by || null);
    await opened(collection, { wishes: { ...state.wishes, template: null, arc: null, hand: null } });
  } catch (error) {
    templates.renderColumns();
    say(error.message, { error: true });
  }
}

function setSides(text) {
  const sides = Math.min(8, state.collection.items.length, Math.max(1, Math.round(text) || 1));
  const stay = (named) => Object.fromEntries(Object.entries(named).filter(([side]) => side < sides));
  const { ends: { first, last }, hand, sideLimit } = state.wishes;
  const ends = { first: stay(first), last: stay(last) };
  commit({ sides, ends, sideLimit: sides > 1 ? sideLimit : "", hand: hand && { ordering: hand.ordering, sides: [] } });
}

function wire() {
  setIcon($("undo"), "undo");
  setIcon($("redo"), "redo");
  setIcon($("play-all"), "play");
  $("play-all").append("Listen");
  $("play-all").addEventListener("click", player.toggle);
  $("undo").addEventListener("click", undo);
  $("redo").addEventListener("click", redo);
  $("draw").addEventListener("click", () => setDrawing(!arcHands.isDrawing()));
  $("given").addEventListener("click", () => setBefore(!state.before));
  $("apart").addEventListener("change", (event) => commit({ apart: event.target.checked }));
  $("sides").addEventListener("change", (event) => setSides(event.target.value));
  $("side-limit").addEventListener("change", (event) => commit({ sideLimit: event.target.value.trim() }));
  $("limit").addEventListener("change", (event) => commit({ limit: event.target.value.trim() }));
  $("smoothness").addEventListener("change", (event) => commit({ smoothness: Number(event.target.value) }));
  $("free").addEventListener("click", () => commit({ fixed: {}, together: [], ends: { first: {}, last: {} } }));
  $("by").addEventListener("change", (event) => chooseEssence(event.target.value));
  $("keys").addEventListener("click", () => $("help").showModal());
  $("save").addEventListener("click", (event) => event.target.closest("[data-format]") && save(event.target.closest("[data-format]").dataset.format));
  document.addEventListener("click", (event) => !event.target.closest("#save") && ($("save").open = false));
  document.addEventListener("keydown", onKey);
}

function onKey(event) {
  const typing = event.target.closest("input, select, textarea, dialog");
  const key = event.key.toLowerCase();
  if (event.key === "Escape") $("save").open = false;
  if (!state.collection || $("desk").hidden) return;
  if ((event.ctrlKey || event.metaKey) && !typing) {
    if (key === "z" && !event.shiftKey) undo();
    else if ((key === "z" && event.shiftKey) || key === "y") redo();
    else return;
    return event.preventDefault();
  }
  if (typing || event.altKey || event.ctrlKey || event.metaKey) return;
  const pressed = event.target.closest("button, summary, a");
  const letters = { d: () => setDrawing(!arcHands.isDrawing()), f: templates.flip, b: () => setBefore(!state.before), "?": () => $("help").showModal() };
  if (key === " " && !pressed) player.toggle();
  else if (key in letters) letters[key]();
  else return;
  event.preventDefault();
}

async function resume() {
  const { collection, wishes, past, job } = stored();
  if (job) {
    const running = await api.job(job).catch(() => null);
    if (running && running.state !== "failed" && running.state !== "cancelled") return opening.watch(running).catch((error) => say(error.message, { error: true }));
  }
  const found = collection ? await api.collection(collection).catch(() => null) : null;
  if (found) await opened(found, { wishes, past });
}

wire();
arc.start();
arcHands.start();
listHands.start();
player.start();
await Promise.all([templates.start(), opening.start(opened)]);
await resume();
document.documentElement.dataset.ready = "yes";
