// Two decks: what is heard now, and what follows it; levels, fades, and where in an item to begin.

import * as api from "./api.js";
import { state } from "./state.js";

const kept = JSON.parse(localStorage.getItem("fabula-listening") || "{}");
export const settings = { volume: kept.volume ?? 1, level: kept.level ?? true };
/** @typedef {HTMLVideoElement & { item?: number | null, share?: number }} Deck what is on it, and how loud of what it may be */
/** @type {Deck[]} */
const decks = [0, 1].map(() => Object.assign(document.createElement("video"), { playsInline: true })); // which plays what is only heard, too
let turn = 0;

export const current = () => decks[turn];
export const other = () => decks[1 - turn];
export function swap() {
  turn = 1 - turn;
  decks.forEach((deck, k) => (deck.hidden = k !== turn));
}

export function start(screen, { ended, failed, moved, shown }) {
  screen.append(...decks);
  decks[1].hidden = true;
  for (const deck of decks) {
    Object.assign(deck, { preload: "auto", item: null, share: 1 });
    deck.addEventListener("ended", () => deck === current() && ended());
    deck.addEventListener("error", () => deck === current() && deck.item !== null && deck.getAttribute("src") && failed());
    deck.addEventListener("timeupdate", () => deck === current() && moved());
    for (const name of ["play", "pause", "loadedmetadata"]) deck.addEventListener(name, shown);
  }
}

// How loud an item is to be heard: with matched levels all are as loud as the quietest.
function gainOf(item) {
  const gains = state.collection.items.map((one) => one.gain).filter(Number.isFinite);
  const mine = state.collection.items[item]?.gain;
  return settings.level && Number.isFinite(mine) ? 10 ** ((mine - Math.max(...gains)) / 20) : 1;
}

function setVolume(deck) {
  if (deck.item !== null && state.collection) deck.volume = Math.min(1, Math.max(0, settings.volume * gainOf(deck.item) * deck.share));
}

export function changeSettings(changes) {
  Object.assign(settings, changes);
  localStorage.setItem("fabula-listening", JSON.stringify(settings));
  decks.forEach(setVolume);
}

// From when to when an item is heard or seen in its file; null: to the end of that.
const spanOf = (deck) => state.collection?.items[deck.item]?.span ?? [0, null];
export function lengthOf(deck) {
  const [begins, ends] = spanOf(deck), end = ends ?? (Number.isFinite(deck.duration) ? deck.duration : null);
  return end === null ? state.collection.items[deck.item]?.length || 0 : Math.max(0, end - begins);
}
export const timeOf = (deck) => Math.max(0, deck.currentTime - spanOf(deck)[0]);
export const jump = (deck, seconds) => (deck.currentTime = spanOf(deck)[0] + seconds);
// Whether it goes on in the file where the item is over, and whether it is over.
export const goesOn = (deck) => spanOf(deck)[1] !== null;
export const isOver = (deck) => deck.ended || (goesOn(deck) && timeOf(deck) >= lengthOf(deck));

// Put an item on a deck; back: so many seconds before its end, from: so many after its beginning.
export function load(deck, item, { back = 0, from = 0 } = {}) {
  const set = () => jump(deck, back ? Math.max(0, lengthOf(deck) - back) : from), there = deck.item === item && deck.readyState > 0;
  Object.assign(deck, { item, share: 1 });
  setVolume(deck);
  if (there) return set();
  deck.src = api.preview(state.collection.id, item);
  if (back || from || spanOf(deck)[0]) deck.addEventListener("loadedmetadata", set, { once: true });
}

// From one deck to the other within so many seconds, both as loud together as one alone.
let fading = 0;
export function fade(seconds) {
  clearInterval(fading);
  const [into, out] = [current(), other()], began = performance.now();
  const step = () => {
    const part = seconds ? Math.min(1, (performance.now() - began) / (1000 * seconds)) : 1;
    into.share = Math.sin((part * Math.PI) / 2);
    out.share = Math.cos((part * Math.PI) / 2);
    [into, out].forEach(setVolume);
    if (part < 1 && !into.paused) return;
    clearInterval(fading);
    into.share = 1;
    setVolume(into);
    if (!out.paused) out.pause();
  };
  fading = setInterval(step, 40);
  step();
}

export function reset() {
  clearInterval(fading);
  for (const deck of decks) {
    deck.pause();
    deck.item = null;
    deck.removeAttribute("src");
  }
}
