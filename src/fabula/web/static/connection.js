// Whether the server answers. When it does not, that is said once and asked again, less and less often; when it does again,
// the page goes on by itself.

import { hold, release } from "./announce.js";
import { emit, onChange } from "./state.js";

const FIRST = 1000, LAST = 15000; // milliseconds to the next try
const GONE = "The server does not answer. Start `fabula serve` again and this page goes on by itself; what you do meanwhile is kept here.";
const ANEW = "The server was started anew. Open the address that it printed, in any tab, and this page goes on by itself.";
const waiting = [];
let lost = false, wait = FIRST;

export const isLost = () => lost;
export const start = () => onChange((what) => what === "lost" && reportLost());

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
