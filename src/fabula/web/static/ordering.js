// From wishes to the order on the screen: at once where two sorts do it, from the server where a search is needed.

import * as api from "./api.js";
import { $, say } from "./dom.js";
import { changed, essence, keep, state, takeBack } from "./state.js";
import { at, orderAlong, samples } from "./template.js";

let asking = null;

// Whether the page can find the order by itself, while something is dragged.
export function plain(wishes) {
  const bounded = wishes.limit && wishes.limit !== state.roomy;
  return !wishes.together.length && !wishes.apart && !wishes.smoothness && wishes.sides === 1 && !bounded;
}

// How many items are in the order on the screen, and which of them are pinned.
export const count = () => (state.before ? state.collection.items : state.ordering).length;
export function pins() {
  const { fixed, ends, sides } = state.wishes;
  const held = sides > 1 ? [...Object.values(ends.first), ...Object.values(ends.last)] : [];
  return new Set(state.before ? [] : [...Object.values(fixed), ...held]);
}

// The template on the screen, also before the server has spoken.
export const templateNow = () => state.template || { knots: [0, 1], values: [0, 0], name: "" };

// The order for wishes that are not yet a step: while a knot or a row is dragged.
export function preview(changes) {
  const wishes = { ...state.wishes, hand: null, ...changes };
  if (changes.template) state.template = changes.template;
  state.settled = false;
  if (plain(wishes)) layAll(wishes);
  else searchSoon({ ...wishes, template: templateNow() });
  changed("preview");
}

function layAll({ fixed }) {
  state.ordering = orderAlong(essence(), samples(templateNow(), state.collection.items.length), fixed);
  Object.assign(state, { out: [], sides: [] });
}

// What the server found.
function take(answer) {
  const { ordering, left_out: out, sides } = answer;
  Object.assign(state, { answer, ordering: [...ordering], out, sides, template: proposal(answer).template, settled: true });
}

// Back to what the server found last: a drag was given up.
export function restore() {
  if (state.answer) take(state.answer);
  changed("order");
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
      const { ordering, left_out: out, sides } = await api.order({ ...request(asked), explain: false, alternatives: 1 });
      if (mine !== state.wishes || state.settled) break;
      Object.assign(state, { ordering, out, sides });
      changed("preview");
    } catch { /* said when the step is made */ }
  }
  searching = null;
}

const some = (named) => (Object.keys(named).length ? named : null);
const onSides = (named, sides) => some(Object.fromEntries(Object.entries(named).filter(([side]) => side < sides)));

function request(wishes) {
  const asked = { collection: state.collection.id, alternatives: 4, fixed: wishes.fixed };
  const template = wishes.template || (wishes.hand ? wishes.arc : null);
  if (template) Object.assign(asked, { template, scaled: false });
  if (wishes.sides > 1) asked.sides = wishes.sides;
  if (wishes.hand) {
    const { ordering, sides } = wishes.hand;
    return { ...asked, ordering, side_sizes: sides.length === wishes.sides && wishes.sides > 1 ? sides : [] };
  }
  if (wishes.together.length) asked.together = wishes.together;
  if (wishes.apart) asked.apart = "creator";
  if (wishes.smoothness) asked.smoothness = wishes.smoothness;
  if (wishes.limit) asked.limit = wishes.limit;
  if (wishes.sides > 1) {
    const { first, last } = wishes.ends;
    Object.assign(asked, { side_limit: wishes.sideLimit || null, first: onSides(first, wishes.sides), last: onSides(last, wishes.sides) });
  }
  return asked;
}

const same = (a, b) => a.length === b.length && a.every((value, i) => Math.abs(value - b[i]) < 1e-9);
export const sameTemplate = (a, b) => Boolean(a && b) && same(a.knots, b.knots) && same(a.values, b.values);

// The answer to wishes; of the model's proposals the one along the arc that was taken, where it is still among them.
async function answered(wishes, signal) {
  const asked = request(wishes), first = await api.order(asked, signal);
  if (wishes.template || wishes.hand) return first;
  const index = [first, ...first.alternatives].findIndex((fit) => sameTemplate(proposal(fit).template, wishes.arc));
  const answer = index > 0 ? await api.order({ ...asked, choose: index + 1 }, signal) : first;
  state.proposals = answer.alternatives.toSpliced(Math.max(0, index), 0, answer).map(proposal);
  if (index < 0) wishes.arc = proposal(answer).template;
  return answer;
}

// Of several dimensions the first is drawn.
const scalar = (value) => (Array.isArray(value) ? value[0] : value);
const proposal = ({ knots, values, template: name, ordering, score }) =>
  ({ template: { knots, values: values.map(scalar), name }, ordering, score });

// Ask the server for the order of the wishes as they are; the newest question wins.
export async function ask() {
  const wishes = (state.wishes = { ...state.wishes }), shown = state.ordering.join();
  state.settled = false;
  if (wishes.template) state.template = wishes.template;
  if (wishes.template && !wishes.hand && plain(wishes)) layAll(wishes);
  changed(state.ordering.join() !== shown || !state.answer || !plain(wishes) ? "order" : "preview");
  asking?.abort();
  const mine = (asking = new AbortController());
  $("rows").setAttribute("aria-busy", "true");
  try {
    const answer = await answered(wishes, mine.signal);
    if (mine !== asking) return;
    state.good = wishes;
    state.roomy = wishes.limit && !answer.left_out.length && !wishes.hand ? wishes.limit : state.roomy;
    state.why = new Map(answer.items.map((row, position) => [answer.ordering[position], row.why]));
    take(answer);
    keep();
    changed("order");
  } catch (error) {
    if (error.name !== "AbortError" && mine === asking) refuse(error);
  } finally {
    if (mine === asking) $("rows").removeAttribute("aria-busy");
  }
}

const LABELS = { limit: "Longest in all", side_limit: "Longest side", sides: "Sides", apart: "Twice in a row" };

// Wishes that cannot hold are said and undone: what is on the screen is what was found.
function refuse(error) {
  const label = LABELS[error.field];
  say(label ? `${label}: ${error.message.slice(error.field.length + 2)}` : error.message, { error: true });
  if (![400, 422].includes(error.status) || !takeBack()) return;
  if (state.wishes !== state.good) return ask();
  take(state.answer);
  changed("undone");
}

// What the model proposes where the person has a template of her own.
export async function propose() {
  try {
    const answer = await api.order({ collection: state.collection.id, alternatives: 4, explain: false });
    state.proposals = [answer, ...answer.alternatives].map(proposal);
    changed("proposals");
  } catch (error) {
    say(error.message, { error: true });
  }
}

// How many items each side has; one number without sides.
export function sides() {
  const n = count(), sizes = state.before ? [] : state.sides;
  return sizes.length && sizes.reduce((a, b) => a + b, 0) === n ? sizes : [n];
}

// How long a side is, as text; nothing where that is not known.
export const lengthOfSide = (side) => (state.before ? "" : state.answer?.length_texts.sides[side] || "");

// What a position is called: 3, or B1.
export const sideName = (side) => String.fromCharCode(65 + side);
export const label = ({ position, side, number }) => (sides().length > 1 ? `${sideName(side)}${number}` : String(position + 1));

// Target and deviation of each position for what is on the screen; each side follows the template from its beginning.
export function laid(template = templateNow()) {
  const ordering = state.before ? state.collection.items.map((_, i) => i) : state.ordering;
  const found = state.settled && !state.before ? state.answer.items : null, rows = [];
  for (const [side, size] of sides().entries()) {
    for (let j = 0; j < size; j++) {
      const position = rows.length, item = ordering[position], value = state.collection.items[item].essence;
      const target = found ? scalar(found[position].target) : at(template, size > 1 ? j / (size - 1) : 0);
      rows.push({ item, position, side, number: j + 1, value, target, off: value - target });
    }
  }
  return rows;
}
