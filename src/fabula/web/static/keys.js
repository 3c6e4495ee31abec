// Keys that work anywhere on the desk. Single letters can be switched off.

import { $ } from "./dom.js";
import { dragging } from "./drag.js";
import { redo, state, undo } from "./state.js";

const KEY = "fabula-letters";
/** @type {Record<string, () => void>} */
let actions = {};

// letters: key -> what it does.
export function start(letters) {
  actions = letters;
  document.addEventListener("keydown", onKey);
  $("keys").addEventListener("click", () => $("help").showModal());
  const box = $("letters");
  box.checked = localStorage.getItem(KEY) !== "off";
  box.addEventListener("change", () => localStorage.setItem(KEY, box.checked ? "on" : "off"));
}

// In a field with text that is not yet a wish, undoing is the field's own.
function isEditing(field) {
  if (!field || field.matches("[type=range], [type=checkbox], select")) return false;
  const now = field.dataset.kept ?? field.defaultValue ?? "";
  return field.value !== now;
}

function onKey(event) {
  if (dragging.now || event.defaultPrevented) return;
  const field = event.target.closest("input, select, textarea"), key = event.key.toLowerCase();
  if (event.target.closest("dialog")) return;
  if (state.screen !== "desk" && key !== "?") return;
  if (event.ctrlKey || event.metaKey) {
    if (!["z", "y"].includes(key) || isEditing(field)) return;
    if (key === "z" && !event.shiftKey) undo();
    else redo();
    return event.preventDefault();
  }
  if (field || event.altKey) return;
  const free = !event.target.closest("button, summary, a");
  if (key === " " && free) actions[" "]();
  else if (key === "?") $("help").showModal();
  else if ($("letters").checked && key !== " " && key in actions) actions[key]();
  else return;
  event.preventDefault();
}
