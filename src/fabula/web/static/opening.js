// Opening: files that are dropped or chosen, folders of this computer, the demo, sessions.

import * as api from "./api.js";
import { $ } from "./dom.js";
import * as folders from "./folders.js";
import * as jobs from "./jobs.js";
import * as recent from "./recent.js";
import { screen, show } from "./screens.js";
import { say } from "./voice.js";
import * as which from "./which.js";

let opened = async () => {};

export async function start(whenOpened) {
  opened = whenOpened;
  $("demo").addEventListener("click", () => run(api.demo));
  for (const id of ["files", "folder"]) {
    $(id).addEventListener("change", (event) => {
      sendFiles([...event.target.files].map((file) => [file.webkitRelativePath || file.name, file]));
      event.target.value = "";
    });
  }
  $("again").addEventListener("click", toggleStart);
  dropping();
  which.start();
  folders.start(run);
  recent.start({ take, run });
  jobs.start(async (id, done) => {
    const collection = await api.collection(id);
    done();
    await opened(collection);
  });
  const { items, lists } = await api.formats().catch(() => ({ items: [], lists: [] }));
  $("files").accept = [...items, ...lists, ".json"].join();
}

export function toggleStart() {
  show(screen() === "start" ? "desk" : "start");
  if (screen() === "start") {
    recent.render();
    $("main").focus();
  }
}

async function take(id) {
  try {
    await opened(await api.collection(id));
  } catch (error) {
    say(error.message, { error: true });
  }
}

function dropping() {
  const over = (on) => document.body.classList.toggle("dropping", on);
  const files = (event) => [...event.dataTransfer.types].includes("Files");
  addEventListener("dragover", (event) => {
    if (!files(event) || which.isAsking()) return;
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
  await run((more) => send(files, more));
}

async function send(files, more) {
  let abort = () => {};
  const one = jobs.begin(`Receiving ${files.length === 1 ? files[0][0] : `${files.length} files`}`, () => abort());
  one.sending = true;
  try {
    return await api.upload(files, more, (done, total, stop) => {
      abort = stop;
      jobs.progress(one, done, total, `${Math.round((100 * done) / total)} % received`);
    });
  } finally {
    jobs.end(one);
  }
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
    await opened(collection, saved);
  } catch (error) {
    say(error.message, { error: true });
  }
}

// Begin a job and follow it; of a table with several collections the person chooses one.
export async function run(begin, more = {}) {
  try {
    await jobs.watch(await begin(more));
  } catch (error) {
    if (!error.choices?.length) return say(error.message, { error: !error.cancelled });
    const collection = await which.choose(error.choices);
    if (collection !== null) await run(begin, { collection });
  }
}
