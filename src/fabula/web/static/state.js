// What the page knows: the collection, the wishes, and every step so that it can be undone.

const KEY = "fabula-page", MOST = 100;

export const NO_WISHES = Object.freeze({
  curve: null, // {knots, values, name}; null until the model has proposed one
  exactly: null, // an ordering that was chosen as it is
  fixed: {}, // place -> item
  together: [], // runs of items
  apart: false,
  sides: 1,
  sideLimit: null, // minutes
  limit: null, // minutes in all
  smoothness: 0,
});

export const state = {
  collection: null,
  wishes: NO_WISHES,
  past: [],
  future: [],
  proposals: [],
  ordering: [], // on the screen, ordering[place] = item
  out: [], // items left out to keep within the limit
  scaled: null, // item -> essence on the scale of those that are left, where some are left out
  answer: null, // what the server said last
  why: new Map(), // item -> sentence
  chosen: null, // an item
  before: false,
  job: null,
};

const listeners = new Set();
export const onChange = (listener) => listeners.add(listener);
export const changed = (what) => listeners.forEach((listener) => listener(what));

export const essence = () => state.collection.items.map((item) => item.essence);

// A step that can be undone.
export function commit(changes) {
  state.past.push(state.wishes);
  if (state.past.length > MOST) state.past.shift();
  state.future = [];
  replaceWishes({ exactly: null, ...changes });
}

// The same without a step of its own.
export function replaceWishes(changes) {
  state.wishes = { ...state.wishes, ...changes };
  keep();
  changed("wishes");
}

export function undo() {
  step(state.past, state.future);
}

export function redo() {
  step(state.future, state.past);
}

function step(from, to) {
  if (!from.length) return;
  to.push(state.wishes);
  state.wishes = from.pop();
  keep();
  changed("wishes");
}

export function open(collection, kept = {}) {
  Object.assign(state, {
    collection,
    wishes: checked(kept.wishes, collection.items.length),
    past: Array.isArray(kept.past) ? kept.past.map((wishes) => checked(wishes, collection.items.length)) : [],
    future: [],
    proposals: [],
    ordering: collection.items.map((_, i) => i),
    out: [],
    scaled: null,
    answer: null,
    why: new Map(),
    chosen: null,
    before: false,
  });
  keep();
}

// Wishes from a file: only what has the right shape is taken.
function checked(wishes, n) {
  if (!wishes || typeof wishes !== "object") return NO_WISHES;
  const out = { ...NO_WISHES }, number = (v) => typeof v === "number" && Number.isFinite(v);
  const item = (v) => Number.isInteger(v) && v >= 0 && v < n;
  const { curve, exactly, fixed, together, apart, sides, sideLimit, limit, smoothness } = wishes;
  if (curve && Array.isArray(curve.knots) && curve.knots.length >= 2 && curve.knots.every(number)
    && Array.isArray(curve.values) && curve.values.length === curve.knots.length && curve.values.every(number)) {
    out.curve = { knots: curve.knots, values: curve.values, name: String(curve.name || "drawn") };
  }
  if (Array.isArray(exactly) && exactly.length === n && new Set(exactly).size === n && exactly.every(item)) out.exactly = exactly;
  if (fixed && typeof fixed === "object") out.fixed = Object.fromEntries(Object.entries(fixed).filter(([p, i]) => item(Number(p)) && item(i)));
  if (Array.isArray(together)) out.together = together.filter((run) => Array.isArray(run) && run.every(item));
  if (typeof apart === "boolean") out.apart = apart;
  if (Number.isInteger(sides) && sides >= 1 && sides <= 8) out.sides = sides;
  if (number(sideLimit) && sideLimit > 0) out.sideLimit = sideLimit;
  if (number(limit) && limit > 0) out.limit = limit;
  if (number(smoothness)) out.smoothness = smoothness;
  return out;
}

// A reload of the page finds everything again.
export function keep() {
  const { collection, wishes, past, job } = state;
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ collection: collection && collection.id, wishes, past: past.slice(-30), job }));
  } catch { /* no room: a reload starts anew */ }
}

export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) || {};
  } catch {
    return {};
  }
}

// What goes into a session file.
export const asState = () => ({ wishes: state.wishes, past: state.past.slice(-30) });
