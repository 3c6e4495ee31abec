// What a person asks for: its shape, what is taken of it from a file, and the question it makes.

/** @typedef {{ knots: number[], values: number[], name: string, interpolation?: string }} Template */
/** @typedef {{ ordering: number[], sides: number[] }} Hand */
/** @typedef {{ template: Template | null, arc: Template | null, pick: number, hand: Hand | null, by: string | null, fixed: Record<string, number>, ends: { first: Record<string, number>, last: Record<string, number> }, together: number[][], apart: boolean, sides: number, sideLimit: string, limit: string, smoothness: number, smoothBy: string[], spreads: string, titles: Record<string, string>, gap: number }} Wishes */
/** @type {Readonly<Wishes>} */
export const NO_WISHES = Object.freeze({
  template: null, // {knots, values, name, interpolation} that was chosen or drawn; null follows what the model proposes
  arc: null, // of the proposals the one that was taken, as a template; null takes the likeliest
  pick: 0, // and which it was, as several may have the same arc
  hand: null, // {ordering, sides}: an order made by hand, taken as it is
  by: null, // the column that rises and falls; null is what a model finds
  fixed: {}, // position -> item
  ends: { first: {}, last: {} }, // side -> item
  together: [], // runs of items
  apart: false,
  sides: 1,
  sideLimit: "", // a length as people write it
  limit: "", // of all
  smoothness: 0,
  smoothBy: [], // the steps that count, by name; none: those that the medium counts
  spreads: "", // whether what faces on two pages is to "match" or to "contrast"
  titles: {}, // item -> what it is called now
  gap: 0, // seconds of silence between two items; below 0 they overlap
});

export const isAlike = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// Whether two wishes have the same answer.
/** @type {(a: Wishes | null, b: Wishes | null) => boolean} */
export const isSameOrder = (a, b) => Boolean(a && b) && isAlike(a, b);

const isNumber = (v) => typeof v === "number" && Number.isFinite(v);
const entries = (given) => Object.entries(given && typeof given === "object" ? given : {});

// A template from a file, where it has the right shape.
function asTemplate(given) {
  const { knots, values, name, interpolation } = given && typeof given === "object" ? given : {};
  const right = Array.isArray(knots) && knots.length >= 2 && knots.every(isNumber)
    && Array.isArray(values) && values.length === knots.length && values.every(isNumber);
  return right ? { knots, values, name: String(name || "drawn"), interpolation: interpolation === "monotone" ? "monotone" : "cubic" } : null;
}

function asHand(hand, ordering, item) {
  const whole = Array.isArray(ordering) && ordering.length && new Set(ordering).size === ordering.length && ordering.every(item);
  if (!whole) return null;
  const sizes = Array.isArray(hand?.sides) && hand.sides.every((size) => Number.isInteger(size) && size > 0) ? hand.sides : [];
  return { ordering, sides: sizes.reduce((a, b) => a + b, 0) === ordering.length ? sizes : [] };
}

// Wishes from a file: only what has the right shape is taken. Files before version 2 say `curve` and count minutes.
/** @returns {Wishes} */
export function checkWishes(wishes, { items: { length: n }, by: now, columns }) {
  if (!wishes || typeof wishes !== "object") return { ...NO_WISHES, by: now };
  const item = (v) => Number.isInteger(v) && v >= 0 && v < n;
  const items = (given, most) => Object.fromEntries(entries(given).filter(([key, value]) => Number(key) >= 0 && Number(key) < most && item(value)));
  const length = (v) => (typeof v === "string" ? v.slice(0, 40) : isNumber(v) && v > 0 ? `${v}m` : "");
  const { hand, fixed, ends, together, apart, sides, smoothness, smoothBy, spreads, by, pick, titles, gap } = wishes;
  return {
    template: asTemplate(wishes.template ?? wishes.curve),
    arc: asTemplate(wishes.arc),
    pick: Number.isInteger(pick) && pick >= 0 ? pick : 0,
    hand: asHand(hand, hand?.ordering ?? wishes.exactly, item),
    by: by === undefined ? now : columns.some(({ name }) => name === by) ? by : null,
    fixed: items(fixed, n),
    ends: { first: items(ends?.first, 8), last: items(ends?.last, 8) },
    together: Array.isArray(together) ? together.filter((run) => Array.isArray(run) && run.length > 1 && run.every(item)) : [],
    apart: apart === true,
    sides: Number.isInteger(sides) && sides >= 1 && sides <= 8 ? sides : 1,
    sideLimit: length(wishes.sideLimit),
    limit: length(wishes.limit),
    smoothness: isNumber(smoothness) ? smoothness : 0,
    smoothBy: Array.isArray(smoothBy) ? smoothBy.filter((name) => typeof name === "string" && name).slice(0, 20) : [],
    spreads: ["match", "contrast"].includes(spreads) ? spreads : "",
    titles: Object.fromEntries(entries(titles).filter(([key, text]) => item(Number(key)) && typeof text === "string" && text).map(([key, text]) => [key, text.slice(0, 400)])),
    gap: isNumber(gap) ? Math.min(30, Math.max(-12, gap)) : 0,
  };
}

// The same wishes where the items have other numbers: map gives the new one, undefined for an item that is gone.
/** @param {Wishes} wishes @param {(item: number) => number | undefined} map @returns {Wishes} */
export function renumber(wishes, map) {
  const named = (given) => Object.fromEntries(Object.entries(given).map(([key, item]) => [key, map(item)]).filter(([, item]) => item !== undefined));
  const runs = (given) => given.map((run) => run.map(map).filter((item) => item !== undefined)).filter((run) => run.length > 1);
  const { fixed, ends, together, titles } = wishes;
  return { ...wishes, hand: null, fixed: named(fixed), ends: { first: named(ends.first), last: named(ends.last) }, together: runs(together),
    titles: Object.fromEntries(Object.entries(titles).map(([item, title]) => [map(Number(item)), title]).filter(([item]) => item !== undefined)) };
}

const orNull = (named) => (Object.keys(named).length ? named : null);
const onSides = (named, sides) => orNull(Object.fromEntries(Object.entries(named).filter(([side]) => side < sides)));

// Whether the page can find the order by itself, while something is dragged; roomy is a limit that leaves nothing out.
export function isPlain(wishes, roomy) {
  const bounded = wishes.limit && wishes.limit !== roomy;
  return !wishes.together.length && !wishes.apart && !wishes.smoothness && !wishes.spreads && wishes.sides === 1 && !bounded;
}

// Wishes as the server takes them.
/** @param {Wishes} wishes @param {string} collection
 * @returns {Record<string, any>} */
export function makeRequest(wishes, collection) {
  const asked = { collection, alternatives: 4, fixed: wishes.fixed };
  if (orNull(wishes.titles)) asked.titles = wishes.titles;
  const template = wishes.template || (wishes.hand ? wishes.arc : null);
  if (template) asked.template = template;
  if (wishes.gap) asked.gap_s = wishes.gap;
  if (wishes.sides > 1) asked.sides = wishes.sides;
  if (wishes.hand) {
    const { ordering, sides } = wishes.hand;
    return { ...asked, ordering, side_sizes: sides.length === wishes.sides && wishes.sides > 1 ? sides : [] };
  }
  if (wishes.together.length) asked.together = wishes.together;
  if (wishes.apart) asked.apart = "creator";
  if (wishes.smoothness) {
    asked.smoothness = wishes.smoothness;
    if (wishes.smoothBy.length) asked.smooth_by = Object.fromEntries(wishes.smoothBy.map((name) => [name, 1]));
  }
  if (wishes.spreads) asked.spreads = wishes.spreads;
  if (wishes.limit) asked.limit = wishes.limit;
  if (wishes.sides > 1) {
    const { first, last } = wishes.ends;
    Object.assign(asked, { side_limit: wishes.sideLimit || null, first: onSides(first, wishes.sides), last: onSides(last, wishes.sides) });
  }
  return asked;
}
