// What the server would answer, computed beforehand by site/make_demo.py; what needs no search is sorted here, as on the page.

import { at, fitOrder, samples } from "./template.js";

const { collection, answers, sides, pins } = DEMO;
const n = collection.items.length;

// The answer that is stored, with another order in it.
function answerWith(stored, ordering, { template = null, reasons = false } = {}) {
  const { knots, values, interpolation } = template ?? stored, sizes = stored.sides.length ? stored.sides : [n];
  const targets = sizes.flatMap((size) => Array.from({ length: size }, (_, j) => at({ knots, values, interpolation }, size > 1 ? j / (size - 1) : 0)));
  return {
    ...stored, knots, values, interpolation, template: template?.name ?? stored.template, ordering, left_out: [], likes: null, alternatives: [], result: null, steps: [],
    arc: { ...stored.arc, values: ordering.map((item) => collection.arc.values[item]) },
    items: ordering.map((item, j) => ({ target: targets[j], why: reasons ? stored.why[j] : "" })),
  };
}

// Pinned beyond what is stored: the others as they follow each other.
function keepOthers(ordering, fixed) {
  const held = new Set(Object.values(fixed)), rest = ordering.filter((item) => !held.has(item));
  return ordering.map((_, position) => fixed[position] ?? rest.shift());
}

export async function order({ template = null, fixed = {}, ordering = null, sides: count = 1 }) {
  const named = template && answers[template.name] ? template.name : "", grid = count > 1 ? sides : answers, stored = grid[named];
  const pinned = Object.entries(fixed);
  if (ordering) return answerWith({ ...stored, sides: [] }, ordering, { template });
  if (!template || count > 1) {
    if (!pinned.length) return answerWith(stored, stored.ordering, { reasons: true });
    if (pinned.length === 1 && count === 1) return answerWith(stored, [...pins[pinned[0][1]][pinned[0][0]]].map(Number));
    return answerWith(stored, keepOthers(stored.ordering, fixed));
  }
  const same = named && !pinned.length && JSON.stringify(answers[named].values) === JSON.stringify(template.values);
  if (same) return answerWith(stored, stored.ordering, { reasons: true });
  return answerWith(stored, fitOrder(collection.items.map((item) => item.essence), samples(template, n), fixed), { template });
}

const folder = new URL("demo/", document.currentScript.src);
export const preview = (_, item) => new URL(encodeURIComponent(collection.items[item].path), folder).href;
export const wave = () => Promise.reject(new Error("none is stored"));
