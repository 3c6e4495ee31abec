// Joins to be read: how the item before ends and the chosen one begins, how that ends and the next one begins.

import { $, el } from "./dom.js";
import { onChange, state } from "./state.js";

const known = new Map(); // collection/item -> {first, last}, or null where there is none
let wanted = "";

const order = () => (state.before ? state.collection.items.map((_, item) => item) : state.ordering);

async function ends(item) {
  const key = `${encodeURIComponent(state.collection.id)}/ends/${item}`;
  if (!known.has(key)) {
    const answer = await fetch(`/api/collections/${key}`).catch(() => null);
    known.set(key, answer?.ok ? await answer.json() : null);
  }
  return known.get(key);
}

// Texts are set as text, never as markup.
function page(title, words, side) {
  return el("div", { class: `join-page ${side}` }, el("p", { class: "soft join-title", dir: "auto" }, title), el("blockquote", { dir: "auto" }, words));
}

async function join(from, to) {
  const [one, other] = await Promise.all([ends(from), ends(to)]), { items } = state.collection;
  if (!one || !other) return null;
  return el("div", { class: "join" },
    page(`${items[from].title} ends`, one.last, "left-page"), page(`${items[to].title} begins`, other.first, "right-page"));
}

async function render() {
  const { collection, chosen } = state, place = chosen === null || !collection ? -1 : order().indexOf(chosen);
  if (!collection || collection.medium.preview.kind !== "text" || place < 0) return $("joins").replaceChildren();
  const all = order(), pairs = [[all[place - 1], chosen], [chosen, all[place + 1]]].filter((pair) => !pair.includes(undefined));
  const asked = `${collection.id} ${pairs.join(" ")}`;
  if (asked === wanted && $("joins").childElementCount) return;
  wanted = asked;
  const made = (await Promise.all(pairs.map((pair) => join(...pair)))).filter(Boolean);
  if (wanted === asked) $("joins").replaceChildren(...made);
}

// What is read or seen can be saved as one, and not be played.
const WHOLE = {
  text: [["docx", "One text", "Word"], ["md", "One text", "Markdown"]],
  picture: [["png", "Contact sheet", "PNG"], ["pdf", "Contact sheet", "PDF"], ["book.pdf", "Facing pages", "PDF"]],
};
function joined() {
  const sheet = document.querySelector("#save .sheet"), kind = state.collection?.medium.preview.kind, kinds = WHOLE[kind] ?? [];
  $("rows").classList.toggle("unheard", kinds.length > 0);
  if (sheet.dataset.kind === kind) return;
  sheet.dataset.kind = kind;
  sheet.querySelectorAll(".joined").forEach((button) => button.remove());
  sheet.prepend(...kinds.map(([form, name, short]) => el("button", { class: "joined", "data-format": form }, `${name} `, el("small", {}, short))));
  for (const form of ["cue", "txt", "xspf"]) sheet.querySelector(`[data-format="${form}"]`).hidden = kind === "picture";
}

onChange(joined);
onChange((what) => !["preview", "playing", "proposals", "wishes"].includes(what) && render());
