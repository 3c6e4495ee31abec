// From wishes to the order on the screen: at once where two sorts do it, from the server where a search is needed.

import { orderAlong } from "./along.js";
import * as api from "./api.js";
import { $ } from "./dom.js";
import { scalar, templateNow } from "./laid.js";
import { changed, essence, state, takeBack } from "./state.js";
import { sameTemplate, samples } from "./template.js";
import { busy, say } from "./voice.js";
import { plain, request, sameOrder } from "./wishes.js";

const SOON = 120, FEW = 18, MANY = 100; // milliseconds of a first answer; so few are searched to the end at once
let asking = null;

export const snapshot = () => {
  const { ordering, out, sides, template, settled, answer } = state;
  return { ordering, out, sides, template, settled, answer };
};

// Back to what was on the screen, or to what the server has found since: a drag was given up.
export function restore(shown) {
  newest = null;
  if (state.answer && state.answer !== shown.answer) take(state.answer);
  else Object.assign(state, shown);
  changed("order");
}

// The order for wishes that are not yet a step: while a knot, a point or a row is dragged.
export function preview(changes) {
  const wishes = { ...state.wishes, hand: null, ...changes };
  if (changes.template) state.template = changes.template;
  state.settled = false;
  if (plain(wishes, state.roomy) && !(changes.fixed && proposed(wishes))) layAll(wishes);
  else if (plain(wishes, state.roomy)) state.ordering = guessed(wishes); // the rest as a model has put it
  else {
    if (changes.fixed) state.ordering = guessed(wishes);
    searchSoon({ ...wishes, template: templateNow() });
  }
  changed("preview");
}

// Whether a model has put the items in their order, and no template.
const proposed = ({ template, by }) => !template && !by && Boolean(state.collection.model);

function layAll({ fixed }) {
  state.ordering = orderAlong(essence(), samples(templateNow(), state.collection.items.length), fixed);
  Object.assign(state, { out: [], sides: [] });
}

// What is shown until the server has spoken: what is pinned where it is wanted, the others as they follow each other.
function guessed({ fixed, hand }) {
  if (hand) return hand.ordering;
  const held = new Map(Object.entries(fixed).filter(([at, item]) => at < state.ordering.length && state.ordering.includes(item)).map(([at, item]) => [Number(at), item]));
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
      const { ordering, left_out: out, sides } = await api.order({ ...request(asked, state.collection.id), explain: false, alternatives: 1, budget_ms: SOON });
      if (mine !== state.wishes || state.settled) break;
      Object.assign(state, { ordering, out, sides });
      changed("preview");
    } catch { /* said when the step is made */ }
  }
  searching = null;
}

// What the server found.
function take(answer) {
  const { ordering, left_out: out, sides } = answer;
  Object.assign(state, { answer, ordering: [...ordering], out, sides, template: proposal(answer).template, settled: true });
  state.why = new Map(answer.items.map((row, position) => [ordering[position], row.why]));
}

export const proposal = ({ knots, values, interpolation, template: name, ordering, score }) =>
  ({ template: { knots, values: values.map(scalar), name, interpolation }, ordering, score });

// The answer to wishes; of the model's proposals the one that was taken, where it is still among them.
async function answered(wishes, signal) {
  const asked = request(wishes, state.collection.id), first = await api.order(asked, signal);
  if (wishes.template || wishes.hand) return first;
  const found = [first, ...first.alternatives].map(proposal);
  const fits = ({ template }) => sameTemplate(template, wishes.arc);
  const index = wishes.arc ? (fits(found[wishes.pick] ?? found[0]) ? wishes.pick : found.findIndex(fits)) : 0;
  const answer = index > 0 ? await api.order({ ...asked, choose: index + 1 }, signal) : first;
  Object.assign(state, { proposals: found, picked: Math.max(0, index) });
  return answer;
}

// A column that was chosen, or taken back: other numbers for the same items.
async function fitEssence({ by }) {
  if (by === state.collection.by) return;
  state.collection = await api.setEssence(state.collection.id, by);
  changed("essence");
}

// Of many items a first answer at once, along the arc on the screen, while the better one is searched for.
async function firstAnswer(wishes, signal) {
  const { length: n } = state.collection.items;
  if (wishes.hand || plain(wishes, state.roomy) || n <= FEW) return;
  const along = n > MANY && state.template ? { ...wishes, template: wishes.template ?? state.template } : wishes;
  const soon = await api.order({ ...request(along, state.collection.id), explain: false, alternatives: 1, budget_ms: SOON, choose: along.template ? 1 : wishes.pick + 1 }, signal);
  if (signal.aborted) return;
  const { ordering, left_out: out, sides } = soon;
  Object.assign(state, { ordering: [...ordering], out, sides, template: proposal(soon).template, settled: false });
  changed("preview");
}

// Ask the server for the order of the wishes as they are; the newest question wins.
export async function ask() {
  const { wishes } = state, shown = state.ordering.join();
  asking?.abort();
  if (sameOrder(wishes, state.good) && state.answer) return held(wishes);
  const mine = (asking = new AbortController());
  state.settled = false;
  newest = null;
  if (wishes.template) state.template = wishes.template;
  if (wishes.template && !wishes.hand && plain(wishes, state.roomy) && wishes.by === state.collection.by) layAll(wishes);
  else if (state.answer) state.ordering = guessed(wishes);
  changed(state.ordering.join() !== shown || !state.answer || !plain(wishes, state.roomy) ? "order" : "preview");
  $("rows").setAttribute("aria-busy", "true");
  busy("search", true, "Looking for the best order");
  try {
    await fitEssence(wishes);
    if (mine !== asking) return;
    await firstAnswer(wishes, mine.signal);
    if (mine !== asking) return;
    const answer = await answered(wishes, mine.signal);
    if (mine !== asking) return;
    Object.assign(state, { good: wishes, refused: null });
    state.roomy = wishes.limit && !answer.left_out.length && !wishes.hand ? wishes.limit : state.roomy;
    take(answer);
    changed("order");
    changed("found");
  } catch (error) {
    if (error.name !== "AbortError" && mine === asking) refuse(error);
  } finally {
    if (mine === asking) {
      $("rows").removeAttribute("aria-busy");
      busy("search", false);
    }
  }
}

// Wishes that the order on the screen keeps as it is.
function held(wishes) {
  asking = null;
  state.good = wishes;
  $("rows").removeAttribute("aria-busy");
  busy("search", false);
  take(state.answer);
  changed("order");
  changed("found");
}

// Wishes that cannot hold are said, marked and undone: what is on the screen is what was found.
function refuse(error) {
  const { status, field, wishes = [], message } = error;
  if (status === 404) return changed("gone");
  if (![400, 422].includes(status) || !takeBack()) return say(message, { error: true, actions: [["Try again", ask]] });
  state.refused = { field, wishes, message: spoken(error) };
  say(`${spoken(error)} It is undone.`, { error: true });
  if (state.answer) take(state.answer);
  changed("undone");
}

const LABELS = { limit: "Longest in all", side_limit: "Longest side", sides: "Sides", apart: "Twice in a row", spreads: "Facing pages" };
function spoken(error) {
  const label = LABELS[error.field], text = label ? `${label}: ${error.message.slice(error.field.length + 2)}` : error.message;
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

// What the model proposes where the person has a template of her own.
export async function propose() {
  try {
    const answer = await api.order({ collection: state.collection.id, alternatives: 4, explain: false });
    Object.assign(state, { proposals: [answer, ...answer.alternatives].map(proposal), picked: -1 });
    changed("proposals");
  } catch (error) {
    say(error.message, { error: true });
  }
}
