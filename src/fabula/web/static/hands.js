// Items under a hand, as rows or as tiles: keys, clicks, several at once, and one dragged to a position.

import { $ } from "./dom.js";
import { follow, holdStill } from "./drag.js";
import { label, sides, withLeftOut } from "./laid.js";
import { choose, isFinding, partsOf, size } from "./list.js";
import { preview, restore, snapshot } from "./ordering.js";
import { isIn, moveByHand, pin, placed, standing, toggleLink, toggleLock } from "./pinning.js";
import { playItem, playTransition } from "./player.js";
import { changed, commit, state, titleOf } from "./state.js";
import { tell } from "./voice.js";
import { open as zoom } from "./zoom.js";

let anchor = null;

// The rows: a step of the arrows is one up or down, and what drags is the number.
const ROWS = {
  steps: (at, last) => ({ ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last, PageUp: at - 8, PageDown: at + 8 }),
  drags: (event) => event.target.closest(".grip"),
  lift: liftRow,
};

export function start() {
  hold($("rows"), ROWS);
  $("select").addEventListener("click", () => setSelecting($("select").getAttribute("aria-pressed") !== "true"));
}

// Items in an element: steps(position, last) says where keys lead, drags(event) whether a press may drag, and lift(item,
// event) gives what follows the pointer: at({x, y}) the position there, drop() when it is let go.
export function hold(root, surface) {
  root.addEventListener("keydown", (event) => onKey(event, surface));
  root.addEventListener("click", onClick);
  root.addEventListener("dblclick", (event) => itemOf(event) !== null && show(itemOf(event)));
  root.addEventListener("pointerdown", (event) => onDown(event, surface));
  root.addEventListener("focusin", (event) => itemOf(event) !== null && choose(itemOf(event), { focus: false }));
  holdStill(root, () => ".grip");
}

const itemOf = (event) => {
  const node = event.target.closest("[data-item]");
  return node ? Number(node.dataset.item) : null;
};

// What there is to hear or to see of an item.
const show = (item) => (state.collection.medium.preview.kind === "picture" ? zoom(item) : null);

// With a finger: every touch adds a row to those chosen, or takes it out.
function setSelecting(on) {
  $("select").setAttribute("aria-pressed", on);
  if (!on) clear();
}
const selecting = () => $("select").getAttribute("aria-pressed") === "true";

export function clear() {
  if (!state.several.size) return;
  state.several = new Set();
  changed("chosen");
}

function toggle(item) {
  const all = new Set(state.several.size ? state.several : state.chosen !== null && !selecting() ? [state.chosen] : []);
  if (!all.delete(item)) all.add(item);
  take(all, item);
}

function range(item) {
  const order = withLeftOut().map((row) => row.item), ends = [order.indexOf(anchor ?? state.chosen ?? item), order.indexOf(item)].sort((a, b) => a - b);
  take(new Set(order.slice(ends[0], ends[1] + 1)), item);
}

function take(all, item) {
  state.several = all;
  choose(item, { scroll: true });
  changed("chosen");
  tell(`${all.size} chosen.`);
}

function onClick(event) {
  const item = itemOf(event);
  if (item === null) return;
  if (event.target.closest(".lock") && !state.before) toggleLock(item);
  else if (event.target.closest(".hear") && (state.before || isIn(item))) playItem(item);
  else if (event.shiftKey && !event.target.closest(".grip")) return range(item);
  else if (event.ctrlKey || event.metaKey || selecting()) return toggle(item);
  else clear();
  anchor = item;
  choose(item);
}

function onKey(event, surface) {
  const item = itemOf(event);
  if (item === null) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a") take(new Set(state.ordering), item);
  else if (event.ctrlKey || event.metaKey) return;
  else if (event.key === "Escape" && state.several.size) clear();
  else if (!moves(event, item, surface) && !acts(event, item)) return;
  event.preventDefault();
  event.stopPropagation();
}

function moves(event, item, surface) {
  const all = withLeftOut(), position = all.findIndex((row) => row.item === item), last = all.length - 1;
  const to = surface.steps(position, last)[event.key];
  if (to === undefined) return false;
  const next = all[Math.min(last, Math.max(0, to))].item;
  if (event.altKey) {
    if (state.before || isFinding()) return true;
    if (event.shiftKey) moveByHand(item, to);
    else pin(item, to);
    told(item);
  } else if (event.shiftKey) {
    if (!state.several.size) anchor = item;
    range(next);
  } else {
    clear();
    choose((anchor = next), { scroll: true });
  }
  return true;
}

function acts(event, item) {
  const { key, altKey } = event, free = !state.before;
  if (altKey) return false;
  if (key === "Enter" && event.target.closest("button")) return false;
  if (key === "Enter" && state.collection.medium.preview.kind === "picture") zoom(item);
  else if (key === "Enter") playItem(item);
  else if (key.toLowerCase() === "l" && free) toggleLock(item);
  else if (key.toLowerCase() === "k" && free) toggleLink(item);
  else if (key.toLowerCase() === "t") playTransition(item);
  else return false;
  return true;
}

function told(item) {
  const row = withLeftOut().find((one) => one.item === item);
  tell(`${titleOf(item)}: position ${label(row)}.`);
}

function onDown(event, surface) {
  if (!surface.drags(event) || event.button || state.before || isFinding()) return;
  event.preventDefault();
  const item = itemOf(event), shown = snapshot(), from = standing(item), sizes = sides();
  let held = null, to = null;
  const move = (now) => {
    held ??= surface.lift(item, event);
    state.dragged = item;
    const position = held.at(now, sizes);
    if (position !== to) preview(placed(item, (to = position), from, sizes));
  };
  const end = (kept, { shift, moved }) => {
    held?.drop();
    state.dragged = null;
    if (!moved) return event.pointerType === "mouse" ? null : choose(item);
    if (!kept || to === null) return restore(shown);
    if (shift && isIn(item)) {
      Object.assign(state, shown); // nothing but this one moves
      moveByHand(item, to);
    } else commit(placed(item, to, from, sizes));
    told(item);
  };
  if (!event.shiftKey && !event.ctrlKey && !event.metaKey) choose(item);
  follow(event, { move, end, each: ({ y }) => scrollNear(y) });
}

// The row in the hand; its place in the list stays where it would be put.
function liftRow(item, { clientY }) {
  const parts = partsOf(item), hand = clientY - parts.row.getBoundingClientRect().top, ghost = ghostOf(parts.row);
  const at = ({ y }, sizes) => {
    const top = y - hand - $("rows").getBoundingClientRect().top;
    ghost.style.transform = `translateY(${top}px)`;
    return positionAt(top, sizes);
  };
  return { at, drop: () => ghost.remove() };
}

export function ghostOf(node) {
  const ghost = node.cloneNode(true);
  ghost.classList.add("ghost");
  for (const name of ["tabindex", "data-item", "role", "aria-selected"]) ghost.removeAttribute(name);
  ghost.setAttribute("aria-hidden", "true");
  $("ghosts").append(ghost);
  return ghost;
}

// The position that a row has whose upper edge is at this height; each side has a head above it.
function positionAt(top, sizes) {
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
