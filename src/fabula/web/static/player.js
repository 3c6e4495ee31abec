// Listening: one item, the whole order, or only the transitions; the point on the template moves along.

import * as api from "./api.js";
import { mark } from "./arc.js";
import { $, clock, say, setIcon } from "./dom.js";
import { changed, state } from "./state.js";

const TEN = 10; // seconds of a transition on either side
const decks = [new Audio(), new Audio()];
const now = { deck: 0, item: null, position: 0, only: null, transitions: false, half: null, until: Infinity };
const current = () => decks[now.deck];
const order = () => (state.before ? state.collection.items.map((_, i) => i) : state.ordering);

export function start() {
  for (const deck of decks) {
    deck.preload = "auto";
    deck.addEventListener("ended", () => deck === current() && finished());
    deck.addEventListener("error", () => deck === current() && now.item !== null && deck.getAttribute("src") && broken());
    for (const name of ["play", "pause"]) deck.addEventListener(name, shown);
  }
  $("play").addEventListener("click", toggle);
  $("next").addEventListener("click", () => skip(1));
  $("prev").addEventListener("click", () => skip(-1));
  $("seek").addEventListener("input", () => {
    const deck = current();
    if (Number.isFinite(deck.duration)) deck.currentTime = ($("seek").value / 1000) * deck.duration;
  });
  $("transitions").addEventListener("click", () => setTransitions(!now.transitions));
  setIcon($("prev"), "prev");
  setIcon($("next"), "next");
  shown();
}

// Whether the items of a collection are files that can be heard.
export const canPlay = ({ medium, items }) => ["audio", "video"].includes(medium.preview.type) && items.some((item) => item.preview);

export const isPlaying = (item) => now.item === item && !current().paused;

export function reset() {
  decks.forEach((deck) => {
    deck.pause();
    deck.removeAttribute("src");
  });
  Object.assign(now, { item: null, position: 0, only: null, half: null, until: Infinity });
  mark(null);
  shown();
}

function load(deck, item, { start: from = 0, fromEnd = false } = {}) {
  deck.src = api.preview(state.collection.id, item);
  const { length } = state.collection.items[item];
  if (fromEnd) {
    const set = () => (deck.currentTime = Math.max(0, (Number.isFinite(deck.duration) ? deck.duration : length || 0) - TEN));
    deck.addEventListener("loadedmetadata", set, { once: true });
  } else if (from) deck.addEventListener("loadedmetadata", () => (deck.currentTime = from), { once: true });
}

function begin(position, { half = null, preloaded = false } = {}) {
  const item = order()[position];
  if (item === undefined) return stop();
  if (!state.collection.items[item].preview) return say(`${state.collection.items[item].title} cannot be played: it has no file here`, { error: true });
  decks[1 - now.deck].pause();
  Object.assign(now, { item, position, half, until: half === "start" ? TEN : Infinity });
  if (!preloaded) load(current(), item, { fromEnd: half === "end" });
  current().play().catch((error) => error.name === "NotAllowedError" && say("press play to listen"));
  if (half === "end" && order()[position + 1] !== undefined) load(decks[1 - now.deck], order()[position + 1]);
  changed("playing");
  follow();
}

// Play an item and go on from there; pressed again it pauses.
export function playItem(item) {
  if (now.item === item) return toggle();
  now.only = null;
  begin(order().indexOf(item), { half: now.transitions ? "end" : null });
}

// The last ten seconds of the item at a position into the first ten of the next; nothing after that.
export function playTransition(position) {
  if (position >= order().length - 1) return say("nothing follows the last item");
  now.only = position;
  begin(position, { half: "end" });
}

function finished() {
  if (now.half === "end") {
    now.deck = 1 - now.deck;
    return begin(now.position + 1, { half: "start", preloaded: true });
  }
  if (now.half === "start") {
    if (now.only !== null || now.position >= order().length - 1) return stop();
    return begin(now.position, { half: "end" });
  }
  if (now.position >= order().length - 1) return stop();
  begin(now.position + 1);
}

function stop() {
  current().pause();
  Object.assign(now, { half: now.transitions ? "end" : null, only: null, until: Infinity });
  shown();
}

export function toggle() {
  if (!state.collection) return;
  if (now.item === null) {
    const position = state.chosen === null ? 0 : order().indexOf(state.chosen);
    return begin(position, { half: now.transitions ? "end" : null });
  }
  const deck = current();
  if (!deck.paused) return deck.pause();
  if (deck.ended) return begin(order().indexOf(now.item), { half: now.transitions ? "end" : null });
  deck.play().catch(() => {});
  follow();
}

function skip(by) {
  if (now.item === null) return toggle();
  const position = order().indexOf(now.item) + by;
  if (position >= 0 && position < order().length) begin(position, { half: now.transitions ? "end" : null });
}

function setTransitions(on) {
  now.transitions = on;
  now.only = null;
  $("transitions").setAttribute("aria-pressed", on);
  if (on) begin(Math.max(0, now.item === null ? 0 : order().indexOf(now.item)), { half: "end" });
  else Object.assign(now, { half: null, until: Infinity });
}

function broken() {
  say(`${state.collection.items[now.item].title} cannot be played by this browser`, { error: true });
  stop();
}

// The order or the template has changed: the point moves to where it belongs now.
export function refresh() {
  if (now.item !== null && current().paused) follow();
}

function follow() {
  const deck = current();
  if (now.item === null) return;
  now.position = Math.max(0, order().indexOf(now.item));
  const length = Number.isFinite(deck.duration) ? deck.duration : state.collection.items[now.item].length || 1;
  mark(Math.min(order().length - 1, now.position + Math.min(1, deck.currentTime / length)));
  if (document.activeElement !== $("seek") || deck.paused === false) $("seek").value = Math.round((1000 * deck.currentTime) / length);
  $("clock").textContent = `${clock(deck.currentTime)} / ${clock(length)}`;
  if (deck.currentTime >= now.until) {
    deck.pause();
    return finished();
  }
  if (!deck.paused) requestAnimationFrame(follow);
}

function shown() {
  const on = !current().paused, item = now.item === null ? null : state.collection?.items[now.item];
  setIcon($("play"), on ? "pause" : "play");
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  const next = now.half && order()[now.position + (now.half === "end" ? 1 : -1)];
  let text = item ? item.title : "Play the order from its first item";
  if (item && next !== undefined && next !== null) {
    const other = state.collection.items[next].title;
    text = now.half === "end" ? `${item.title} → ${other}` : `${other} → ${item.title}`;
  }
  $("now").textContent = text;
  $("player").dataset.state = on ? "playing" : "paused";
  $("player").dataset.half = now.half || "";
  if (on) follow();
  changed("playing");
}
