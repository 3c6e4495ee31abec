// What a person asks of single items: a position, an end of a side, a neighbour, or an order made by hand.

import { pins, sideOf, sides } from "./layout.js";
import { commit, state } from "./state.js";

const positionOf = (item) => (state.ordering.includes(item) ? state.ordering.indexOf(item) : null);
export const isIn = (item) => positionOf(item) !== null;
// Where it stands; an item that was left out comes in from behind.
export const findPosition = (item) => positionOf(item) ?? state.ordering.length;

// Put an item at a position; pins in its way move on by one towards where it came from.
function pinAt(item, position, from) {
  const fixed = {}, step = from >= position ? 1 : -1, n = state.ordering.length;
  // Where items are left out, a pin beyond the end is one from the end.
  for (const [at, other] of Object.entries(state.wishes.fixed)) if (other !== item) fixed[Number(at) < n ? at : Number(at) - state.out.length] = other;
  let [moving, to] = [item, position];
  while (moving !== undefined) {
    const next = fixed[to];
    fixed[to] = moving;
    moving = next;
    to += step;
    if (to < 0 || to >= n) break;
  }
  return fixed;
}

const clampPosition = (position) => Math.min(state.ordering.length - 1, Math.max(0, position));

export function pin(item, position, from = findPosition(item)) {
  commit({ fixed: pinAt(item, clampPosition(position), from), ends: withoutEnds(item) });
}

// The wish of an item put at a position among sides as they were when it was taken up: at an end of a side it opens or
// closes that side, however long the side turns out.
export function placeAt(item, position, from, sizes) {
  const to = clampPosition(position), { side, first, size } = sideOf(to, sizes), last = sizes.length - 1;
  if (size > 1 && side > 0 && to === first) return endSide(item, "first", side);
  if (size > 1 && side < last && to === first + size - 1) return endSide(item, "last", side);
  return { fixed: pinAt(item, to, from), ends: withoutEnds(item) };
}

// Move an item alone, all others as they are: an order made by hand. What is pinned stays so where it stands now.
export function moveByHand(item, position) {
  const from = positionOf(item), sizes = sides();
  if (from === null) return;
  const ordering = state.ordering.toSpliced(from, 1).toSpliced(clampPosition(position), 0, item);
  const fixed = Object.fromEntries([...pins()].map((one) => [ordering.indexOf(one), one]).filter(([at]) => at >= 0));
  commit({ hand: { ordering, sides: sizes.length > 1 ? [...sizes] : [] }, fixed, ends: { first: {}, last: {} } });
}

// Two items change places, all others as they are.
export function swapByHand(one, other) {
  const ordering = state.ordering.map((item) => (item === one ? other : item === other ? one : item)), sizes = sides();
  const fixed = Object.fromEntries([...pins()].map((item) => [ordering.indexOf(item), item]).filter(([at]) => at >= 0));
  commit({ hand: { ordering, sides: sizes.length > 1 ? [...sizes] : [] }, fixed, ends: { first: {}, last: {} } });
}

const without = (named, gone) => Object.fromEntries(Object.entries(named).filter(([, other]) => !gone.has(other)));
const withoutEnds = (...items) => {
  const gone = new Set(items), { first, last } = state.wishes.ends;
  return { first: without(first, gone), last: without(last, gone) };
};
const withoutFixed = (...items) => without(state.wishes.fixed, new Set(items));

// Open or close a side with an item.
export const pinEnd = (item, end, side) => commit(endSide(item, end, side));
function endSide(item, end, side) {
  const ends = withoutEnds(item);
  return { ends: { ...ends, [end]: { ...ends[end], [side]: item } }, fixed: withoutFixed(item) };
}

// Lock items where they are, or let them go; locking moves nothing.
export function lock(items) {
  let { fixed } = state.wishes;
  for (const item of items.filter(isIn)) if (!pins().has(item)) fixed = { ...fixed, [positionOf(item)]: item };
  commit({ fixed, hand: state.wishes.hand }, { keeps: !state.out.length });
}
export function unlock(items) {
  commit({ fixed: withoutFixed(...items), ends: withoutEnds(...items), hand: state.wishes.hand });
}
export const toggleLock = (item) => (pins().has(item) ? unlock([item]) : lock([item]));

export const isLinked = (item) => state.wishes.together.some((run) => run.includes(item) && run.at(-1) !== item);

// Runs with these items, in the order they stand in, as one more run; runs that share an item are one.
function joinRuns(items) {
  const touching = state.wishes.together.filter((run) => run.some((item) => items.includes(item)));
  const others = state.wishes.together.filter((run) => !touching.includes(run)), all = [...new Set([...items, ...touching.flat()])];
  return [...others, all.sort((a, b) => state.ordering.indexOf(a) - state.ordering.indexOf(b))];
}

// Keep items together in the order they stand in. Neighbours stay as they are, and so does everything else.
export function keepTogether(items) {
  const at = items.map(positionOf).sort((a, b) => a - b);
  if (items.length < 2 || at.includes(null)) return;
  const keeps = at.every((position, k) => position === at[0] + k);
  commit({ together: joinRuns(items), hand: keeps ? state.wishes.hand : null }, { keeps });
}

// Keep an item with the one that follows it now, or let go of that.
export function toggleLink(item) {
  const runs = state.wishes.together, inside = runs.find((run) => run.includes(item) && run.at(-1) !== item);
  if (!inside) return keepTogether([item, state.ordering[positionOf(item) + 1]].filter((one) => one !== undefined));
  const cut = inside.indexOf(item) + 1, parts = [inside.slice(0, cut), inside.slice(cut)].filter((part) => part.length > 1);
  commit({ together: [...runs.filter((run) => run !== inside), ...parts], hand: state.wishes.hand });
}
