// The page: puts the parts together.

import * as api from "./api.js";
import * as arc from "./arc.js";
import "./joins.js";
import * as desk from "./desk.js";
import { $, setIcon } from "./dom.js";
import * as hands from "./hands.js";
import * as item from "./item.js";
import * as jobs from "./jobs.js";
import * as keeping from "./keeping.js";
import * as keys from "./keys.js";
import * as knots from "./knots.js";
import * as likes from "./likes.js";
import * as list from "./list.js";
import * as opening from "./opening.js";
import { ask, propose } from "./ordering.js";
import * as player from "./player.js";
import * as recent from "./recent.js";
import * as saving from "./saving.js";
import { show } from "./screens.js";
import { changed, commit, onChange, open, redo, state, undo } from "./state.js";
import * as templates from "./templates.js";
import * as tiles from "./tiles.js";
import * as versions from "./versions.js";
import { say, tell } from "./voice.js";
import * as wave from "./wave.js";
import { NO_WISHES } from "./wishes.js";
import * as zoom from "./zoom.js";

// A collection comes onto the desk: with what a file says, else with what was made of it before.
async function opened(collection, saved = null) {
  const before = await keeping.find(collection.id);
  player.reset();
  open(collection, saved ?? before?.desk ?? {});
  tiles.offer();
  keeping.opened({ fromFile: saved !== null });
  document.title = `${collection.title} · fabula`;
  $("title").textContent = collection.title;
  versions.reset();
  show("desk");
  fresh();
  await Promise.all([ask(), state.wishes.template || state.wishes.hand ? propose() : null, templates.findOthers(), findCovers()]);
  templates.render();
  if (!saved && before && state.past.length) say("As you left it", { actions: [["Start anew", startAnew]], fades: true });
  item.silence(collection);
}

const startAnew = () => commit({ ...NO_WISHES, by: state.collection.by });

function fresh() {
  list.build();
  templates.renderColumns();
  desk.fillWords(state.collection);
  desk.notes(state.collection.notes);
}

// Whether the items have pictures is asked of the first.
async function findCovers() {
  const { id, items, medium } = state.collection, first = items.findIndex((one) => one.preview);
  if (first < 0 || !["sound", "picture"].includes(medium.preview.kind)) return;
  const has = await api.hasCover(id, first).catch(() => false);
  if (!has || state.collection.id !== id) return;
  state.covers = (index) => api.cover(id, index);
  changed("chosen");
}

// The server does not know the collection any more: it was started anew. It opens it again, and the desk stays.
let finding = false;
async function gone() {
  if (finding) return;
  finding = true;
  const { id } = state.collection;
  try {
    let job = await api.reopen(id);
    while (job.state === "running") {
      await new Promise((done) => setTimeout(done, 150));
      job = await api.job(job.id);
    }
    if (job.collection !== id) throw new Error("it is not the same any more");
    const { items } = await api.collection(id);
    if (items.length !== state.collection.items.length) throw new Error("it is not the same any more");
    state.good = null;
    await ask();
    say("The server was started anew; everything is here");
  } catch {
    say("The server was started anew and does not have these files. What you made of them is kept: open them again.", { error: true, actions: [["Open…", opening.toggleStart]] });
  } finally {
    finding = false;
  }
}

const on = {
  preview() {
    arc.render();
    list.render({ settle: false });
    desk.verdict();
  },
  wishes() {
    desk.controls();
    templates.render();
    keeping.keep();
    ask();
  },
  essence: fresh,
  proposals: templates.render,
  playing: list.showPlaying,
  drawing: hint,
  gone,
  found() {
    desk.says();
    desk.notes(state.answer.notes);
    templates.render();
    keeping.keep();
  },
  chosen() {
    arc.render();
    list.render();
    item.inspect();
  },
  order() {
    arc.render({ fresh: true });
    list.render();
    player.refresh();
    desk.controls();
    desk.verdict();
    item.inspect();
    knots.showTools();
    keys.fieldsAre();
  },
  undone() {
    on.order();
    on.found();
  },
};
onChange((what) => state.collection && on[what]?.());

function hint() {
  $("hint").textContent = knots.isDrawing() ? "Draw a line across the picture." : "Drag a knot and the order follows; drag a point and it is pinned. Double-click adds a knot.";
}

function setBefore(before) {
  state.before = before;
  if (before) knots.setDrawing(false);
  changed("order");
  desk.says();
  tell(before ? "The order as it was." : "The order as it is now.");
}

function wire() {
  for (const [id, name] of [["undo", "undo"], ["redo", "redo"], ["play-all", "play"], ["one-edit", "edit"], ["zoom-prev", "back"], ["zoom-next", "on"], ["zoom-close", "close"]]) setIcon($(id), name);
  $("play-all").addEventListener("click", player.toggle);
  $("undo").addEventListener("click", undo);
  $("redo").addEventListener("click", redo);
  $("draw").addEventListener("click", () => knots.setDrawing(!knots.isDrawing()));
  $("given").addEventListener("click", () => setBefore(!state.before));
  $("rows").addEventListener("none", hands.clear);
  addEventListener("resize", wave.redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.collection && (arc.render({ fresh: true }), wave.redraw()));
}

async function resume() {
  const job = await jobs.resume();
  if (job) return jobs.watch(job).catch((error) => say(error.message, { error: !error.cancelled }));
  const { collection } = keeping.stored(), found = collection ? await api.collection(collection).catch(() => null) : null;
  if (found) return opened(found);
  if (collection) return opening.run(() => api.reopen(collection));
  return recent.render();
}

wire();
for (const part of [arc, knots, list, hands, tiles, zoom, item, likes, desk, player, saving, versions, keeping]) part.start();
keys.start({ d: () => knots.setDrawing(!knots.isDrawing()), f: templates.flip, b: () => setBefore(!state.before), " ": player.toggle });
show("start");
await Promise.all([templates.start(), opening.start(opened)]);
await resume();
document.documentElement.dataset.ready = "yes";
