// Opening: files that are dropped or chosen, folders of this computer, the demo, sessions, and what was open before.

import { attempt, notify } from "./announce.js";
import * as api from "./api.js";
import { $, el, icon } from "./dom.js";
import * as jobs from "./jobs.js";
import { showScreen, state } from "./state.js";

/** @type {(collection: any, saved?: any) => Promise<any>} */
let whenOpened = async () => {};

export async function start(open, beforeLeaving) {
  whenOpened = open;
  for (const id of ["files", "folder"]) {
    $(id).addEventListener("change", (event) => {
      sendAll([...event.target.files].map((file) => [file.webkitRelativePath || file.name, file]));
      event.target.value = "";
    });
  }
  $("again").addEventListener("click", toggleStart);
  acceptDrops();
  startChooser();
  startFolders();
  jobs.start(async (id, done) => {
    const collection = await api.collection(id);
    done();
    await whenOpened(collection);
  }, beforeLeaving);
  const { items, lists, rivals } = await api.formats().catch(() => ({ items: [], lists: [], rivals: [] }));
  $("kind").append(...rivals.map((name) => el("option", { value: name }, name)));
  $("kind-field").hidden = !rivals.length;
  $("files").accept = [...items, ...lists, ".json"].join();
}

// What the command named is opened at once; and the demos, each a collection to try things with.
export async function findFirst() {
  const { open, library, demos } = await api.begin();
  $("demos").replaceChildren(...demos.map(({ name, title, items }, k) =>
    el("button", { id: k ? null : "demo", onclick: () => runJob(() => api.demo(name)) }, title, el("small", { class: "soft" }, `${name}, ${items}`))));
  if (library) return (more) => api.openPath(library, more);
  return open && !["failed", "cancelled"].includes(open.state) ? () => open : null;
}

export function toggleStart() {
  showScreen(state.screen === "start" ? "desk" : "start");
  if (state.screen === "start") {
    renderRecent();
    $("main").focus();
  }
}

const takeCollection = (id) => attempt(async () => {
  await whenOpened(await api.collection(id));
});

function acceptDrops() {
  const over = (on) => document.body.classList.toggle("dropping", on);
  const files = (event) => [...event.dataTransfer.types].includes("Files");
  addEventListener("dragover", (event) => {
    if (!files(event) || isChoosing()) return;
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && over(false));
  addEventListener("drop", async (event) => {
    if (!files(event)) return;
    event.preventDefault();
    over(false);
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const plain = [...event.dataTransfer.files].map((file) => [file.name, file]);
    sendAll(entries.length ? (await Promise.all(entries.map(readEntry))).flat() : plain);
  });
}

// The files of a dropped file or folder, with the folders in their names.
async function readEntry(entry) {
  if (entry.isFile) return [[entry.fullPath.slice(1), await new Promise((done, failed) => entry.file(done, failed))]];
  const reader = entry.createReader(), inner = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    inner.push(...some);
  }
  return (await Promise.all(inner.map(readEntry))).flat();
}

async function sendAll(files) {
  if (!files.length) return;
  const session = files.length === 1 && files[0][0].endsWith(".json") ? await readSession(files[0][1]) : null;
  if (session) return openSession(session);
  await runJob((more) => send(files, more));
}

async function send(files, more) {
  let abort = () => {};
  const one = jobs.begin(`Receiving ${files.length === 1 ? files[0][0] : `${files.length} files`}`, () => abort());
  one.sending = true;
  try {
    return await api.upload(files, more, (done, total, stop) => {
      abort = stop;
      jobs.showProgress(one, done, total, `${Math.round((100 * done) / total)} % received`);
    });
  } finally {
    jobs.end(one);
  }
}

async function readSession(file) {
  try {
    const data = JSON.parse(await file.text());
    return data.kind === "fabula session" ? data : null;
  } catch {
    return null;
  }
}

const openSession = (session) => attempt(async () => {
  const { collection, state: saved } = await api.openSession(session);
  await whenOpened(collection, saved);
});

// Begin a job and follow it; of a table with several collections the person chooses one.
export async function runJob(begin, more = $("kind").value ? { medium: $("kind").value } : {}) {
  try {
    await jobs.watch(await begin(more));
  } catch (error) {
    if (!error.choices?.length) return notify(error.message, { error: !error.cancelled });
    const collection = await chooseCollection(error.choices);
    if (collection !== null) await runJob(begin, { ...more, collection });
  }
}

// Which collection of a table of several: a dialog that lists them, to be searched where they are many.
const FEW = 8, MOST_PICKS = 200; // from more than FEW on they can be searched; MOST_PICKS are on the screen at once
let listed = [];

function startChooser() {
  const dialog = $("which");
  $("which-find").addEventListener("input", listCollections);
  $("which-cancel").addEventListener("click", () => dialog.close());
  dialog.addEventListener("submit", (event) => event.submitter || event.preventDefault()); // Enter, and nothing is found
  dialog.addEventListener("keydown", onChooserKey);
}

const isChoosing = () => $("which").open;

// The id of the collection that the person chooses; null when she wants none.
function chooseCollection(choices) {
  const dialog = $("which");
  listed = choices.map(({ id, title, items }, index) => ({ index, id, title: title || id, items }));
  $("which-text").textContent = `It holds ${choices.length.toLocaleString("en")} collections. Choose the one to lay in order.`;
  $("which-find").hidden = choices.length <= FEW;
  $("which-find").value = "";
  listCollections();
  dialog.returnValue = "";
  dialog.showModal();
  $("which-list").scrollTop = 0;
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue ? choices[dialog.returnValue].id : null), { once: true });
  });
}

function listCollections() {
  const wanted = $("which-find").value.trim().toLowerCase();
  const found = listed.filter(({ id, title }) => `${title}\n${id}`.toLowerCase().includes(wanted));
  $("which-list").replaceChildren(...found.slice(0, MOST_PICKS).map(makePick));
  const more = found.length - MOST_PICKS;
  $("which-more").textContent = !found.length ? "No collection has that name." : more > 0 ? `and ${more.toLocaleString("en")} more: type to find one` : "";
}

function makePick({ index, id, title, items }) {
  const name = el("span", { class: "pick-name" }, title, id === title ? null : el("small", { class: "soft" }, id));
  return el("button", { class: "pick", value: String(index) }, name, el("small", { class: "soft" }, items === 1 ? "1 item" : `${items} items`));
}

// Up and down go through the list, from the field into it and back.
function onChooserKey(event) {
  const picks = [...$("which-list").children], at = picks.indexOf(document.activeElement), last = picks.length - 1;
  if (at < 0 && event.key !== "ArrowDown") return;
  const to = { ArrowDown: Math.min(at + 1, last), ArrowUp: at - 1, Home: 0, End: last }[event.key];
  if (to === undefined || last < 0) return;
  event.preventDefault();
  if (to >= 0) picks[to].focus();
  else if (!$("which-find").hidden) $("which-find").focus();
}

// The folders of this computer, and the libraries, that were named at start.
async function startFolders() {
  $("browse").addEventListener("click", () => browse(null));
  const { folders, lists } = await api.folders(null).catch(() => ({ folders: [], lists: [] }));
  $("browse").hidden = !folders.length && !lists.length;
  if (lists.length) $("browse").textContent = folders.length ? "Folders and libraries" : "Libraries";
}

const makeEntry = (name, action, kind) => el("li", {}, el("button", { class: `link ${kind}`, onclick: action, dir: "auto" }, name));

async function browse(path) {
  const box = $("browser");
  await attempt(async () => {
    const { folders, lists, items, parent, path: here } = await api.folders(path);
    const up = here === null ? null : el("button", { class: "plain wide", onclick: () => browse(parent) }, "Up");
    const can = here !== null && (items || folders.length);
    const open = can ? el("button", { class: "strong", onclick: () => runJob((more) => api.openPath(here, more)) }, items ? `Open this folder (${items})` : "Open this folder") : null;
    const list = el("ul", {}, ...folders.map((one) => makeEntry(one.name, () => browse(one.path), "dir")),
      ...lists.map((one) => makeEntry(one.name, () => runJob((more) => api.openPath(one.path, more)), "file")));
    const name = here === null ? $("browse").textContent : here.split(/[\\/]/).pop();
    box.replaceChildren(el("div", { class: "head" }, el("h2", { dir: "auto" }, name), el("div", { class: "group" }, ...[up, open].filter(Boolean))), list);
    box.hidden = false;
    box.querySelector("button")?.focus();
  });
}

// What is open, and what was worked on before: told apart by where it comes from and when, opened again and closed.
const MOST_RECENT = 12;

// Collections that are open, and desks of collections that are not; titles that are alike are numbered.
export async function listEverything() {
  const [open, desks] = await Promise.all([api.collections().catch(() => []), api.desks().catch(() => [])]);
  const kept = new Map(desks.map((desk) => [desk.id, desk])), here = new Set(open.map(({ id }) => id));
  const all = [...open.reverse().map((one) => ({ ...one, ...kept.get(one.id), open: true })), ...desks.filter(({ id }) => !here.has(id)).map((one) => ({ ...one, open: false }))];
  const times = {};
  for (const one of all) times[one.title] = (times[one.title] || 0) + 1;
  const seen = {};
  return all.map((one) => ({ ...one, name: times[one.title] > 1 ? `${one.title} (${(seen[one.title] = (seen[one.title] || 0) + 1)})` : one.title }));
}

const formatTime = (saved) => (saved ? new Date(saved).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "");
const describeOrigin = ({ origin }) => ({ upload: "dropped here", demo: "the demo", session: "from a session" })[origin?.kind] ?? origin?.path ?? "";

export async function renderRecent() {
  const all = (await listEverything()).slice(0, MOST_RECENT), box = $("recent"), rows = all.map(makeRecent);
  box.replaceChildren(el("h2", {}, "Go on with"), el("ul", { class: "recents" }, ...rows));
  box.hidden = !rows.length;
}

function makeRecent(one) {
  const { id, name, items, saved, open } = one;
  const more = [`${items} item${items === 1 ? "" : "s"}`, describeOrigin(one), formatTime(saved)].filter(Boolean).join(" · ");
  const take = el("button", { class: "recent-open", onclick: () => (open ? takeCollection(id) : runJob(() => api.reopen(id))) },
    el("b", { dir: "auto" }, name), el("small", { class: "soft", dir: "auto" }, more));
  const close = el("button", { class: "plain", "aria-label": `Close ${name}`, title: saved ? "Close it; what you made of it is forgotten" : "Close it", onclick: () => forget(one) }, icon("close"));
  return el("li", {}, take, close);
}

// Close a collection. What was made of it goes with it, but not without being asked.
async function forget({ id, name, open, saved }) {
  if (saved && !confirmed.has(id)) {
    confirmed.add(id);
    return notify(`Close ${name} and forget what you made of it?`, { actions: [["Close it", () => forget({ id, name, open, saved })], ["Keep it", () => confirmed.delete(id)]] });
  }
  await attempt(async () => {
    if (open) await api.close(id);
    if (saved) await api.dropDesk(id);
    if (state.collection?.id === id) return leavePage();
    await renderRecent();
    $("recent").querySelector("button")?.focus();
  });
}
const confirmed = new Set();

function leavePage() {
  sessionStorage.removeItem("fabula-page");
  location.reload();
}
