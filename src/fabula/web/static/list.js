// The list: the same items as rows, and the columns they show. Of many rows only those on the screen are in the document.

import * as api from "./api.js";
import { isLinked } from "./constraints.js";
import { $, capital, el, icon, setIcon, sortNodes } from "./dom.js";
import { arcOf, areAllAlike, isFollowing, label, layAllRows, lengthOfSide, pins, readScale, sideName, sides } from "./layout.js";
import { isPlaying } from "./player.js";
import { emit, state, titleOf } from "./state.js";

const MANY = 120, SPARE = 4, LEAST = 12, LETTER = 6.4; // pixels of a letter of a reason
export const size = { row: 56, side: 30 }; // pixels; they grow with the text
const rows = new Map(); // item, or number of the slot where they are many -> parts of a row
let shown = [], columns = [], several = false, moving = 0, other = null;

// Another way to see the same items, in place of rows: {render, build, nodeOf, topOf}; null for rows.
export function setLook(look) {
  other = look;
  $("rows").hidden = $("heads").hidden = look !== null;
  $("column-heads").hidden = $("columns").hidden = look !== null;
  if (state.collection) render();
}
const nodeOf = (item) => (other ? other.nodeOf(item) : partsOf(item)?.row);

export const partsOf = (item) => [...rows.values()].find((parts) => parts.item === item);
const isMany = () => state.collection.items.length > MANY;

export function start() {
  for (const [target, name] of [[$("scroller"), "scroll"], [window, "scroll"], [window, "resize"]]) target.addEventListener(name, renderSoon, { passive: true });
  $("find").addEventListener("input", () => render());
}
function renderSoon() {
  moving ||= requestAnimationFrame(() => {
    moving = 0;
    if (state.collection && (other || isMany())) render({ settle: !other });
  });
}

// Every row anew: another collection, other numbers of it, or other columns.
let found = null;
export function build() {
  rows.clear();
  $("rows").replaceChildren();
  other?.build();
  const { items } = state.collection, creator = items[0]?.creator;
  renderColumns();
  columns = shownColumns();
  several = items.some((item) => item.creator !== creator);
  $("rows").setAttribute("aria-rowcount", items.length);
  if (found !== state.collection.id) $("find").value = "";
  found = state.collection.id;
  $("find").closest(".find").hidden = items.length < 20;
}

// Which columns there are is known with an answer.
export function refreshColumns() {
  const keys = columns.map(({ key }) => key).join();
  if (shownColumns().map(({ key }) => key).join() !== keys) build();
  else renderColumns();
  const box = $("list"), most = Math.max(0, ...[...state.why.values()].map((why) => why?.length ?? 0));
  box.classList.toggle("long", most > (box.clientWidth - 190) / LETTER);
  render();
}

const coverOf = (item) => (state.covers && state.collection.items[item].preview ? state.covers(item) : "");
export const isFinding = () => $("find").value.trim() !== "";

// The items there are; while one is looked for by its name, only those found.
function findRows() {
  const wanted = $("find").value.trim().toLowerCase(), all = layAllRows();
  const named = ({ item }) => `${titleOf(item)}\n${state.collection.items[item].creator}`.toLowerCase().includes(wanted);
  const kept = wanted ? all.filter(named) : all;
  $("find-count").textContent = !wanted ? "" : kept.length ? `${kept.length} of ${all.length}` : `None of ${all.length} is called that`;
  return kept;
}

// The rows of these, each with its height.
function layList() {
  const wanted = isFinding(), kept = findRows(), heads = wanted ? 0 : headCount();
  const gap = sides().length > 1 && !wanted ? size.side : 0;
  kept.forEach((row, k) => (row.top = k * size.row + (row.out ? heads * size.side : gap * (row.side + 1))));
  return { kept, height: kept.length * size.row + heads * size.side };
}
const leftOut = () => (state.before ? 0 : state.out.length);
const headCount = () => (sides().length > 1 ? sides().length : 0) + (leftOut() ? 1 : 0);

function measureText() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  Object.assign(size, { row: parseFloat(getComputedStyle($("list")).getPropertyValue("--row")) * rem, side: 1.875 * rem });
}

// settle: also for those who read them one after the other. Without it only what is seen moves.
export function render({ settle = true } = {}) {
  if (!state.collection || $("desk").hidden) return;
  if (other) return other.render(findRows(), { settle });
  if (settle) measureText();
  const { kept, height } = layList(), list = $("rows"), many = isMany(), now = { pinned: pins(), covers: coverOf };
  shown = kept;
  list.classList.toggle("still", many || state.dragged !== null);
  setStyle(list, "height", `${height}px`);
  const [from, to] = many ? visibleRows(kept.length) : [0, kept.length], keys = new Set();
  const alike = settle && areAllAlike();
  const stop = kept.some(({ item }) => item === state.chosen) ? state.chosen : kept[0]?.item, total = kept.length;
  for (let k = from; k < to; k++) {
    const data = kept[k], key = many ? k - from : data.item, parts = rows.get(key) ?? addRow(key);
    keys.add(key);
    fillRow(parts, data, now);
    if (parts.top !== data.top) parts.row.style.transform = `translateY(${(parts.top = data.top)}px)`;
    parts.position = data.position;
    parts.row.classList.toggle("lifted", data.item === state.dragged);
    if (settle) settleRow(parts, data, { several, stop, total, alike });
  }
  for (const [key, parts] of rows) if (!keys.has(key)) dropRow(key, parts);
  if (!settle) return;
  if (many) explainSoon(kept.slice(from, to));
  if (!many) sortNodes(list, kept.map(({ item }) => rows.get(item).row)); // in the document as on the screen
  keepFocus();
  drawHeads();
}

// Of very many rows the first are explained with the order; what the others go by is asked for when they are in view.
let waiting = 0;
function explainSoon(seen) {
  const { answer, collection, before } = state, asked = answer?.asked ?? new Set();
  const wanted = seen.filter(({ out, position }) => !out && position >= answer?.explained && !asked.has(position)).map(({ position }) => position);
  clearTimeout(waiting);
  if (before || !answer?.result || !wanted.length) return;
  waiting = setTimeout(async () => {
    const [first] = wanted, count = Math.min(wanted.at(-1) - first + 1, 60);
    for (let k = 0; k < count; k++) asked.add(first + k);
    answer.asked = asked;
    const { why } = await api.reasons(collection.id, answer.result, first, count).catch(() => ({ why: [] }));
    if (state.answer !== answer) return;
    why.forEach((text, k) => state.why.set(answer.ordering[first + k], text));
    render();
  }, 250);
}

const setStyle = (node, name, value) => node.style[name] !== value && (node.style[name] = value);

function addRow(key) {
  const parts = makeRow();
  rows.set(key, parts);
  $("rows").append(parts.row);
  return parts;
}
function dropRow(key, parts) {
  rows.delete(key);
  parts.row.remove();
}

// Which rows are on the screen, and a few beyond.
function visibleRows(count) {
  const list = $("rows").getBoundingClientRect(), box = $("scroller").getBoundingClientRect();
  const top = Math.max(box.top, 0) - list.top, bottom = Math.min(box.bottom, innerHeight) - list.top;
  const from = Math.max(0, Math.floor(top / size.row) - SPARE);
  return [Math.min(from, Math.max(0, count - 1)), Math.min(count, Math.max(from + LEAST, Math.ceil(bottom / size.row) + SPARE))];
}

// Where rows are filled anew the focus stays with the item.
function keepFocus() {
  const row = /** @type {HTMLElement | null} */ (document.activeElement?.closest?.(".row"));
  if (!row || Number(row.dataset.item) === state.chosen || state.chosen === null) return;
  partsOf(state.chosen)?.row.focus({ preventScroll: true });
}

// What stands above each side, and above what is left out.
function drawHeads() {
  const counts = sides(), box = $("heads");
  const groups = counts.length > 1 ? counts.map((count, side) => [`${capital(state.collection.medium.words.side)} ${sideName(side)}`, count, lengthOfSide(side)]) : [];
  let first = groups.length ? 0 : counts[0];
  if (leftOut()) groups.push(["Left out", leftOut(), state.answer?.length_texts.left_out || ""]);
  box.replaceChildren(...(isFinding() ? [] : groups).map(([name, count, length], side) => {
    const head = el("div", { class: "side" }, name, el("span", { class: "soft" }, length));
    head.style.transform = `translateY(${first * size.row + side * size.side}px)`;
    first += Number(count);
    return head;
  }));
}

export function showPlaying() {
  rows.forEach(showPlayback);
}

// Choose an item; its row comes into view and has the focus.
export function choose(item, { focus = true, scroll = false } = {}) {
  const same = state.chosen === item;
  state.chosen = item;
  if (scroll) scrollTo(item);
  if (!same) emit("chosen");
  if (focus) nodeOf(item)?.focus({ preventScroll: true });
}

function scrollTo(item) {
  const row = other ? other.topOf(item) : shown.find((one) => one.item === item), box = $("scroller"), tall = row?.height ?? size.row;
  if (!row) return;
  const own = box.scrollHeight > box.clientHeight + 2 && getComputedStyle(box).overflowY !== "visible";
  const [height, now, offset] = own ? [box.clientHeight, box.scrollTop, 0] : [innerHeight - 160, scrollY, (other?.root ?? $("rows")).getBoundingClientRect().top + scrollY];
  const top = row.top + offset, to = top < now ? top : top + tall > now + height ? top + tall - height : now;
  if (to !== now) (own ? box : window).scrollTo(0, to);
  if (other || isMany()) render();
}

// One row: made once, filled with whatever item stands there now; only what changed is written.
const DRAG = "Drag to a position to pin it there; with Shift nothing else moves";
const makeCell = (kind, ...inner) => el("span", { role: "gridcell", class: kind }, ...inner);

function makeRow() {
  const grip = el("button", { class: "grip", tabindex: -1 });
  const play = el("button", { class: "hear plain", tabindex: -1 }, icon("play"));
  const art = el("img", { class: "art", alt: "", loading: "lazy", hidden: true, onerror: () => (art.hidden = true) });
  const name = el("span", { class: "name", dir: "auto" }), sub = el("span", { class: "sub", dir: "auto" });
  const cells = columns.map(({ key }) => makeCell(`cell ${key === "length" ? "time" : key.replace(/\W/g, "-")}`));
  const lock = el("button", { class: "lock plain", tabindex: -1, "aria-pressed": "false" }, icon("open"));
  lock.dataset.icon = "open";
  const row = el("div", { class: "row", role: "row", tabindex: -1 }, makeCell("c-grip", grip), makeCell("c-hear", play),
    makeCell("what", art, el("span", { class: "words" }, name, sub)), ...cells, makeCell("c-lock", lock));
  return { row, grip, play, art, name, sub, cells, lock, was: {} };
}

// Write what is new.
function put(parts, key, value, write) {
  if (parts.was[key] === value) return;
  parts.was[key] = value;
  write(value);
}

// What is on the screen of the item, also while something is dragged.
function fillRow(parts, data, { pinned, covers }) {
  const { item, out: gone } = data, held = pinned.has(item), { preview } = state.collection.items[item];
  parts.item = item;
  put(parts, "item", item, () => (parts.row.dataset.item = item));
  put(parts, "number", gone ? "+" : label(data), (text) => (parts.grip.textContent = text));
  put(parts, "title", titleOf(item), (text) => (parts.name.textContent = text));
  columns.forEach(({ key, text: read }, k) => put(parts, key, read(data), (text) => (parts.cells[k].textContent = text)));
  put(parts, "held", held, () => setIcon(parts.lock, held ? "lock" : "open"));
  put(parts, "silent", !preview, (silent) => (parts.play.disabled = silent));
  put(parts, "cover", covers(item), (address) => showCover(parts.art, address));
  const on = item === state.chosen || state.several.has(item), linked = !state.before && isLinked(item);
  const kind = `row${held ? " pinned" : ""}${on ? " chosen" : ""}${gone ? " out" : ""}${linked ? " linked" : ""}${isPlaying(item) ? " playing" : ""}${state.marks.has(item) ? ` ${state.marks.get(item).kind}` : ""}`;
  put(parts, "kind", kind, () => (parts.row.className = kind));
}

function showCover(art, address) {
  art.hidden = !address;
  if (address) art.src = address;
  else art.removeAttribute("src");
}

// What is read of it, and by those who hear the page; once things have come to rest.
function settleRow(parts, data, { several, stop, total, alike }) {
  const { item, position, out: gone } = data, title = titleOf(item), held = parts.was.held;
  const why = gone || state.before || alike ? "" : state.why.get(item) || "";
  const { creator } = state.collection.items[item], mark = state.marks.get(item)?.text;
  const line = [several && !mark ? creator : "", mark ?? why].filter(Boolean).join(" · ");
  const place = gone ? "left out" : `position ${label(data)}`, on = item === state.chosen || state.several.has(item);
  put(parts, "line", line, () => {
    parts.sub.textContent = line;
    parts.name.title = parts.sub.title = line ? `${title}: ${line}` : title;
  });
  put(parts, "stop", stop === item, (here) => (parts.row.tabIndex = here ? 0 : -1));
  put(parts, "on", on, () => parts.row.setAttribute("aria-selected", on));
  put(parts, "index", `${position + 1} of ${total}`, () => parts.row.setAttribute("aria-rowindex", position + 1));
  const name = [place, title, line, state.collection.items[item].length_text, held ? "pinned" : ""].filter(Boolean).join(", ");
  put(parts, "label", name, () => parts.row.setAttribute("aria-label", name));
  put(parts, "lock", `${held ? "Unlock" : "Lock"} ${title}, ${place}`, (text) => {
    parts.lock.setAttribute("aria-label", text);
    parts.lock.setAttribute("aria-pressed", held);
    parts.grip.title = gone ? "Drag into the order to keep it" : DRAG;
    parts.grip.setAttribute("aria-label", `${title}, ${place}`);
  });
  showPlayback(parts);
}

function showPlayback(parts) {
  const on = isPlaying(parts.item), title = titleOf(parts.item);
  put(parts, "heard", `${on ? "Pause" : "Play"} ${title}`, (text) => {
    parts.row.classList.toggle("playing", on);
    parts.was.kind = null;
    parts.play.replaceChildren(icon(on ? "pause" : "play"));
    parts.play.setAttribute("aria-label", text);
  });
}

// What the rows show besides the title, the reason and the length: chosen from a menu, and remembered for each medium.
const COLUMNS = "fabula-columns";
const FIRST = ["length"]; // what is shown until somebody chooses

const formatOff = (off) => off.toFixed(1).replace("-0.0", "0.0").replace("-", "−");

// Every column there is for the collection: key, name, unit, width, and the text of a row.
function listColumns() {
  const { facts = [], medium, items, length_text: length } = state.collection, arc = arcOf(state.answer), named = new Set(facts.map(({ name }) => name));
  return [
    ...facts.map(({ name, unit }) => ({ key: name, name, unit, width: "5.2rem", text: ({ item }) => items[item].facts[name] || "" })),
    ...(arc && !named.has(arc.name) && readScale() ? [{ key: "height", name: arc.name, unit: arc.unit, width: "4.2rem", text: ({ item }) => formatHeight(item) }] : []),
    { key: "off", name: "off the template", unit: "", width: "3.4rem", text: ({ off }) => (off === null ? "" : formatOff(off)) },
    ...(length || items.some((item) => item.length_text) ? [{ key: "length", name: "length", unit: medium.unit.name, width: medium.preview.kind === "sound" ? "3.4rem" : "5.4rem", text: ({ item }) => items[item].length_text }] : []),
  ];
}

function formatHeight(item) {
  const { arc, items } = state.collection, scale = readScale(), height = isFollowing() ? scale && scale.a * items[item].essence + scale.b : arc?.values[item];
  return Number.isFinite(height) ? String(Number(height.toPrecision(3))).replace("-", "−") : "";
}

const readChoices = () => JSON.parse(localStorage.getItem(COLUMNS) || "{}");
const chosen = () => readChoices()[state.collection.medium.name] ?? FIRST;
const shownColumns = () => listColumns().filter(({ key }) => chosen().includes(key));

function chooseColumn(key, on) {
  const { name } = state.collection.medium, now = on ? [...chosen(), key] : chosen().filter((one) => one !== key);
  localStorage.setItem(COLUMNS, JSON.stringify({ ...readChoices(), [name]: now }));
  emit("columns");
}

// The menu, the heads above the rows, and the room that each column takes.
function renderColumns() {
  const all = listColumns(), now = shownColumns(), sheet = $("columns-sheet");
  const boxes = all.map(({ key, name, unit }) => {
    const box = el("input", { type: "checkbox", value: key, onchange: (event) => chooseColumn(key, event.target.checked) });
    box.checked = chosen().includes(key);
    return el("label", { class: "check" }, box, ` ${capital(name)}`, unit ? el("small", {}, ` ${unit}`) : null);
  });
  if (sheet.dataset.keys !== all.map(({ key, unit }) => key + unit).join()) {
    sheet.dataset.keys = all.map(({ key, unit }) => key + unit).join();
    sheet.replaceChildren(sheet.querySelector("legend"), ...boxes);
  }
  $("column-heads").replaceChildren(
    el("span", {}, "#"), el("span", {}, `${capital(state.collection.medium.words.item)}, and why it stands there`),
    ...now.map(({ key, name, unit }) => el("span", { class: "number", title: unit }, key === "length" || !unit ? capital(key === "off" ? "off" : name) : `${capital(name)}, ${unit}`)), el("span", {}),
  );
  $("list").style.setProperty("--extra", now.map(({ width }) => width).join(" "));
  $("desk").classList.toggle("follows", isFollowing());
}

// All that is known of an item, with units: for the item chosen.
export function describeFacts(item) {
  const { facts = [], items } = state.collection;
  return facts.filter(({ name }) => items[item].facts[name]).map(({ name, unit }) => `${capital(name)} ${items[item].facts[name]}${unit ? ` ${unit}` : ""}`).join(" · ");
}
