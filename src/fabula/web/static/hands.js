// The list under a hand: keys, clicks, several rows at once, and rows dragged to a position.

import { $ } from "./dom.js";
import { follow, holdStill } from "./drag.js";
import { label, sides, withLeftOut } from "./laid.js";
import { choose, isFinding, partsOf, size } from "./list.js";
import { preview, restore, snapshot } from "./ordering.js";
import { isIn, moveByHand, pin, placed, standing, toggleLink, toggleLock } from "./pinning.js";
import { playItem, playTransition } from "./player.js";
import { changed, commit, state, titleOf } from "./state.js";
import { tell } from "./voice.js";

let anchor = null;

export function start() {
  const list = $("rows");
  list.addEventListener("keydown", onKey);
  list.addEventListener("click", onClick);
  list.addEventListener("pointerdown", onDown);
  list.addEventListener("focusin", (event) => itemOf(event) !== null && choose(itemOf(event), { focus: false }));
  holdStill(list, () => ".grip");
  $("select").addEventListener("click", () => setSelecting($("select").getAttribute("aria-pressed") !== "true"));
}

const itemOf = (event) => {
  const row = event.target.closest(".row");
  return row ? Number(row.dataset.item) : null;
};

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

function onKey(event) {
  const item = itemOf(event);
  if (item === null) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a") take(new Set(state.ordering), item);
  else if (event.ctrlKey || event.metaKey) return;
  else if (event.key === "Escape" && state.several.size) clear();
  else if (!moves(event, item) && !acts(event, item)) return;
  event.preventDefault();
  event.stopPropagation();
}

function moves(event, item) {
  const all = withLeftOut(), position = all.findIndex((row) => row.item === item), last = all.length - 1;
  const to = { ArrowUp: position - 1, ArrowDown: position + 1, Home: 0, End: last, PageUp: position - 8, PageDown: position + 8 }[event.key];
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
  if (key === "Enter") playItem(item);
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

function onDown(event) {
  const grip = event.target.closest(".grip");
  if (!grip || event.button || state.before || isFinding()) return;
  event.preventDefault();
  const item = itemOf(event), parts = partsOf(item), list = $("rows"), shown = snapshot(), from = standing(item), sizes = sides();
  const hand = event.clientY - parts.row.getBoundingClientRect().top;
  let ghost = null, to = null;
  const move = ({ y }) => {
    ghost ??= lift(item, parts);
    const top = y - hand - list.getBoundingClientRect().top;
    ghost.style.transform = `translateY(${top}px)`;
    const position = positionAt(top, sizes);
    if (position !== to) preview(placed(item, (to = position), from, sizes));
  };
  const end = (kept, { shift, moved }) => {
    ghost?.remove();
    state.dragged = null;
    if (!moved) return;
    if (!kept || to === null) return restore(shown);
    if (shift && isIn(item)) {
      Object.assign(state, shown); // nothing but this one moves
      moveByHand(item, to);
    } else commit(placed(item, to, from, sizes));
    told(item);
  };
  choose(item);
  follow(event, { move, end, each: ({ y }) => scrollNear(y) });
}

// The row in the hand; its place in the list stays where it would be put.
function lift(item, parts) {
  const ghost = parts.row.cloneNode(true);
  ghost.classList.add("ghost");
  ghost.removeAttribute("tabindex");
  ghost.setAttribute("aria-hidden", "true");
  ghost.removeAttribute("data-item");
  $("ghosts").append(ghost);
  state.dragged = item;
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
