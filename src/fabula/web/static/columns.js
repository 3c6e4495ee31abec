// What the rows show besides the title, the reason and the length: chosen from a menu, and remembered for each medium.

import { $, capital, el } from "./dom.js";
import { arcOf, isFollowing, readScale } from "./layout.js";
import { emit, state } from "./state.js";

const KEY = "fabula-columns";
const FIRST = ["length"]; // what is shown until somebody chooses

const formatOff = (off) => off.toFixed(1).replace("-0.0", "0.0").replace("-", "−");

// Every column there is for the collection: key, name, unit, width, and the text of a row.
export function listColumns() {
  const { facts = [], medium, items, length_text: length } = state.collection, arc = arcOf(state.answer), named = new Set(facts.map(({ name }) => name));
  return [
    ...facts.map(({ name, unit }) => ({ key: name, name, unit, width: "5.2rem", text: ({ item }) => items[item].facts[name] || "" })),
    ...(arc && !named.has(arc.name) && readScale() ? [{ key: "height", name: arc.name, unit: arc.unit, width: "4.2rem", text: ({ item }) => formatHeight(item) }] : []),
    { key: "off", name: "off the template", unit: "", width: "3.4rem", text: ({ off }) => (off === null ? "" : formatOff(off)) },
    ...(length || items.some((item) => item.length_text) ? [{ key: "length", name: "length", unit: medium.unit.name, width: medium.preview.kind === "sound" ? "3.4rem" : "5.4rem", text: ({ item }) => items[item].length_text }] : []),
  ];
}

function formatHeight(item) {
  const { arc, items } = state.collection, scale = readScale(), height = isFollowing() ? scale && scale.a * items[item].essence + scale.b : arc?.values[item];
  return Number.isFinite(height) ? String(Number(height.toPrecision(3))).replace("-", "−") : "";
}

const readChoices = () => JSON.parse(localStorage.getItem(KEY) || "{}");
const chosen = () => readChoices()[state.collection.medium.name] ?? FIRST;
export const shownColumns = () => listColumns().filter(({ key }) => chosen().includes(key));

function choose(key, on) {
  const { name } = state.collection.medium, now = on ? [...chosen(), key] : chosen().filter((one) => one !== key);
  localStorage.setItem(KEY, JSON.stringify({ ...readChoices(), [name]: now }));
  emit("columns");
}

// The menu, the heads above the rows, and the room that each column takes.
export function renderColumns() {
  const all = listColumns(), now = shownColumns(), sheet = $("columns-sheet");
  const boxes = all.map(({ key, name, unit }) => {
    const box = el("input", { type: "checkbox", value: key, onchange: (event) => choose(key, event.target.checked) });
    box.checked = chosen().includes(key);
    return el("label", { class: "check" }, box, ` ${capital(name)}`, unit ? el("small", {}, ` ${unit}`) : null);
  });
  if (sheet.dataset.keys !== all.map(({ key, unit }) => key + unit).join()) {
    sheet.dataset.keys = all.map(({ key, unit }) => key + unit).join();
    sheet.replaceChildren(sheet.querySelector("legend"), ...boxes);
  }
  $("column-heads").replaceChildren(
    el("span", {}, "#"), el("span", {}, `${capital(state.collection.medium.words.item)}, and why it stands there`),
    ...now.map(({ key, name, unit }) => el("span", { class: "number", title: unit }, key === "length" || !unit ? capital(key === "off" ? "off" : name) : `${capital(name)}, ${unit}`)), el("span", {}),
  );
  $("list").style.setProperty("--extra", now.map(({ width }) => width).join(" "));
  $("desk").classList.toggle("follows", isFollowing());
}

// All that is known of an item, with units: for the item chosen.
export function describeFacts(item) {
  const { facts = [], items } = state.collection;
  return facts.filter(({ name }) => items[item].facts[name]).map(({ name, unit }) => `${capital(name)} ${items[item].facts[name]}${unit ? ` ${unit}` : ""}`).join(" · ");
}
