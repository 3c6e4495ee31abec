// Which collection of a table of several: a dialog that lists them, to be searched where they are many.

import { $, el } from "./dom.js";

const FEW = 8, MOST = 200; // from more than FEW on they can be searched; MOST are on the screen at once
let listed = [];

export function start() {
  const dialog = $("which");
  $("which-find").addEventListener("input", list);
  $("which-cancel").addEventListener("click", () => dialog.close());
  dialog.addEventListener("submit", (event) => event.submitter || event.preventDefault()); // Enter, and nothing is found
  dialog.addEventListener("keydown", onKey);
}

export const isAsking = () => $("which").open;

// The id of the collection that the person chooses; null when she wants none.
export function choose(choices) {
  const dialog = $("which");
  listed = choices.map(({ id, title, items }, index) => ({ index, id, title: title || id, items }));
  $("which-text").textContent = `The table holds ${choices.length.toLocaleString("en")} collections. Choose the one to lay in order.`;
  $("which-find").hidden = choices.length <= FEW;
  $("which-find").value = "";
  list();
  dialog.returnValue = "";
  dialog.showModal();
  $("which-list").scrollTop = 0;
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue ? choices[dialog.returnValue].id : null), { once: true });
  });
}

function list() {
  const wanted = $("which-find").value.trim().toLowerCase();
  const found = listed.filter(({ id, title }) => `${title}\n${id}`.toLowerCase().includes(wanted));
  $("which-list").replaceChildren(...found.slice(0, MOST).map(pick));
  const more = found.length - MOST;
  $("which-more").textContent = !found.length ? "No collection has that name." : more > 0 ? `and ${more.toLocaleString("en")} more: type to find one` : "";
}

function pick({ index, id, title, items }) {
  const name = el("span", { class: "pick-name" }, title, id === title ? null : el("small", { class: "soft" }, id));
  return el("button", { class: "pick", value: String(index) }, name, el("small", { class: "soft" }, items === 1 ? "1 item" : `${items} items`));
}

// Up and down go through the list, from the field into it and back.
function onKey(event) {
  const picks = [...$("which-list").children], at = picks.indexOf(document.activeElement), last = picks.length - 1;
  if (at < 0 && event.key !== "ArrowDown") return;
  const to = { ArrowDown: Math.min(at + 1, last), ArrowUp: at - 1, Home: 0, End: last }[event.key];
  if (to === undefined || last < 0) return;
  event.preventDefault();
  if (to >= 0) picks[to].focus();
  else if (!$("which-find").hidden) $("which-find").focus();
}
