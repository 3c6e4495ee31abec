// Opening: files that are dropped or chosen, folders of this computer, the demo, sessions; and the job of it.

import * as api from "./api.js";
import { $, el, say } from "./dom.js";
import { canPlay } from "./player.js";
import { keep, state } from "./state.js";
import * as which from "./which.js";

let opened = () => {};

export async function start(whenOpened) {
  opened = whenOpened;
  $("demo").addEventListener("click", () => run(api.demo));
  for (const id of ["files", "folder"]) {
    $(id).addEventListener("change", (event) => {
      sendFiles([...event.target.files].map((file) => [file.webkitRelativePath || file.name, file]));
      event.target.value = "";
    });
  }
  $("again").addEventListener("click", showStart);
  $("browse").addEventListener("click", () => browse(null));
  dropping();
  which.start();
  const [{ folders }, { items, lists }] = await Promise.all([
    api.folders(null).catch(() => ({ folders: [] })),
    api.formats().catch(() => ({ items: [], lists: [] })),
  ]);
  $("files").accept = [...items, ...lists, ".json"].join();
  $("browse").hidden = !folders.length;
}

const hears = () => state.collection !== null && canPlay(state.collection);

export function showStart() {
  $("start").hidden = !$("start").hidden && state.collection !== null;
  $("desk").hidden = !$("start").hidden;
  $("player").hidden = $("desk").hidden || !hears();
  if (!$("start").hidden) recent();
}

async function recent() {
  const all = (await api.collections().catch(() => [])).reverse();
  const links = all.map(({ id, title, items }) => el("button", { class: "link", onclick: () => take(id) }, `${title} (${items})`));
  $("recent").replaceChildren(el("h2", {}, "Open here"), ...links);
  $("recent").hidden = !links.length;
}

async function take(id) {
  try {
    opened(await api.collection(id));
  } catch (error) {
    say(error.message, { error: true });
  }
}

function dropping() {
  const over = (on) => document.body.classList.toggle("dropping", on);
  addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files") || which.isAsking()) return;
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && over(false));
  addEventListener("drop", async (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    over(false);
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const plain = [...event.dataTransfer.files].map((file) => [file.name, file]);
    sendFiles(entries.length ? (await Promise.all(entries.map(filesOf))).flat() : plain);
  });
}

// The files of a dropped file or folder, with the folders in their names.
async function filesOf(entry) {
  if (entry.isFile) return [[entry.fullPath.slice(1), await new Promise((done, failed) => entry.file(done, failed))]];
  const reader = entry.createReader(), inner = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    inner.push(...some);
  }
  return (await Promise.all(inner.map(filesOf))).flat();
}

async function sendFiles(files) {
  if (!files.length) return;
  const session = files.length === 1 && files[0][0].endsWith(".json") ? await asSession(files[0][1]) : null;
  if (session) return reopen(session);
  await run((more) => {
    let abort = () => {};
    show("Receiving the files", () => abort());
    return api.upload(files, more, (done, total, stop) => {
      abort = stop;
      progress(done, total, `${Math.round((100 * done) / total)} % received`);
    });
  });
}

async function asSession(file) {
  try {
    const data = JSON.parse(await file.text());
    return data.kind === "fabula session" ? data : null;
  } catch {
    return null;
  }
}

async function reopen(session) {
  try {
    const { collection, state: saved } = await api.openSession(session);
    opened(collection, saved);
  } catch (error) {
    failed(error);
  }
}

// Begin a job and follow it; of a table with several collections the person chooses one.
async function run(begin, more = {}) {
  try {
    await watch(await begin(more));
  } catch (error) {
    if (!error.choices?.length) return failed(error);
    back();
    const collection = await which.choose(error.choices);
    if (collection !== null) await run(begin, { collection });
  }
}

// Follow a job to its end; a page that is loaded again takes it up where it is.
export async function watch(job) {
  state.job = job.id;
  keep();
  show(`Opening ${job.title}`, () => api.cancel(job.id).catch(() => {}));
  try {
    while (job.state === "running") {
      const text = job.total ? `${job.done} of ${job.total} measured${job.file ? `: ${job.file}` : ""}` : "Reading";
      progress(job.done, job.total, text);
      await new Promise((done) => setTimeout(done, 120));
      job = await api.job(job.id);
    }
  } finally {
    state.job = null;
    keep();
  }
  if (job.state === "failed") throw Object.assign(new Error(job.error), { choices: job.choices });
  if (job.state === "cancelled") return failed(new Error("cancelled"));
  const collection = await api.collection(job.collection);
  $("job").hidden = true;
  opened(collection);
}

function show(title, cancel) {
  for (const id of ["start", "desk", "player"]) $(id).hidden = true;
  $("job").hidden = false;
  $("job-title").textContent = title;
  $("job-cancel").onclick = cancel;
  progress(0, 0, "");
}

function progress(done, total, text) {
  const bar = $("job-bar");
  if (total) {
    bar.max = total;
    bar.value = done;
  } else bar.removeAttribute("value");
  if ($("job-text").textContent !== text) $("job-text").textContent = text;
}

function failed(error) {
  back();
  say(error.message, { error: error.message !== "cancelled" });
}

// To where the person was before something was opened.
function back() {
  const open = state.collection !== null;
  $("job").hidden = true;
  $("desk").hidden = !open;
  $("player").hidden = !hears();
  $("start").hidden = open;
}

// The folders of this computer that were named at start.
async function browse(path) {
  const box = $("browser");
  try {
    const { folders, lists, items, parent, path: here } = await api.folders(path);
    const entry = (name, action, kind) => el("li", {}, el("button", { class: `link ${kind}`, onclick: action }, name));
    const up = here === null ? null : el("button", { class: "plain wide", onclick: () => browse(parent) }, "Up");
    const open = items || folders.length
      ? el("button", { class: "strong", onclick: () => run(() => api.openPath(here)) }, items ? `Open this folder (${items})` : "Open this folder") : null;
    const list = el("ul", {}, ...folders.map((one) => entry(one.name, () => browse(one.path), "dir")),
      ...lists.map((one) => entry(one.name, () => run((more) => api.openPath(one.path, more)), "file")));
    box.replaceChildren(el("div", { class: "head" }, el("h2", {}, here === null ? "Folders of this computer" : here.split(/[\\/]/).pop()),
      el("div", { class: "group" }, ...[up, here === null ? null : open].filter(Boolean))), list);
    box.hidden = false;
    box.querySelector("button")?.focus();
  } catch (error) {
    say(error.message, { error: true });
  }
}
