// What is on the screen, position by position: where each item stands, on which side, and how far off the template.

import { essence, state } from "./state.js";
import { at } from "./template.js";

// Of several dimensions the first is drawn.
export const scalar = (value) => (Array.isArray(value) ? value[0] : value);

export const currentOrder = () => (state.before ? state.collection.items.map((_, i) => i) : state.ordering);
export const count = () => (state.before ? state.collection.items : state.ordering).length;
export const currentTemplate = () => state.template || { knots: [0, 1], values: [0, 0], name: "", interpolation: "cubic" };

// Whether the order is laid along a template: one that was chosen or drawn, or of numbers that no model orders.
export const isFollowing = () => Boolean(state.template) && Boolean(state.trial || state.wishes.template || state.collection.by || !state.collection.model);

// What rises and falls in the order as it stands: {name, unit, values in its order}; null where there is no such thing.
export const arcOf = (answer) => (isFollowing() ? answer?.arc : state.collection.arc) ?? null;

// Whether there is anything to draw: an arc of the items, or a template that they follow.
export const hasArc = () => Boolean(state.collection.pending && state.collection.medium.axis) || isFollowing() || Boolean(state.collection.arc);

// How high an item stands in the picture: on the scale of the template that it follows, else in the arc's own unit.
const heightOf = (item, follows) => (follows ? state.collection.items[item].essence : (state.collection.arc?.values[item] ?? state.collection.items[item].essence));

// How heights are read by people: {a, b} of a * height + b, in the unit of the arc; null where it has none.
const scales = new WeakMap();
export function readScale() {
  const { answer, collection } = state;
  if (!isFollowing()) return collection.arc ? { a: 1, b: 0 } : null;
  const found = answer?.arc;
  if (!found?.values || found.values.length !== answer.ordering.length) return null;
  if (!scales.has(answer)) {
    const known = answer.ordering.map((item, k) => [collection.items[item].essence, found.values[k]]).filter(([, value]) => Number.isFinite(value));
    known.sort(([one], [other]) => one - other);
    const [low, high] = [known[0], known.at(-1)], span = high ? high[0] - low[0] : 0, a = span > 1e-9 ? (high[1] - low[1]) / span : 0;
    scales.set(answer, a ? { a, b: low[1] - a * low[0] } : null);
  }
  return scales.get(answer);
}

// Which items are pinned.
export function pins() {
  const { fixed, ends, sides } = state.wishes;
  const held = sides > 1 ? [...Object.values(ends.first), ...Object.values(ends.last)] : [];
  return new Set(state.before ? [] : [...Object.values(fixed), ...held]);
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

// The side of a position, and how many items stand before it there.
export function sideOf(position, sizes = sides()) {
  let first = 0;
  for (const [side, size] of sizes.entries()) {
    if (position < first + size) return { side, first, size };
    first += size;
  }
  return { side: 0, first: 0, size: count() };
}

// Target and deviation of each position for what is on the screen, null where no template is followed; each side follows it
// from its beginning.
export function layRows(template = currentTemplate()) {
  const ordering = currentOrder(), follows = isFollowing();
  const found = state.settled && !state.before ? state.answer.items : null, rows = [];
  for (const [side, size] of sides().entries()) {
    for (let j = 0; j < size; j++) {
      const position = rows.length, item = ordering[position], value = heightOf(item, follows);
      const target = !follows ? null : found ? scalar(found[position].target) : at(template, size > 1 ? j / (size - 1) : 0);
      rows.push({ item, position, side, number: j + 1, value, target, off: follows ? value - target : null, out: false });
    }
  }
  return rows;
}

// The items in order, and behind them those left out: these are off no template.
export function layAllRows() {
  const all = layRows();
  if (!state.before) for (const item of state.out) all.push({ item, position: all.length, side: 0, number: 0, off: null, out: true });
  return all;
}

// Whether nothing tells the items apart: they stand equally high, and the model likes each as well anywhere.
const judged = new WeakMap();
export function areAllAlike() {
  const { answer, collection } = state;
  if (collection.pending || collection.items.length < 2 || new Set(essence()).size > 1) return false;
  if (!answer?.likes) return true;
  if (!judged.has(answer)) {
    const shares = answer.likes.flat(), [first] = shares;
    judged.set(answer, shares.every((share) => Math.abs(share - first) < 1e-3));
  }
  return judged.get(answer);
}
