// Pages that face each other: what lies beside what, as in a book.

// For each spread [left, right], an index of rows or null for an empty page; [index] for one over both pages. The first of a
// side stands alone on the right.
export function spreadsOf(rows, items) {
  const spreads = [];
  let left = null;
  rows.forEach(({ item, number }, index) => {
    const both = items[item].both_pages, first = number === 1;
    if (left !== null && (both || first)) {
      spreads.push([left, null]);
      left = null;
    }
    if (both) spreads.push([index]);
    else if (first) spreads.push([null, index]);
    else if (left === null) left = index;
    else {
      spreads.push([left, index]);
      left = null;
    }
  });
  return left === null ? spreads : [...spreads, [left, null]];
}

const GAP = 22, PAD = 0.07;

// Where each item lies, and the paper under it; in as many columns as there is room for.
export function laySpreads(rows, items, width) {
  const columns = Math.max(1, Math.floor((width + GAP) / (300 + GAP))), wide = (width - GAP * (columns - 1)) / columns;
  const page = wide / 2, tall = page * 1.16, inner = page * (1 - 2 * PAD), slots = [], papers = [];
  const spreads = spreadsOf(rows, items);
  spreads.forEach((spread, k) => {
    const left = (k % columns) * (wide + GAP), top = Math.floor(k / columns) * (tall + GAP);
    papers.push({ left, top, width: wide, height: tall, kind: spread[0] === null ? "right" : spread.length > 1 && spread[1] === null ? "left" : "both" });
    spread.forEach((index, side) => {
      if (index === null) return;
      const across = spread.length === 1 ? wide - 2 * page * PAD : inner;
      slots[index] = { left: left + side * page + page * PAD, top: top + page * PAD, width: across, height: tall - 2 * page * PAD };
    });
  });
  return { slots, papers, columns: 2 * columns, height: Math.ceil(spreads.length / columns) * (tall + GAP) };
}

// A light table: equal squares, as many as fit side by side; a new side begins a new line.
export function layTable(rows, width, many) {
  const least = width < 420 ? 96 : many ? 108 : 150, gap = width < 420 ? 6 : 10;
  const columns = Math.max(3, Math.floor((width + gap) / (least + gap))), cell = (width - gap * (columns - 1)) / columns;
  const slots = [];
  let line = -1, column = columns, side = null;
  rows.forEach((row, index) => {
    const group = row.off === null ? "out" : row.side;
    if (column >= columns || group !== side) [line, column] = [line + 1, 0];
    side = group;
    slots[index] = { left: column++ * (cell + gap), top: line * (cell + gap), width: cell, height: cell };
  });
  return { slots, papers: [], columns, height: (line + 1) * (cell + gap) };
}
