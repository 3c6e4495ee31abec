// What an item is like over its length, drawn: behind the slider of what plays, and of the item chosen.

import * as api from "./api.js";
import { $ } from "./dom.js";
import { state } from "./state.js";

const known = new Map(), MOST = 64;
const now = { item: null, share: 0 };

// The wave of an item; null where there is none. Each is asked for once.
function findWave(item) {
  const key = `${state.collection.id}/${item}`;
  if (!known.has(key)) {
    if (known.size >= MOST) known.delete(known.keys().next().value);
    known.set(key, api.wave(state.collection.id, item).catch(() => null));
  }
  return known.get(key);
}

const hasWave = (item) => item !== null && !state.collection?.pending && state.collection?.medium.preview.kind === "sound" && state.collection.items[item]?.preview;

// Of what plays.
export async function showWave(item) {
  if (item === now.item && now.of === state.collection?.id) return;
  Object.assign(now, { item, of: state.collection?.id, share: 0, found: null });
  draw($("wave"), null, 0);
  $("seek").classList.toggle("waved", false);
  if (!hasWave(item)) return;
  const found = await findWave(item);
  if (now.item !== item || !found) return;
  now.found = found;
  $("seek").classList.toggle("waved", true);
  draw($("wave"), found, now.share);
}

export function advanceWave(share) {
  if (!now.found || Math.abs(share - now.share) < 0.001) return;
  now.share = share;
  draw($("wave"), now.found, share);
}

// Of the item chosen, once it has been so for a moment.
let waiting = 0;
export function inspectWave(item) {
  const canvas = $("one-wave");
  clearTimeout(waiting);
  canvas.hidden = !hasWave(item);
  if (canvas.dataset.item === `${state.collection?.id}/${item}`) return;
  canvas.dataset.item = "";
  draw(canvas, null, 0);
  if (!hasWave(item)) return;
  waiting = setTimeout(async () => {
    const found = await findWave(item);
    if (state.chosen !== item) return;
    canvas.hidden = !found;
    canvas.dataset.item = `${state.collection.id}/${item}`;
    if (found) draw(canvas, found, 0);
  }, 350);
}

export function redrawWave() {
  if (now.found) draw($("wave"), now.found, now.share);
}

function draw(canvas, found, share) {
  const ratio = Math.min(2, devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const pen = canvas.getContext("2d"), style = getComputedStyle(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  if (!found || !width) return;
  const top = found.high.reduce((a, b) => Math.max(a, Math.abs(b)), 0.05), bars = Math.floor(width / 3), n = found.high.length;
  for (let bar = 0; bar < bars; bar++) {
    const from = Math.floor((bar * n) / bars), to = Math.max(from + 1, Math.floor(((bar + 1) * n) / bars));
    let peak = 0;
    for (let i = from; i < to; i++) peak = Math.max(peak, found.high[i], -found.low[i]);
    const tall = Math.max(1.5, (peak / top) * (height - 4));
    pen.fillStyle = (bar + 0.5) / bars < share ? style.borderTopColor : style.color;
    pen.fillRect(bar * 3, (height - tall) / 2, 2, tall);
  }
  drawEdges(pen, found, width, height, style.outlineColor);
}

// Where something is heard first and last.
function drawEdges(pen, { begins, ends, length }, width, height, colour) {
  pen.fillStyle = colour;
  for (const at of [begins, ends]) if (length > 0 && at > 0) pen.fillRect(Math.min(width - 2, Math.max(0, (at / length) * width - 1)), 0, 2, height);
}
