// The keys of the keyboard, the headphones and the lock screen, and what they show.

import { state, titleOf } from "./state.js";

const session = navigator.mediaSession;

export function start(actions) {
  for (const [name, action] of Object.entries(actions)) {
    try {
      session?.setActionHandler(name, action);
    } catch { /* this browser does not know that key */ }
  }
}

let shown = null;
export function show(item, on) {
  if (!session) return;
  session.playbackState = item === null ? "none" : on ? "playing" : "paused";
  const key = item === null ? null : `${state.collection.id}/${item}/${titleOf(item)}`;
  if (key === shown) return;
  shown = key;
  if (item === null) return (session.metadata = null);
  const artwork = state.covers ? [{ src: state.covers(item) }] : [];
  session.metadata = new MediaMetadata({ title: titleOf(item), artist: state.collection.items[item].creator, album: state.collection.title, artwork });
}

export function position(at, length) {
  if (!session?.setPositionState || !(length > 0)) return;
  session.setPositionState({ duration: length, position: Math.min(length, Math.max(0, at)) });
}
