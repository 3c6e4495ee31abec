// Nothing is lost: every step is kept by the server a moment later, and pages on the same collection agree or say so.

import * as api from "./api.js";
import { $ } from "./dom.js";
import { isSending } from "./jobs.js";
import { asDesk, changed, state, takeDesk } from "./state.js";
import { say } from "./voice.js";
import { alike } from "./wishes.js";

const KEY = "fabula-page", SOON = 400;
const others = typeof BroadcastChannel === "function" ? new BroadcastChannel("fabula") : null;
const kept = { revision: 0, desk: null, timer: 0, writing: null, held: false };

export function start() {
  others?.addEventListener("message", ({ data }) => data.id === state.collection?.id && data.revision > kept.revision && heard());
  addEventListener("beforeunload", (event) => (isDirty() || isSending()) && event.preventDefault());
  addEventListener("pagehide", () => isDirty() && write(true));
  document.addEventListener("visibilitychange", () => document.hidden && isDirty() && write());
}

export const stored = () => JSON.parse(sessionStorage.getItem(KEY) || "{}");
const isDirty = () => state.collection !== null && kept.desk !== null && !alike(kept.desk, asDesk());

// What was made of a collection before; null where nothing was.
export async function find(id) {
  if (isDirty() && !kept.held) await write(); // what is on the screen is kept before it goes
  const { revision, state: desk, saved } = await api.desk(id).catch(() => ({ revision: 0, state: null }));
  Object.assign(kept, { revision, held: false });
  return desk?.wishes ? { desk, saved } : null;
}

// The desk on the screen is as it is kept, or as nobody has touched it; one from a file is still to be kept.
export function opened({ fromFile = false } = {}) {
  clearTimeout(kept.timer);
  kept.desk = fromFile ? {} : asDesk();
  sessionStorage.setItem(KEY, JSON.stringify({ collection: state.collection.id }));
  sign(kept.revision ? "Saved" : "");
}

export function keep() {
  if (!isDirty() || kept.held) return;
  clearTimeout(kept.timer);
  sign("Saving…");
  kept.timer = setTimeout(write, SOON);
}

const sign = (text) => ($("kept").textContent = text);

async function write(leaving = false) {
  clearTimeout(kept.timer);
  if (kept.writing && leaving !== true) return (kept.timer = setTimeout(write, SOON));
  const { id } = state.collection, desk = asDesk();
  kept.writing = api.putDesk(id, { revision: kept.revision, state: desk }, leaving === true);
  try {
    const { revision } = await kept.writing;
    if (state.collection.id !== id) return;
    Object.assign(kept, { revision, desk });
    others?.postMessage({ id, revision });
    sign("Saved");
  } catch (error) {
    if (error.status === 409 && state.collection.id === id) differ(error);
    else failed(error);
  } finally {
    kept.writing = null;
  }
  if (isDirty() && !kept.held) keep();
}

function failed(error) {
  sign("Not saved");
  if (error.status === 404) return changed("gone");
  say(`Not saved: ${error.message}`, { error: true, actions: [["Try again", write]] });
}

// Another page was quicker: take what it made, or stay with this one. Nothing is written until that is said.
function differ({ revision, state: desk }) {
  kept.held = true;
  sign("Not saved");
  say("Another page has changed this collection, too.", {
    error: true,
    actions: [
      ["Take its changes", () => take(desk, revision)],
      ["Keep mine", () => {
        Object.assign(kept, { revision, held: false });
        write();
      }],
    ],
  });
}

function take(desk, revision) {
  Object.assign(kept, { revision, held: false });
  takeDesk(desk ?? {});
  kept.desk = asDesk();
  sign("Saved");
  changed("wishes");
}

// Another page has kept something: it is shown here, too, where nothing of ours is open.
async function heard() {
  if (isDirty()) return;
  const { revision, state: desk } = await api.desk(state.collection.id).catch(() => ({ revision: 0 }));
  if (revision <= kept.revision || isDirty()) return;
  take(desk, revision);
  say("Changed in another tab; shown here as well");
}
