// The shapes: what the model proposes, the templates by name, and the arcs of other collections.

import * as api from "./api.js";
import { flipped, samples } from "./curve.js";
import { $, el, say, svg } from "./dom.js";
import { asProposed, curveNow } from "./ordering.js";
import { commit, essence, state } from "./state.js";

let known = [];
let others = [];

export async function start() {
  known = await api.templates();
  $("flip").addEventListener("click", flip);
}

export function flip() {
  if (!state.before) commit({ curve: flipped(curveNow()) });
}

// Other collections that are open, to take their arc.
export async function findOthers() {
  others = (await api.collections().catch(() => [])).filter((one) => one.id !== state.collection.id && one.items > 1);
}

function picture(values) {
  const low = Math.min(...values), span = Math.max(...values) - low || 1;
  const points = values.map((v, i) => `${(4 + (64 * i) / (values.length - 1)).toFixed(1)},${(32 - (28 * (v - low)) / span).toFixed(1)}`);
  return svg("svg", { viewBox: "0 0 72 36", "aria-hidden": "true" }, svg("path", { d: `M${points.join("L")}` }));
}

function shape(name, values, title, chosen, action) {
  const node = el("button", { class: "shape", title, "aria-pressed": String(chosen), onclick: action });
  node.append(values ? picture(values) : el("span", { class: "like", "aria-hidden": "true" }, "≈"), el("span", {}, name));
  return node;
}

const same = (a, b) => a && a.length === b.length && a.every((value, i) => Math.abs(value - b[i]) < 1e-9);

export function render() {
  if (!state.collection) return;
  const now = state.wishes.curve, is = (curve) => Boolean(now) && same(now.values, curve.values) && same(now.knots, curve.knots);
  const seen = {};
  const proposed = state.proposals.map(({ curve, ordering, score }, i) => {
    const times = (seen[curve.name] = (seen[curve.name] || 0) + 1);
    const told = score === null || score === undefined ? "" : ` (score ${score.toFixed(2)})`;
    const title = `${i ? "Another proposal" : "What the model finds likeliest"}: ${curve.name}${told}`;
    const chosen = is(curve) && (!state.wishes.exactly || same(state.wishes.exactly, ordering));
    return shape(times > 1 ? `${curve.name} (${times})` : curve.name, samples(curve, 41), title, chosen, () => commit({ curve, exactly: asProposed(ordering) }));
  });
  const template = ({ name, description, knots, values, samples: drawn }) =>
    shape(name.replaceAll("-", " "), drawn, description, is({ knots, values }), () => commit({ curve: { knots, values, name } }));
  const named = known.filter((one) => !learned(one)).map(template), found = known.filter(learned);
  const like = others.map(({ id, title }) => shape(`like ${title}`, null, `The arc of ${title}`, false, () => follow(id)));
  const strip = $("shapes"), focused = [...strip.querySelectorAll("button")].indexOf(document.activeElement);
  strip.replaceChildren(...(proposed.length > 1 ? [label("Proposed"), ...proposed, label("By name")] : []), ...named, ...like, ...more(found, template));
  if (focused >= 0) strip.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
}

// Templates that were learned, shown when they are asked for.
const learned = ({ name }) => /\d/.test(name);
let opened = false;
function more(found, template) {
  if (!found.length) return [];
  const toggle = el("button", { class: "link strip-more", "aria-expanded": String(opened) }, `Learned from albums (${found.length})`);
  toggle.addEventListener("click", () => {
    opened = !opened;
    render();
  });
  return [toggle, ...(opened ? found.map(template) : [])];
}

const label = (text) => el("span", { class: "strip-label soft" }, text);

async function follow(id) {
  try {
    const answer = await api.order({ collection: state.collection.id, like: id, alternatives: 1, why: false });
    commit({ curve: { ...answer.curve, name: answer.template } });
  } catch (error) {
    say(error.message, { error: true });
  }
}

// What rises and falls: the model's essence or a column.
export function renderColumns() {
  const { by, columns } = state.collection, select = $("by");
  const options = columns.map((name) => el("option", { value: name }, words(name)));
  select.replaceChildren(el("option", { value: "" }, "What the model hears"), ...options);
  select.value = by || "";
  select.options[0].disabled = Boolean(by) && !["duration_ms", "loudness"].every((name) => columns.includes(name));
  $("by-field").hidden = !columns.length || essence().length < 2;
}
const words = (name) => ({ duration_ms: "length", duration: "length", loudness: "loudness" })[name] || name.replaceAll("_", " ");
