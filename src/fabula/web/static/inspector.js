// The item that is chosen, or several at once: what it is called, why it stands there, what to do with it; how it
// joins its neighbours, where the model would put it, and its picture large.

import { notify } from "./announce.js";
import * as api from "./api.js";
import * as constraints from "./constraints.js";
import { $, el } from "./dom.js";
import { areAllAlike, currentOrder, label, layAllRows, layRows, pins, sideName } from "./layout.js";
import { choose, describeFacts } from "./list.js";
import * as player from "./player.js";
import { clearSeveral } from "./selection.js";
import { commit, onChange, state, titleOf } from "./state.js";

export function start() {
  $("one-edit").addEventListener("click", beginEdit);
  $("one-name").addEventListener("keydown", (event) => {
    if (event.key === "Enter") rename();
    else if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    endEdit();
  });
  $("one-name").addEventListener("blur", () => !$("one-name").hidden && (rename(), endEdit()));
  $("one-wave").addEventListener("click", (event) => {
    const box = $("one-wave").getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
    if (state.chosen !== null) player.playItem(state.chosen, Math.max(0.01, share * (state.collection.items[state.chosen].length || 0)));
  });
  $("zoom-prev").addEventListener("click", () => stepLarge(-1));
  $("zoom-next").addEventListener("click", () => stepLarge(1));
  $("zoom-close").addEventListener("click", () => $("zoom").close());
  $("zoom").addEventListener("close", () => large !== null && choose(large, { scroll: true }));
  $("zoom").addEventListener("keydown", onLargeKey);
  $("one-shown").addEventListener("click", () => state.collection.medium.preview.kind === "picture" && state.chosen !== null && openLarge(state.chosen));
  $("likes-all").addEventListener("toggle", drawOddsTable);
}

function beginEdit() {
  const field = $("one-name");
  field.value = titleOf(state.chosen);
  for (const [id, hidden] of Object.entries({ "one-name": false, "one-title": true, "one-edit": true })) $(id).hidden = hidden;
  field.focus();
  field.select();
}

// Another title for the item: what the page, its reasons and what is saved call it.
function rename() {
  const item = state.chosen, title = $("one-name").value.trim().slice(0, 400), rest = { ...state.wishes.titles };
  delete rest[item];
  const titles = !title || title === state.collection.items[item].title ? rest : { ...rest, [item]: title };
  commit({ titles, hand: state.wishes.hand });
}

function endEdit() {
  const focused = document.activeElement === $("one-name");
  for (const [id, hidden] of Object.entries({ "one-name": true, "one-title": false, "one-edit": false })) $(id).hidden = hidden;
  if (focused) $("one-edit").focus();
  inspect();
}

export function inspect() {
  const item = state.chosen, box = $("inspector"), many = state.several.size > 1;
  box.hidden = item === null;
  if (item === null) return;
  const row = layRows().find((one) => one.item === item), title = titleOf(item);
  $("one-title").textContent = many ? `${state.several.size} chosen` : row ? `${label(row)}. ${title}` : title;
  $("one-why").textContent = many ? "" : !row ? "left out" : state.before || areAllAlike() ? "" : state.why.get(item) || "";
  $("one-edit").hidden = many || state.before || !$("one-name").hidden;
  $("one-edit").setAttribute("aria-label", `Edit the title of ${title}`);
  $("one-facts").textContent = many ? "" : describeFacts(item);
  showPreview(many ? null : item);
  $("one-colours").replaceChildren(...(many ? [] : [makeColours(item)]));
  player.inspectWave(many ? null : item);
  drawOdds(many ? -1 : item, row);
  drawActions(many ? actionsOfSeveral() : actionsOfOne(item, row));
}

// What the medium shows of an item to the eye: a picture. Of a text the joins show how it begins and ends.
function showPreview(item) {
  const { kind } = state.collection.medium.preview, box = $("one-shown"), key = `${state.collection.id}/${item}`;
  const shows = item !== null && state.collection.items[item].preview && kind === "picture";
  box.hidden = !shows;
  if (!shows || box.dataset.item === key) return;
  box.dataset.item = key;
  box.replaceChildren(el("img", { src: api.cover(state.collection.id, item), alt: titleOf(item) }));
}

function actionsOfOne(item, row) {
  const { preview } = state.collection.items[item], plays = preview && player.canPlay(state.collection);
  const last = state.ordering.length - 1, free = !state.before, here = Boolean(row), next = here && row.position < last, linked = constraints.isLinked(item);
  return [
    [pins().has(item) ? "Unlock" : "Lock here", () => constraints.toggleLock(item), free && here],
    ["First", () => constraints.pin(item, 0), free && row?.position !== 0],
    ["Last", () => constraints.pin(item, last), free && (next || !here)],
    ...actionsOfSides(item, free),
    [linked ? "Let the next go" : "Keep with next", () => constraints.toggleLink(item), free && here && (next || linked)],
    ...(preview && state.covers && state.collection.medium.preview.kind === "picture" ? [["Show large", () => openLarge(item), true]] : []),
    ...(plays ? [["Play", () => player.playItem(item), here], ["Play transition", () => player.playTransition(item), next]] : []),
  ];
}

// Of several items.
function actionsOfSeveral() {
  const items = [...state.several].filter(constraints.isIn), free = !state.before && items.length > 0, held = pins();
  return [
    ["Lock here", () => constraints.lock(items), free && items.some((item) => !held.has(item))],
    ["Unlock", () => constraints.unlock(items), free && items.some((item) => held.has(item))],
    ["Keep together", () => constraints.keepTogether(items), free && items.length > 1],
    ["Choose none", clearSeveral, true],
  ];
}

// Openers of the later sides, and closes of the earlier ones; those of the whole are First and Last.
function actionsOfSides(item, free) {
  const { sides } = state.wishes, numbers = sides > 1 ? [...Array(sides).keys()] : [];
  return [
    ...numbers.slice(1).map((side) => [`Open ${sideName(side)}`, () => constraints.pinEnd(item, "first", side), free]),
    ...numbers.slice(0, -1).map((side) => [`Close ${sideName(side)}`, () => constraints.pinEnd(item, "last", side), free]),
  ];
}

function drawActions(actions) {
  const bar = $("actions"), focused = [...bar.children].indexOf(document.activeElement);
  bar.replaceChildren(...actions.map(([text, action, able]) => el("button", { onclick: action, disabled: !able }, text)));
  if (focused >= 0) (bar.children[Math.min(focused, bar.children.length - 1)] ?? bar).focus();
}

// Why there is nothing to hear of items that are files.
export function explainSilence({ silent, medium, items }) {
  const known = silent || (medium.preview.kind === "sound" && !items.some((item) => item.preview) && items.some((item) => item.path) ? "no previews: the files are not here" : "");
  $("silent").hidden = !known;
  $("silent").textContent = known ? `${known[0].toUpperCase()}${known.slice(1)}.` : "";
  if (known) notify(known);
}

// The few colours of an item, as the medium tells them.
export function makeColours(item) {
  const strip = el("span", { class: "colours", "aria-hidden": "true" });
  for (const colour of state.collection.items[item].colours) strip.append(Object.assign(el("i"), { title: colour }));
  [...strip.children].forEach((one, k) => (one.style.background = state.collection.items[item].colours[k]));
  return strip;
}

// One picture large: the arrows go through the order, Escape goes back.
const LARGE = 2000; // pixels
let large = null;

export function openLarge(item) {
  if (!state.collection.items[item].preview) return;
  showLarge(item);
  if (!$("zoom").open) $("zoom").showModal();
}

function onLargeKey(event) {
  const all = layAllRows(), steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -all.length, End: all.length };
  if (!(event.key in steps)) return;
  event.preventDefault();
  stepLarge(steps[event.key]);
}

function stepLarge(by) {
  const all = layAllRows(), at = all.findIndex((row) => row.item === large);
  showLarge(all[Math.min(all.length - 1, Math.max(0, at + by))].item);
}

// The small picture is there at once, the large one takes its place when it has come.
function showLarge(item) {
  const all = layAllRows(), at = all.findIndex((row) => row.item === item), row = all[at], image = $("zoom-image");
  large = item;
  image.src = api.cover(state.collection.id, item);
  image.alt = titleOf(item);
  const better = new Image();
  better.src = api.cover(state.collection.id, item, LARGE);
  better.decode().then(() => large === item && (image.src = better.src)).catch(() => null);
  $("zoom-name").textContent = `${row.out ? "" : `${label(row)}. `}${titleOf(item)}`;
  $("zoom-why").textContent = state.before ? "" : state.why.get(item) || "";
  $("zoom-colours").replaceChildren(makeColours(item));
  $("zoom-prev").disabled = at <= 0;
  $("zoom-next").disabled = at >= all.length - 1;
  const next = all[at + 1];
  if (next) new Image().src = api.cover(state.collection.id, next.item, LARGE);
}

// Joins to be read: how the item before ends and the chosen one begins, how that ends and the next one begins.
const known = new Map(); // collection/item -> {first, last}, or null where there is none
let wanted = "";

async function findEnds(item) {
  const { id } = state.collection, key = `${id}/${item}`;
  if (!known.has(key)) known.set(key, await api.ends(id, item).catch(() => null));
  return known.get(key);
}

// Texts are set as text, never as markup.
function makePage(title, words, side) {
  return el("div", { class: `join-page ${side}` }, el("p", { class: "soft join-title", dir: "auto" }, title), el("blockquote", { dir: "auto" }, words));
}

async function makeJoin(from, to) {
  const [one, other] = await Promise.all([findEnds(from), findEnds(to)]), { items } = state.collection;
  if (!one || !other) return null;
  return el("div", { class: "join" },
    makePage(`${items[from].title} ends`, one.last, "left-page"), makePage(`${items[to].title} begins`, other.first, "right-page"));
}

async function renderJoins() {
  const { collection, chosen } = state, place = chosen === null || !collection ? -1 : currentOrder().indexOf(chosen);
  if (!collection || collection.medium.preview.kind !== "text" || place < 0) return $("joins").replaceChildren();
  const all = currentOrder(), pairs = [[all[place - 1], chosen], [chosen, all[place + 1]]].filter((pair) => !pair.includes(undefined));
  const asked = `${collection.id} ${pairs.join(" ")}`;
  if (asked === wanted && $("joins").childElementCount) return;
  wanted = asked;
  const made = (await Promise.all(pairs.map((pair) => makeJoin(...pair)))).filter(Boolean);
  if (wanted === asked) $("joins").replaceChildren(...made);
}

onChange((what) => !["preview", "playing", "proposals", "screen", "wishes"].includes(what) && renderJoins());

// Where the model finds that items like to stand: bars for the item chosen, a table for all.
const MOST_ODDS = 40; // of more items the table says nothing to the eye

const shares = () => (state.before ? null : state.answer?.likes);

// A bar for each position, its own marked.
function drawOdds(item, row) {
  const found = shares()?.[item], box = $("one-likes");
  box.hidden = !found;
  if (!found) return;
  const top = Math.max(...found), best = found.indexOf(top) + 1;
  box.setAttribute("aria-label", `Likes to stand at position ${best} most`);
  box.title = "Where the model finds it likes to stand, from the first position to the last";
  box.replaceChildren(...found.map((share, position) => {
    const bar = el("i", { class: row?.position === position ? "here" : "" });
    bar.style.height = `${(8 + (92 * share) / top).toFixed(0)}%`;
    return bar;
  }));
}

// The same of all items, in their order: items by positions, the darker the likelier.
export function drawOddsTable() {
  const found = state.settled ? shares() : null, box = $("likes-all");
  box.hidden = !found || found.length > MOST_ODDS;
  if (box.hidden || !box.open) return;
  const top = Math.max(...found.flat()), grid = $("likes-table");
  grid.style.gridTemplateColumns = `minmax(4rem, 10rem) repeat(${found.length}, minmax(6px, 20px))`;
  grid.replaceChildren(...state.ordering.flatMap((item, position) => [
    el("span", { dir: "auto" }, titleOf(item)),
    ...found[item].map((share, column) => {
      const cell = el("i", { class: column === position ? "here" : "" });
      cell.style.opacity = (0.06 + (0.94 * share) / top).toFixed(2);
      return el("b", {}, cell);
    }),
  ]));
}
