// Listening: one item, the whole order, or only the transitions; what follows is what follows in the order as it is now.

import { notify } from "./announce.js";
import * as api from "./api.js";
import { markPosition } from "./arc.js";
import * as crossfade from "./crossfade.js";
import { $, clock, setIcon } from "./dom.js";
import { currentOrder } from "./layout.js";
import { emit, state, titleOf } from "./state.js";

const TEN = 10; // seconds of a transition on either side
// half: "end" or "start" of a transition; only: stop after this one; waiting: for the silence between two items
const now = { item: null, half: null, only: false, transitions: false, waiting: 0, timer: 0, frame: 0 };
const { current, other, lengthOf, timeOf, jump } = crossfade;

export function start() {
  crossfade.start($("screen"), { ended: playNext, failed: reportBroken, moved: checkTime, shown: showPlayer });
  $("play").addEventListener("click", toggle);
  $("next").addEventListener("click", () => skip(1));
  $("prev").addEventListener("click", () => skip(-1));
  $("seek").addEventListener("input", () => seek(($("seek").value / 1000) * lengthOf(current())));
  $("transitions").addEventListener("click", () => setTransitions(!now.transitions));
  $("volume").value = crossfade.settings.volume * 100;
  $("volume").addEventListener("input", (event) => crossfade.changeSettings({ volume: event.target.value / 100 }));
  $("level").setAttribute("aria-pressed", crossfade.settings.level);
  $("level").addEventListener("click", () => {
    crossfade.changeSettings({ level: !crossfade.settings.level });
    $("level").setAttribute("aria-pressed", crossfade.settings.level);
  });
  setIcon($("prev"), "prev");
  setIcon($("next"), "next");
  setIcon($("mute"), "volume");
  takeMediaKeys({ play: toggle, pause: toggle, previoustrack: () => skip(-1), nexttrack: () => skip(1), seekto: ({ seekTime }) => seek(seekTime) });
  showPlayer();
}

// Whether the items of a collection are files that can be heard.
export const canPlay = ({ medium, items }) => ["audio", "video"].includes(medium.preview.type) && items.some((item) => item.preview);
export const hasPlayed = () => now.item !== null;
export const isPlaying = (item) => now.item === item && (!current().paused || now.waiting !== 0);
const isOn = () => !current().paused || now.waiting !== 0;

const currentPosition = () => currentOrder().indexOf(now.item);
const nextItem = () => currentOrder()[currentPosition() + 1];
const gap = () => state.wishes.gap;

export function reset() {
  clearTimers();
  crossfade.reset();
  Object.assign(now, { item: null, half: null, only: false });
  markPosition(null);
  showPlayer();
}

function clearTimers() {
  clearTimeout(now.waiting);
  clearTimeout(now.timer);
  now.waiting = 0;
}

function seek(seconds) {
  if (Number.isFinite(seconds) && now.item !== null) jump(current(), seconds);
  checkTime();
}

// Begin with an item on the deck whose turn it is.
function playOn(item, { half = null, from = 0, fade = 0 } = {}) {
  clearTimers();
  if (item === undefined) return stop();
  if (!state.collection.items[item].preview) return notify(`${titleOf(item)} has no file here`, { error: true });
  const deck = current(), ready = deck.item === item && deck.readyState > 0 && deck.paused && half !== "end" && !from;
  Object.assign(now, { item, half });
  if (ready) jump(deck, 0);
  else crossfade.load(deck, item, { back: half === "end" ? TEN : 0, from });
  deck.play().catch((error) => error.name === "NotAllowedError" && notify("press play to listen"));
  crossfade.fade(fade);
  prepare();
  emit("playing");
}

// The other deck has what follows, so that there is no pause where none is wanted.
function prepare() {
  const next = now.half === "start" ? undefined : nextItem();
  if (next === undefined || other().item === next || !other().paused) return;
  if (state.collection.items[next].preview) crossfade.load(other(), next);
}

// Play an item and go on from there; pressed again it pauses.
export function playItem(item, from = 0) {
  if (now.item === item && !from) return toggle();
  now.only = false;
  playOn(item, { half: now.transitions ? "end" : null, from });
}

// The last seconds of an item into the first of the next; nothing after that.
export function playTransition(item) {
  if (currentOrder().at(-1) === item) return notify("nothing follows the last item");
  now.only = true;
  playOn(item, { half: "end" });
}

// An item has ended, or what is to be heard of it.
function playNext() {
  clearTimers();
  const next = nextItem();
  if (now.half === "start") {
    if (now.only || next === undefined) return stop();
    return playOn(now.item, { half: "end" });
  }
  if (next === undefined) return stop();
  const half = now.half === "end" ? "start" : null, on = (fade) => {
    now.waiting = 0;
    crossfade.swap();
    playOn(next, { half, fade });
  };
  if (gap() <= 0) return on(gap() < 0 ? -gap() : 0);
  now.waiting = setTimeout(() => on(0), 1000 * gap());
  showPlayer();
}

function stop() {
  clearTimers();
  current().pause();
  other().pause();
  Object.assign(now, { half: now.transitions ? "end" : null, only: false });
  showPlayer();
}

export function toggle() {
  if (!state.collection) return;
  if (now.item === null) return playOn(state.chosen !== null && currentOrder().includes(state.chosen) ? state.chosen : currentOrder()[0], { half: now.transitions ? "end" : null });
  const deck = current();
  if (isOn()) {
    clearTimers();
    other().pause();
    deck.pause();
    return showPlayer();
  }
  if (crossfade.isOver(deck)) return playOn(now.item, { half: now.transitions ? "end" : null });
  deck.play().catch(() => {});
}

function skip(by) {
  if (now.item === null) return toggle();
  const item = currentOrder()[currentPosition() + by];
  if (item !== undefined) playOn(item, { half: now.transitions ? "end" : null });
}

function setTransitions(on) {
  Object.assign(now, { transitions: on, only: false });
  $("transitions").setAttribute("aria-pressed", on);
  if (on) playOn(now.item ?? currentOrder()[0], { half: "end" });
  else now.half = null;
}

function reportBroken() {
  notify(`${titleOf(now.item)} cannot be played by this browser`, { error: true });
  stop();
}

// The order or the template has changed: the point moves, and another item may follow.
export function refresh() {
  if (now.item === null) return;
  if (isOn()) prepare();
  showPlayer();
}

// Where it is; whether it is time to go on. Called by the deck itself, so that a page in the background goes on as well.
function checkTime() {
  const deck = current();
  if (now.item === null) return;
  const length = lengthOf(deck), at = timeOf(deck), over = gap() < 0 && now.half !== "start" && nextItem() !== undefined ? -gap() : 0;
  const until = now.half === "start" ? TEN : over ? length - over : crossfade.goesOn(deck) ? length : Infinity;
  clearTimeout(now.timer);
  if (!deck.paused && Number.isFinite(until)) {
    if (at >= until && at > 0) {
      if (now.half === "start" || !over) deck.pause();
      return playNext();
    }
    now.timer = setTimeout(checkTime, Math.min(500, 1000 * (until - at) + 5));
  }
  drawTime(at, length);
}

function drawTime(at, length) {
  const n = currentOrder().length;
  markPosition(Math.min(n - 1, Math.max(0, currentPosition()) + (length ? Math.min(1, at / length) : 0)));
  $("seek").value = length ? Math.round((1000 * at) / length) : 0;
  $("seek").setAttribute("aria-valuetext", `${clock(at)} of ${clock(length)}`);
  $("clock").textContent = `${clock(at)} / ${clock(length)}`;
  advanceWave(length ? at / length : 0);
  setMediaPosition(at, length);
  cancelAnimationFrame(now.frame);
  if (!current().paused) now.frame = requestAnimationFrame(checkTime);
}

function showPlayer() {
  const on = isOn(), item = now.item, next = now.half === "start" ? currentOrder()[currentPosition() - 1] : nextItem();
  setIcon($("play"), on ? "pause" : "play");
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  let text = item === null ? "Play the order from its first item" : titleOf(item);
  if (item !== null && now.half && next !== undefined) text = now.half === "end" ? `${titleOf(item)} → ${titleOf(next)}` : `${titleOf(next)} → ${titleOf(item)}`;
  if ($("now").textContent !== text) $("now").textContent = text;
  Object.assign($("player").dataset, { state: on ? "playing" : "paused", half: now.half || "", item: item ?? "" });
  showWave(item);
  $("screen").hidden = item === null || state.collection?.medium.preview.kind !== "video";
  showMedia(item, on);
  if (item !== null) checkTime();
  emit("playing");
}

// The keys of the keyboard, the headphones and the lock screen, and what they show.
const session = navigator.mediaSession;

function takeMediaKeys(actions) {
  for (const [name, action] of Object.entries(actions)) {
    try {
      session?.setActionHandler(/** @type {MediaSessionAction} */ (name), action);
    } catch { /* this browser does not know that key */ }
  }
}

let mediaShown = null;
function showMedia(item, on) {
  if (!session) return;
  session.playbackState = item === null ? "none" : on ? "playing" : "paused";
  const key = item === null ? null : `${state.collection.id}/${item}/${titleOf(item)}`;
  if (key === mediaShown) return;
  mediaShown = key;
  if (item === null) return (session.metadata = null);
  const artwork = state.covers ? [{ src: state.covers(item) }] : [];
  session.metadata = new MediaMetadata({ title: titleOf(item), artist: state.collection.items[item].creator, album: state.collection.title, artwork });
}

function setMediaPosition(at, length) {
  if (!session?.setPositionState || !(length > 0)) return;
  session.setPositionState({ duration: length, position: Math.min(length, Math.max(0, at)) });
}

// What an item is like over its length, drawn: behind the slider of what plays, and of the item chosen.
const waves = new Map(), MOST_WAVES = 64;
const drawn = { item: null, share: 0 }; // of what plays

// The wave of an item; null where there is none. Each is asked for once.
function findWave(item) {
  const key = `${state.collection.id}/${item}`;
  if (!waves.has(key)) {
    if (waves.size >= MOST_WAVES) waves.delete(waves.keys().next().value);
    waves.set(key, api.wave(state.collection.id, item).catch(() => null));
  }
  return waves.get(key);
}

const hasWave = (item) => item !== null && !state.collection?.pending && state.collection?.medium.preview.kind === "sound" && state.collection.items[item]?.preview;

// Of what plays.
async function showWave(item) {
  if (item === drawn.item && drawn.of === state.collection?.id) return;
  Object.assign(drawn, { item, of: state.collection?.id, share: 0, found: null });
  draw($("wave"), null, 0);
  $("seek").classList.toggle("waved", false);
  if (!hasWave(item)) return;
  const found = await findWave(item);
  if (drawn.item !== item || !found) return;
  drawn.found = found;
  $("seek").classList.toggle("waved", true);
  draw($("wave"), found, drawn.share);
}

function advanceWave(share) {
  if (!drawn.found || Math.abs(share - drawn.share) < 0.001) return;
  drawn.share = share;
  draw($("wave"), drawn.found, share);
}

// Of the item chosen, once it has been so for a moment.
let looking = 0;
export function inspectWave(item) {
  const canvas = $("one-wave");
  clearTimeout(looking);
  canvas.hidden = !hasWave(item);
  if (canvas.dataset.item === `${state.collection?.id}/${item}`) return;
  canvas.dataset.item = "";
  draw(canvas, null, 0);
  if (!hasWave(item)) return;
  looking = setTimeout(async () => {
    const found = await findWave(item);
    if (state.chosen !== item) return;
    canvas.hidden = !found;
    canvas.dataset.item = `${state.collection.id}/${item}`;
    if (found) draw(canvas, found, 0);
  }, 350);
}

export function redrawWave() {
  if (drawn.found) draw($("wave"), drawn.found, drawn.share);
}

function draw(canvas, found, share) {
  const ratio = Math.min(2, devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const pen = canvas.getContext("2d"), style = getComputedStyle(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  if (!found || !width) return;
  const top = found.high.reduce((a, b) => Math.max(a, Math.abs(b)), 0.05), bars = Math.floor(width / 3), n = found.high.length;
  for (let bar = 0; bar < bars; bar++) {
    const from = Math.floor((bar * n) / bars), to = Math.max(from + 1, Math.floor(((bar + 1) * n) / bars));
    let peak = 0;
    for (let i = from; i < to; i++) peak = Math.max(peak, found.high[i], -found.low[i]);
    const tall = Math.max(1.5, (peak / top) * (height - 4));
    pen.fillStyle = (bar + 0.5) / bars < share ? style.borderTopColor : style.color;
    pen.fillRect(bar * 3, (height - tall) / 2, 2, tall);
  }
  drawEdges(pen, found, width, height, style.outlineColor);
}

// Where something is heard first and last.
function drawEdges(pen, { begins, ends, length }, width, height, colour) {
  pen.fillStyle = colour;
  for (const at of [begins, ends]) if (length > 0 && at > 0) pen.fillRect(Math.min(width - 2, Math.max(0, (at / length) * width - 1)), 0, 2, height);
}
