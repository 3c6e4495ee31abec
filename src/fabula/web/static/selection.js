// The selection: one item, or several at once, one by one or all between two.

import { announce } from "./announce.js";
import { $ } from "./dom.js";
import { layAllRows } from "./layout.js";
import { choose } from "./list.js";
import { emit, state } from "./state.js";

let anchor = null; // where a range begins

export function start() {
  $("select").addEventListener("click", () => setSelecting($("select").getAttribute("aria-pressed") !== "true"));
}

// With a finger: every touch adds a row to those chosen, or takes it out.
function setSelecting(on) {
  $("select").setAttribute("aria-pressed", on);
  if (!on) clearSeveral();
}
export const isSelecting = () => $("select").getAttribute("aria-pressed") === "true";

// One item alone, from which a range may go on.
export function chooseOne(item, options) {
  anchor = item;
  choose(item, options);
}

export function clearSeveral() {
  if (!state.several.size) return;
  state.several = new Set();
  emit("chosen");
}

export function toggleItem(item) {
  const all = new Set(state.several.size ? state.several : state.chosen !== null && !isSelecting() ? [state.chosen] : []);
  if (!all.delete(item)) all.add(item);
  chooseSeveral(all, item);
}

// All from where the range began to this one; from: where it begins if nothing is chosen together yet.
export function chooseRange(item, from = null) {
  if (from !== null && !state.several.size) anchor = from;
  const order = layAllRows().map((row) => row.item), ends = [order.indexOf(anchor ?? state.chosen ?? item), order.indexOf(item)].sort((a, b) => a - b);
  chooseSeveral(new Set(order.slice(ends[0], ends[1] + 1)), item);
}

export function chooseSeveral(all, item) {
  state.several = all;
  choose(item, { scroll: true });
  emit("chosen");
  announce(`${all.size} chosen.`);
}
