// Small things about elements.

/** The element of an id; what kind it is, the page knows.
 * @type {(id: string) => any} */
export const $ = (id) => document.getElementById(id);

// An element with properties and children; text is always text.
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

export const capital = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

// What stands in a box, in this order; the focus stays where it was.
export function sortNodes(box, nodes) {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  let current = box.firstElementChild;
  for (const node of nodes) {
    if (node === current) current = current.nextElementSibling;
    else box.insertBefore(node, current);
  }
  if (box.contains(focused) && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const ICONS = {
  undo: "M8 5 4 9l4 4M4 9h9a5 5 0 0 1 0 10h-3",
  redo: "m16 5 4 4-4 4M20 9h-9a5 5 0 0 0 0 10h3",
  play: "M8 5.5v13l11-6.5z",
  pause: "M8 5v14M16 5v14",
  prev: "M18 6v12l-9-6zM6 6v12",
  next: "M6 6v12l9-6zM18 6v12",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z",
  open: "M7 11V8a5 5 0 0 1 9.6-2M6 11h12v9H6z",
  link: "M9.5 14.5l5-5M8 11l-2.500 2.500a3.500 3.500 0 0 0 5 5L13 16M16 13l2.500-2.500a3.500 3.500 0 0 0-5-5L11 8",
};
Object.assign(ICONS, {
  volume: "M5 10v4h3l4 4V6L8 10zM15.500 9a4 4 0 0 1 0 6M18 6.500a7.500 7.500 0 0 1 0 11",
  close: "M7 7l10 10M17 7 7 17",
  back: "M14.500 6l-6 6 6 6",
  on: "M9.500 6l6 6-6 6",
  edit: "M5 19l1-4L16 5l3 3L9 18zM14 7l3 3",
  find: "M10.500 5a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11M15 15l4.500 4.500",
});
const FILLED = new Set(["play", "prev", "next"]);

export function icon(name) {
  const shape = svg("path", { d: ICONS[name] });
  return svg("svg", { viewBox: "0 0 24 24", class: FILLED.has(name) ? "icon filled" : "icon", "aria-hidden": "true" }, shape);
}

export function setIcon(button, name) {
  if (button.dataset.icon === name) return;
  button.dataset.icon = name;
  const old = button.querySelector("svg.icon");
  if (old) old.replaceWith(icon(name));
  else button.prepend(icon(name));
}

// Seconds as a clock, for what is playing.
export function clock(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "";
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
