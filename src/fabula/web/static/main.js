// The page: puts the parts together.

import * as api from "./api.js";
import * as arc from "./arc.js";
import { $, clock, el, say, setIcon } from "./dom.js";
import * as list from "./list.js";
import * as opening from "./opening.js";
import { ask, count, laid, pins, plain, propose } from "./ordering.js";
import * as player from "./player.js";
import * as shapes from "./shapes.js";
import { asState, changed, commit, kept, onChange, open, redo, state, undo } from "./state.js";

async function opened(collection, from = {}) {
  open(collection, from);
  for (const id of ["start", "job", "browser"]) $(id).hidden = true;
  for (const id of ["desk", "tools"]) $(id).hidden = false;
  const sounds = collection.items.some((item) => item.sound);
  for (const id of ["player", "play-all"]) $(id).hidden = !sounds;
  document.title = `${collection.title} · fabula`;
  $("title").textContent = collection.title;
  player.reset();
  list.build();
  shapes.renderColumns();
  notes(collection.notes);
  const artists = new Set(collection.items.map((item) => item.artist).filter(Boolean));
  $("apart").disabled = artists.size < 2;
  for (const id of ["sides", "limit"]) $(id).disabled = collection.items.some((item) => item.seconds === null);
  await Promise.all([propose(), shapes.findOthers()]);
  if (state.wishes.curve) await ask();
  shapes.render();
}

function notes(lines) {
  const box = $("notes");
  box.hidden = !lines.length;
  box.querySelector("summary").textContent = lines.length === 1 ? "1 note" : `${lines.length} notes`;
  box.querySelector("ul").replaceChildren(...lines.map((line) => el("li", {}, line)));
}

onChange((what) => {
  if (!state.collection) return;
  if (what === "preview") {
    arc.render();
    list.render({ settle: false });
    player.refresh();
    verdict();
  } else if (what === "wishes") {
    controls();
    shapes.render();
    ask();
  } else if (what === "proposals") shapes.render();
  else if (what === "playing") list.showPlaying();
  else if (what === "chosen") {
    arc.render();
    list.render();
    inspect();
  } else {
    arc.render({ fresh: true });
    list.render();
    player.refresh();
    controls();
    verdict();
    inspect();
  }
});

function controls() {
  const { wishes, collection } = state;
  $("undo").disabled = !state.past.length;
  $("redo").disabled = !state.future.length;
  $("apart").checked = wishes.apart;
  $("sides").value = wishes.sides;
  $("side-limit").value = wishes.sideLimit ?? "";
  $("side-limit").disabled = wishes.sides < 2;
  $("limit").value = wishes.limit ?? "";
  $("smoothness").value = wishes.smoothness;
  $("free").disabled = !Object.keys(wishes.fixed).length && !wishes.together.length;
  for (const id of ["draw", "flip"]) $(id).disabled = state.before;
  $("given").setAttribute("aria-pressed", state.before);
  $("desk").classList.toggle("before", state.before);
  $("list-name").textContent = state.before ? "The order before" : "The order";
  const seconds = laid().map(({ item }) => collection.items[item].seconds), all = collection.items.length;
  const length = seconds.every((s) => s !== null) ? ` · ${clock(seconds.reduce((a, b) => a + b, 0))}` : "";
  $("total").textContent = `${count() < all ? `${count()} of ${all}` : all} items${length}`;
}

function verdict() {
  const name = state.wishes.curve?.name || "";
  $("arc-name").textContent = name ? name.replaceAll("-", " ").replace(/^./, (c) => c.toUpperCase()) : "The arc";
  const rows = laid(), mean = rows.reduce((sum, row) => sum + Math.abs(row.off), 0) / rows.length;
  const worst = Math.max(...rows.map((row) => Math.abs(row.off)));
  let text = `${state.before ? "As it was" : "Off the curve"}: ${mean.toFixed(2)} on average, ${worst.toFixed(2)} at most`;
  const gap = state.before || !state.answer || plain(state.wishes) ? 0 : state.answer.gap;
  if (gap >= 0.005) text += `; found by search, at most ${(100 * gap).toFixed(0)} % from the best`;
  $("verdict").textContent = text;
}

function inspect() {
  const item = state.chosen, box = $("inspector");
  box.hidden = item === null;
  if (item === null) return;
  const rows = laid(), place = rows.findIndex((row) => row.item === item), last = rows.length - 1, here = place >= 0;
  const { title, sound } = state.collection.items[item];
  $("one-title").textContent = here ? `${place + 1}. ${title}` : title;
  $("one-why").textContent = !here ? "left out" : state.before ? "" : state.why.get(item) || "";
  const held = pins().has(item), linked = state.wishes.together.some((run) => run.indexOf(item) >= 0 && run.indexOf(item) < run.length - 1);
  const next = place < last;
  const actions = [
    [held ? "Unlock" : "Lock here", () => list.toggleLock(item), !state.before && here],
    ["First", () => list.pin(item, 0), !state.before && place !== 0],
    ["Last", () => list.pin(item, last), !state.before && next],
    [linked ? "Let the next go" : "Keep with next", () => list.toggleLink(item), !state.before && here && (next || linked)],
    ["Play", () => player.playItem(item), sound && here],
    ["Play transition", () => player.playTransition(place), sound && here && next],
  ];
  const bar = box.querySelector(".actions"), focused = [...bar.children].indexOf(document.activeElement);
  bar.replaceChildren(...actions.map(([text, action, able]) => el("button", { onclick: action, disabled: !able }, text)));
  if (focused >= 0) bar.children[focused].focus();
}

async function save(format) {
  $("save").open = false;
  const { id } = state.collection;
  try {
    if (format === "session") await api.download(`collections/${id}/session`, { state: asState() });
    else {
      const ordering = laid().map((row) => row.item), held = pins(), left_out = state.before ? [] : state.out;
      const pinned = [...ordering.keys()].filter((place) => held.has(ordering[place]));
      await api.download(`collections/${id}/export`, { ordering, pinned, left_out, format, template: state.wishes.curve });
    }
    say("Saved");
  } catch (error) {
    say(error.message, { error: true });
  }
}

function setDrawing(on) {
  arc.setDrawing(on);
  $("draw").setAttribute("aria-pressed", on);
  $("hint").textContent = on ? "Draw a line across the picture with the pointer."
    : "Drag a knot of the curve: the order follows. Double-click adds a knot, Delete removes it.";
}

function setBefore(on) {
  state.before = on;
  if (on) setDrawing(false);
  changed("order");
}

async function chooseEssence(by) {
  try {
    const collection = await api.setEssence(state.collection.id, by || null);
    await opened(collection, { wishes: { ...state.wishes, curve: null, exactly: null } });
  } catch (error) {
    say(error.message, { error: true });
  }
}

const minutes = (text) => (Number(text) > 0 ? Number(text) : null);

function wire() {
  setIcon($("undo"), "undo");
  setIcon($("redo"), "redo");
  setIcon($("play-all"), "play");
  $("play-all").append("Listen");
  $("play-all").addEventListener("click", player.toggle);
  $("undo").addEventListener("click", undo);
  $("redo").addEventListener("click", redo);
  $("draw").addEventListener("click", () => setDrawing(!arc.isDrawing()));
  $("given").addEventListener("click", () => setBefore(!state.before));
  $("apart").addEventListener("change", (event) => commit({ apart: event.target.checked }));
  $("sides").addEventListener("change", (event) => commit({ sides: Math.min(8, Math.max(1, Math.round(event.target.value) || 1)) }));
  $("side-limit").addEventListener("change", (event) => commit({ sideLimit: minutes(event.target.value) }));
  $("limit").addEventListener("change", (event) => commit({ limit: minutes(event.target.value) }));
  $("smoothness").addEventListener("change", (event) => commit({ smoothness: Number(event.target.value) }));
  $("free").addEventListener("click", () => commit({ fixed: {}, together: [] }));
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
  const letters = { d: () => setDrawing(!arc.isDrawing()), f: shapes.flip, b: () => setBefore(!state.before), "?": () => $("help").showModal() };
  if (key === " " && !pressed) player.toggle();
  else if (key in letters) letters[key]();
  else return;
  event.preventDefault();
}

async function resume() {
  const { collection, wishes, past, job } = kept();
  if (job) {
    const running = await api.job(job).catch(() => null);
    if (running && running.state !== "failed" && running.state !== "cancelled") return opening.watch(running).catch((error) => say(error.message, { error: true }));
  }
  const found = collection ? await api.collection(collection).catch(() => null) : null;
  if (found) await opened(found, { wishes, past });
}

wire();
arc.start();
list.start();
player.start();
await Promise.all([shapes.start(), opening.start(opened)]);
await resume();
document.documentElement.dataset.ready = "yes";
