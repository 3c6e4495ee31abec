// Listening: one item, the whole order, or only the transitions; the point on the curve moves along.

import * as api from "./api.js";
import { mark } from "./arc.js";
import { $, clock, say, setIcon } from "./dom.js";
import { changed, state } from "./state.js";

const TEN = 10; // seconds of a transition on either side
const decks = [new Audio(), new Audio()];
const now = { deck: 0, item: null, place: 0, only: null, transitions: false, half: null, until: Infinity };
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

export const isPlaying = (item) => now.item === item && !current().paused;

export function reset() {
  decks.forEach((deck) => {
    deck.pause();
    deck.removeAttribute("src");
  });
  Object.assign(now, { item: null, place: 0, only: null, half: null, until: Infinity });
  mark(null);
  shown();
}

function load(deck, item, { start: from = 0, fromEnd = false } = {}) {
  deck.src = api.sound(state.collection.id, item);
  const seconds = state.collection.items[item].seconds;
  if (fromEnd) {
    const set = () => (deck.currentTime = Math.max(0, (Number.isFinite(deck.duration) ? deck.duration : seconds || 0) - TEN));
    deck.addEventListener("loadedmetadata", set, { once: true });
  } else if (from) deck.addEventListener("loadedmetadata", () => (deck.currentTime = from), { once: true });
}

function begin(place, { half = null, preloaded = false } = {}) {
  const item = order()[place];
  if (item === undefined) return stop();
  if (!state.collection.items[item].sound) return say(`${state.collection.items[item].title} has no sound here`, { error: true });
  decks[1 - now.deck].pause();
  Object.assign(now, { item, place, half, until: half === "start" ? TEN : Infinity });
  if (!preloaded) load(current(), item, { fromEnd: half === "end" });
  current().play().catch((error) => error.name === "NotAllowedError" && say("press play to listen"));
  if (half === "end" && order()[place + 1] !== undefined) load(decks[1 - now.deck], order()[place + 1]);
  changed("playing");
  follow();
}

// Play an item and go on from there; pressed again it pauses.
export function playItem(item) {
  if (now.item === item) return toggle();
  now.only = null;
  begin(order().indexOf(item), { half: now.transitions ? "end" : null });
}

// The last ten seconds of the item at a place into the first ten of the next; nothing after that.
export function playTransition(place) {
  if (place >= order().length - 1) return say("nothing follows the last item");
  now.only = place;
  begin(place, { half: "end" });
}

function finished() {
  if (now.half === "end") {
    now.deck = 1 - now.deck;
    return begin(now.place + 1, { half: "start", preloaded: true });
  }
  if (now.half === "start") {
    if (now.only !== null || now.place >= order().length - 1) return stop();
    return begin(now.place, { half: "end" });
  }
  if (now.place >= order().length - 1) return stop();
  begin(now.place + 1);
}

function stop() {
  current().pause();
  Object.assign(now, { half: now.transitions ? "end" : null, only: null, until: Infinity });
  shown();
}

export function toggle() {
  if (!state.collection) return;
  if (now.item === null) {
    const place = state.chosen === null ? 0 : order().indexOf(state.chosen);
    return begin(place, { half: now.transitions ? "end" : null });
  }
  const deck = current();
  if (!deck.paused) return deck.pause();
  if (deck.ended) return begin(order().indexOf(now.item), { half: now.transitions ? "end" : null });
  deck.play().catch(() => {});
  follow();
}

function skip(by) {
  if (now.item === null) return toggle();
  const place = order().indexOf(now.item) + by;
  if (place >= 0 && place < order().length) begin(place, { half: now.transitions ? "end" : null });
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

// The order or the curve has changed: the point moves to where it belongs now.
export function refresh() {
  if (now.item !== null && current().paused) follow();
}

function follow() {
  const deck = current();
  if (now.item === null) return;
  now.place = Math.max(0, order().indexOf(now.item));
  const length = Number.isFinite(deck.duration) ? deck.duration : state.collection.items[now.item].seconds || 1;
  mark(Math.min(order().length - 1, now.place + Math.min(1, deck.currentTime / length)));
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
  const next = now.half && order()[now.place + (now.half === "end" ? 1 : -1)];
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
