// Where things stand in the picture of the arc: scales, and the way back from a pointer.

import { count, sides } from "./laid.js";
import { state } from "./state.js";
import { at } from "./template.js";

const MARGIN = { left: 22, right: 22, top: 26, bottom: 30 };
export const view = { width: 600, height: 300, low: -2, high: 2, drawing: false, template: null, rows: [] };

// Sizes and the range of heights; while dragging they stay as they are.
export function measure(box, template) {
  view.width = Math.max(240, Math.round(box.width));
  view.height = Math.max(180, Math.round(box.height));
  const values = state.collection.items.map((item) => item.essence);
  for (let i = 0; i <= 40; i++) values.push(at(template, i / 40));
  let low = -1, high = 1;
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const room = 0.12 * (high - low);
  Object.assign(view, { low: low - room, high: high + room });
}

// Where a position, and a point of the template (u in [0, 1], on one side), stand on the screen.
export function across(position) {
  const n = count(), room = view.width - MARGIN.left - MARGIN.right;
  return MARGIN.left + (n > 1 ? position / (n - 1) : 0.5) * room;
}

export function x(u, side = 0) {
  const counts = sides();
  if (count() < 2) return MARGIN.left + u * (view.width - MARGIN.left - MARGIN.right);
  let first = 0;
  for (let before = 0; before < side; before++) first += counts[before];
  return across(first + u * (counts[side] - 1));
}

const tall = () => view.height - MARGIN.top - MARGIN.bottom;
export const y = (v) => MARGIN.top + ((view.high - v) / (view.high - view.low)) * tall();
export const floor = () => view.height - MARGIN.bottom;

// The way back: a height, a place along the first side, and a position.
export const heightAt = (py) => view.high - ((Math.min(floor(), Math.max(4, py)) - MARGIN.top) / tall()) * (view.high - view.low);
export function alongAt(px) {
  const left = x(0), right = x(1);
  return Math.min(1, Math.max(0, (px - left) / (right - left || 1)));
}
export function positionAt(px) {
  const n = count(), room = view.width - MARGIN.left - MARGIN.right;
  return Math.min(n - 1, Math.max(0, Math.round(((px - MARGIN.left) / room) * (n - 1))));
}

// The item whose point is nearest to the pointer, within reach.
export function nearest({ px, py }, reach = 16) {
  let best = null, least = reach;
  for (const { item, position, value } of view.rows) {
    const distance = Math.hypot(across(position) - px, y(value) - py);
    if (distance < least) [best, least] = [item, distance];
  }
  return best;
}
