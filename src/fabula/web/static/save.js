// Saving what is on the screen: into its library, as a playlist, a sheet, a table, a report, copies, a session, or a
// version with a name to be compared with.

import { attempt, notify } from "./announce.js";
import * as api from "./api.js";
import { $, el, icon } from "./dom.js";
import { currentTemplate } from "./layout.js";
import { ask } from "./order.js";
import { commit, onChange, packWorkspace, state } from "./state.js";
import { checkWishes, isAlike } from "./wishes.js";

export function start() {
  $("save").addEventListener("click", (event) => {
    const button = event.target.closest("[data-format]");
    if (button) saveFile(button.dataset.format);
  });
  $("library-back").addEventListener("click", () => writeBack(null));
  $("library-new").addEventListener("submit", (event) => {
    event.preventDefault();
    writeBack($("library-title").value.trim());
  });
  for (const id of ["save", "versions", "columns"]) {
    document.addEventListener("click", ({ target }) => !(/** @type {Element} */ (target).closest(`#${id}`)) && ($(id).open = false));
    $(id).addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !$(id).open) return;
      event.stopPropagation();
      $(id).open = false;
      $(id).querySelector("summary").focus();
    });
  }
  $("version-save").addEventListener("submit", (event) => {
    event.preventDefault();
    saveVersion($("version-name").value.trim() || `Version ${named.length + 1}`);
  });
  $("versions").addEventListener("toggle", () => $("versions").open && findVersions());
  $("ab").addEventListener("click", flipVersions);
  $("save").addEventListener("toggle", tellLosses);
  onChange(offerFormats);
}

// The result that is on the screen, under the id by which the server knows it.
async function findResult() {
  const { collection, before, answer, wishes } = state;
  if (!before && state.settled) return answer.result;
  if (!before) throw new Error("the order is not found yet; try again in a moment");
  const ordering = collection.items.map((_, item) => item);
  return (await api.order({ collection: collection.id, ordering, template: currentTemplate(), scaled: false, titles: wishes.titles, gap_s: wishes.gap })).result;
}

// What is done with that result; the server remembers the last results only.
async function withResult(act) {
  try {
    return await act(await findResult());
  } catch (error) {
    if (error.status !== 404 || state.before) throw error;
    state.good = null;
    await ask({ anew: true });
    return act(await findResult());
  }
}

async function save(act) {
  $("save").open = false;
  $("save").querySelector("summary").focus();
  await attempt(async () => {
    notify(await act(state.collection.id));
  });
}

const saveFile = (format) => save(async (id) => {
  const line = (await lost)[format]; // which may have to find the order again
  if (format === "session") await api.download(`collections/${id}/session`, { state: packWorkspace() });
  else await withResult((result) => api.download(`collections/${id}/export`, { result, format }));
  return line ? `Saved: ${line}` : "Saved";
});

// What each format would leave behind is said under its button, before anything is saved.
let lost = Promise.resolve({});
async function tellLosses() {
  const sheet = $("save").querySelector(".sheet"), buttons = [...sheet.querySelectorAll("[data-format]:not([hidden])")];
  sheet.querySelectorAll(".loss").forEach((line) => line.remove());
  if (!$("save").open || !state.collection) return;
  const formats = buttons.map((button) => button.dataset.format).filter((format) => !["session", "zip"].includes(format));
  const asked = withResult((result) => api.losses(state.collection.id, result, formats.join())).catch(() => ({}));
  lost = asked;
  const told = await asked;
  if (lost !== asked || !$("save").open) return;
  for (const button of buttons) {
    const { format } = button.dataset, id = `loss-${format.replace(".", "-")}`;
    if (!told[format]) continue;
    button.setAttribute("aria-describedby", id);
    button.after(el("p", { class: "loss", id }, told[format]));
  }
}

// Into the library that the collection came from: in its place, or as a new playlist.
const writeBack = (name) => save(async (id) => `Written: ${(await withResult((result) => api.writeBack(id, { result, name }))).written}`);

// What is read or seen can be saved as one, and not be played.
const WHOLE = {
  text: [["docx", "One text", "Word"], ["epub", "One text", "EPUB"], ["md", "One text", "Markdown"]],
  picture: [["png", "Contact sheet", "PNG"], ["pdf", "Contact sheet", "PDF"], ["book.pdf", "Facing pages", "PDF"]],
};
const HOUSE = ["sound", "picture", "text"]; // of other media what they write themselves is offered
function offerFormats() {
  const sheet = $("save").querySelector(".sheet"), medium = state.collection?.medium, kind = medium?.preview.kind;
  const own = !medium || HOUSE.includes(kind) ? [] : medium.outputs.map((form) => [form, `One ${medium.words.collection}`, form.toUpperCase()]);
  const form = state.collection?.form, whole = WHOLE[kind] ?? own; // form: of the file that was cut into the items
  const kinds = form && !whole.some(([one]) => one === form) ? [[form, whole[0]?.[1] ?? "One file", form.toUpperCase()], ...whole] : whole;
  $("rows").classList.toggle("unheard", kind in WHOLE);
  $("library-save").hidden = !state.collection?.library;
  $("library-name").textContent = state.collection?.library ?? "";
  const cut = !state.collection?.items.some((item) => item.path), key = `${medium?.name ?? ""} ${form ?? ""} ${cut}`;
  if (sheet.dataset.medium === key) return;
  sheet.dataset.medium = key;
  sheet.querySelectorAll(".joined").forEach((button) => button.remove());
  sheet.prepend(...kinds.map(([form, name, short]) => el("button", { class: "joined", "data-format": form }, `${name} `, el("small", {}, short))));
  const none = kind === "picture" ? ["cue", "txt", "xspf"] : kind === "text" ? ["cue", "txt", ...(cut ? ["m3u8", "xspf", "zip"] : [])] : []; // parts of a file are no files
  for (const button of sheet.querySelectorAll("[data-format]:not(.joined)")) button.hidden = none.includes(button.dataset.format);
}

// Versions by name, and A against B: the order now beside one that was kept.
let named = [];
const ab = { other: null, name: "", now: "A" }; // wishes of the other side, and which side is on the screen

export function resetVersions() {
  Object.assign(ab, { other: null, name: "", now: "A" });
  named = [];
  showAB();
}

const findVersions = () => attempt(async () => {
  named = await api.versions(state.collection.id);
  renderVersions();
});

function renderVersions() {
  const row = ({ name, saved }) => el("li", {},
    el("button", { class: "recent-open", onclick: () => takeVersion(name) }, el("b", { dir: "auto" }, name), el("small", { class: "soft" }, new Date(saved).toLocaleString([], { timeStyle: "short", dateStyle: "short" }))),
    el("button", { class: "small", onclick: () => compareVersion(name), "aria-label": `Compare with ${name}` }, "A/B"),
    el("button", { class: "plain", "aria-label": `Remove ${name}`, onclick: () => removeVersion(name) }, icon("close")));
  $("version-list").replaceChildren(...named.toReversed().map(row));
  $("version-none").hidden = named.length > 0;
}

async function saveVersion(name, replace = false) {
  try {
    await api.putVersion(state.collection.id, name, { state: packWorkspace(), replace });
    $("version-name").value = "";
    await findVersions();
    notify(`Kept as ${name}`);
  } catch (error) {
    const again = error.status === 409 ? [["Replace it", () => saveVersion(name, true)]] : [];
    notify(error.message, { error: true, actions: again });
  }
}

async function wishesOf(name) {
  const { state: desk } = await api.getVersion(state.collection.id, name);
  return checkWishes(desk.wishes, state.collection);
}

// A version is taken as a step: what was there can be had back.
async function takeVersion(name) {
  $("versions").open = false;
  await attempt(async () => {
    commit(await wishesOf(name));
    notify(`${name} is on the screen`);
  });
}

async function compareVersion(name) {
  $("versions").open = false;
  await attempt(async () => {
    Object.assign(ab, { other: await wishesOf(name), name, now: "A" });
    flipVersions();
  });
}

// From one to the other, as often as wanted.
function flipVersions() {
  if (!ab.other) return;
  const there = ab.other;
  Object.assign(ab, { other: state.wishes, now: ab.now === "A" ? "B" : "A" });
  if (!isAlike(there, state.wishes)) commit(there);
  showAB();
  notify(ab.now === "B" ? `B: ${ab.name}` : "A: as it was on the screen");
}

function showAB() {
  $("ab").hidden = !ab.other;
  $("ab").textContent = ab.now;
  $("ab").setAttribute("aria-label", `${ab.now} is on the screen; show ${ab.now === "A" ? "B" : "A"}`);
}

const removeVersion = (name) => attempt(async () => {
  await api.dropVersion(state.collection.id, name);
  await findVersions();
});
