// The list under a hand: keys, clicks, and rows dragged to a position.

import { $ } from "./dom.js";
import { choose, drag, ROW, rows, SIDE, withLeftOut } from "./list.js";
import { preview, restore, sides } from "./ordering.js";
import { isIn, moveByHand, pin, pinned, toggleLink, toggleLock } from "./pinning.js";
import { playItem, playTransition } from "./player.js";
import { state } from "./state.js";

export function start() {
  $("rows").addEventListener("keydown", onKey);
  $("rows").addEventListener("click", onClick);
  $("rows").addEventListener("pointerdown", onDown);
  $("rows").addEventListener("focusin", (event) => {
    const row = event.target.closest(".row");
    if (row) choose(Number(row.dataset.item), { focus: false });
  });
}

function onClick(event) {
  const row = event.target.closest(".row");
  if (!row) return;
  const item = Number(row.dataset.item);
  choose(item);
  if (event.target.closest(".lock") && !state.before) toggleLock(item);
  else if (event.target.closest(".hear") && heard(item)) playItem(item);
}

const heard = (item) => state.before || isIn(item);

function onKey(event) {
  const row = event.target.closest(".row");
  if (!row || event.ctrlKey || event.metaKey) return;
  const item = Number(row.dataset.item), position = rows.get(item).position, all = withLeftOut(), last = all.length - 1;
  const go = (to) => {
    const next = all[Math.min(last, Math.max(0, to))].item;
    choose(next);
    rows.get(next).row.scrollIntoView({ block: "nearest" });
  };
  const free = !state.before;
  const moves = { ArrowUp: position - 1, ArrowDown: position + 1, Home: 0, End: last, PageUp: position - 8, PageDown: position + 8 };
  if (event.key in moves) {
    if (event.altKey && event.shiftKey && free) moveByHand(item, moves[event.key]);
    else if (event.altKey && free) pin(item, moves[event.key]);
    else go(moves[event.key]);
  } else if (event.key === "Enter") heard(item) && playItem(item);
  else if (event.key === "l" && free) toggleLock(item);
  else if (event.key === "k" && free) toggleLink(item);
  else if (event.key === "t") playTransition(position);
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
  const from = parts.position;
  let pointer = event.clientY, position = null, running = true;
  const frame = () => {
    if (!running) return;
    scrollNear(scroller, pointer);
    const top = pointer - hand - list.getBoundingClientRect().top;
    if (position !== null || Math.abs(top - parts.top) > 4) {
      drag.item = item;
      row.classList.add("dragged");
      row.style.transform = `translateY(${top}px)`;
      const to = positionAt(top);
      if (to !== position) preview({ fixed: pinned(item, (position = to), from) });
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
    if (position === null || ended.type !== "pointerup") return restore();
    if (ended.shiftKey && from < state.ordering.length) {
      restore();
      moveByHand(item, position);
    } else pin(item, position, from);
  };
  grip.setPointerCapture(event.pointerId);
  grip.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) grip.addEventListener(name, done);
  requestAnimationFrame(frame);
}

// The position that a row has whose upper edge is at this height; each side has a head above it.
function positionAt(top) {
  const sizes = sides(), last = state.ordering.length - 1;
  let first = 0;
  for (const [side, size] of sizes.entries()) {
    const head = sizes.length > 1 ? SIDE * (side + 1) : 0, position = Math.round((top - head) / ROW);
    if (position < first + size) return Math.min(last, Math.max(first, position));
    first += size;
  }
  return last;
}

// Near the edge of what is seen, the list moves on.
function scrollNear(scroller, pointer) {
  const own = scroller.scrollHeight > scroller.clientHeight + 2;
  const box = own ? scroller.getBoundingClientRect() : { top: 0, bottom: innerHeight - 80 };
  const step = pointer < box.top + 40 ? -10 : pointer > box.bottom - 40 ? 10 : 0;
  if (step) (own ? scroller : window).scrollBy(0, step);
}

