// What is open, and what was worked on before: told apart by where it comes from and when, opened again and closed.

import * as api from "./api.js";
import { $, el, icon } from "./dom.js";
import { state } from "./state.js";
import { say } from "./voice.js";

const MOST = 12;
let hands = {};

export function start(given) {
  hands = given;
}

// Collections that are open, and desks of collections that are not; titles that are alike are numbered.
export async function everything() {
  const [open, desks] = await Promise.all([api.collections().catch(() => []), api.desks().catch(() => [])]);
  const kept = new Map(desks.map((desk) => [desk.id, desk])), here = new Set(open.map(({ id }) => id));
  const all = [...open.reverse().map((one) => ({ ...one, ...kept.get(one.id), open: true })), ...desks.filter(({ id }) => !here.has(id)).map((one) => ({ ...one, open: false }))];
  const times = {};
  for (const one of all) times[one.title] = (times[one.title] || 0) + 1;
  const seen = {};
  return all.map((one) => ({ ...one, name: times[one.title] > 1 ? `${one.title} (${(seen[one.title] = (seen[one.title] || 0) + 1)})` : one.title }));
}

const when = (saved) => (saved ? new Date(saved).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "");
const whence = ({ origin }) => ({ upload: "dropped here", demo: "the demo", session: "from a session" })[origin?.kind] ?? origin?.path ?? "";

export async function render() {
  const all = (await everything()).slice(0, MOST), box = $("recent"), rows = all.map(row);
  box.replaceChildren(el("h2", {}, "Go on with"), el("ul", { class: "recents" }, ...rows));
  box.hidden = !rows.length;
}

function row(one) {
  const { id, name, items, saved, open } = one;
  const more = [`${items} item${items === 1 ? "" : "s"}`, whence(one), when(saved)].filter(Boolean).join(" · ");
  const take = el("button", { class: "recent-open", onclick: () => (open ? hands.take(id) : hands.run(() => api.reopen(id))) },
    el("b", { dir: "auto" }, name), el("small", { class: "soft", dir: "auto" }, more));
  const close = el("button", { class: "plain", "aria-label": `Close ${name}`, title: saved ? "Close it; what you made of it is forgotten" : "Close it", onclick: () => forget(one) }, icon("close"));
  return el("li", {}, take, close);
}

// Close a collection. What was made of it goes with it, but not without being asked.
async function forget({ id, name, open, saved }) {
  if (saved && !confirmed.has(id)) {
    confirmed.add(id);
    return say(`Close ${name} and forget what you made of it?`, { actions: [["Close it", () => forget({ id, name, open, saved })], ["Keep it", () => confirmed.delete(id)]] });
  }
  try {
    if (open) await api.close(id);
    if (saved) await api.dropDesk(id);
    if (state.collection?.id === id) return leave();
    await render();
    $("recent").querySelector("button")?.focus();
  } catch (error) {
    say(error.message, { error: true });
  }
}
const confirmed = new Set();

function leave() {
  sessionStorage.removeItem("fabula-page");
  location.reload();
}
