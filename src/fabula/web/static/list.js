// The list: the same items as rows.

import { $, el, icon, setIcon } from "./dom.js";
import { label, laid, lengthOfSide, pins, sideName, sides } from "./ordering.js";
import { isLinked } from "./pinning.js";
import { isPlaying } from "./player.js";
import { changed, essence, state } from "./state.js";

export const ROW = 56, SIDE = 30;
const MANY = 120, DRAG = "Drag to a position to pin it there; with Shift nothing else moves";
export const rows = new Map(); // item -> parts of its row
export const drag = { item: null };

export function choose(item, { focus = true } = {}) {
  if (focus && item !== null) rows.get(item)?.row.focus({ preventScroll: true });
  if (state.chosen === item) return;
  state.chosen = item;
  changed("chosen");
}

// Every row anew: another collection.
export function build() {
  rows.clear();
  const values = essence(), low = Math.min(...values), span = Math.max(...values) - low || 1;
  const made = state.collection.items.map((item, index) => {
    const grip = el("button", { class: "grip", tabindex: -1, title: DRAG });
    const play = el("button", { class: "hear plain", tabindex: -1, "aria-label": `Play ${item.title}`, disabled: !item.preview });
    play.append(icon("play"));
    const sub = el("span", { class: "sub" });
    const bar = el("i");
    bar.style.width = `${(6 + (94 * (item.essence - low)) / span).toFixed(1)}%`;
    const off = el("span", { class: "off" });
    const lock = el("button", { class: "lock plain", tabindex: -1, "aria-pressed": "false" });
    lock.append(icon("open"));
    lock.dataset.icon = "open";
    const row = el("li", { class: "row", tabindex: -1 }, grip, play,
      el("span", { class: "what" }, el("span", { class: "name" }, item.title, known(item)), sub),
      el("span", { class: "bar", title: `Stands at ${item.essence.toFixed(2)}` }, bar), off,
      el("span", { class: "time" }, item.length_text), lock);
    row.dataset.item = index;
    rows.set(index, { row, grip, play, sub, off, lock, top: null });
    return row;
  });
  $("rows").replaceChildren(...made);
}

// What else is known of an item, beside its title.
function known({ facts }) {
  const told = Object.entries(facts || {}).filter(([, text]) => text);
  return el("span", { class: "known", title: told.map(([name, text]) => `${name} ${text}`).join(", ") }, told.map(([, text]) => text).join(" · "));
}

// settle: also put the rows in order for those who read them one after the other. Without it only what is seen moves.
export function render({ settle = true } = {}) {
  if (!state.collection || $("desk").hidden) return;
  const all = withLeftOut(), many = all.length > MANY, list = $("rows"), pinned = pins();
  const gap = sides().length > 1 ? SIDE : 0, [from, to] = settle || !many ? [0, Infinity] : seen();
  list.classList.toggle("still", many || drag.item !== null);
  if (settle) list.style.height = `${all.length * ROW + heads(gap)}px`;
  for (const row of all) {
    const { item, position, side, off } = row, parts = rows.get(item), top = position * ROW + (off === null ? heads(gap) : gap * (side + 1));
    if ((top < from || top > to) && (parts.top < from || parts.top > to)) continue;
    if (parts.top !== top && item !== drag.item) parts.row.style.transform = `translateY(${(parts.top = top)}px)`;
    parts.position = position;
    const number = off === null ? "+" : label(row), text = off === null ? "" : off.toFixed(1).replace("-0.0", "0.0").replace("-", "−");
    if (parts.number !== number) parts.grip.textContent = parts.number = number;
    if (parts.text !== text) parts.off.textContent = parts.text = text;
    if (parts.held !== pinned.has(item)) hold(parts, pinned.has(item));
  }
  if (settle) settled(all, pinned);
}

// The items in order, and behind them those left out: these are off no template.
export function withLeftOut() {
  const all = laid();
  if (!state.before) for (const item of state.out) all.push({ item, position: all.length, side: 0, off: null });
  return all;
}
const heads = (gap) => gap * sides().length + (leftOut() ? SIDE : 0);
const leftOut = () => (state.before ? 0 : state.out.length);

// From which height to which the list is on the screen.
function seen() {
  const list = $("rows").getBoundingClientRect(), box = $("scroller").getBoundingClientRect();
  return [Math.max(box.top, 0) - list.top - ROW, Math.min(box.bottom, innerHeight) - list.top];
}

function hold(parts, held) {
  parts.held = held;
  parts.classes = null;
  parts.row.classList.toggle("pinned", held);
  parts.lock.setAttribute("aria-pressed", held);
  setIcon(parts.lock, held ? "lock" : "open");
}

function settled(all, pinned) {
  const several = state.collection.items.some((item) => item.creator !== state.collection.items[0].creator);
  for (const row of all) {
    const { item, off } = row, parts = rows.get(item), { title, creator } = state.collection.items[item], gone = off === null;
    const why = gone || state.before ? "" : state.why.get(item) || "";
    const line = [several ? creator : "", why].filter(Boolean).join(" · "), held = pinned.has(item);
    const classes = `${isLinked(item) && !state.before ? " linked" : ""}${item === state.chosen ? " chosen" : ""}${held ? " pinned" : ""}${gone ? " out" : ""}`;
    const name = `${held ? "Unlock" : "Lock"} ${title}, ${gone ? "left out" : `position ${label(row)}`}`, stop = item === (state.chosen ?? all[0].item) ? 0 : -1;
    if (parts.line !== line) parts.sub.textContent = parts.sub.title = parts.line = line;
    if (parts.classes !== classes) parts.row.className = `row${(parts.classes = classes)}${isPlaying(item) ? " playing" : ""}`;
    if (parts.row.tabIndex !== stop) parts.row.tabIndex = stop;
    if (parts.name !== name) {
      parts.name = name;
      parts.lock.setAttribute("aria-label", name);
      parts.grip.title = gone ? "Drag into the order to keep it" : DRAG;
      parts.grip.setAttribute("aria-label", `${title}, ${gone ? "left out" : `position ${label(row)}`}`);
    }
  }
  sorting = all.map(({ item }) => rows.get(item).row);
  if (all.length <= MANY) sortRows(Infinity);
  else sortSoon();
  sideHeads();
}

// The rows in the document follow those on the screen; of many rows a few at a time, when there is nothing else to do.
let sorting = [], idle = 0;
function sortRows(most) {
  const list = $("rows"), focused = document.activeElement?.closest?.(".row");
  let current = list.firstElementChild, moves = 0;
  for (const row of sorting) {
    if (row === current) current = current.nextElementSibling;
    else if (++moves > most) break;
    else list.insertBefore(row, current);
  }
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
  return moves > most;
}
function sortSoon() {
  const later = window.requestIdleCallback || ((action) => setTimeout(action, 200));
  idle ||= later(() => {
    idle = 0;
    if (sortRows(12)) sortSoon();
  });
}

function sideHeads() {
  const list = $("rows"), counts = sides(), groups = counts.length > 1 ? counts.map((count, side) => [`Side ${sideName(side)}`, count, lengthOfSide(side)]) : [];
  list.parentElement.querySelectorAll(".side").forEach((head) => head.remove());
  let first = groups.length ? 0 : counts[0];
  if (leftOut()) groups.push(["Left out", leftOut(), state.answer?.length_texts.left_out || ""]);
  groups.forEach(([name, count, length], side) => {
    const head = el("div", { class: "side" }, name, el("span", { class: "soft" }, length));
    head.style.transform = `translateY(${first * ROW + side * SIDE}px)`;
    list.parentElement.append(head);
    first += count;
  });
}

export function showPlaying() {
  for (const [item, { play, row }] of rows) {
    const on = isPlaying(item);
    if (row.classList.contains("playing") === on) continue;
    row.classList.toggle("playing", on);
    play.replaceChildren(icon(on ? "pause" : "play"));
    play.setAttribute("aria-label", `${on ? "Pause" : "Play"} ${state.collection.items[item].title}`);
  }
}
