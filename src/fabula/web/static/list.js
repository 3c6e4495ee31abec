// The list: the same items as rows, dragged to a place to pin them there.

import { $, clock, el, icon, setIcon } from "./dom.js";
import { curveNow, laid, pins, preview, sides } from "./ordering.js";
import { isPlaying, playItem, playTransition } from "./player.js";
import { changed, commit, essence, state } from "./state.js";

const ROW = 56, SIDE = 30, MANY = 120;
const rows = new Map(); // item -> parts of its row
const drag = { item: null };

export function start() {
  $("rows").addEventListener("keydown", onKey);
  $("rows").addEventListener("click", onClick);
  $("rows").addEventListener("pointerdown", onDown);
  $("rows").addEventListener("focusin", (event) => {
    const row = event.target.closest(".row");
    if (row) choose(Number(row.dataset.item), { focus: false });
  });
}

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
    const grip = el("button", { class: "grip", tabindex: -1, title: "Drag to a place to pin it there" });
    const play = el("button", { class: "hear plain", tabindex: -1, "aria-label": `Play ${item.title}`, disabled: !item.sound });
    play.append(icon("play"));
    const sub = el("span", { class: "sub" });
    const bar = el("i");
    bar.style.width = `${(6 + (94 * (item.essence - low)) / span).toFixed(1)}%`;
    const off = el("span", { class: "off" });
    const lock = el("button", { class: "lock plain", tabindex: -1, "aria-pressed": "false" });
    lock.append(icon("open"));
    lock.dataset.icon = "open";
    const row = el("li", { class: "row", tabindex: -1 }, grip, play,
      el("span", { class: "what" }, el("span", { class: "name" }, item.title), sub),
      el("span", { class: "bar", title: `Essence ${item.essence.toFixed(2)}` }, bar), off,
      el("span", { class: "time" }, clock(item.seconds)), lock);
    row.dataset.item = index;
    rows.set(index, { row, grip, play, sub, off, lock, top: null });
    return row;
  });
  $("rows").replaceChildren(...made);
}

// settle: also put the rows in order for those who read them one after the other. Without it only what is seen moves.
export function render({ settle = true } = {}) {
  if (!state.collection || $("desk").hidden) return;
  const all = withLeftOut(), many = all.length > MANY, list = $("rows"), pinned = pins();
  const gap = sides().length > 1 ? SIDE : 0, [from, to] = settle || !many ? [0, Infinity] : seen();
  list.classList.toggle("still", many || drag.item !== null);
  if (settle) list.style.height = `${all.length * ROW + heads(gap)}px`;
  for (const { item, place, side, off } of all) {
    const parts = rows.get(item), top = place * ROW + (off === null ? heads(gap) : gap * (side + 1));
    if ((top < from || top > to) && (parts.top < from || parts.top > to)) continue;
    if (parts.top !== top && item !== drag.item) parts.row.style.transform = `translateY(${(parts.top = top)}px)`;
    parts.place = place;
    const number = off === null ? "+" : String(place + 1), text = off === null ? "" : off.toFixed(1).replace("-0.0", "0.0").replace("-", "−");
    if (parts.number !== number) parts.grip.textContent = parts.number = number;
    if (parts.text !== text) parts.off.textContent = parts.text = text;
    if (parts.held !== pinned.has(item)) hold(parts, pinned.has(item));
  }
  if (settle) settled(all, pinned);
}

// The items in order, and behind them those left out: these are off no curve.
function withLeftOut() {
  const all = laid();
  if (!state.before) for (const item of state.out) all.push({ item, place: all.length, side: 0, off: null });
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
  const artists = state.collection.items.some((item) => item.artist !== state.collection.items[0].artist);
  const linked = new Set(state.wishes.together.flatMap((run) => run.slice(0, -1)));
  for (const { item, place, off } of all) {
    const parts = rows.get(item), { title, artist } = state.collection.items[item], gone = off === null;
    const why = gone || state.before ? "" : state.why.get(item) || "";
    const line = [artists ? artist : "", why].filter(Boolean).join(" · "), held = pinned.has(item);
    const classes = `${linked.has(item) && !state.before ? " linked" : ""}${item === state.chosen ? " chosen" : ""}${held ? " pinned" : ""}${gone ? " out" : ""}`;
    const name = `${held ? "Unlock" : "Lock"} ${title}, ${gone ? "left out" : `place ${place + 1}`}`, stop = item === (state.chosen ?? all[0].item) ? 0 : -1;
    if (parts.line !== line) parts.sub.textContent = parts.sub.title = parts.line = line;
    if (parts.classes !== classes) parts.row.className = `row${(parts.classes = classes)}${isPlaying(item) ? " playing" : ""}`;
    if (parts.row.tabIndex !== stop) parts.row.tabIndex = stop;
    if (parts.name !== name) {
      parts.name = name;
      parts.lock.setAttribute("aria-label", name);
      parts.grip.title = gone ? "Drag into the order to keep it" : "Drag to a place to pin it there";
      parts.grip.setAttribute("aria-label", `${title}, ${gone ? "left out" : `place ${place + 1}`}`);
    }
  }
  sorting = all.map(({ item }) => rows.get(item).row);
  if (all.length <= MANY) sortRows(Infinity);
  else sortSoon();
  sideHeads(all);
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

function sideHeads(all) {
  const list = $("rows"), counts = sides(), groups = counts.length > 1 ? counts.map((count, side) => [`Side ${String.fromCharCode(65 + side)}`, count]) : [];
  list.parentElement.querySelectorAll(".side").forEach((head) => head.remove());
  let first = groups.length ? 0 : counts[0];
  if (leftOut()) groups.push(["Left out", leftOut()]);
  groups.forEach(([name, count], side) => {
    const length = all.slice(first, first + count).reduce((sum, row) => sum + (state.collection.items[row.item].seconds || 0), 0);
    const head = el("div", { class: "side" }, name, el("span", { class: "soft" }, clock(length)));
    head.style.transform = `translateY(${first * ROW + side * SIDE}px)`;
    list.parentElement.append(head);
    first += count;
  });
}

// Put an item at a place; pins in its way move on by one towards where it came from.
function pinned(item, place, from) {
  const fixed = {}, step = from >= place ? 1 : -1, n = state.ordering.length;
  // Where items are left out, a pin beyond the end is one from the end.
  for (const [at, other] of Object.entries(state.wishes.fixed)) if (other !== item) fixed[at < n ? at : at - state.out.length] = other;
  let [moving, to] = [item, place];
  while (moving !== undefined) {
    const next = fixed[to];
    fixed[to] = moving;
    moving = next;
    to += step;
    if (to < 0 || to >= state.ordering.length) break;
  }
  return fixed;
}

// An item that was left out comes in from behind.
export function pin(item, place, from = placeOf(item) ?? state.ordering.length) {
  commit({ fixed: pinned(item, Math.min(state.ordering.length - 1, Math.max(0, place)), from) });
}

const placeOf = (item) => (state.ordering.includes(item) ? state.ordering.indexOf(item) : null);

// Lock an item where it is, or let it go; that alone moves nothing.
export function toggleLock(item) {
  const place = placeOf(item), { exactly, fixed: held } = state.wishes;
  if (place === null) return;
  if (!pins().has(item)) return commit({ fixed: pinned(item, place, place), exactly });
  commit({ fixed: Object.fromEntries(Object.entries(held).filter(([, other]) => other !== item)), exactly });
}

// Keep an item with the one that follows it now, or let go of that.
export function toggleLink(item) {
  const runs = state.wishes.together.map((run) => [...run]), place = state.ordering.indexOf(item);
  const inside = runs.findIndex((run) => run.indexOf(item) >= 0 && run.indexOf(item) < run.length - 1);
  if (inside >= 0) {
    const [run] = runs.splice(inside, 1), cut = run.indexOf(item) + 1;
    return commit({ together: [...runs, run.slice(0, cut), run.slice(cut)].filter((part) => part.length > 1) });
  }
  const next = state.ordering[place + 1];
  if (next === undefined || place < 0) return;
  const head = runs.find((run) => run.at(-1) === item) || [item], tail = runs.find((run) => run[0] === next) || [next];
  commit({ together: [...runs.filter((run) => run !== head && run !== tail), [...head, ...tail]] });
}

function onClick(event) {
  const row = event.target.closest(".row");
  if (!row) return;
  const item = Number(row.dataset.item);
  choose(item);
  if (event.target.closest(".lock") && !state.before) toggleLock(item);
  else if (event.target.closest(".hear") && heard(item)) playItem(item);
}

const heard = (item) => state.before || placeOf(item) !== null;

function onKey(event) {
  const row = event.target.closest(".row");
  if (!row || event.ctrlKey || event.metaKey) return;
  const item = Number(row.dataset.item), place = rows.get(item).place, all = withLeftOut(), last = all.length - 1;
  const go = (to) => {
    const next = all[Math.min(last, Math.max(0, to))].item;
    choose(next);
    rows.get(next).row.scrollIntoView({ block: "nearest" });
  };
  const free = !state.before;
  const moves = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: last, PageUp: place - 8, PageDown: place + 8 };
  if (event.key in moves) {
    if (event.altKey && free) pin(item, moves[event.key]);
    else go(moves[event.key]);
  } else if (event.key === "Enter") heard(item) && playItem(item);
  else if (event.key === "l" && free) toggleLock(item);
  else if (event.key === "k" && free) toggleLink(item);
  else if (event.key === "t") playTransition(place);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function onDown(event) {
  const grip = event.target.closest(".grip");
  if (!grip || event.button || state.before) return;
  event.preventDefault();
  const row = grip.closest(".row"), item = Number(row.dataset.item), parts = rows.get(item);
  const scroller = $("scroller"), list = $("rows"), hand = event.clientY - row.getBoundingClientRect().top;
  choose(item);
  const from = parts.place;
  let pointer = event.clientY, place = null, running = true;
  const frame = () => {
    if (!running) return;
    scrollNear(scroller, pointer);
    const top = pointer - hand - list.getBoundingClientRect().top;
    if (place !== null || Math.abs(top - parts.top) > 4) {
      drag.item = item;
      row.classList.add("dragged");
      row.style.transform = `translateY(${top}px)`;
      const to = Math.min(state.ordering.length - 1, Math.max(0, Math.round(top / ROW)));
      if (to !== place) preview({ curve: curveNow(), fixed: pinned(item, (place = to), from) });
    }
    requestAnimationFrame(frame);
  };
  const move = (moving) => (pointer = moving.clientY);
  const done = (ended) => {
    running = false;
    drag.item = null;
    parts.top = null;
    row.classList.remove("dragged");
    grip.removeEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) grip.removeEventListener(name, done);
    if (place !== null && ended.type === "pointerup") pin(item, place, from);
    else changed("order");
  };
  grip.setPointerCapture(event.pointerId);
  grip.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) grip.addEventListener(name, done);
  requestAnimationFrame(frame);
}

// Near the edge of what is seen, the list moves on.
function scrollNear(scroller, pointer) {
  const own = scroller.scrollHeight > scroller.clientHeight + 2;
  const box = own ? scroller.getBoundingClientRect() : { top: 0, bottom: innerHeight - 80 };
  const step = pointer < box.top + 40 ? -10 : pointer > box.bottom - 40 ? 10 : 0;
  if (step) (own ? scroller : window).scrollBy(0, step);
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
