// One picture large: the arrows go through the order, Escape goes back.

import * as api from "./api.js";
import { $ } from "./dom.js";
import { label, withLeftOut } from "./laid.js";
import { choose } from "./list.js";
import { state, titleOf } from "./state.js";
import { colours } from "./tiles.js";

const LARGE = 2000; // pixels
let shown = null;

export function start() {
  $("zoom-prev").addEventListener("click", () => step(-1));
  $("zoom-next").addEventListener("click", () => step(1));
  $("zoom-close").addEventListener("click", () => $("zoom").close());
  $("zoom").addEventListener("close", () => shown !== null && choose(shown, { scroll: true }));
  $("zoom").addEventListener("keydown", onKey);
  $("one-shown").addEventListener("click", () => state.collection.medium.preview.kind === "picture" && state.chosen !== null && open(state.chosen));
}

export function open(item) {
  if (!state.collection.items[item].preview) return;
  show(item);
  if (!$("zoom").open) $("zoom").showModal();
}

function onKey(event) {
  const all = withLeftOut(), steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -all.length, End: all.length };
  if (!(event.key in steps)) return;
  event.preventDefault();
  step(steps[event.key]);
}

function step(by) {
  const all = withLeftOut(), at = all.findIndex((row) => row.item === shown);
  show(all[Math.min(all.length - 1, Math.max(0, at + by))].item);
}

// The small picture is there at once, the large one takes its place when it has come.
function show(item) {
  const all = withLeftOut(), at = all.findIndex((row) => row.item === item), row = all[at], image = $("zoom-image");
  shown = item;
  image.src = api.cover(state.collection.id, item);
  image.alt = titleOf(item);
  const large = new Image();
  large.src = api.cover(state.collection.id, item, LARGE);
  large.decode().then(() => shown === item && (image.src = large.src)).catch(() => null);
  $("zoom-name").textContent = `${row.off === null ? "" : `${label(row)}. `}${titleOf(item)}`;
  $("zoom-why").textContent = state.before ? "" : state.why.get(item) || "";
  $("zoom-colours").replaceChildren(colours(item));
  $("zoom-prev").disabled = at <= 0;
  $("zoom-next").disabled = at >= all.length - 1;
  const next = all[at + 1];
  if (next) new Image().src = api.cover(state.collection.id, next.item, LARGE);
}
