// From wishes to the order on the screen: at once where two sorts do it, from the server where a search is needed.

import * as api from "./api.js";
import { at, orderAlong, samples } from "./curve.js";
import { $, say } from "./dom.js";
import { changed, essence, replaceWishes, state } from "./state.js";

let asking = null;

// Whether the page can find the order by itself.
export function plain(wishes) {
  return !wishes.together.length && !wishes.apart && !wishes.smoothness && wishes.sides === 1 && !tooLong(wishes.limit);
}

// Whether something must be left out to keep within a limit.
function tooLong(limit) {
  return Boolean(limit) && state.collection.items.reduce((sum, item) => sum + item.seconds, 0) > 60 * limit;
}

// A proposal's own ordering, where the wishes leave it as it is.
export const asProposed = (ordering) => (plain(state.wishes) && !Object.keys(state.wishes.fixed).length ? ordering : null);

// How many items are in the order on the screen, and which of them are pinned.
export const count = () => (state.before ? state.collection.items : state.ordering).length;
export const pins = () => new Set(state.before ? [] : Object.values(state.wishes.fixed));

// The curve on the screen, also before the server has spoken.
export const curveNow = () => state.wishes.curve || { knots: [0, 1], values: [0, 0], name: "" };

// The order for wishes that are not yet a step: while a knot or a row is dragged.
export function preview(changes) {
  const wishes = { ...state.wishes, exactly: null, ...changes };
  if (plain(wishes)) layAll(wishes);
  else searched(wishes);
  changed("preview");
}

function layAll({ curve, fixed, exactly }) {
  state.ordering = exactly ? [...exactly] : orderAlong(essence(), samples(curve, state.collection.items.length), fixed);
  Object.assign(state, { out: [], scaled: null });
}

// What the server found; it counts the items that are left.
function take(answer) {
  const out = answer.left_out || [], gone = new Set(out);
  const kept = state.collection.items.map((_, item) => item).filter((item) => !gone.has(item));
  const ordering = answer.ordering.map((index) => kept[index]);
  const value = ({ essence: told }) => (Array.isArray(told) ? told[0] : told);
  const scaled = out.length ? new Map(answer.items.map((row, place) => [ordering[place], value(row)])) : null;
  Object.assign(state, { answer, ordering, out, scaled });
}

// While dragging among wishes that need a search: one question at a time, then the newest.
let searching = null, newest = null;
async function searched(wishes) {
  newest = wishes;
  if (searching) return;
  const mine = (searching = state.wishes);
  while (newest && mine === state.wishes) {
    const asked = newest;
    newest = null;
    try {
      const answer = await api.order({ ...request(asked), why: false, alternatives: 1 });
      if (mine !== state.wishes) break;
      take(answer);
      changed("preview");
    } catch { /* told when the step is made */ }
  }
  searching = null;
}

function request(wishes) {
  const fixed = wishes.exactly ? Object.fromEntries(wishes.exactly.map((item, place) => [place, item])) : wishes.fixed;
  const asked = { collection: state.collection.id, fixed, alternatives: 4 };
  if (wishes.curve) Object.assign(asked, { template: wishes.curve, normalise: false });
  if (wishes.exactly) return asked;
  if (wishes.together.length) asked.together = wishes.together;
  if (wishes.apart) asked.apart = "artist";
  if (wishes.smoothness) asked.smoothness = wishes.smoothness;
  if (tooLong(wishes.limit)) asked.limit = 60 * wishes.limit;
  if (wishes.sides > 1) Object.assign(asked, { sides: wishes.sides, side_limit: wishes.sideLimit ? 60 * wishes.sideLimit : null });
  return asked;
}

// Ask the server for the order of the wishes as they are; the newest question wins.
export async function ask() {
  const wishes = state.wishes, shown = state.ordering.join();
  if (wishes.exactly || (wishes.curve && plain(wishes))) layAll(wishes);
  if (state.ordering.join() !== shown || !state.answer || !plain(wishes)) changed("order");
  else changed("preview");
  asking?.abort();
  const mine = (asking = new AbortController());
  $("rows").setAttribute("aria-busy", "true");
  try {
    const answer = await api.order(request(wishes), mine.signal);
    if (mine !== asking) return;
    take(answer);
    state.why = new Map(answer.items.map((row, place) => [state.ordering[place], row.why]));
    changed("order");
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, { error: true });
  } finally {
    if (mine === asking) $("rows").removeAttribute("aria-busy");
  }
}

// The model's own arcs; the likeliest becomes the curve of a collection that has none.
export async function propose() {
  try {
    const answer = await api.order({ collection: state.collection.id, alternatives: 4, why: false });
    const curve = (fit) => ({ ...fit.curve, name: fit.template });
    state.proposals = [answer, ...answer.alternatives].map((fit) => ({ curve: curve(fit), ordering: fit.ordering, score: fit.score }));
    if (!state.wishes.curve) replaceWishes({ curve: state.proposals[0].curve, exactly: asProposed(state.proposals[0].ordering) });
    changed("proposals");
  } catch (error) {
    say(error.message, { error: true });
  }
}

// How many items each side has; one number without sides.
export function sides() {
  const n = count(), told = state.answer?.sides;
  const valid = !state.before && state.wishes.sides > 1 && told && told.reduce((a, b) => a + b, 0) === n;
  return valid ? told : [n];
}

// Target and deviation of each place for what is on the screen; each side follows the curve from its start.
export function laid(curve = curveNow()) {
  const ordering = state.before ? state.collection.items.map((_, i) => i) : state.ordering;
  const rows = [], scaled = state.before ? null : state.scaled;
  for (const [side, length] of sides().entries()) {
    for (let j = 0; j < length; j++) {
      const place = rows.length, item = ordering[place], value = scaled?.get(item) ?? state.collection.items[item].essence;
      const target = at(curve, length > 1 ? j / (length - 1) : 0);
      rows.push({ item, place, side, first: j === 0, value, target, off: value - target });
    }
  }
  return rows;
}
