// The review: what is good and what is weak in the order on the screen, who else might open and close, and moves to take.

import { announce, notify, setBusy } from "./announce.js";
import * as api from "./api.js";
import { moveByHand, pin, swapByHand } from "./constraints.js";
import { $, el } from "./dom.js";
import { partsOf } from "./list.js";
import { state, titleOf } from "./state.js";

let shown = false, found = null, asking = null;

export const start = () => $("review-open").addEventListener("click", () => setShown(!shown));

function setShown(now) {
  shown = now;
  $("review-open").setAttribute("aria-pressed", shown);
  $("review").hidden = !shown;
  if (shown) ask();
  else markJoins();
}

// Ask anew when another order is on the screen.
export function refresh() {
  if (shown && state.settled) ask();
}

const orderShown = () => (state.before ? state.collection.items.map((_, i) => i) : state.ordering);

async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController()), ordering = [...orderShown()];
  const sides = state.before ? [] : state.sides;
  setBusy("review", true, "Looking at the order");
  try {
    const answer = await api.review(state.collection.id, { ordering, side_sizes: sides.length > 1 ? sides : [], titles: state.wishes.titles }, mine.signal);
    if (mine !== asking) return;
    found = { ...answer, ordering };
    render();
    announce(found.verdict || found.notes[0] || "");
  } catch (error) {
    if (error.name !== "AbortError" && mine === asking) notify(error.message, { error: true });
  } finally {
    if (mine === asking) setBusy("review", false);
  }
}

const itemOf = (id) => state.collection.items.findIndex((one) => one.id === id);
const capital = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
const part = (name, ...rows) => (rows.length ? [el("h3", {}, name), el("ul", {}, ...rows)] : []);

function render() {
  const { verdict, outlook, notes, percentile, joins, odd, moves } = found;
  const lines = percentile === null ? [notes[0]] : [verdict];
  $("review").replaceChildren(
    ...lines.map((line) => el("p", { class: "verdict" }, `${capital(line)}.`)),
    ...ends("Opens", "opener", found.openers, 0),
    ...ends("Closes", "close", found.closers, found.ordering.length - 1),
    ...part("Weak joins", ...joins.slice(0, found.weakest).map((join) => el("li", { dir: "auto" }, `${join.after}–${join.after + 1} ${join.titles.join(" > ")}: ${join.why}`))),
    ...part("Stands oddly", ...odd.slice(0, found.clear_odd).map((one) => el("li", { dir: "auto" }, `${one.position} ${one.title}: ${one.why}`))),
    ...part("Moves that help", ...moves.map(moveRow)),
    ...(moves.length || percentile === null ? [] : outlook).map((line) => el("p", { class: "soft" }, `${capital(line)}.`)),
  );
  markJoins();
}

// The likeliest openers or closes, each to be chosen; what stands there now is pressed.
function ends(verb, noun, ids, position) {
  if (!ids.length) return [];
  const side = position === 0 ? 0 : 1;
  const buttons = ids.map((id) => {
    const item = itemOf(id), percent = Math.round(100 * found.chances[id][side]);
    const props = { class: "small", dir: "auto", "aria-pressed": String(found.ordering[position] === item), onclick: () => pin(item, position) };
    return el("button", props, `${titleOf(item)} ${percent} %`);
  });
  return [el("h3", {}, `${verb} with`), el("div", { class: "group", role: "group", "aria-label": `The likeliest ${noun}s` }, ...buttons)];
}

// A move counts on those before it, and is taken with them.
function moveRow(move, index) {
  const take = () => {
    for (const { id, to, swap } of found.moves.slice(0, index + 1)) {
      if (swap === null) moveByHand(itemOf(id), to - 1);
      else swapByHand(itemOf(id), itemOf(swap));
    }
  };
  const words = index ? `Take these ${index + 1}` : "Take";
  return el("li", {}, el("span", { dir: "auto" }, capital(move.say)), el("button", { class: "small", "aria-label": `${words}: ${move.say}`, onclick: take, disabled: state.before }, words));
}

// Weak joins are marked between the rows.
export function markJoins() {
  const weak = shown && found ? found.joins.slice(0, found.weakest).map(({ after }) => found.ordering[after]) : [];
  for (const row of document.querySelectorAll("#rows .row.weak")) row.classList.remove("weak");
  for (const item of weak) partsOf(item)?.row.classList.add("weak");
}
