// Where the model finds that items like to stand: bars for the item chosen, a table for all.

import { $, el } from "./dom.js";
import { state, titleOf } from "./state.js";

const MOST = 40; // of more items the table says nothing to the eye

export function start() {
  $("likes-all").addEventListener("toggle", table);
}

const shares = () => (state.before ? null : state.answer?.likes);

// A bar for each position, its own marked.
export function bars(item, row) {
  const found = shares()?.[item], box = $("one-likes");
  box.hidden = !found;
  if (!found) return;
  const top = Math.max(...found), best = found.indexOf(top) + 1;
  box.setAttribute("aria-label", `Likes to stand at position ${best} most`);
  box.title = "Where the model finds it likes to stand, from the first position to the last";
  box.replaceChildren(...found.map((share, position) => {
    const bar = el("i", { class: row?.position === position ? "here" : "" });
    bar.style.height = `${(8 + (92 * share) / top).toFixed(0)}%`;
    return bar;
  }));
}

// The same of all items, in their order: items by positions, the darker the likelier.
export function table() {
  const found = state.settled ? shares() : null, box = $("likes-all");
  box.hidden = !found || found.length > MOST;
  if (box.hidden || !box.open) return;
  const top = Math.max(...found.flat()), grid = $("likes-table");
  grid.style.gridTemplateColumns = `minmax(4rem, 10rem) repeat(${found.length}, minmax(6px, 20px))`;
  grid.replaceChildren(...state.ordering.flatMap((item, position) => [
    el("span", { dir: "auto" }, titleOf(item)),
    ...found[item].map((share, column) => {
      const cell = el("i", { class: column === position ? "here" : "" });
      cell.style.opacity = (0.06 + (0.94 * share) / top).toFixed(2);
      return el("b", {}, cell);
    }),
  ]));
}
