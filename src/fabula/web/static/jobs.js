// Jobs: what is being opened. The newest has the screen; the others go on, and what comes of them is not lost.

import { notify } from "./announce.js";
import * as api from "./api.js";
import { $, el } from "./dom.js";
import { showScreen, state } from "./state.js";

const running = []; // {title, text, done, total, cancel}, the newest last
let open = async () => {};

export function start(whenOpened) {
  open = whenOpened;
  $("job-cancel").addEventListener("click", () => running.at(-1)?.cancel());
  $("job-back").addEventListener("click", () => showScreen("desk"));
}

export const isSending = () => running.some((one) => one.sending);
const ids = () => running.map((one) => one.id).filter(Boolean);

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
  const bar = $("job-bar"), { title, text, done, total } = newest;
  if (total) Object.assign(bar, { max: total, value: done });
  else bar.removeAttribute("value");
  for (const [id, words] of [["job-title", title], ["job-text", text]]) if ($(id).textContent !== words) $(id).textContent = words;
  $("job-back").hidden = !state.collection;
  const others = running.slice(0, -1).map(({ title: name, text: how, cancel }) =>
    el("li", {}, el("span", { dir: "auto" }, `${name}${how ? `: ${how}` : ""}`), el("button", { class: "small", onclick: cancel, "aria-label": `Cancel ${name}` }, "Cancel")));
  $("job-more").replaceChildren(...others);
}

// Follow a job to its end; a page that is loaded again takes it up where it is. Throws what went wrong.
export async function watch(job) {
  const one = begin(`Opening ${job.title}`, () => api.cancel(job.id).catch(() => {}));
  one.id = job.id;
  rememberJobs();
  try {
    while (job.state === "running") {
      const text = job.total ? `${job.done} of ${job.total} measured${job.file ? `: ${job.file}` : ""}` : "Reading";
      showProgress(one, job.done, job.total, text);
      await new Promise((done) => setTimeout(done, 120));
      job = await api.job(job.id);
    }
    if (job.state === "failed") throw Object.assign(new Error(job.error), { choices: job.choices });
    if (job.state === "cancelled") throw Object.assign(new Error("cancelled"), { cancelled: true });
    await finishJob(one, job.collection);
  } finally {
    end(one);
    rememberJobs();
  }
}

// What is opened last is shown; what was opened before it is kept ready.
async function finishJob(one, id) {
  const newest = running.at(-1) === one, waits = state.screen === "job";
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
