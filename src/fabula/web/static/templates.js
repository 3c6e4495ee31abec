// The templates to choose from: what the model proposes, those with a name, and the arcs of other collections.

import { attempt } from "./announce.js";
import * as api from "./api.js";
import { $, el, svg } from "./dom.js";
import { currentTemplate, isFollowing } from "./layout.js";
import { listEverything } from "./open.js";
import { commit, essence, state } from "./state.js";
import { flipTemplate, isSameTemplate, samples } from "./template.js";

const MOST = 6; // other collections
let known = [], others = [], opened = false, stop = 0;

export async function start() {
  known = await api.templates();
  $("flip").addEventListener("click", flip);
  $("templates").addEventListener("keydown", onKey);
  $("templates").addEventListener("focusin", (event) => setStop(all().indexOf(event.target)));
}

export function flip() {
  if (!state.before && isFollowing()) commit({ template: flipTemplate(currentTemplate()) });
}

// One stop of the Tab key; the arrows go from one to the next.
const all = () => [...$("templates").querySelectorAll("button")];
function setStop(index) {
  if (index >= 0) stop = index;
  all().forEach((button, i) => (button.tabIndex = i === Math.min(stop, all().length - 1) ? 0 : -1));
}
function onKey(event) {
  const buttons = all(), at = buttons.indexOf(document.activeElement), last = buttons.length - 1;
  const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
  if (to === undefined || at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  buttons[Math.min(last, Math.max(0, to))].focus();
}

// Other collections that are open, to take their arc.
export async function findOthers() {
  others = (await listEverything()).filter((one) => one.open && one.id !== state.collection.id && one.items > 1).slice(0, MOST);
}

function drawCurve(values) {
  const low = Math.min(...values), span = Math.max(...values) - low || 1;
  const points = values.map((v, i) => `${(4 + (64 * i) / Math.max(1, values.length - 1)).toFixed(1)},${(32 - (28 * (v - low)) / span).toFixed(1)}`);
  return svg("svg", { viewBox: "0 0 72 36", "aria-hidden": "true" }, svg("path", { d: `M${points.join("L")}` }));
}

function makeButton(name, values, title, chosen, action, sign = "≈") {
  const node = el("button", { class: "template", title, "aria-pressed": String(chosen), onclick: action, tabindex: -1 });
  node.append(values ? drawCurve(values) : el("span", { class: "like", "aria-hidden": "true" }, sign), el("span", { class: "template-name", dir: "auto" }, name));
  return node;
}

// How likely a proposal is beside the likeliest.
function describeLikelihood(score) {
  const less = Math.max(...state.proposals.map((one) => one.score ?? -Infinity)) - (score ?? Infinity);
  return less > 1.1 ? ", less likely" : less > 0.22 ? ", a little less likely" : "";
}

function makeProposals() {
  const own = !state.wishes.template;
  const { arc, model, by } = state.collection, free = Boolean(model) && !by;
  return state.proposals.map(({ template, ordering, score }, i) => {
    const name = i ? `order ${i + 1}` : "proposed"; // two may have the same arc
    const title = `${i ? "Another proposal" : `What ${free ? "the model" : "fabula"} proposes`}${i ? describeLikelihood(score) : ""}`;
    const heights = !free ? samples(template, 41) : arc ? ordering.map((item) => arc.values[item]) : null;
    return makeButton(name, heights, title, own && i === state.picked, () => commit({ template: null, arc: template, pick: i }), String(i + 1));
  });
}

export function render() {
  if (!state.collection) return;
  const first = makeProposals(), now = state.wishes.template;
  const alone = !now && first.length < 2 && isFollowing() ? state.template.name : null; // what is followed where none was chosen
  /** @param {any} one */
  const named = ({ name, description, samples: drawn, ...template }) =>
    makeButton(name, drawn, description, isSameTemplate(now, template) || name === alone, () => commit({ template: { ...template, name } }));
  const like = others.map(({ id, name }) => makeButton(`like ${name}`, null, `The arc of ${name}`, false, () => followCollection(id)));
  const strip = $("templates"), focused = all().indexOf(document.activeElement);
  const start = first.length > 1 || now ? [...first, el("span", { class: "strip-line", "aria-hidden": "true" })] : [];
  strip.replaceChildren(...start, ...known.filter((one) => !isLearned(one)).map(named), ...like, ...listLearned(known.filter(isLearned), named));
  setStop(-1);
  showPressed(strip);
  if (focused >= 0) all()[focused]?.focus({ preventScroll: true });
}

// What is chosen is seen.
function showPressed(strip) {
  const pressed = strip.querySelector('[aria-pressed="true"]');
  if (pressed && (pressed.offsetLeft < strip.scrollLeft || pressed.offsetLeft + pressed.offsetWidth > strip.scrollLeft + strip.clientWidth)) strip.scrollLeft = pressed.offsetLeft - 12;
}

// Templates that were learned from many collections, shown when they are asked for.
const isLearned = ({ name }) => /\d/.test(name);
function listLearned(found, named) {
  if (!found.length) return [];
  const toggle = el("button", { class: "link strip-more", "aria-expanded": String(opened), tabindex: -1 }, `Learned from collections (${found.length})`);
  toggle.addEventListener("click", () => {
    opened = !opened;
    render();
  });
  return [toggle, ...(opened ? found.map(named) : [])];
}

const followCollection = (id) => attempt(async () => {
  const { knots, values, interpolation, template: name } = await api.order({ collection: state.collection.id, like: id, alternatives: 1, explain: false });
  commit({ template: { knots, values, name, interpolation } });
});

// What rises and falls: what a model makes of the items, or a column.
export function renderColumns() {
  const { by, axis, columns, model, medium, pending, knows_model: able } = state.collection, select = $("by");
  const options = columns.map(({ name, label: text }) => el("option", { value: name }, text));
  select.replaceChildren(el("option", { value: "" }, axis && !by ? `${axis.name}, ${axis.unit}` : pending ? (medium.axis ?? "What a model finds") : model ? `What the model “${model.name}” finds` : "What a model finds"), ...options);
  select.value = by || "";
  select.options[0].disabled = !able;
  $("by-field").hidden = !state.collection.pending && (!columns.length || essence().length < 2);
  select.disabled = Boolean(state.collection.pending);
}
