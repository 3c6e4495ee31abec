// From wishes to the order on the screen: at once where two sorts do it, from the server where a search is needed.

import { attempt, notify, setBusy } from "./announce.js";
import * as api from "./api.js";
import { $ } from "./dom.js";
import { currentTemplate, scalar } from "./layout.js";
import { emit, essence, state, takeBack } from "./state.js";
import { fitOrder, isSameTemplate, samples } from "./template.js";
import { isPlain, isSameOrder, makeRequest } from "./wishes.js";

const SOON = 120, FEW = 18, MANY = 100; // milliseconds of a first answer; so few are searched to the end at once
const MOST = 20; // answers that are remembered, so that undoing a step asks for none again
let asking = null;
/** @type {WeakMap<object, Map<string, object>>} */
const answers = new WeakMap(); // of each collection as it was measured, by the wishes as text

export const takeSnapshot = () => {
  const { ordering, out, sides, template, settled, answer } = state;
  return { ordering, out, sides, template, settled, answer };
};

// Back to what was on the screen, or to what the server has found since: a drag was given up.
export function restore(shown) {
  newest = state.trial = null;
  if (state.answer && state.answer !== shown.answer) takeAnswer(state.answer);
  else Object.assign(state, shown);
  emit("order");
}

// The order for wishes that are not yet a step: while a knot, a point or a row is dragged.
export function preview(changes) {
  const wishes = { ...state.wishes, hand: null, ...changes };
  if (state.collection.pending) {
    state.ordering = state.collection.items.map((_, item) => item);
    state.ordering = guessOrder(wishes);
    return emit("preview");
  }
  if (changes.template) state.template = state.trial = changes.template;
  state.settled = false;
  if (isPlain(wishes, state.roomy) && !(changes.fixed && isProposed(wishes))) fitAll(wishes);
  else if (isPlain(wishes, state.roomy)) state.ordering = guessOrder(wishes); // the rest as a model has put it
  else {
    if (changes.fixed) state.ordering = guessOrder(wishes);
    searchSoon({ ...wishes, template: currentTemplate() });
  }
  emit("preview");
}

// Whether a model has put the items in their order, and no template.
const isProposed = ({ template, by }) => !template && !by && Boolean(state.collection.model);

function fitAll({ fixed }) {
  state.ordering = fitOrder(essence(), samples(currentTemplate(), state.collection.items.length), fixed);
  Object.assign(state, { out: [], sides: [] });
}

// What is shown until the server has spoken: what is pinned where it is wanted, the others as they follow each other.
function guessOrder({ fixed, hand }) {
  if (hand) return hand.ordering;
  const held = new Map(Object.entries(fixed).filter(([at, item]) => Number(at) < state.ordering.length && state.ordering.includes(item)).map(([at, item]) => [Number(at), item]));
  const gone = new Set(held.values()), rest = state.ordering.filter((item) => !gone.has(item));
  return state.ordering.map((_, position) => held.get(position) ?? rest.shift());
}

// While dragging among wishes that need a search: one question at a time, then the newest.
let searching = null, newest = null;
async function searchSoon(wishes) {
  newest = wishes;
  if (searching) return;
  const mine = (searching = state.wishes);
  while (newest && mine === state.wishes) {
    const asked = newest;
    newest = null;
    try {
      const { ordering, left_out: out, sides } = await api.order({ ...makeRequest(asked, state.collection.id), explain: false, alternatives: 1, budget_ms: SOON });
      if (mine !== state.wishes || state.settled) break;
      Object.assign(state, { ordering, out, sides });
      emit("preview");
    } catch { /* said when the step is made */ }
  }
  searching = null;
}

// What the server found.
function takeAnswer(answer) {
  const { ordering, left_out: out, sides } = answer;
  Object.assign(state, { answer, ordering: [...ordering], out, sides, template: readProposal(answer).template, settled: true });
  state.why = new Map(answer.items.map((row, position) => [ordering[position], row.why]));
}

const readProposal = ({ knots, values, interpolation, template: name, ordering, score }) =>
  ({ template: { knots, values: values.map(scalar), name, interpolation }, ordering, score });

// The answer to wishes; of the model's proposals the one that was taken, where it is still among them.
async function findAnswer(wishes, signal) {
  const asked = makeRequest(wishes, state.collection.id), first = await api.order(asked, signal);
  if (wishes.template || wishes.hand) return first;
  const found = [first, ...first.alternatives].map(readProposal);
  const fits = ({ template }) => isSameTemplate(template, wishes.arc);
  const index = wishes.arc ? (fits(found[wishes.pick] ?? found[0]) ? wishes.pick : found.findIndex(fits)) : 0;
  const answer = index > 0 ? await api.order({ ...asked, choose: index + 1 }, signal) : first;
  Object.assign(state, { proposals: found, picked: Math.max(0, index) });
  return answer;
}

// A column that was chosen, or taken back: other numbers for the same items.
async function fitEssence({ by }) {
  if (by === state.collection.by) return;
  state.collection = await api.setEssence(state.collection.id, by);
  emit("essence");
}

// Of many items a first answer at once, along the arc on the screen, while the better one is searched for.
async function findFirst(wishes, signal) {
  const { length: n } = state.collection.items;
  if (wishes.hand || isPlain(wishes, state.roomy) || n <= FEW) return;
  const along = n > MANY && state.template ? { ...wishes, template: wishes.template ?? state.template } : wishes;
  const soon = await api.order({ ...makeRequest(along, state.collection.id), explain: false, alternatives: 1, budget_ms: SOON, choose: along.template ? 1 : wishes.pick + 1 }, signal);
  if (signal.aborted) return;
  const { ordering, left_out: out, sides } = soon;
  Object.assign(state, { ordering: [...ordering], out, sides, template: readProposal(soon).template, settled: false });
  emit("preview");
}

// Ask the server for the order of the wishes as they are; the newest question wins. anew: though the answer is known.
export async function ask({ anew = false } = {}) {
  const { wishes } = state, shown = state.ordering.join();
  asking?.abort();
  if (state.collection.pending) return placePending(wishes);
  if (isSameOrder(wishes, state.good) && state.answer) return keepAnswer(wishes);
  const known = !anew && wishes.by === state.collection.by && answers.get(state.collection)?.get(JSON.stringify(wishes));
  if (known) return keepAnswer(wishes, known);
  const mine = (asking = new AbortController());
  state.settled = false;
  newest = state.trial = null;
  if (wishes.template) state.template = wishes.template;
  if (wishes.template && !wishes.hand && isPlain(wishes, state.roomy) && wishes.by === state.collection.by) fitAll(wishes);
  else if (state.answer) state.ordering = guessOrder(wishes);
  emit(state.ordering.join() !== shown || !state.answer || !isPlain(wishes, state.roomy) ? "order" : "preview");
  $("rows").setAttribute("aria-busy", "true");
  setBusy("search", true, "Looking for the best order");
  try {
    await fitEssence(wishes);
    if (mine !== asking) return;
    await findFirst(wishes, mine.signal);
    if (mine !== asking) return;
    const answer = await findAnswer(wishes, mine.signal);
    if (mine !== asking) return;
    Object.assign(state, { good: wishes, refused: null });
    state.roomy = wishes.limit && !answer.left_out.length && !wishes.hand ? wishes.limit : state.roomy;
    takeAnswer(answer);
    remember(wishes);
    emit("order");
    emit("found");
  } catch (error) {
    if (error.name !== "AbortError" && mine === asking) refuse(error);
  } finally {
    if (mine === asking) {
      $("rows").removeAttribute("aria-busy");
      setBusy("search", false);
    }
  }
}

// Of items that are not measured yet only what is pinned moves.
function placePending(wishes) {
  state.ordering = state.collection.items.map((_, item) => item);
  state.ordering = guessOrder(wishes);
  $("rows").setAttribute("aria-busy", "true");
  emit("order");
}

function remember(wishes) {
  const { answer, proposals, picked, roomy } = state;
  const all = answers.get(state.collection) ?? new Map();
  answers.set(state.collection, all.set(JSON.stringify(wishes), { answer, proposals, picked, roomy, refused: null }));
  if (all.size > MOST) all.delete(all.keys().next().value);
}

// Wishes that the order on the screen keeps as it is, or whose answer is known.
function keepAnswer(wishes, known = {}) {
  asking = newest = state.trial = null;
  Object.assign(state, known, { good: wishes });
  $("rows").removeAttribute("aria-busy");
  setBusy("search", false);
  takeAnswer(state.answer);
  emit("order");
  emit("found");
}

// Wishes that cannot hold are said, marked and undone: what is on the screen is what was found.
function refuse(error) {
  const { status, field, wishes = [], message } = error;
  if (error.lost) return; // asked again when the server is back
  if (status === 404) return emit("gone");
  if (![400, 422].includes(status) || !takeBack()) return notify(message, { error: true, actions: [["Try again", ask]] });
  state.refused = { field, wishes, message: phraseError(error) };
  notify(`${phraseError(error)} It is undone.`, { error: true });
  if (state.answer) takeAnswer(state.answer);
  emit("undone");
}

const LABELS = { limit: "Longest in all", side_limit: "Longest side", sides: "Sides", apart: "Twice in a row", spreads: "Facing pages" };
function phraseError(error) {
  const label = LABELS[error.field], text = label ? `${label}: ${error.message.slice(error.field.length + 2)}` : error.message;
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

// What the model proposes where the person has a template of her own.
export const propose = () => attempt(async () => {
  const answer = await api.order({ collection: state.collection.id, alternatives: 4, explain: false });
  Object.assign(state, { proposals: [answer, ...answer.alternatives].map(readProposal), picked: -1 });
  emit("proposals");
});
