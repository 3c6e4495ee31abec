// The list: the same items as rows. Of many only those on the screen are in the document.

import { $, el } from "./dom.js";
import { allAlike } from "./desk.js";
import { lengthOfSide, pins, sideName, sides, withLeftOut } from "./laid.js";
import { fillRow, makeRow, settleRow, showHeard } from "./row.js";
import { changed, essence, state, titleOf } from "./state.js";

const MANY = 120, SPARE = 4, LEAST = 12;
export const size = { row: 56, side: 30 }; // pixels; they grow with the text
const rows = new Map(); // item, or number of the slot where they are many -> parts of a row
let shown = [], scale = () => 1, several = false, moving = 0, other = null;

// Another way to see the same items, in place of rows: {render, build, nodeOf, topOf}; null for rows.
export function setLook(look) {
  other = look;
  $("rows").hidden = $("heads").hidden = look !== null;
  document.querySelector(".columns").hidden = look !== null;
  if (state.collection) render();
}
const nodeOf = (item) => (other ? other.nodeOf(item) : partsOf(item)?.row);

export const partsOf = (item) => [...rows.values()].find((parts) => parts.item === item);
const isMany = () => state.collection.items.length > MANY;

export function start() {
  for (const [target, name] of [[$("scroller"), "scroll"], [window, "scroll"], [window, "resize"]]) target.addEventListener(name, soon, { passive: true });
  $("find").addEventListener("input", () => render());
}
function soon() {
  moving ||= requestAnimationFrame(() => {
    moving = 0;
    if (state.collection && (other || isMany())) render({ settle: !other });
  });
}

// Every row anew: another collection, or other numbers of it.
export function build() {
  rows.clear();
  $("rows").replaceChildren();
  other?.build();
  const values = essence(), creator = state.collection.items[0].creator;
  const low = values.reduce((a, b) => Math.min(a, b)), span = values.reduce((a, b) => Math.max(a, b)) - low;
  scale = (value) => (span ? (0.06 + (0.94 * (value - low)) / span).toFixed(3) : "0.5");
  several = state.collection.items.some((item) => item.creator !== creator);
  $("rows").setAttribute("aria-rowcount", values.length);
  $("find").value = "";
  $("find").closest(".find").hidden = values.length < 20;
}

const covers = (item) => (state.covers && state.collection.items[item].preview ? state.covers(item) : "");
export const isFinding = () => $("find").value.trim() !== "";

// The items there are; while one is looked for by its name, only those found.
function found() {
  const wanted = $("find").value.trim().toLowerCase(), all = withLeftOut();
  const named = ({ item }) => `${titleOf(item)}\n${state.collection.items[item].creator}`.toLowerCase().includes(wanted);
  const kept = wanted ? all.filter(named) : all;
  $("find-count").textContent = wanted ? `${kept.length} of ${all.length}` : "";
  return kept;
}

// The rows of these, each with its height.
function lay() {
  const wanted = isFinding(), kept = found(), heads = wanted ? 0 : headCount();
  const gap = sides().length > 1 && !wanted ? size.side : 0;
  kept.forEach((row, k) => (row.top = k * size.row + (row.off === null ? heads * size.side : gap * (row.side + 1))));
  return { kept, height: kept.length * size.row + heads * size.side };
}
const leftOut = () => (state.before ? 0 : state.out.length);
const headCount = () => (sides().length > 1 ? sides().length : 0) + (leftOut() ? 1 : 0);

function measure() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  Object.assign(size, { row: 3.5 * rem, side: 1.875 * rem });
}

// settle: also for those who read them one after the other. Without it only what is seen moves.
export function render({ settle = true } = {}) {
  if (!state.collection || $("desk").hidden) return;
  if (other) return other.render(found(), { settle });
  if (settle) measure();
  const { kept, height } = lay(), list = $("rows"), many = isMany(), now = { pinned: pins(), scale, covers };
  shown = kept;
  list.classList.toggle("still", many || state.dragged != null);
  put(list, "height", `${height}px`);
  const [from, to] = many ? seen(kept.length) : [0, kept.length], keys = new Set();
  const alike = settle && allAlike();
  const stop = kept.some(({ item }) => item === state.chosen) ? state.chosen : kept[0]?.item, total = kept.length;
  for (let k = from; k < to; k++) {
    const data = kept[k], key = many ? k - from : data.item, parts = rows.get(key) ?? added(key);
    keys.add(key);
    fillRow(parts, data, now);
    if (parts.top !== data.top) parts.row.style.transform = `translateY(${(parts.top = data.top)}px)`;
    parts.position = data.position;
    parts.row.classList.toggle("lifted", data.item === state.dragged);
    if (settle) settleRow(parts, data, { several, stop, total, alike });
  }
  for (const [key, parts] of rows) if (!keys.has(key)) drop(key, parts);
  if (!settle) return;
  if (!many) sort(kept);
  keepFocus();
  heads();
}

const put = (node, name, value) => node.style[name] !== value && (node.style[name] = value);

function added(key) {
  const parts = makeRow();
  rows.set(key, parts);
  $("rows").append(parts.row);
  return parts;
}
function drop(key, parts) {
  rows.delete(key);
  parts.row.remove();
}

// Which rows are on the screen, and a few beyond.
function seen(count) {
  const list = $("rows").getBoundingClientRect(), box = $("scroller").getBoundingClientRect();
  const top = Math.max(box.top, 0) - list.top, bottom = Math.min(box.bottom, innerHeight) - list.top;
  const from = Math.max(0, Math.floor(top / size.row) - SPARE);
  return [Math.min(from, Math.max(0, count - 1)), Math.min(count, Math.max(from + LEAST, Math.ceil(bottom / size.row) + SPARE))];
}

// The rows in the document follow those on the screen.
function sort(kept) {
  const list = $("rows"), focused = document.activeElement;
  let current = list.firstElementChild;
  for (const { item } of kept) {
    const { row } = rows.get(item);
    if (row === current) current = current.nextElementSibling;
    else list.insertBefore(row, current);
  }
  if (list.contains(focused) && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

// Where rows are filled anew the focus stays with the item.
function keepFocus() {
  const row = document.activeElement?.closest?.(".row");
  if (!row || Number(row.dataset.item) === state.chosen || state.chosen === null) return;
  partsOf(state.chosen)?.row.focus({ preventScroll: true });
}

// What stands above each side, and above what is left out.
function heads() {
  const counts = sides(), box = $("heads");
  const groups = counts.length > 1 ? counts.map((count, side) => [`Side ${sideName(side)}`, count, lengthOfSide(side)]) : [];
  let first = groups.length ? 0 : counts[0];
  if (leftOut()) groups.push(["Left out", leftOut(), state.answer?.length_texts.left_out || ""]);
  box.replaceChildren(...(isFinding() ? [] : groups).map(([name, count, length], side) => {
    const head = el("div", { class: "side" }, name, el("span", { class: "soft" }, length));
    head.style.transform = `translateY(${first * size.row + side * size.side}px)`;
    first += count;
    return head;
  }));
}

export function showPlaying() {
  rows.forEach(showHeard);
}

// Choose an item; its row comes into view and has the focus.
export function choose(item, { focus = true, scroll = false } = {}) {
  const same = state.chosen === item;
  state.chosen = item;
  if (scroll) scrollTo(item);
  if (!same) changed("chosen");
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
