// Opening takes a while: what is going on is seen, can be stopped, and can be taken up again. As soon as the items are known
// they are on the desk, to be heard and put in their places while they are measured.

import { announce, notify } from "./announce.js";
import * as api from "./api.js";
import { $, el } from "./dom.js";
import { emit, openCollection, showScreen, state } from "./state.js";

const PACE = 250; // milliseconds between two looks at a job
const running = []; // {title, text, done, total, cancel}, the newest last
/** @type {(id: string, done: () => void) => Promise<any>} */
let open = async () => {};
let leave = async () => {}, former = null;

// whenOpened(id, done) shows a collection; beforeLeaving() keeps what is on the screen.
export function start(whenOpened, beforeLeaving) {
  [open, leave] = [whenOpened, beforeLeaving];
  for (const id of ["job-cancel", "opening-cancel"]) $(id).addEventListener("click", () => running.at(-1)?.cancel());
  $("job-back").addEventListener("click", () => showScreen("desk"));
}

export const isSending = () => running.some((one) => one.sending);
const ids = () => running.map((one) => one.id).filter(Boolean);
const isPending = (one) => Boolean(one.id) && state.collection?.pending === one.id;

// A line of what is going on, and its end.
export function begin(title, cancel) {
  const one = { title, cancel, text: "", done: 0, total: 0 };
  running.push(one);
  showScreen("job");
  drawJobs();
  return one;
}

export function end(one) {
  const index = running.indexOf(one);
  if (index >= 0) running.splice(index, 1);
  if (running.length) drawJobs();
  else if (state.screen === "job") showScreen(state.collection ? "desk" : "start");
}

export function showProgress(one, done, total, text) {
  Object.assign(one, { done, total, text });
  drawJobs();
}

function drawJobs() {
  const newest = running.at(-1);
  if (!newest) return;
  const { title, text, done, total } = newest;
  for (const bar of [$("job-bar"), $("opening-bar")]) {
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
  }
  for (const [id, words] of [["job-title", title], ["job-text", text]]) if ($(id).textContent !== words) $(id).textContent = words;
  if (isPending(newest)) $("total").textContent = text;
  $("job-back").hidden = !state.collection;
  const others = running.slice(0, -1).map(({ title: name, text: how, cancel }) =>
    el("li", {}, el("span", { dir: "auto" }, `${name}${how ? `: ${how}` : ""}`), el("button", { class: "small", onclick: cancel, "aria-label": `Cancel ${name}` }, "Cancel")));
  $("job-more").replaceChildren(...others);
}

const formatLeft = (seconds) => (seconds === null || seconds === undefined ? "" : seconds < 1 ? " · nearly done" : seconds < 90 ? ` · ${Math.ceil(seconds)} s left` : ` · ${Math.round(seconds / 60)} min left`);
const describe = ({ done, total, seconds_left: left }) => (total ? `${done} of ${total} measured${formatLeft(left)}` : "Reading");

// Follow a job to its end; a page that is loaded again takes it up where it is. Throws what went wrong.
export async function watch(job) {
  const one = begin(`Opening ${job.title}`, () => api.cancel(job.id).catch(() => {}));
  one.id = job.id;
  rememberJobs();
  try {
    while (job.state === "running") {
      await showItems(one, job);
      showProgress(one, job.done, job.total, describe(job));
      await new Promise((done) => setTimeout(done, PACE));
      job = await api.job(job.id).catch((error) => {
        if (error.lost) return api.untilBack().then(() => job);
        throw error.status === 404 ? new Error("The server was started anew: open the files again") : error;
      });
    }
    if (job.state === "failed") throw Object.assign(new Error(job.error), { choices: job.choices });
    if (job.state === "cancelled") throw Object.assign(new Error("cancelled"), { cancelled: true });
    await finishJob(one, job);
  } catch (error) {
    if (isPending(one)) await takeBack();
    throw error;
  } finally {
    end(one);
    rememberJobs();
  }
}

// The items of a job, as soon as they are known, and which of them are measured.
async function showItems(one, job) {
  if (!job.items?.length) return;
  if (isPending(one)) return updatePending(job);
  if (running.at(-1) !== one || state.screen !== "job") return;
  await leave();
  former = state.collection?.pending ? former : (state.collection?.id ?? null);
  openCollection(makePending(job));
  updatePending(job, true);
  announce(`Opening ${job.title}: ${job.items.length} ${state.collection.medium.words.items}.`);
}

// A collection of which no more is known than a job tells.
function makePending({ id, title, medium, items, left_out: out }) {
  const made = items.map(({ label, preview, span }) => ({ id: label, title: label, creator: "", path: "", length: null, length_text: "", essence: 0, preview, span, gain: null, facts: {}, colours: [], both_pages: false }));
  return { id: `job:${id}`, pending: id, title, medium, items: made, arc: null, by: null, axis: null, model: { name: "", knows: [] }, knows_model: true, columns: [], facts: [], length_text: "", notes: [], left_out: out, origin: {}, silent: null };
}

function updatePending({ items }, first = false) {
  items.forEach(({ seconds, measured, length_text: text }, item) => {
    Object.assign(state.collection.items[item], { length: seconds, length_text: text ?? "" });
    state.why.set(item, measured ? "measured" : "not measured yet");
  });
  emit(first ? "pending" : "measured");
}

// The job has failed or is given up: what was there before is there again.
async function takeBack() {
  const id = former;
  former = state.collection = null;
  showScreen("start");
  if (id) await open(id, () => {}).catch(() => {});
}

// What is opened last is shown; what was opened before it is kept ready.
async function finishJob(one, { collection: id }) {
  const newest = running.at(-1) === one, waits = state.screen === "job" || isPending(one);
  if (newest && waits) return open(id, () => end(one));
  const { title } = await api.collection(id);
  notify(`${title} is open`, { actions: [["Show it", () => open(id, () => {})]] });
}

function rememberJobs() {
  sessionStorage.setItem("fabula-jobs", JSON.stringify(ids()));
}

// After a reload: jobs that still run.
export async function findJob() {
  for (const id of JSON.parse(sessionStorage.getItem("fabula-jobs") || "[]")) {
    const job = await api.job(id).catch(() => null);
    if (job && !["failed", "cancelled"].includes(job.state)) return job;
  }
  return null;
}
