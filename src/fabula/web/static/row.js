// One row of the list: made once, filled with whatever item stands there now; only what changed is written.

import { el, icon, setIcon } from "./dom.js";
import { label } from "./laid.js";
import { isLinked } from "./pinning.js";
import { isPlaying } from "./player.js";
import { state, titleOf } from "./state.js";

const DRAG = "Drag to a position to pin it there; with Shift nothing else moves";
const cell = (kind, ...inner) => el("span", { role: "gridcell", class: kind }, ...inner);

export function makeRow() {
  const grip = el("button", { class: "grip", tabindex: -1 });
  const play = el("button", { class: "hear plain", tabindex: -1 }, icon("play"));
  const art = el("img", { class: "art", alt: "", loading: "lazy", hidden: true, onerror: () => (art.hidden = true) });
  const name = el("span", { class: "name", dir: "auto" }), sub = el("span", { class: "sub", dir: "auto" });
  const fill = el("i"), bar = el("span", { class: "bar" }, fill), off = cell("off"), time = cell("time");
  const lock = el("button", { class: "lock plain", tabindex: -1, "aria-pressed": "false" }, icon("open"));
  lock.dataset.icon = "open";
  const row = el("div", { class: "row", role: "row", tabindex: -1 }, cell("c-grip", grip), cell("c-hear", play),
    cell("what", art, el("span", { class: "words" }, name, sub)), cell("c-bar", bar), off, time, cell("c-lock", lock));
  return { row, grip, play, art, name, sub, fill, bar, off, time, lock, was: {} };
}

// Write what is new.
function put(parts, key, value, write) {
  if (parts.was[key] === value) return;
  parts.was[key] = value;
  write(value);
}

const near = (off) => off.toFixed(1).replace("-0.0", "0.0").replace("-", "−");

// What is on the screen of the item, also while something is dragged.
export function fillRow(parts, data, { pinned, scale, covers }) {
  const { item, off } = data, gone = off === null, held = pinned.has(item), { length_text: length, essence, preview } = state.collection.items[item];
  parts.item = item;
  put(parts, "item", item, () => (parts.row.dataset.item = item));
  put(parts, "number", gone ? "+" : label(data), (text) => (parts.grip.textContent = text));
  put(parts, "title", titleOf(item), (text) => (parts.name.textContent = text));
  put(parts, "off", gone ? "" : near(off), (text) => (parts.off.textContent = text));
  put(parts, "time", length, (text) => (parts.time.textContent = text));
  put(parts, "width", scale(essence), (share) => (parts.fill.style.transform = `scaleX(${share})`));
  put(parts, "held", held, () => setIcon(parts.lock, held ? "lock" : "open"));
  put(parts, "silent", !preview, (silent) => (parts.play.disabled = silent));
  put(parts, "cover", covers(item), (address) => showCover(parts.art, address));
  const on = item === state.chosen || state.several.has(item), linked = !state.before && isLinked(item);
  const kind = `row${held ? " pinned" : ""}${on ? " chosen" : ""}${gone ? " out" : ""}${linked ? " linked" : ""}${isPlaying(item) ? " playing" : ""}`;
  put(parts, "kind", kind, () => (parts.row.className = kind));
}

function showCover(art, address) {
  art.hidden = !address;
  if (address) art.src = address;
  else art.removeAttribute("src");
}

// What is read of it, and by those who hear the page; once things have come to rest.
export function settleRow(parts, data, { several, stop, total, alike }) {
  const { item, off, position } = data, gone = off === null, title = titleOf(item), held = parts.was.held;
  const why = gone || state.before || alike ? "" : state.why.get(item) || "";
  const { creator, facts } = state.collection.items[item];
  const line = [several ? creator : "", ...Object.values(facts || {}), why].filter(Boolean).join(" · ");
  const place = gone ? "left out" : `position ${label(data)}`, on = item === state.chosen || state.several.has(item);
  put(parts, "line", line, () => {
    parts.sub.textContent = line;
    parts.name.title = parts.sub.title = line ? `${title}: ${line}` : title;
  });
  put(parts, "stop", stop === item, (here) => (parts.row.tabIndex = here ? 0 : -1));
  put(parts, "on", on, () => parts.row.setAttribute("aria-selected", on));
  put(parts, "index", `${position + 1} of ${total}`, () => parts.row.setAttribute("aria-rowindex", position + 1));
  const name = [place, title, line, state.collection.items[item].length_text, held ? "pinned" : ""].filter(Boolean).join(", ");
  put(parts, "label", name, () => parts.row.setAttribute("aria-label", name));
  put(parts, "lock", `${held ? "Unlock" : "Lock"} ${title}, ${place}`, (text) => {
    parts.lock.setAttribute("aria-label", text);
    parts.lock.setAttribute("aria-pressed", held);
    parts.grip.title = gone ? "Drag into the order to keep it" : DRAG;
    parts.grip.setAttribute("aria-label", `${title}, ${place}`);
  });
  showHeard(parts);
}

export function showHeard(parts) {
  const on = isPlaying(parts.item), title = titleOf(parts.item);
  put(parts, "heard", `${on ? "Pause" : "Play"} ${title}`, (text) => {
    parts.row.classList.toggle("playing", on);
    parts.was.kind = null;
    parts.play.replaceChildren(icon(on ? "pause" : "play"));
    parts.play.setAttribute("aria-label", text);
  });
}
