// What the page knows: the screen, the collection, the wishes, and every step so that it can be undone.

import { checkWishes, isAlike, NO_WISHES } from "./wishes.js";

/** @typedef {import("./wishes.js").Template} Template */
/** @typedef {import("./wishes.js").Wishes} Wishes */
/** @typedef {{ name: string, unit: string, values: number[] }} Arc what rises and falls */
/** @typedef {{ id: string, title: string, creator: string, path: string, length: number | null, length_text: string, essence: number, preview: boolean, span: [number, number | null] | null, gain: number | null, facts: Record<string, string>, colours: string[], both_pages: boolean }} Item */
/** @typedef {{ name: string, words: Record<string, string>, unit: { name: string, example: string }, axis: string | null, faces: boolean, preview: { kind: string, type: string }, outputs: string[] }} Medium */
/** @typedef {{ id: string, pending?: string, title: string, medium: Medium, items: Item[], arc: Arc | null, by: string | null, axis: { name: string, unit: string } | null, model: { name: string, knows: string[] } | null, knows_model: boolean, columns: { name: string, label: string }[], facts: { name: string, unit: string }[], length_text: string, notes: string[], left_out: { name: string, why: string }[], origin: any, library?: string | null, form?: string | null, silent: string | null }} Collection pending: the job that measures it, until it has */
/** @typedef {{ template: string, knots: number[], values: number[], interpolation: string, ordering: number[], sides: number[], left_out: number[], gap: number | null, score: number, sure: number | null, arc: Arc | null, items: any[], likes: number[][] | null, alternatives: any[], changes: any[], steps: any[], notes: string[], result: string, length_texts: { sides: string[], all: string, left_out: string }, explained?: number, asked?: Set<number> }} Answer explained: so many rows have their reason; asked: of which others it was asked for */
/** What a listener hears of. "screen": another screen; "pending", "measured": items of a job; "essence": other numbers;
 * "wishes": a step; "preview": while something is dragged; "order": another order on the screen; "found": the server's answer;
 * "undone": wishes that could not hold; "proposals", "columns", "marks": what is told of it; "chosen", "drawing", "playing": what
 * a person does; "back": the server answers again; "gone": a collection that it does not know any more.
 * @typedef {"screen" | "pending" | "measured" | "essence" | "wishes" | "preview" | "order" | "found" | "undone" | "proposals" | "columns" | "marks" | "chosen" | "drawing" | "playing" | "back" | "gone"} Event */

const MOST = 100;

/** @typedef {{ screen: string, collection: Collection | null, wishes: Wishes, good: Wishes | null, past: Wishes[], future: Wishes[], proposals: any[], picked: number, template: Template | null, trial: Template | null, ordering: number[], sides: number[], out: number[], roomy: string, answer: Answer | null, settled: boolean, why: Map<number, string>, chosen: number | null, several: Set<number>, before: boolean, dragged: number | null, covers: ((item: number) => string) | null, marks: Map<number, { kind: string, text: string }>, refused: any }} State */
// What is on the screen when a collection is opened.
const makeFresh = () => ({
  good: null, // the wishes that the server answered last
  proposals: [], // {template, ordering, score}
  picked: -1, // which of them is on the screen
  template: null, // of the answer on the screen
  trial: null, // a template under the hand, not yet a step
  ordering: [], // on the screen, ordering[position] = item
  sides: [], // how many items each side has; empty for one
  out: [], // items left out to keep within the limit
  roomy: "", // a limit that leaves nothing out
  answer: null, // what the server said last
  settled: false, // whether that is what the screen shows
  why: new Map(), // item -> sentence
  chosen: null, // an item
  several: new Set(), // items chosen together
  before: false,
  dragged: null, // the item whose row is in the hand
  covers: null, // item -> address of its picture, where they have some
  marks: new Map(), // item -> {kind, text}: what a review says of it
  refused: null, // {field, wishes, message}: what could not hold, as the server named it
});

/** @type {State} screen: "start", "job" or "desk": one thing at a time */
export const state = { screen: "start", collection: null, wishes: NO_WISHES, past: [], future: [], ...makeFresh() };

/** @type {Set<(what: Event) => void>} */
const listeners = new Set();
/** @param {(what: Event) => void} listener */
export const onChange = (listener) => listeners.add(listener);
/** @param {Event} what */
export const emit = (what) => listeners.forEach((listener) => listener(what));

export function showScreen(name) {
  state.screen = name === "desk" && !state.collection ? "start" : name;
  emit("screen");
}

export const essence = () => state.collection.items.map((item) => item.essence);
export const titleOf = (item) => state.wishes.titles[item] ?? state.collection.items[item].title;

// A step that can be undone; what changes nothing is none. keeps: the order on the screen keeps the new wish already, and
// what was best among more orders is best among fewer.
/** @param {Partial<Wishes>} changes */
export function commit(changes, { keeps = false } = {}) {
  const next = { ...state.wishes, hand: null, ...changes };
  if (isAlike(next, state.wishes)) return emit("order");
  if (keeps && state.settled && isAlike(state.wishes, state.good)) state.good = next;
  state.past.push(state.wishes);
  if (state.past.length > MOST) state.past.shift();
  state.future = [];
  state.wishes = next;
  emit("wishes");
}

export const undo = () => step(state.past, state.future);
export const redo = () => step(state.future, state.past);

function step(from, to) {
  if (!from.length) return;
  to.push(state.wishes);
  state.wishes = from.pop();
  emit("wishes");
}

// Back to the wishes that held last: the steps since then are none. Whether there were any.
export function takeBack() {
  if (!state.good || isAlike(state.wishes, state.good)) return false;
  const index = state.past.findLastIndex((wishes) => isAlike(wishes, state.good));
  if (index >= 0) state.past.length = index;
  state.wishes = state.good;
  return true;
}

// Another workspace on the same items: from a file, from another tab, or a version that was kept.
/** @param {{ wishes?: any, past?: any, future?: any }} kept */
export function restoreWorkspace({ wishes, past, future = [] }) {
  const all = (list) => (Array.isArray(list) ? list.slice(-MOST).map((one) => checkWishes(one, state.collection)) : []);
  Object.assign(state, { wishes: checkWishes(wishes, state.collection), past: all(past), future: all(future) });
}

/** @param {Collection} collection */
export function openCollection(collection, saved = {}) {
  Object.assign(state, makeFresh(), { collection, ordering: collection.items.map((_, i) => i) });
  restoreWorkspace(saved);
}

// What is kept of the workspace: in a session file, by the server, and here.
export const packWorkspace = () => ({ wishes: state.wishes, past: state.past.slice(-30), future: state.future.slice(-30) });
