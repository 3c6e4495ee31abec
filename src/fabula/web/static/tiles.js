// The order as pictures: a light table, or pages that face each other. The same items as in the list, under the same hands.

import { announce } from "./announce.js";
import * as api from "./api.js";
import { $, el, icon, sortNodes } from "./dom.js";
import { makeColours } from "./inspector.js";
import { makeGhost, takeInput } from "./item-input.js";
import { label, pins } from "./layout.js";
import { setLook } from "./list.js";
import { onChange, state, titleOf } from "./state.js";

const KEY = "fabula-look", SPARE = 500; // pixels beyond what is seen
const tiles = new Map(); // item -> parts of a tile
let look = "rows", laid = { slots: [], papers: [], columns: 1, height: 0 }, rows = [], width = 0;

const root = () => $("tiles");
/** @type {(selector: string) => HTMLElement[]} */
const findAll = (selector) => [...document.querySelectorAll(selector)].map((node) => /** @type {HTMLElement} */ (node));
const isPictures = () => state.collection?.medium.preview.kind === "picture" && state.covers !== null;

export function start() {
  takeInput(root(), { steps, drags, lift: liftTile });
  for (const button of findAll("#looks button")) button.addEventListener("click", () => chooseLook(button.dataset.look, true));
  new ResizeObserver(() => look !== "rows" && root().clientWidth !== width && LOOK.render(rows, {})).observe(root());
  onChange((what) => what === "chosen" && offerLooks());
}

// Whether there is anything to see is known when the first picture came.
let offered = null;
export function offerLooks() {
  const pictures = isPictures(), key = pictures ? state.collection.id : null;
  $("looks").hidden = !pictures;
  findAll('[data-look="spreads"]')[0].hidden = !state.collection?.medium.faces;
  if (offered === key) return;
  offered = key;
  chooseLook(pictures ? localStorage.getItem(KEY) || "table" : "rows");
}

function chooseLook(name, asked = false) {
  look = name === "spreads" && !state.collection.medium.faces ? "table" : ["table", "spreads"].includes(name) ? name : "rows";
  if (asked) localStorage.setItem(KEY, look);
  for (const button of findAll("#looks button")) button.setAttribute("aria-pressed", String(button.dataset.look === look));
  root().hidden = $("papers").hidden = look === "rows";
  root().setAttribute("aria-label", look === "spreads" ? "The order on facing pages" : "The order as a light table");
  $("desk").classList.toggle("seen", look !== "rows");
  LOOK.build();
  setLook(look === "rows" ? null : LOOK);
  if (asked) announce(`Shown as ${{ rows: "a list", table: "a light table", spreads: "facing pages" }[look]}.`);
}

const LOOK = {
  get root() {
    return root();
  },
  build() {
    tiles.clear();
    root().replaceChildren();
    $("papers").replaceChildren();
  },
  nodeOf: (item) => tiles.get(item)?.tile,
  topOf: (item) => laid.slots[rows.findIndex((row) => row.item === item)],
  render(now, { settle = true } = {}) {
    rows = now;
    width = root().clientWidth;
    const { items } = state.collection;
    laid = look === "spreads" ? laySpreads(rows.filter((row) => !row.out), items, width) : layTable(rows, width, rows.length > 60);
    root().style.height = `${laid.height}px`;
    root().classList.toggle("still", rows.length > 400 || width === 0);
    if (settle) drawPapers();
    placeTiles(settle);
  },
};

function drawPapers() {
  $("papers").replaceChildren(...laid.papers.map(({ left, top, width: wide, height, kind }) => {
    const paper = el("i", { class: `paper ${kind}` });
    Object.assign(paper.style, { transform: `translate(${left}px, ${top}px)`, width: `${wide}px`, height: `${height}px` });
    return paper;
  }));
}

function placeTiles(settle) {
  const pinned = pins(), kept = new Set(), [from, to] = visibleRange(), stop = rows.some(({ item }) => item === state.chosen) ? state.chosen : rows[0]?.item;
  rows.forEach((row, index) => {
    const slot = laid.slots[index], here = slot && slot.top + slot.height > from && slot.top < to;
    if (!here && row.item !== stop) return;
    if (!slot) return;
    kept.add(row.item);
    fillTile(tiles.get(row.item) ?? makeTile(row.item), row, slot, { held: pinned.has(row.item), stop: stop === row.item, settle });
  });
  for (const [item, { tile }] of tiles) if (!kept.has(item)) tiles.delete(item), tile.remove();
  if (settle) sortNodes(root(), rows.filter(({ item }) => kept.has(item)).map(({ item }) => tiles.get(item).tile)); // in the document as on the screen
}

function visibleRange() {
  const box = $("scroller").getBoundingClientRect(), top = root().getBoundingClientRect().top;
  return [Math.max(box.top, 0) - top - SPARE, Math.min(box.bottom, innerHeight) - top + SPARE];
}

function makeTile(item) {
  const image = el("img", { alt: "", draggable: "false", src: api.cover(state.collection.id, item), onerror: () => (image.hidden = true) });
  const number = el("span", { class: "tile-number grip", "aria-hidden": "true" }), held = el("span", { class: "tile-held", "aria-hidden": "true" }, icon("lock"));
  const tile = el("div", { class: "tile", role: "option", tabindex: -1, "data-item": item }, image, number, held, makeColours(item));
  const parts = { tile, number, was: "" };
  tiles.set(item, parts);
  root().append(tile);
  return parts;
}

function fillTile(parts, row, slot, { held, stop, settle }) {
  const { tile, number } = parts, { item } = row, out = row.out;
  const on = item === state.chosen || state.several.has(item), text = out ? "+" : label(row);
  const kind = `tile${held ? " pinned" : ""}${on ? " chosen" : ""}${out ? " out" : ""}${item === state.dragged ? " lifted" : ""}`;
  const key = [slot.left, slot.top, slot.width, slot.height].map(Math.round).join();
  if (parts.was !== key) {
    parts.was = key;
    Object.assign(tile.style, { transform: `translate(${slot.left.toFixed(1)}px, ${slot.top.toFixed(1)}px)`, width: `${slot.width.toFixed(1)}px`, height: `${slot.height.toFixed(1)}px` });
  }
  if (tile.className !== kind) tile.className = kind;
  if (number.textContent !== text) number.textContent = text;
  if (!settle) return;
  const why = out || state.before ? "" : state.why.get(item) || "", title = titleOf(item);
  tile.tabIndex = stop ? 0 : -1;
  tile.setAttribute("aria-selected", on);
  tile.setAttribute("aria-label", [out ? "left out" : `position ${text}`, title, why, held ? "pinned" : ""].filter(Boolean).join(", "));
  tile.title = [title, why, state.collection.items[item].colours.join(" ")].filter(Boolean).join("\n");
}

// Arrows go where they point; a line up or down is as many items as stand in one.
function steps(at, last) {
  const line = laid.columns;
  return { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: Math.max(0, at - line), ArrowDown: Math.min(last, at + line), Home: 0, End: last, PageUp: at - 4 * line, PageDown: at + 4 * line };
}

// With a mouse the whole picture drags; a finger drags the number, so that it can scroll by the rest.
const drags = (event) => event.target.closest(event.pointerType === "mouse" ? ".tile" : ".grip");

function liftTile(item, event) {
  const { tile } = tiles.get(item), from = tile.getBoundingClientRect(), ghost = makeGhost(tile);
  const hand = { x: event.clientX - from.left, y: event.clientY - from.top };
  const at = ({ x, y }) => {
    const box = root().getBoundingClientRect(), px = x - box.left, py = y - box.top;
    ghost.style.transform = `translate(${(px - hand.x).toFixed(1)}px, ${(py - hand.y).toFixed(1)}px)`;
    return nearestSlot(px, py);
  };
  return { at, drop: () => ghost.remove() };
}

// The position whose slot is nearest to a point.
function nearestSlot(px, py) {
  let best = 0, least = Infinity;
  laid.slots.forEach(({ left, top, width: wide, height }, position) => {
    if (position >= state.ordering.length) return;
    const far = Math.hypot(left + wide / 2 - px, (top + height / 2 - py) * 1.4);
    if (far < least) [best, least] = [position, far];
  });
  return best;
}

// Pages that face each other: what lies beside what, as in a book.
// For each spread [left, right], an index of rows or null for an empty page; [index] for one over both pages. The first of a
// side stands alone on the right.
function pairPages(rows, items) {
  const spreads = [];
  let left = null;
  rows.forEach(({ item, number }, index) => {
    const both = items[item].both_pages, first = number === 1;
    if (left !== null && (both || first)) {
      spreads.push([left, null]);
      left = null;
    }
    if (both) spreads.push([index]);
    else if (first) spreads.push([null, index]);
    else if (left === null) left = index;
    else {
      spreads.push([left, index]);
      left = null;
    }
  });
  return left === null ? spreads : [...spreads, [left, null]];
}

const GAP = 22, PAD = 0.07;

// Where each item lies, and the paper under it; in as many columns as there is room for.
function laySpreads(rows, items, width) {
  const columns = Math.max(1, Math.floor((width + GAP) / (300 + GAP))), wide = (width - GAP * (columns - 1)) / columns;
  const page = wide / 2, tall = page * 1.16, inner = page * (1 - 2 * PAD), slots = [], papers = [];
  const spreads = pairPages(rows, items);
  spreads.forEach((spread, k) => {
    const left = (k % columns) * (wide + GAP), top = Math.floor(k / columns) * (tall + GAP);
    papers.push({ left, top, width: wide, height: tall, kind: spread[0] === null ? "right" : spread.length > 1 && spread[1] === null ? "left" : "both" });
    spread.forEach((index, side) => {
      if (index === null) return;
      const across = spread.length === 1 ? wide - 2 * page * PAD : inner;
      slots[index] = { left: left + side * page + page * PAD, top: top + page * PAD, width: across, height: tall - 2 * page * PAD };
    });
  });
  return { slots, papers, columns: 2 * columns, height: Math.ceil(spreads.length / columns) * (tall + GAP) };
}

// A light table: equal squares, as many as fit side by side; a new side begins a new line.
function layTable(rows, width, many) {
  const least = width < 420 ? 96 : many ? 108 : 150, gap = width < 420 ? 6 : 10;
  const columns = Math.max(3, Math.floor((width + gap) / (least + gap))), cell = (width - gap * (columns - 1)) / columns;
  const slots = [];
  let line = -1, column = columns, side = null;
  rows.forEach((row, index) => {
    const group = row.out ? "out" : row.side;
    if (column >= columns || group !== side) [line, column] = [line + 1, 0];
    side = group;
    slots[index] = { left: column++ * (cell + gap), top: line * (cell + gap), width: cell, height: cell };
  });
  return { slots, papers: [], columns, height: (line + 1) * (cell + gap) };
}
