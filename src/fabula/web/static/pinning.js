// What a person asks of single items: a position, an end of a side, a neighbour, or an order made by hand.

import { pins, sides } from "./ordering.js";
import { commit, state } from "./state.js";

const positionOf = (item) => (state.ordering.includes(item) ? state.ordering.indexOf(item) : null);
export const isIn = (item) => positionOf(item) !== null;

// Put an item at a position; pins in its way move on by one towards where it came from.
export function pinned(item, position, from) {
  const fixed = {}, step = from >= position ? 1 : -1, n = state.ordering.length;
  // Where items are left out, a pin beyond the end is one from the end.
  for (const [at, other] of Object.entries(state.wishes.fixed)) if (other !== item) fixed[at < n ? at : at - state.out.length] = other;
  let [moving, to] = [item, position];
  while (moving !== undefined) {
    const next = fixed[to];
    fixed[to] = moving;
    moving = next;
    to += step;
    if (to < 0 || to >= state.ordering.length) break;
  }
  return fixed;
}

// An item that was left out comes in from behind.
export function pin(item, position, from = positionOf(item) ?? state.ordering.length) {
  const to = Math.min(state.ordering.length - 1, Math.max(0, position));
  commit({ fixed: pinned(item, to, from), ends: withoutEnds(item) });
}

// Move an item alone, all others as they are: an order made by hand. What is pinned stays so where it stands now.
export function moveByHand(item, position) {
  const from = positionOf(item), sizes = sides(), to = Math.min(state.ordering.length - 1, Math.max(0, position));
  if (from === null) return;
  const ordering = state.ordering.toSpliced(from, 1).toSpliced(to, 0, item);
  const fixed = Object.fromEntries([...pins()].map((one) => [ordering.indexOf(one), one]).filter(([at]) => at >= 0));
  commit({ hand: { ordering, sides: sizes.length > 1 ? [...sizes] : [] }, fixed, ends: { first: {}, last: {} } });
}

function withoutEnds(item) {
  const rest = (named) => Object.fromEntries(Object.entries(named).filter(([, other]) => other !== item));
  return { first: rest(state.wishes.ends.first), last: rest(state.wishes.ends.last) };
}
const withoutFixed = (item) => Object.fromEntries(Object.entries(state.wishes.fixed).filter(([, other]) => other !== item));

// Open or close a side with an item.
export function pinEnd(item, end, side) {
  const ends = withoutEnds(item);
  commit({ ends: { ...ends, [end]: { ...ends[end], [side]: item } }, fixed: withoutFixed(item) });
}

// Lock an item where it is, or let it go; that alone moves nothing.
export function toggleLock(item) {
  const position = positionOf(item), { hand } = state.wishes;
  if (position === null) return;
  if (pins().has(item)) commit({ fixed: withoutFixed(item), ends: withoutEnds(item), hand });
  else commit({ fixed: pinned(item, position, position), hand });
}

export const isLinked = (item) => state.wishes.together.some((run) => run.includes(item) && run.at(-1) !== item);

// Keep an item with the one that follows it now, or let go of that.
export function toggleLink(item) {
  const runs = state.wishes.together.map((run) => [...run]), position = state.ordering.indexOf(item);
  const inside = runs.findIndex((run) => run.includes(item) && run.at(-1) !== item);
  if (inside >= 0) {
    const [run] = runs.splice(inside, 1), cut = run.indexOf(item) + 1;
    return commit({ together: [...runs, run.slice(0, cut), run.slice(cut)].filter((part) => part.length > 1) });
  }
  const next = state.ordering[position + 1];
  if (next === undefined || position < 0) return;
  const head = runs.find((run) => run.at(-1) === item) || [item], tail = runs.find((run) => run[0] === next) || [next];
  commit({ together: [...runs.filter((run) => run !== head && run !== tail), [...head, ...tail]] });
}
