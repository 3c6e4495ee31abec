// Nothing is lost: every step is kept by the server a moment later, and pages on the same collection agree or say so.

import { notify } from "./announce.js";
import * as api from "./api.js";
import { $ } from "./dom.js";
import { isSending } from "./jobs.js";
import { emit, packWorkspace, restoreWorkspace, state } from "./state.js";
import { isAlike } from "./wishes.js";

const KEY = "fabula-page", SOON = 400;
const others = typeof BroadcastChannel === "function" ? new BroadcastChannel("fabula") : null;
const kept = { revision: 0, desk: null, timer: 0, writing: null, held: null }; // held: what another page has kept, until it is said which counts

export function start() {
  others?.addEventListener("message", ({ data }) => data.id === state.collection?.id && data.revision > kept.revision && takeFromOthers());
  addEventListener("beforeunload", (event) => (isDirty() || isSending()) && event.preventDefault());
  addEventListener("pagehide", () => isDirty() && write(true));
  document.addEventListener("visibilitychange", () => document.hidden && isDirty() && write());
}

export const readLast = () => JSON.parse(sessionStorage.getItem(KEY) || "{}");
const isDirty = () => state.collection !== null && !state.collection.pending && kept.desk !== null && !isAlike(kept.desk, packWorkspace());

// What is on the screen is kept before it goes.
export async function flush() {
  if (isDirty() && !kept.held) await write();
}

// What was made of a collection before; null where nothing was.
export async function findWorkspace(id) {
  await flush();
  const { revision, state: desk, saved } = await api.desk(id).catch(() => ({ revision: 0, state: null }));
  Object.assign(kept, { revision, held: null });
  return desk?.wishes ? { desk, saved } : null;
}

// The desk on the screen is as it is kept, or as nobody has touched it; one from a file is still to be kept.
export function beginSaving({ fromFile = false } = {}) {
  clearTimeout(kept.timer);
  kept.desk = fromFile ? {} : packWorkspace();
  sessionStorage.setItem(KEY, JSON.stringify({ collection: state.collection.id }));
  showStatus(kept.revision ? "Saved" : "");
}

export function saveSoon() {
  if (!isDirty()) return;
  if (kept.held) return askWhich(kept.held); // another notice may have taken its place
  if (api.isLost()) return showStatus("Not saved yet");
  clearTimeout(kept.timer);
  showStatus("Saving…");
  kept.timer = setTimeout(write, SOON);
}

const showStatus = (text) => ($("kept").textContent = text);

async function write(leaving = false) {
  clearTimeout(kept.timer);
  if (kept.writing && leaving !== true) return (kept.timer = setTimeout(write, SOON));
  const { id } = state.collection, desk = packWorkspace();
  kept.writing = api.putDesk(id, { revision: kept.revision, state: desk }, leaving === true);
  try {
    const { revision } = await kept.writing;
    if (state.collection.id !== id) return;
    Object.assign(kept, { revision, desk });
    others?.postMessage({ id, revision });
    showStatus("Saved");
  } catch (error) {
    if (error.status === 409 && state.collection.id === id) askWhich(error);
    else reportFailure(error);
    return; // not tried again by itself: the server, or the person, says when
  } finally {
    kept.writing = null;
  }
  if (isDirty() && !kept.held && !api.isLost()) saveSoon();
}

function reportFailure(error) {
  showStatus(error.lost ? "Not saved yet" : "Not saved");
  if (error.lost) return; // it is saved when the server is back
  if (error.status === 404) return emit("gone");
  notify(`Not saved: ${error.message}`, { error: true, actions: [["Try again", write]] });
}

// Another page was quicker: take what it made, or stay with this one. Nothing is written until that is said.
function askWhich(theirs) {
  const { revision, state: desk } = (kept.held = theirs);
  showStatus("Not saved");
  notify("Another page has changed this collection, too.", {
    error: true,
    actions: [
      ["Take its changes", () => takeTheirs(desk, revision)],
      ["Keep mine", () => {
        Object.assign(kept, { revision, held: null });
        write();
      }],
    ],
  });
}

function takeTheirs(desk, revision) {
  Object.assign(kept, { revision, held: null });
  restoreWorkspace(desk ?? {});
  kept.desk = packWorkspace();
  showStatus("Saved");
  emit("wishes");
}

// Another page has kept something: it is shown here, too, where nothing of ours is open.
async function takeFromOthers() {
  if (isDirty()) return;
  const { revision, state: desk } = await api.desk(state.collection.id).catch(() => ({ revision: 0 }));
  if (revision <= kept.revision || isDirty()) return;
  takeTheirs(desk, revision);
  notify("Changed in another tab; shown here as well");
}
