// The order of numbers along a template: two sorts, exact, at once.

// Numbers laid on targets by sorting both. Equal numbers keep the order given.
function matchSorted(values, items, targets, positions, out) {
  items.sort((a, b) => values[a] - values[b] || a - b);
  positions.sort((a, b) => targets[a] - targets[b] || a - b);
  for (let start = 0; start < items.length; ) {
    let end = start + 1;
    while (end < items.length && values[items[end]] === values[items[start]]) end++;
    if (end - start > 1) positions.slice(start, end).sort((a, b) => a - b).forEach((position, k) => (positions[start + k] = position));
    start = end;
  }
  positions.forEach((position, k) => (out[position] = items[k]));
}

// With some positions fixed (position -> item): ordering[position] = item.
export function orderAlong(values, targets, fixed) {
  const n = values.length, out = new Array(n).fill(-1), held = new Set();
  for (const [position, item] of Object.entries(fixed)) {
    out[Number(position)] = item;
    held.add(item);
  }
  const items = [], positions = [];
  for (let i = 0; i < n; i++) {
    if (!held.has(i)) items.push(i);
    if (out[i] < 0) positions.push(i);
  }
  matchSorted(values, items, targets, positions, out);
  return out;
}
