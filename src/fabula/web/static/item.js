// The item that is chosen, or several at once: what it is called, why it stands there, and what to do with it.

import * as api from "./api.js";
import { allAlike } from "./desk.js";
import { $, el } from "./dom.js";
import { label, laid, pins, sideName } from "./laid.js";
import * as likes from "./likes.js";
import * as pinning from "./pinning.js";
import * as player from "./player.js";
import { commit, state, titleOf } from "./state.js";
import { say } from "./voice.js";
import { colours } from "./tiles.js";
import * as wave from "./wave.js";
import { open as zoom } from "./zoom.js";

export function start() {
  $("one-edit").addEventListener("click", edit);
  $("one-name").addEventListener("keydown", (event) => {
    if (event.key === "Enter") rename();
    else if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    leave();
  });
  $("one-name").addEventListener("blur", () => !$("one-name").hidden && (rename(), leave()));
  $("one-wave").addEventListener("click", (event) => {
    const box = $("one-wave").getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
    if (state.chosen !== null) player.playItem(state.chosen, Math.max(0.01, share * (state.collection.items[state.chosen].length || 0)));
  });
}

function edit() {
  const field = $("one-name");
  field.value = titleOf(state.chosen);
  for (const [id, hidden] of [["one-name", false], ["one-title", true], ["one-edit", true]]) $(id).hidden = hidden;
  field.focus();
  field.select();
}

// Another title for the item: what the page, its reasons and what is saved call it.
function rename() {
  const item = state.chosen, title = $("one-name").value.trim().slice(0, 400), { [item]: _, ...rest } = state.wishes.titles;
  const titles = !title || title === state.collection.items[item].title ? rest : { ...rest, [item]: title };
  commit({ titles, hand: state.wishes.hand });
}

function leave() {
  const focused = document.activeElement === $("one-name");
  for (const [id, hidden] of [["one-name", true], ["one-title", false], ["one-edit", false]]) $(id).hidden = hidden;
  if (focused) $("one-edit").focus();
  inspect();
}

export function inspect() {
  const item = state.chosen, box = $("inspector"), many = state.several.size > 1;
  box.hidden = item === null;
  if (item === null) return;
  const row = laid().find((one) => one.item === item), title = titleOf(item);
  $("one-title").textContent = many ? `${state.several.size} chosen` : row ? `${label(row)}. ${title}` : title;
  $("one-why").textContent = many ? "" : !row ? "left out" : state.before || allAlike() ? "" : state.why.get(item) || "";
  $("one-edit").hidden = many || state.before || !$("one-name").hidden;
  $("one-edit").setAttribute("aria-label", `Edit the title of ${title}`);
  picture(many ? null : item);
  $("one-colours").replaceChildren(...(many ? [] : [colours(item)]));
  wave.inspect(many ? null : item);
  likes.bars(many ? -1 : item, row);
  buttons(many ? together() : alone(item, row));
}

// What the medium shows of an item to the eye: a picture, or the beginning of a text.
async function picture(item) {
  const { kind } = state.collection.medium.preview, box = $("one-shown"), key = `${state.collection.id}/${item}`;
  const shows = item !== null && state.collection.items[item].preview && ["picture", "text"].includes(kind);
  box.hidden = !shows;
  if (!shows || box.dataset.item === key) return;
  box.dataset.item = key;
  if (kind === "picture") return box.replaceChildren(el("img", { src: api.cover(state.collection.id, item), alt: titleOf(item) }));
  const text = await api.beginning(api.preview(state.collection.id, item)).catch(() => "");
  if (box.dataset.item === key) box.replaceChildren(el("p", { dir: "auto" }, text));
}

function alone(item, row) {
  const { preview } = state.collection.items[item], plays = preview && player.canPlay(state.collection);
  const last = state.ordering.length - 1, free = !state.before, here = Boolean(row), next = here && row.position < last, linked = pinning.isLinked(item);
  return [
    [pins().has(item) ? "Unlock" : "Lock here", () => pinning.toggleLock(item), free && here],
    ["First", () => pinning.pin(item, 0), free && row?.position !== 0],
    ["Last", () => pinning.pin(item, last), free && (next || !here)],
    ...ends(item, free),
    [linked ? "Let the next go" : "Keep with next", () => pinning.toggleLink(item), free && here && (next || linked)],
    ...(preview && state.covers && state.collection.medium.preview.kind === "picture" ? [["Show large", () => zoom(item), true]] : []),
    ...(plays ? [["Play", () => player.playItem(item), here], ["Play transition", () => player.playTransition(item), next]] : []),
  ];
}

// Of several items.
function together() {
  const items = [...state.several].filter(pinning.isIn), free = !state.before && items.length > 0, held = pins();
  return [
    ["Lock here", () => pinning.lock(items), free && items.some((item) => !held.has(item))],
    ["Unlock", () => pinning.unlock(items), free && items.some((item) => held.has(item))],
    ["Keep together", () => pinning.keepTogether(items), free && items.length > 1],
    ["Choose none", () => $("rows").dispatchEvent(new CustomEvent("none")), true],
  ];
}

// Openers of the later sides, and closes of the earlier ones; those of the whole are First and Last.
function ends(item, free) {
  const { sides } = state.wishes, numbers = sides > 1 ? [...Array(sides).keys()] : [];
  return [
    ...numbers.slice(1).map((side) => [`Open ${sideName(side)}`, () => pinning.pinEnd(item, "first", side), free]),
    ...numbers.slice(0, -1).map((side) => [`Close ${sideName(side)}`, () => pinning.pinEnd(item, "last", side), free]),
  ];
}

function buttons(actions) {
  const bar = $("actions"), focused = [...bar.children].indexOf(document.activeElement);
  bar.replaceChildren(...actions.map(([text, action, able]) => el("button", { onclick: action, disabled: !able }, text)));
  if (focused >= 0) (bar.children[Math.min(focused, bar.children.length - 1)] ?? bar).focus();
}

// Why there is nothing to hear of items that are files.
export function silence({ silent, medium, items }) {
  const known = silent || (medium.preview.kind === "sound" && !items.some((item) => item.preview) && items.some((item) => item.path) ? "no previews: the files are not here" : "");
  $("silent").hidden = !known;
  $("silent").textContent = known ? `${known[0].toUpperCase()}${known.slice(1)}.` : "";
  if (known) say(known);
}
