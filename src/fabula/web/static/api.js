// The server's endpoints; an error is thrown with the one line the server says, and the field it is about. When the server
// does not answer, that is said once and asked again, less and less often; when it does again, the page goes on by itself.

import { hold, release } from "./announce.js";
import { emit } from "./state.js";

const FIRST = 1000, LAST = 15000; // milliseconds to the next try
const GONE = "The server does not answer. Start `fabula serve` again and this page goes on by itself; what you do meanwhile is kept here.";
const ANEW = "The server was started anew. Open the address that it printed, in any tab, and this page goes on by itself.";
const waiting = [];
let lost = false, wait = FIRST;

export const isLost = () => lost;

// Resolved when the server answers again.
export const untilBack = () => (lost ? new Promise((done) => waiting.push(done)) : Promise.resolve());

function reportLost() {
  if (lost) return;
  [lost, wait] = [true, FIRST];
  hold(GONE);
  setTimeout(probe, wait);
}

async function probe() {
  const status = await fetch("/api/formats").then(({ status: found }) => found, () => 0);
  if (status && ![401, 403].includes(status)) return goOn();
  if (status) hold(ANEW);
  wait = Math.min(LAST, 2 * wait);
  setTimeout(probe, wait);
}

function goOn() {
  lost = false;
  release("The server answers again.");
  waiting.splice(0).forEach((done) => done());
  emit("back");
}

async function checkAnswer(response) {
  if (response.ok) return response;
  const { error = `the server answered ${response.status}`, ...more } = await response.json().catch(() => ({}));
  throw Object.assign(new Error(error), more, { status: response.status });
}

async function ask(method, path, body, signal, keepalive = false) {
  const options = { method, signal, keepalive };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  try {
    return await checkAnswer(await fetch(`/api/${path}`, options));
  } catch (error) {
    if (!(error instanceof TypeError) && error.status !== 403) throw error; // 403: it was started anew, with another token
    reportLost();
    throw Object.assign(new Error("the server does not answer"), { lost: true });
  }
}

const json = async (method, path, body, signal) => (await ask(method, path, body, signal)).json();

export const templates = () => json("GET", "templates");
export const formats = () => json("GET", "formats");
export const collections = () => json("GET", "collections");
export const collection = (id) => json("GET", `collections/${id}`);
export const setEssence = (id, by) => json("PUT", `collections/${id}/essence`, { by });
export const order = (request, signal) => json("POST", "order", request, signal);
export const reasons = (id, result, first, count) => json("GET", `collections/${id}/reasons/${result}?first=${first}&count=${count}`);
export const losses = (id, result, formats) => json("GET", `collections/${id}/losses/${result}?formats=${formats}`);
export const review = (id, body, signal) => json("POST", `collections/${id}/review`, body, signal);
export const writeBack = (id, body) => json("POST", `collections/${id}/write`, body);
export const begin = () => json("GET", "start");
export const demo = (name) => json("POST", "demo", { name });
export const openPath = (path, more = {}) => json("POST", "collections", { path, ...more });
export const openSession = (session) => json("POST", "sessions", session);
export const job = (id) => json("GET", `jobs/${id}`);
export const cancel = (id) => json("DELETE", `jobs/${id}`);
export const close = (id) => ask("DELETE", `collections/${id}`);
export const desks = () => json("GET", "desks");
export const reopen = (id) => json("POST", `collections/${id}/reopen`);
export const desk = (id) => json("GET", `collections/${id}/desk`);
export const putDesk = async (id, body, leaving) => (await ask("PUT", `collections/${id}/desk`, body, undefined, leaving)).json();
export const dropDesk = (id) => ask("DELETE", `collections/${id}/desk`);
const version = (id, name) => `collections/${id}/versions/${encodeURIComponent(name)}`;
export const versions = (id) => json("GET", `collections/${id}/versions`);
export const getVersion = (id, name) => json("GET", version(id, name));
export const putVersion = (id, name, body) => json("PUT", version(id, name), body);
export const dropVersion = (id, name) => ask("DELETE", version(id, name));
export const ends = (id, item) => json("GET", `collections/${id}/ends/${item}`);
export const wave = (id, item) => json("GET", `collections/${id}/items/${item}/wave`);
export const cover = (id, item, size = 320) => `/api/collections/${id}/items/${item}/cover?empty=true&size=${size}`;
export const hasCover = async (id, item) => (await ask("GET", `collections/${id}/items/${item}/cover?empty=true&size=320`)).status === 200;
export const preview = (id, item) => (id.startsWith("job:") ? `/api/jobs/${id.slice(4)}/preview/${item}` : `/api/collections/${id}/preview/${item}`);
export const folders = (path) => json("GET", path === null ? "folders" : `folders?path=${encodeURIComponent(path)}`);

// Send files, and say how much of them is sent.
export function upload(files, more, report) {
  const form = new FormData();
  for (const [name, file] of files) form.append("files", file, name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/uploads?${new URLSearchParams(more)}`);
    request.upload.onprogress = (event) => event.lengthComputable && report(event.loaded, event.total, () => request.abort());
    request.onerror = () => {
      reportLost();
      reject(Object.assign(new Error("the upload was refused or broke off"), { lost: true }));
    };
    request.onabort = () => reject(new Error("the upload was cancelled"));
    request.onload = () => {
      let data = {};
      try {
        data = JSON.parse(request.responseText);
      } catch { /* said below */ }
      if (request.status === 202) resolve(data);
      else reject(new Error(data.error || `the server answered ${request.status}`));
    };
    request.send(form);
  });
}

// Fetch a file and hand it to the person.
export async function download(path, body) {
  const response = await ask("POST", path, body);
  const named = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("content-disposition") || "");
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = named ? decodeURIComponent(named[1]) : "fabula";
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
