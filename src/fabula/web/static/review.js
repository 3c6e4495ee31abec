// The review: what is good and what is weak in the order on the screen, who else might open and close, and moves to take.

import { announce, notify, setBusy } from "./announce.js";
import * as api from "./api.js";
import { moveByHand, pin, swapByHand } from "./constraints.js";
import { $, capital, el } from "./dom.js";
import { emit, state, titleOf } from "./state.js";

let shown = false, found = null, asking = null;

export const start = () => $("review-open").addEventListener("click", () => setShown(!shown));

function setShown(now) {
  shown = now;
  $("review-open").setAttribute("aria-pressed", shown);
  $("review").hidden = !shown;
  if (shown && !state.collection.pending) ask();
  else markJoins();
}

// Ask anew when another order is on the screen.
export function refresh() {
  if (shown && state.settled && !state.collection.pending) ask();
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
const part = (kind, name, ...rows) => (rows.length ? [el("h3", { class: kind }, name), el("ul", { class: kind }, ...rows)] : []);

function render() {
  const { verdict, outlook, notes, percentile, joins, odd, moves } = found;
  const lines = percentile === null ? [notes[0]] : [verdict];
  $("review").replaceChildren(
    ...lines.map((line) => el("p", { class: "verdict" }, `${capital(line)}.`)),
    ...ends("Opens", "opener", found.openers, 0),
    ...ends("Closes", "close", found.closers, found.ordering.length - 1),
    ...part("in-rows", "Weak joins", ...joins.slice(0, found.weakest).map((join) => el("li", { dir: "auto" }, `${join.after}–${join.after + 1} ${join.titles.join(" > ")}: ${join.why}`))),
    ...part("in-rows", "Stands oddly", ...odd.slice(0, found.clear_odd).map((one) => el("li", { dir: "auto" }, `${one.position} ${one.title}: ${one.why}`))),
    ...part("", "Moves that help", ...moves.map(moveRow)),
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
  return [el("div", { class: "ends", role: "group", "aria-label": `The likeliest ${noun}s` }, el("h3", {}, `${verb} with`), ...buttons)];
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

// What a review says is said in the rows themselves: weak joins between two, and what stands oddly.
export function markJoins() {
  const marks = new Map(), now = shown && found && found.ordering.join() === orderShown().join();
  if (now) {
    for (const { after, why } of found.joins.slice(0, found.weakest)) marks.set(found.ordering[after], { kind: "weak", text: `Weak join with the one before: ${why}` });
    for (const { position, why } of found.odd.slice(0, found.clear_odd)) {
      const item = found.ordering[position - 1], weak = marks.get(item);
      marks.set(item, { kind: weak ? "odd weak" : "odd", text: [`Stands oddly: ${why}`, weak?.text].filter(Boolean).join(". ") });
    }
  }
  if (!marks.size && !state.marks.size) return;
  state.marks = marks;
  emit("marks");
}
