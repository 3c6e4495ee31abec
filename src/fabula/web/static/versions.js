// Versions by name, and A against B: the order now beside one that was kept.

import * as api from "./api.js";
import { $, el, icon } from "./dom.js";
import { asDesk, commit, state } from "./state.js";
import { say } from "./voice.js";
import { alike, checked } from "./wishes.js";

let named = [];
const ab = { other: null, name: "", now: "A" }; // wishes of the other side, and which side is on the screen

export function start() {
  $("version-save").addEventListener("submit", (event) => {
    event.preventDefault();
    save($("version-name").value.trim() || `Version ${named.length + 1}`);
  });
  $("versions").addEventListener("toggle", () => $("versions").open && find());
  $("ab").addEventListener("click", flip);
}

export function reset() {
  Object.assign(ab, { other: null, name: "", now: "A" });
  named = [];
  showAB();
}

async function find() {
  try {
    named = await api.versions(state.collection.id);
    render();
  } catch (error) {
    say(error.message, { error: true });
  }
}

function render() {
  const row = ({ name, saved }) => el("li", {},
    el("button", { class: "recent-open", onclick: () => take(name) }, el("b", { dir: "auto" }, name), el("small", { class: "soft" }, new Date(saved).toLocaleString([], { timeStyle: "short", dateStyle: "short" }))),
    el("button", { class: "small", onclick: () => compare(name), "aria-label": `Compare with ${name}` }, "A/B"),
    el("button", { class: "plain", "aria-label": `Remove ${name}`, onclick: () => remove(name) }, icon("close")));
  $("version-list").replaceChildren(...named.toReversed().map(row));
  $("version-none").hidden = named.length > 0;
}

async function save(name, replace = false) {
  try {
    await api.putVersion(state.collection.id, name, { state: asDesk(), replace });
    $("version-name").value = "";
    await find();
    say(`Kept as ${name}`);
  } catch (error) {
    const again = error.status === 409 ? [["Replace it", () => save(name, true)]] : [];
    say(error.message, { error: true, actions: again });
  }
}

async function wishesOf(name) {
  const { state: desk } = await api.getVersion(state.collection.id, name);
  return checked(desk.wishes, state.collection);
}

// A version is taken as a step: what was there can be had back.
async function take(name) {
  $("versions").open = false;
  try {
    commit(await wishesOf(name));
    say(`${name} is on the screen`);
  } catch (error) {
    say(error.message, { error: true });
  }
}

async function compare(name) {
  $("versions").open = false;
  try {
    Object.assign(ab, { other: await wishesOf(name), name, now: "A" });
    flip();
  } catch (error) {
    say(error.message, { error: true });
  }
}

// From one to the other, as often as wanted.
export function flip() {
  if (!ab.other) return;
  const there = ab.other;
  Object.assign(ab, { other: state.wishes, now: ab.now === "A" ? "B" : "A" });
  if (!alike(there, state.wishes)) commit(there);
  showAB();
  say(ab.now === "B" ? `B: ${ab.name}` : "A: as it was on the screen");
}

function showAB() {
  $("ab").hidden = !ab.other;
  $("ab").textContent = ab.now;
  $("ab").setAttribute("aria-label", `${ab.now} is on the screen; show ${ab.now === "A" ? "B" : "A"}`);
}

async function remove(name) {
  try {
    await api.dropVersion(state.collection.id, name);
    await find();
  } catch (error) {
    say(error.message, { error: true });
  }
}
