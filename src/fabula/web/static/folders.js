// The folders of this computer that were named at start.

import * as api from "./api.js";
import { $, el } from "./dom.js";
import { say } from "./voice.js";

let run = async () => {};

export async function start(begin) {
  run = begin;
  $("browse").addEventListener("click", () => browse(null));
  const { folders } = await api.folders(null).catch(() => ({ folders: [] }));
  $("browse").hidden = !folders.length;
}

const entry = (name, action, kind) => el("li", {}, el("button", { class: `link ${kind}`, onclick: action, dir: "auto" }, name));

async function browse(path) {
  const box = $("browser");
  try {
    const { folders, lists, items, parent, path: here } = await api.folders(path);
    const up = here === null ? null : el("button", { class: "plain wide", onclick: () => browse(parent) }, "Up");
    const can = here !== null && (items || folders.length);
    const open = can ? el("button", { class: "strong", onclick: () => run(() => api.openPath(here)) }, items ? `Open this folder (${items})` : "Open this folder") : null;
    const list = el("ul", {}, ...folders.map((one) => entry(one.name, () => browse(one.path), "dir")),
      ...lists.map((one) => entry(one.name, () => run((more) => api.openPath(one.path, more)), "file")));
    const name = here === null ? "Folders of this computer" : here.split(/[\\/]/).pop();
    box.replaceChildren(el("div", { class: "head" }, el("h2", { dir: "auto" }, name), el("div", { class: "group" }, ...[up, open].filter(Boolean))), list);
    box.hidden = false;
    box.querySelector("button")?.focus();
  } catch (error) {
    say(error.message, { error: true });
  }
}
