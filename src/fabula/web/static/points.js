// The items on the arc under a hand: chosen by a press, dragged to another position.

import { chip, nodes } from "./arc.js";
import { follow } from "./drag.js";
import { sides } from "./laid.js";
import { preview, restore, snapshot } from "./ordering.js";
import { moveByHand, placed, standing } from "./pinning.js";
import { nearest, positionAt } from "./plot.js";
import { changed, commit, state, titleOf } from "./state.js";
import { tell } from "./voice.js";

let inside = null;

export function start(pointer) {
  inside = pointer;
  nodes.root.addEventListener("pointermove", (event) => event.pointerType === "mouse" && !event.buttons && hover(under(event)));
  nodes.root.addEventListener("pointerleave", () => hover(null));
}

function under(event) {
  const point = event.target.closest(".point");
  return point ? Number(point.dataset.item) : nodes.points.size ? null : nearest(inside(event));
}

function hover(item) {
  if (nodes.hovered === (item ?? undefined)) return;
  nodes.hovered = item ?? undefined;
  nodes.root.classList.toggle("over", item !== null);
  chip();
}

// Press an item: it is chosen; drag it along: it is pinned where it is let go, and the rest flows around it.
export function press(event) {
  const item = under(event);
  if (item === null) return;
  event.preventDefault();
  state.chosen = item;
  changed("chosen");
  const shown = snapshot(), from = standing(item), sizes = sides();
  let to = from;
  const move = (now) => {
    const position = positionAt(inside(now).px);
    if (position !== to) preview(placed(item, (to = position), from, sizes));
  };
  const end = (kept, { shift, moved }) => {
    if (!moved) return;
    if (!kept || to === from) return restore(shown);
    if (shift) {
      Object.assign(state, shown); // nothing but this one moves
      moveByHand(item, to);
    } else commit(placed(item, to, from, sizes));
    tell(`${titleOf(item)} is let go at ${to + 1}.`);
  };
  follow(event, { move, end });
}
