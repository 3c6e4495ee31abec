// Items under a hand, as rows or as tiles: keys, clicks, and one dragged to a position.

import { announce } from "./announce.js";
import { findPosition, isIn, moveByHand, pin, placeAt, toggleLink, toggleLock } from "./constraints.js";
import { $ } from "./dom.js";
import { follow, holdStill } from "./drag.js";
import { openLarge } from "./inspector.js";
import { label, layAllRows, sides } from "./layout.js";
import { choose, isFinding, partsOf, size } from "./list.js";
import { preview, restore, takeSnapshot } from "./order.js";
import { playItem, playTransition } from "./player.js";
import { chooseOne, chooseRange, chooseSeveral, clearSeveral, isSelecting, toggleItem } from "./selection.js";
import { commit, state, titleOf } from "./state.js";

// The rows: a step of the arrows is one up or down, and what drags is the number.
const ROWS = {
  steps: (at, last) => ({ ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last, PageUp: at - 8, PageDown: at + 8 }),
  drags: (event) => event.target.closest(".grip"),
  lift: liftRow,
};

export function start() {
  takeInput($("rows"), ROWS);
}

// Items in an element: steps(position, last) says where keys lead, drags(event) whether a press may drag, and lift(item,
// event) gives what follows the pointer: at({x, y}) the position there, drop() when it is let go.
export function takeInput(root, surface) {
  root.addEventListener("keydown", (event) => onKey(event, surface));
  root.addEventListener("click", onClick);
  root.addEventListener("dblclick", (event) => itemOf(event) !== null && showItem(itemOf(event)));
  root.addEventListener("pointerdown", (event) => onDown(event, surface));
  // A press on a button of a row must not choose it, which may move the row from under the pointer: its click does.
  root.addEventListener("mousedown", (event) => event.target.closest(".hear, .grip, .lock") && event.preventDefault());
  root.addEventListener("focusin", (event) => itemOf(event) !== null && choose(itemOf(event), { focus: false }));
  holdStill(root, () => ".grip");
}

const itemOf = (event) => {
  const node = event.target.closest("[data-item]");
  return node ? Number(node.dataset.item) : null;
};

// What there is to hear or to see of an item.
const showItem = (item) => (state.collection.medium.preview.kind === "picture" ? openLarge(item) : null);

function onClick(event) {
  const item = itemOf(event);
  if (item === null) return;
  if (event.target.closest(".lock") && !state.before) toggleLock(item);
  else if (event.target.closest(".hear") && (state.before || isIn(item))) playItem(item);
  else if (event.shiftKey && !event.target.closest(".grip")) return chooseRange(item);
  else if (event.ctrlKey || event.metaKey || isSelecting()) return toggleItem(item);
  else clearSeveral();
  chooseOne(item);
}

function onKey(event, surface) {
  const item = itemOf(event);
  if (item === null) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a") chooseSeveral(new Set(state.ordering), item);
  else if (event.ctrlKey || event.metaKey) return;
  else if (event.key === "Escape" && state.several.size) clearSeveral();
  else if (!moveByKey(event, item, surface) && !actByKey(event, item)) return;
  event.preventDefault();
  event.stopPropagation();
}

function moveByKey(event, item, surface) {
  const all = layAllRows(), position = all.findIndex((row) => row.item === item), last = all.length - 1;
  const to = surface.steps(position, last)[event.key];
  if (to === undefined) return false;
  const next = all[Math.min(last, Math.max(0, to))].item;
  if (event.altKey) {
    if (state.before || isFinding()) return true;
    if (event.shiftKey) moveByHand(item, to);
    else pin(item, to);
    announcePosition(item);
  } else if (event.shiftKey) chooseRange(next, item);
  else {
    clearSeveral();
    chooseOne(next, { scroll: true });
  }
  return true;
}

function actByKey(event, item) {
  const { key, altKey } = event, free = !state.before;
  if (altKey) return false;
  if (key === "Enter" && event.target.closest("button")) return false;
  if (key === "Enter" && state.collection.medium.preview.kind === "picture") openLarge(item);
  else if (key === "Enter") playItem(item);
  else if (key.toLowerCase() === "l" && free) toggleLock(item);
  else if (key.toLowerCase() === "k" && free) toggleLink(item);
  else if (key.toLowerCase() === "t") playTransition(item);
  else return false;
  return true;
}

function announcePosition(item) {
  const row = layAllRows().find((one) => one.item === item);
  announce(`${titleOf(item)}: position ${label(row)}.`);
}

function onDown(event, surface) {
  if (!surface.drags(event) || event.button || state.before || isFinding()) return;
  event.preventDefault();
  const item = itemOf(event), shown = takeSnapshot(), from = findPosition(item), sizes = sides();
  let held = null, to = null;
  const move = (now) => {
    held ??= surface.lift(item, event);
    state.dragged = item;
    const position = held.at(now, sizes);
    if (position !== to) preview(placeAt(item, (to = position), from, sizes));
  };
  const end = (kept, { shift, moved }) => {
    held?.drop();
    state.dragged = null;
    if (!moved) return event.pointerType === "mouse" ? null : choose(item);
    if (!kept || to === null) return restore(shown);
    if (shift && isIn(item)) {
      Object.assign(state, shown); // nothing but this one moves
      moveByHand(item, to);
    } else commit(placeAt(item, to, from, sizes));
    announcePosition(item);
    choose(item); // not before: what is told of it may move the rows
  };
  follow(event, { move, end, each: ({ y }) => scrollNear(y) });
}

// The row in the hand; its place in the list stays where it would be put.
function liftRow(item, { clientY }) {
  const parts = partsOf(item), hand = clientY - parts.row.getBoundingClientRect().top, ghost = makeGhost(parts.row);
  const at = ({ y }, sizes) => {
    const top = y - hand - $("rows").getBoundingClientRect().top;
    ghost.style.transform = `translateY(${top}px)`;
    return positionOfTop(top, sizes);
  };
  return { at, drop: () => ghost.remove() };
}

export function makeGhost(node) {
  const ghost = node.cloneNode(true);
  ghost.classList.add("ghost");
  for (const name of ["tabindex", "data-item", "role", "aria-selected"]) ghost.removeAttribute(name);
  ghost.setAttribute("aria-hidden", "true");
  $("ghosts").append(ghost);
  return ghost;
}

// The position that a row has whose upper edge is at this height; each side has a head above it.
function positionOfTop(top, sizes) {
  const last = state.ordering.length - 1;
  let first = 0;
  for (const [side, count] of sizes.entries()) {
    const head = sizes.length > 1 ? size.side * (side + 1) : 0, position = Math.round((top - head) / size.row);
    if (position < first + count) return Math.min(last, Math.max(first, position));
    first += count;
  }
  return last;
}

// Near the edge of what is seen, the list moves on; whether it did.
function scrollNear(pointer) {
  const scroller = $("scroller"), own = scroller.scrollHeight > scroller.clientHeight + 2 && getComputedStyle(scroller).overflowY !== "visible";
  const box = own ? scroller.getBoundingClientRect() : { top: 0, bottom: innerHeight - 80 };
  const step = pointer < box.top + 40 ? -10 : pointer > box.bottom - 40 ? 10 : 0;
  if (step) (own ? scroller : window).scrollBy(0, step);
  return step !== 0;
}
