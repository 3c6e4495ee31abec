// Saving what is on the screen: as a playlist, a sheet, a table, a report, copies, or a session.

import * as api from "./api.js";
import { $ } from "./dom.js";
import { templateNow } from "./laid.js";
import { ask } from "./ordering.js";
import { asDesk, state } from "./state.js";
import { say } from "./voice.js";

export function start() {
  $("save").addEventListener("click", (event) => {
    const button = event.target.closest("[data-format]");
    if (button) save(button.dataset.format);
  });
  for (const id of ["save", "versions"]) {
    document.addEventListener("click", (event) => !event.target.closest(`#${id}`) && ($(id).open = false));
    $(id).addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !$(id).open) return;
      event.stopPropagation();
      $(id).open = false;
      $(id).querySelector("summary").focus();
    });
  }
}

// The result that is on the screen, under the id by which the server knows it.
async function result() {
  const { collection, before, answer, wishes } = state;
  if (!before && state.settled) return answer.result;
  if (!before) throw new Error("the order is not found yet; try again in a moment");
  const ordering = collection.items.map((_, item) => item);
  return (await api.order({ collection: collection.id, ordering, template: templateNow(), scaled: false, titles: wishes.titles })).result;
}

async function write(format) {
  const { id } = state.collection;
  if (format === "session") return api.download(`collections/${id}/session`, { state: asDesk() });
  const path = `collections/${id}/export`, more = { format, gap_s: Math.max(0, state.wishes.gap) };
  try {
    return await api.download(path, { result: await result(), ...more });
  } catch (error) {
    if (error.status !== 404 || state.before) throw error;
    state.good = null;
    await ask(); // the server remembers the last results only
    return api.download(path, { result: await result(), ...more });
  }
}

async function save(format) {
  $("save").open = false;
  $("save").querySelector("summary").focus();
  try {
    await write(format);
    say("Saved");
  } catch (error) {
    say(error.message, { error: true });
  }
}
