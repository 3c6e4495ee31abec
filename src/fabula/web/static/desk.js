// The desk around the arc and the list: the controls, what is said of the order, and the item that is chosen.

import { $, el } from "./dom.js";
import { count, label, laid, pins, sideName, templateNow } from "./ordering.js";
import * as pinning from "./pinning.js";
import * as player from "./player.js";
import { state } from "./state.js";

// The words of the medium where the page has its own.
export function fillWords({ medium, items, length_text: length }) {
  const { words, unit } = medium;
  $("apart-text").textContent = `No ${words.creator} twice in a row`;
  for (const id of ["side-limit", "limit"]) {
    $(id).placeholder = unit.example;
    $(id).disabled = !length;
    $(id).title = length ? `In ${unit.name}, such as ${unit.example}` : `The length of some ${words.items} is not known`;
  }
  $("apart").disabled = new Set(items.map((item) => item.creator).filter(Boolean)).size < 2;
}

export function notes(lines) {
  const box = $("notes");
  box.hidden = !lines.length;
  box.querySelector("summary").textContent = lines.length === 1 ? "1 note" : `${lines.length} notes`;
  box.querySelector("ul").replaceChildren(...lines.map((line) => el("li", {}, line)));
}

export function controls() {
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
  $("free").disabled = !pins().size && !wishes.together.length;
  for (const id of ["draw", "flip"]) $(id).disabled = state.before;
  $("given").setAttribute("aria-pressed", state.before);
  $("desk").classList.toggle("before", state.before);
  $("list-name").textContent = state.before ? "The order before" : "The order";
  const length = state.before || !answer ? collection.length_text : answer.length_texts.all;
  const several = `${count() < all ? `${count()} of ${all}` : all} ${all === 1 ? words.item : words.items}`;
  $("total").textContent = [several, length].filter(Boolean).join(" · ");
}

const percent = (part) => `${part < 0.01 ? "less than 1" : Math.round(100 * part)} %`;

// How near the order is to the template; while something is dragged, too.
export function verdict() {
  const { name } = templateNow(), rows = laid();
  $("arc-name").textContent = name ? name.replaceAll("-", " ").replace(/^./, (c) => c.toUpperCase()) : "The arc";
  const mean = rows.reduce((sum, row) => sum + Math.abs(row.off), 0) / rows.length;
  const worst = Math.max(...rows.map((row) => Math.abs(row.off)));
  let text = `${state.before ? "As it was" : state.wishes.hand ? "By hand" : "Off the template"}: ${mean.toFixed(2)} on average, ${worst.toFixed(2)} at most`;
  if (state.settled && !state.before) text += closeness(state.answer.gap);
  $("verdict").textContent = text;
}

function closeness(gap) {
  if (gap === null) return "; how close it is to the best is not known";
  return gap > 0.0005 ? `; another order could be better by ${percent(gap)} at most` : "";
}

// What the model has to say, in a sentence; and what smoothness changed.
export function says() {
  const { answer, collection } = state, lines = [];
  const { model, medium } = collection, column = collection.columns.find(({ name }) => name === collection.by);
  if (model) {
    const knows = model.knows.length > 1 ? `${model.knows.slice(0, -1).join(", ")} and ${model.knows.at(-1)}` : model.knows[0];
    lines.push(`The model “${model.name}” knows the ${knows} of a ${medium.words.item} and nothing else.`);
    if (answer?.likelier) lines.push(`It finds this order ${times(answer.likelier)} as ${answer.given_name}.`);
  } else if (column) lines.push(`What rises and falls is ${column.label}; no model has a say in it.`);
  for (const { name, unit, mean } of answer?.changes || []) {
    lines.push(`Steps in ${name}: ${mean[0].toFixed(1)} ${unit} on average as given, ${mean[1].toFixed(1)} now.`);
  }
  $("says").textContent = state.before ? "" : lines.join(" ");
  likesTable();
}

function times(likelier) {
  if (likelier > 1e6) return "more than a million times as likely";
  if (likelier >= 9.95) return `${Math.round(likelier).toLocaleString("en")} times as likely`;
  if (likelier > 0.95 && likelier < 1.05) return "as likely";
  return likelier >= 1 ? `${likelier.toFixed(1)} times as likely` : `only ${percent(likelier)} as likely`;
}

export function inspect() {
  const item = state.chosen, box = $("inspector");
  box.hidden = item === null;
  if (item === null) return;
  const rows = laid(), row = rows.find((one) => one.item === item), last = rows.length - 1;
  const { title, preview } = state.collection.items[item], plays = preview && player.canPlay(state.collection);
  $("one-title").textContent = row ? `${label(row)}. ${title}` : title;
  $("one-why").textContent = !row ? "left out" : state.before ? "" : state.why.get(item) || "";
  likes(item, row);
  const free = !state.before, here = Boolean(row), next = here && row.position < last, linked = pinning.isLinked(item);
  const actions = [
    [pins().has(item) ? "Unlock" : "Lock here", () => pinning.toggleLock(item), free && here],
    ["First", () => pinning.pin(item, 0), free && row?.position !== 0],
    ["Last", () => pinning.pin(item, last), free && (next || !here)],
    ...ends(item, free),
    [linked ? "Let the next go" : "Keep with next", () => pinning.toggleLink(item), free && here && (next || linked)],
    ...(plays ? [["Play", () => player.playItem(item), here], ["Play transition", () => player.playTransition(row.position), next]] : []),
  ];
  const bar = box.querySelector(".actions"), focused = [...bar.children].indexOf(document.activeElement);
  bar.replaceChildren(...actions.map(([text, action, able]) => el("button", { onclick: action, disabled: !able }, text)));
  if (focused >= 0) bar.children[Math.min(focused, bar.children.length - 1)].focus();
}

// Where the model finds that the item likes to stand: a bar for each position, its own marked.
function likes(item, row) {
  const shares = state.before ? null : state.answer?.likes?.[item], box = $("one-likes");
  box.hidden = !shares;
  if (!shares) return;
  const top = Math.max(...shares), best = shares.indexOf(top) + 1;
  box.setAttribute("aria-label", `Likes to stand at position ${best} most`);
  box.title = "Where the model finds it likes to stand, from the first position to the last";
  box.replaceChildren(...shares.map((share, position) => {
    const bar = el("i", { class: row?.position === position ? "here" : "" });
    bar.style.height = `${(8 + (92 * share) / top).toFixed(0)}%`;
    return bar;
  }));
}

// The same of all items, in their order: items by positions, the darker the likelier.
function likesTable() {
  const shares = state.before || !state.settled ? null : state.answer?.likes, box = $("likes-all");
  box.hidden = !shares;
  if (!shares || !box.open) return;
  const top = Math.max(...shares.flat()), table = $("likes-table");
  table.style.gridTemplateColumns = `minmax(4rem, 10rem) repeat(${shares.length}, minmax(6px, 20px))`;
  table.replaceChildren(...state.ordering.flatMap((item, position) => [
    el("span", {}, state.collection.items[item].title),
    ...shares[item].map((share, column) => {
      const cell = el("i", { class: column === position ? "here" : "" });
      cell.style.opacity = (0.06 + (0.94 * share) / top).toFixed(2);
      return el("b", {}, cell);
    }),
  ]));
}
$("likes-all").addEventListener("toggle", likesTable);

// Openers of the later sides, and closes of the earlier ones; those of the whole are First and Last.
function ends(item, free) {
  const { sides } = state.wishes, numbers = sides > 1 ? [...Array(sides).keys()] : [];
  return [
    ...numbers.slice(1).map((side) => [`Open ${sideName(side)}`, () => pinning.pinEnd(item, "first", side), free]),
    ...numbers.slice(0, -1).map((side) => [`Close ${sideName(side)}`, () => pinning.pinEnd(item, "last", side), free]),
  ];
}
