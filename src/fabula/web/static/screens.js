// One thing at a time: the start, a job, or the desk.

import { $ } from "./dom.js";
import { canPlay } from "./player.js";
import { state } from "./state.js";

const SCREENS = ["start", "job", "desk"];
let now = "start";

export const screen = () => now;

export function show(name) {
  now = name === "desk" && !state.collection ? "start" : name;
  for (const id of SCREENS) $(id).hidden = id !== now;
  const desk = now === "desk", hears = desk && canPlay(state.collection);
  $("tools").hidden = !state.collection;
  for (const id of ["undo", "redo", "save", "versions"]) $(id).hidden = !desk;
  $("again").textContent = now === "start" && state.collection ? "Back" : "Open…";
  $("player").hidden = !hears;
  $("play-all").hidden = !hears;
  $("desk").classList.toggle("mute", !hears);
  document.body.dataset.screen = now;
}
