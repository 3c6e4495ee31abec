// Listening: one item, the whole order, or only the transitions; what follows is what follows in the order as it is now.

import { mark } from "./arc.js";
import * as decks from "./decks.js";
import { $, clock, setIcon } from "./dom.js";
import { order } from "./laid.js";
import * as media from "./media.js";
import { changed, state, titleOf } from "./state.js";
import { say } from "./voice.js";
import * as wave from "./wave.js";

const TEN = 10; // seconds of a transition on either side
// half: "end" or "start" of a transition; only: stop after this one; waiting: for the silence between two items
const now = { item: null, half: null, only: false, transitions: false, waiting: 0, timer: 0, frame: 0 };
const { current, other, lengthOf } = decks;

export function start() {
  decks.start({ ended: follow, failed: broken, moved: check, shown });
  $("play").addEventListener("click", toggle);
  $("next").addEventListener("click", () => skip(1));
  $("prev").addEventListener("click", () => skip(-1));
  $("seek").addEventListener("input", () => seek(($("seek").value / 1000) * lengthOf(current())));
  $("transitions").addEventListener("click", () => setTransitions(!now.transitions));
  $("volume").value = decks.settings.volume * 100;
  $("volume").addEventListener("input", (event) => decks.change({ volume: event.target.value / 100 }));
  $("level").setAttribute("aria-pressed", decks.settings.level);
  $("level").addEventListener("click", () => {
    decks.change({ level: !decks.settings.level });
    $("level").setAttribute("aria-pressed", decks.settings.level);
  });
  setIcon($("prev"), "prev");
  setIcon($("next"), "next");
  setIcon($("mute"), "volume");
  media.start({ play: toggle, pause: toggle, previoustrack: () => skip(-1), nexttrack: () => skip(1), seekto: ({ seekTime }) => seek(seekTime) });
  shown();
}

// Whether the items of a collection are files that can be heard.
export const canPlay = ({ medium, items }) => ["audio", "video"].includes(medium.preview.type) && items.some((item) => item.preview);
export const isPlaying = (item) => now.item === item && (!current().paused || now.waiting !== 0);
const isOn = () => !current().paused || now.waiting !== 0;

const standing = () => order().indexOf(now.item);
const nextItem = () => order()[standing() + 1];
const gap = () => state.wishes.gap;

export function reset() {
  quiet();
  decks.reset();
  Object.assign(now, { item: null, half: null, only: false });
  mark(null);
  shown();
}

function quiet() {
  clearTimeout(now.waiting);
  clearTimeout(now.timer);
  now.waiting = 0;
}

function seek(seconds) {
  if (Number.isFinite(seconds) && now.item !== null) current().currentTime = seconds;
  check();
}

// Begin with an item on the deck whose turn it is.
function begin(item, { half = null, from = 0, fade = 0 } = {}) {
  quiet();
  if (item === undefined) return stop();
  if (!state.collection.items[item].preview) return say(`${titleOf(item)} has no file here`, { error: true });
  const deck = current(), ready = deck.item === item && deck.readyState > 0 && deck.paused && half !== "end" && !from;
  Object.assign(now, { item, half });
  if (ready) deck.currentTime = 0;
  else decks.load(deck, item, { back: half === "end" ? TEN : 0, from });
  deck.play().catch((error) => error.name === "NotAllowedError" && say("press play to listen"));
  decks.fade(fade);
  prepare();
  changed("playing");
}

// The other deck has what follows, so that there is no pause where none is wanted.
function prepare() {
  const next = now.half === "start" ? undefined : nextItem();
  if (next === undefined || other().item === next || !other().paused) return;
  if (state.collection.items[next].preview) decks.load(other(), next);
}

// Play an item and go on from there; pressed again it pauses.
export function playItem(item, from = 0) {
  if (now.item === item && !from) return toggle();
  now.only = false;
  begin(item, { half: now.transitions ? "end" : null, from });
}

// The last seconds of an item into the first of the next; nothing after that.
export function playTransition(item) {
  if (order().at(-1) === item) return say("nothing follows the last item");
  now.only = true;
  begin(item, { half: "end" });
}

// An item has ended, or what is to be heard of it.
function follow() {
  quiet();
  const next = nextItem();
  if (now.half === "start") {
    if (now.only || next === undefined) return stop();
    return begin(now.item, { half: "end" });
  }
  if (next === undefined) return stop();
  const half = now.half === "end" ? "start" : null, on = (fade) => {
    now.waiting = 0;
    decks.swap();
    begin(next, { half, fade });
  };
  if (gap() <= 0) return on(gap() < 0 ? -gap() : 0);
  now.waiting = setTimeout(() => on(0), 1000 * gap());
  shown();
}

function stop() {
  quiet();
  current().pause();
  other().pause();
  Object.assign(now, { half: now.transitions ? "end" : null, only: false });
  shown();
}

export function toggle() {
  if (!state.collection) return;
  if (now.item === null) return begin(state.chosen !== null && order().includes(state.chosen) ? state.chosen : order()[0], { half: now.transitions ? "end" : null });
  const deck = current();
  if (isOn()) {
    quiet();
    other().pause();
    deck.pause();
    return shown();
  }
  if (deck.ended) return begin(now.item, { half: now.transitions ? "end" : null });
  deck.play().catch(() => {});
}

function skip(by) {
  if (now.item === null) return toggle();
  const item = order()[standing() + by];
  if (item !== undefined) begin(item, { half: now.transitions ? "end" : null });
}

function setTransitions(on) {
  Object.assign(now, { transitions: on, only: false });
  $("transitions").setAttribute("aria-pressed", on);
  if (on) begin(now.item ?? order()[0], { half: "end" });
  else now.half = null;
}

function broken() {
  say(`${titleOf(now.item)} cannot be played by this browser`, { error: true });
  stop();
}

// The order or the template has changed: the point moves, and another item may follow.
export function refresh() {
  if (now.item === null) return;
  if (isOn()) prepare();
  shown();
}

// Where it is; whether it is time to go on. Called by the deck itself, so that a page in the background goes on as well.
function check() {
  const deck = current();
  if (now.item === null) return;
  const length = lengthOf(deck), at = deck.currentTime, over = gap() < 0 && now.half !== "start" && nextItem() !== undefined ? -gap() : 0;
  const until = now.half === "start" ? TEN : over ? length - over : Infinity;
  clearTimeout(now.timer);
  if (!deck.paused && Number.isFinite(until)) {
    if (at >= until && at > 0) {
      if (now.half === "start") deck.pause();
      return follow();
    }
    now.timer = setTimeout(check, Math.min(500, 1000 * (until - at) + 5));
  }
  draw(at, length);
}

function draw(at, length) {
  const n = order().length;
  mark(Math.min(n - 1, Math.max(0, standing()) + (length ? Math.min(1, at / length) : 0)));
  $("seek").value = length ? Math.round((1000 * at) / length) : 0;
  $("seek").setAttribute("aria-valuetext", `${clock(at)} of ${clock(length)}`);
  $("clock").textContent = `${clock(at)} / ${clock(length)}`;
  wave.played(length ? at / length : 0);
  media.position(at, length);
  cancelAnimationFrame(now.frame);
  if (!current().paused) now.frame = requestAnimationFrame(check);
}

function shown() {
  const on = isOn(), item = now.item, next = now.half === "start" ? order()[standing() - 1] : nextItem();
  setIcon($("play"), on ? "pause" : "play");
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  let text = item === null ? "Play the order from its first item" : titleOf(item);
  if (item !== null && now.half && next !== undefined) text = now.half === "end" ? `${titleOf(item)} → ${titleOf(next)}` : `${titleOf(next)} → ${titleOf(item)}`;
  if ($("now").textContent !== text) $("now").textContent = text;
  Object.assign($("player").dataset, { state: on ? "playing" : "paused", half: now.half || "", item: item ?? "" });
  wave.show(item);
  media.show(item, on);
  if (item !== null) check();
  changed("playing");
}
