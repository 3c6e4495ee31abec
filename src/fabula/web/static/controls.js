// The controls around the arc and the list, and what is said of the order.

import { $, capital, el } from "./dom.js";
import { arcOf, areAllAlike, count, currentTemplate, hasArc, isFollowing, layRows, pins } from "./layout.js";
import { commit, state, titleOf } from "./state.js";

export function start() {
  $("apart").addEventListener("change", (event) => commit({ apart: event.target.checked }));
  $("sides").addEventListener("change", (event) => setSides(event.target.value));
  $("side-limit").addEventListener("change", (event) => commit({ sideLimit: event.target.value.trim() }));
  $("limit").addEventListener("change", (event) => commit({ limit: event.target.value.trim() }));
  $("spreads").addEventListener("change", (event) => commit({ spreads: event.target.value }));
  $("smoothness").addEventListener("change", (event) => commit({ smoothness: Number(event.target.value) }));
  $("steps").addEventListener("change", () => commit({ smoothBy: [...$("steps").querySelectorAll("input:checked")].map(({ value }) => value) }));
  $("gap").addEventListener("input", (event) => ($("gap-text").textContent = gapText(Number(event.target.value))));
  $("gap").addEventListener("change", (event) => commit({ gap: Number(event.target.value), hand: state.wishes.hand }));
  $("by").addEventListener("change", (event) => commit({ by: event.target.value || null, template: null, arc: null, pick: 0 }));
  $("opens").addEventListener("change", (event) => pinEnd(event.target.value, 0));
  $("closes").addEventListener("change", (event) => pinEnd(event.target.value, state.ordering.length - 1));
  $("free").addEventListener("click", () => commit({ fixed: {}, together: [], ends: { first: {}, last: {} } }));
}

// Let an item open or close the whole, or nobody in particular.
function pinEnd(value, position) {
  const fixed = { ...state.wishes.fixed }, item = Number(value);
  delete fixed[position];
  for (const [at, one] of Object.entries(fixed)) if (value !== "" && one === item) delete fixed[at];
  commit({ fixed: value === "" ? fixed : { ...fixed, [position]: item } });
}

// Who may open and who may close, the likeliest first.
const MOST_ENDS = 200;
function renderEnds() {
  const { answer, wishes, collection } = state, last = state.ordering.length - 1;
  for (const [id, position] of Object.entries({ opens: 0, closes: last })) {
    const select = $(id), held = wishes.fixed[position], share = (item) => answer?.likes?.[item]?.[position] ?? 0;
    const items = collection.items.map((_, item) => item).sort((a, b) => share(b) - share(a) || a - b).slice(0, MOST_ENDS);
    if (held !== undefined && !items.includes(held)) items.push(held);
    const key = `${items.map((item) => `${item} ${titleOf(item)}`).join("\n")} ${Boolean(answer?.likes)}`;
    if (select.dataset.key !== key) {
      select.dataset.key = key;
      select.replaceChildren(el("option", { value: "" }, "As found"), ...items.map((item) => el("option", { value: item }, titleOf(item))));
    }
    select.value = held === undefined ? "" : held;
    select.disabled = state.before || last < 1;
  }
}

function setSides(text) {
  const sides = Math.min(8, state.collection.items.length, Math.max(1, Math.round(Number(text)) || 1));
  const stay = (named) => Object.fromEntries(Object.entries(named).filter(([side]) => Number(side) < sides));
  const { ends: { first, last }, hand, sideLimit } = state.wishes;
  $("sides").value = sides;
  commit({ sides, ends: { first: stay(first), last: stay(last) }, sideLimit: sides > 1 ? sideLimit : "", hand: hand && { ordering: hand.ordering, sides: [] } });
}

const gapText = (gap) => (gap > 0 ? `${gap} s of silence` : gap < 0 ? `${-gap} s of crossfade` : "no gap");

// The words of the medium where the page has its own.
export function fillWords({ medium, items, length_text: length }) {
  const { words, unit, preview } = medium;
  $("apart-text").textContent = `No ${words.creator} twice in a row`;
  $("sides-text").textContent = capital(`${words.side}s`);
  $("side-limit-text").textContent = `Longest ${words.side}`;
  for (const id of ["side-limit", "limit"]) {
    $(id).placeholder = unit.example;
    $(id).disabled = !length;
    $(id).title = length ? `In ${unit.name}, such as ${unit.example}` : `The length of some ${words.items} is not known`;
  }
  $("apart").disabled = new Set(items.map((item) => item.creator).filter(Boolean)).size < 2;
  $("gap-field").hidden = preview.kind !== "sound";
  $("spreads-field").hidden = !medium.faces;
}

export function showNotes(lines) {
  const box = $("notes");
  box.hidden = !lines.length;
  const missing = lines.find((line) => /^\d+ of \d+ opened; /.test(line)), count = lines.length;
  box.querySelector("summary").textContent = `${count === 1 ? "1 note" : `${count} notes`}${missing ? `: ${missing}` : ""}`;
  box.querySelector("ul").replaceChildren(...lines.map((line) => el("li", {}, line)));
}

export function renderControls() {
  const { wishes, collection, answer } = state, { words } = collection.medium, all = collection.items.length;
  $("undo").disabled = !state.past.length;
  $("redo").disabled = !state.future.length;
  $("apart").checked = wishes.apart;
  $("sides").value = wishes.sides;
  $("sides").max = Math.min(8, all);
  $("side-limit").value = wishes.sideLimit;
  $("side-limit").disabled = wishes.sides < 2 || !collection.length_text;
  $("limit").value = wishes.limit;
  $("smoothness").value = wishes.smoothness;
  renderSteps(wishes, answer?.steps || []);
  $("spreads").value = wishes.spreads;
  $("gap").value = wishes.gap;
  $("gap-text").textContent = gapText(wishes.gap);
  $("by").value = wishes.by || "";
  renderEnds();
  $("free").disabled = !pins().size && !wishes.together.length;
  $("draw").disabled = state.before || !hasArc() || Boolean(collection.pending);
  $("flip").disabled = state.before || !isFollowing();
  $("given").setAttribute("aria-pressed", state.before);
  $("desk").classList.toggle("before", state.before);
  $("list-name").textContent = state.before ? "The order before" : "The order";
  const { pending } = collection, out = collection.left_out ?? [];
  $("opening-cancel").hidden = $("opening-bar").hidden = !pending;
  $("left-out").hidden = !out.length;
  $("left-out").textContent = out.length ? `${all} of ${all + out.length} opened; left out: ${nameSome(out)}` : "";
  const length = answer ? answer.length_texts[state.before ? "before" : "all"] : collection.length_text;
  const several = `${count() < all ? `${count()} of ${all}` : all} ${all === 1 ? words.item : words.items}`;
  if (!pending) $("total").textContent = [several, length].filter(Boolean).join(" · ");
  markRefused();
}

// What was left out and why, as much of it as can be read at a glance.
function nameSome(out) {
  const told = out.slice(0, 3).map(({ name, why }) => `${name} (${why})`).join("; ");
  return out.length > 3 ? `${told}; and ${out.length - 3} more` : told;
}

// Which steps count, once there is an answer that has some; a box that was just ticked keeps the focus.
function renderSteps({ smoothness, smoothBy }, steps) {
  const box = $("steps"), known = [...box.querySelectorAll("input")], names = steps.map(({ name }) => name);
  box.hidden = !smoothness || steps.length < 2;
  if (box.hidden) return;
  if (known.map(({ value }) => value).join() !== names.join()) {
    const made = names.map((value) => el("label", { class: "check" }, el("input", { type: "checkbox", value }), ` ${value}`));
    box.replaceChildren(box.querySelector("legend"), ...made);
  }
  for (const input of box.querySelectorAll("input")) {
    input.checked = smoothBy.length ? smoothBy.includes(input.value) : steps.find(({ name }) => name === input.value).counts;
  }
}

// A wish that could not hold is marked where it is set, until something else is asked for.
const FIELDS = { limit: "limit", side_limit: "side-limit", sides: "sides", apart: "apart", spreads: "spreads" };
function markRefused() {
  const named = new Set([state.refused?.field, ...(state.refused?.wishes || []).map(({ field }) => field)]);
  for (const [field, id] of Object.entries(FIELDS)) {
    if (named.has(field)) {
      $(id).setAttribute("aria-invalid", "true");
      $(id).setAttribute("aria-describedby", "wish-error");
    } else for (const name of ["aria-invalid", "aria-describedby"]) $(id).removeAttribute(name);
  }
  $("wish-error").hidden = !state.refused;
  $("wish-error").textContent = state.refused ? `${state.refused.message} This wish is not kept; the order shown is the one before.` : "";
}

const percent = (part) => `${part < 0.01 ? "less than 1" : Math.round(100 * part)} %`;

// What the picture shows: the arc of the order as it stands, or how near it is to the template; while something is dragged, too.
export function showVerdict() {
  const { name } = currentTemplate(), rows = layRows(), follows = isFollowing(), arc = arcOf(state.answer);
  const column = state.collection.columns.find((one) => one.name === state.collection.by), along = arc?.name ?? column?.label ?? "";
  const title = follows ? name || "The template" : along ? `${along.slice(0, 1).toUpperCase()}${along.slice(1)}` : "No arc";
  if ($("arc-name").textContent !== title) $("arc-name").textContent = title;
  if (state.collection.pending) {
    const axis = state.collection.medium.axis ?? "";
    $("arc-name").textContent = axis ? `${axis[0].toUpperCase()}${axis.slice(1)}` : "The order";
    return void ($("verdict").textContent = "drawn as soon as all are measured");
  }
  if (!follows) return showStanding(arc);
  let sum = 0, worst = 0;
  for (const { off } of rows) [sum, worst] = [sum + Math.abs(off), Math.max(worst, Math.abs(off))];
  let text = `${state.before ? "As it was" : state.wishes.hand ? "By hand" : "Off the template"}: ${(sum / rows.length).toFixed(2)} on average, ${worst.toFixed(2)} at most`;
  if (state.settled && !state.before) text += describeGap(state.answer.gap);
  if ($("verdict").textContent !== text) $("verdict").textContent = text;
}

// Of an order that follows no template.
function showStanding(arc) {
  const { words } = state.collection.medium, how = state.before ? "as it was" : state.wishes.hand ? "made by hand" : "as it stands";
  const text = arc ? `${arc.unit ? `${arc.unit}, ` : ""}of the order ${how}` : `The order of these ${words.items} is by what goes beside what`;
  if ($("verdict").textContent !== text) $("verdict").textContent = text;
}

function describeGap(gap) {
  return gap === null || gap > 0.0005 ? "; not proven best" : "";
}

// What the model has to say, in a sentence; and what smoothness changed.
export function explainModel() {
  if (state.collection.pending) return void ($("says").textContent = "");
  const { answer, collection } = state, lines = [], { model, medium } = collection;
  const column = collection.columns.find(({ name }) => name === collection.by);
  if (areAllAlike()) lines.push(`Nothing tells these ${medium.words.items} apart here: every order follows the template as well as this one.`);
  else if (model) {
    lines.push(isFollowing() ? `Laid along the template; the model “${model.name}” has no say in it.` : `Ordered by the model “${model.name}”.`);
    if (answer?.sure > 0.515 && !isFollowing()) lines.push(`It is ${percent(answer.sure)} sure which of two ${medium.words.items} comes first.`);
  } else if (column) lines.push(`What rises and falls is ${column.label}; no model has a say in it.`);
  for (const { name, unit, mean } of answer?.changes || []) {
    lines.push(`Steps in ${name}: ${mean[0].toFixed(1)} ${unit} on average as given, ${mean[1].toFixed(1)} now.`);
  }
  const text = state.before ? "" : lines.join(" ");
  if ($("says").textContent !== text) $("says").textContent = text;
}
