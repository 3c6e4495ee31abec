// What the page knows: the collection, the wishes, and every step so that it can be undone.

const KEY = "fabula-page", MOST = 100;

export const NO_WISHES = Object.freeze({
  template: null, // {knots, values, name} that was chosen or drawn; null follows what the model proposes
  arc: null, // of the proposals the one that was taken, as a template; null takes the likeliest
  hand: null, // {ordering, sides}: an order made by hand, taken as it is
  fixed: {}, // position -> item
  ends: { first: {}, last: {} }, // side -> item
  together: [], // runs of items
  apart: false,
  sides: 1,
  sideLimit: "", // a length as people write it
  limit: "", // of all
  smoothness: 0,
});

export const state = {
  collection: null,
  wishes: NO_WISHES,
  good: null, // the wishes that the server answered last
  past: [],
  future: [],
  proposals: [], // {template, ordering, score}
  template: null, // on the screen
  ordering: [], // on the screen, ordering[position] = item
  sides: [], // how many items each side has; empty for one
  out: [], // items left out to keep within the limit
  roomy: "", // a limit that leaves nothing out
  answer: null, // what the server said last
  settled: false, // whether that is what the screen shows
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
  replaceWishes({ hand: null, ...changes });
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

// Take back the last step, which cannot hold; whether there was one.
export function takeBack() {
  const before = state.past.pop() ?? state.good ?? NO_WISHES;
  if (state.wishes === state.good || alike(state.wishes, before)) return false;
  state.wishes = before;
  keep();
  return true;
}

const alike = (a, b) => JSON.stringify({ ...a, arc: null }) === JSON.stringify({ ...b, arc: null });

export function open(collection, saved = {}) {
  const n = collection.items.length;
  Object.assign(state, {
    collection,
    wishes: checked(saved.wishes, n),
    good: null,
    past: Array.isArray(saved.past) ? saved.past.map((wishes) => checked(wishes, n)) : [],
    future: [],
    proposals: [],
    template: null,
    ordering: collection.items.map((_, i) => i),
    sides: [],
    out: [],
    roomy: "",
    answer: null,
    settled: false,
    why: new Map(),
    chosen: null,
    before: false,
  });
  keep();
}

const number = (v) => typeof v === "number" && Number.isFinite(v);

// A template from a file, where it has the right shape.
function asTemplate(given) {
  const { knots, values, name } = given && typeof given === "object" ? given : {};
  const right = Array.isArray(knots) && knots.length >= 2 && knots.every(number)
    && Array.isArray(values) && values.length === knots.length && values.every(number);
  return right ? { knots, values, name: String(name || "drawn") } : null;
}

// Wishes from a file: only what has the right shape is taken. Files before version 2 say `curve` and count minutes.
function checked(wishes, n) {
  if (!wishes || typeof wishes !== "object") return NO_WISHES;
  const out = { ...NO_WISHES };
  const item = (v) => Number.isInteger(v) && v >= 0 && v < n;
  const items = (given, most) => Object.fromEntries(Object.entries(given && typeof given === "object" ? given : {})
    .filter(([key, value]) => Number(key) >= 0 && Number(key) < most && item(value)));
  const length = (v) => (typeof v === "string" ? v.slice(0, 40) : number(v) && v > 0 ? `${v}m` : "");
  const { hand, fixed, ends, together, apart, sides, sideLimit, limit, smoothness } = wishes;
  out.template = asTemplate(wishes.template ?? wishes.curve);
  out.arc = asTemplate(wishes.arc);
  const ordering = hand?.ordering ?? wishes.exactly;
  if (Array.isArray(ordering) && ordering.length && new Set(ordering).size === ordering.length && ordering.every(item)) {
    const sizes = Array.isArray(hand?.sides) && hand.sides.every((size) => Number.isInteger(size) && size > 0) ? hand.sides : [];
    out.hand = { ordering, sides: sizes.reduce((a, b) => a + b, 0) === ordering.length ? sizes : [] };
  }
  out.fixed = items(fixed, n);
  out.ends = { first: items(ends?.first, 8), last: items(ends?.last, 8) };
  if (Array.isArray(together)) out.together = together.filter((run) => Array.isArray(run) && run.every(item));
  if (typeof apart === "boolean") out.apart = apart;
  if (Number.isInteger(sides) && sides >= 1 && sides <= 8) out.sides = sides;
  out.sideLimit = length(sideLimit);
  out.limit = length(limit);
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

export function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) || {};
  } catch {
    return {};
  }
}

// What goes into a session file.
export const asState = () => ({ wishes: state.wishes, past: state.past.slice(-30) });
