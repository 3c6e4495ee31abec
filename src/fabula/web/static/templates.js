// The templates to choose from: what the model proposes, those with a name, and the arcs of other collections.

import * as api from "./api.js";
import { $, el, say, svg } from "./dom.js";
import { sameTemplate, templateNow } from "./ordering.js";
import { commit, essence, state } from "./state.js";
import { flipped, samples } from "./template.js";

let known = [];
let others = [];

export async function start() {
  known = await api.templates();
  $("flip").addEventListener("click", flip);
}

export function flip() {
  if (!state.before) commit({ template: flipped(templateNow()) });
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

function button(name, values, title, chosen, action) {
  const node = el("button", { class: "template", title, "aria-pressed": String(chosen), onclick: action });
  node.append(values ? picture(values) : el("span", { class: "like", "aria-hidden": "true" }, "≈"), el("span", {}, name));
  return node;
}

// How likely a proposal is beside the likeliest.
function likelihood(score) {
  const best = Math.max(...state.proposals.map((one) => one.score ?? -Infinity));
  const share = Math.round(100 * Math.exp((score ?? best) - best));
  return share < 100 ? `, ${share < 1 ? "less than 1" : share} % as likely as the likeliest` : "";
}

function proposed() {
  const seen = {}, own = !state.wishes.template;
  return state.proposals.map(({ template, score }, i) => {
    const times = (seen[template.name] = (seen[template.name] || 0) + 1);
    const title = `${i ? "Another proposal" : "What the model proposes"}: ${template.name}${likelihood(score)}`;
    const chosen = own && sameTemplate(state.wishes.arc, template);
    return button(times > 1 ? `${template.name} (${times})` : template.name, samples(template, 41), title, chosen, () => commit({ template: null, arc: template }));
  });
}

export function render() {
  if (!state.collection) return;
  const first = proposed(), now = state.wishes.template;
  const named = ({ name, description, knots, values, samples: drawn }) =>
    button(name.replaceAll("-", " "), drawn, description, sameTemplate(now, { knots, values }), () => commit({ template: { knots, values, name } }));
  const like = others.map(({ id, title }) => button(`like ${title}`, null, `The arc of ${title}`, false, () => follow(id)));
  const strip = $("templates"), focused = [...strip.querySelectorAll("button")].indexOf(document.activeElement);
  const start = first.length > 1 ? [label("Proposed"), ...first, label("By name")] : [];
  strip.replaceChildren(...start, ...known.filter((one) => !learned(one)).map(named), ...like, ...more(known.filter(learned), named));
  if (focused >= 0) strip.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
}

// Templates that were learned from many collections, shown when they are asked for.
const learned = ({ name }) => /\d/.test(name);
let opened = false;
function more(found, named) {
  if (!found.length) return [];
  const toggle = el("button", { class: "link strip-more", "aria-expanded": String(opened) }, `Learned from collections (${found.length})`);
  toggle.addEventListener("click", () => {
    opened = !opened;
    render();
  });
  return [toggle, ...(opened ? found.map(named) : [])];
}

const label = (text) => el("span", { class: "strip-label soft" }, text);

async function follow(id) {
  try {
    const { knots, values, template: name } = await api.order({ collection: state.collection.id, like: id, alternatives: 1, explain: false });
    commit({ template: { knots, values, name } });
  } catch (error) {
    say(error.message, { error: true });
  }
}

// What rises and falls: what a model makes of the items, or a column.
export function renderColumns() {
  const { by, columns, model, knows_model: able } = state.collection, select = $("by");
  const options = columns.map(({ name, label: text }) => el("option", { value: name }, text));
  select.replaceChildren(el("option", { value: "" }, model ? `What the model “${model.name}” finds` : "What a model finds"), ...options);
  select.value = by || "";
  select.options[0].disabled = !able;
  $("by-field").hidden = !columns.length || essence().length < 2;
}
