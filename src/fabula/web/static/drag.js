// One way to drag, for every hand: pointer or finger; Escape, a cancelled pointer or a lost window give it up.

export const dragging = { now: false };
const FAR = 4; // pixels before a press is a drag

// move({x, y}) once per frame at most, after the pointer has moved far enough; end(true) when it is let go, end(false) when
// it is given up or never moved.
export function follow(event, { move, end, near = FAR, each = null }) {
  const { pointerId, clientX, clientY } = event, from = { x: clientX, y: clientY };
  let now = from, moved = near === 0, waiting = 0, shift = event.shiftKey;
  const frame = () => {
    waiting = 0;
    if (!moved) return;
    move(now);
    if (each?.(now)) waiting = requestAnimationFrame(frame);
  };
  const onMove = (moving) => {
    if (moving.pointerId !== pointerId) return;
    now = { x: moving.clientX, y: moving.clientY };
    moved ||= Math.hypot(now.x - from.x, now.y - from.y) >= near;
    waiting ||= requestAnimationFrame(frame);
  };
  const done = (kept) => {
    cancelAnimationFrame(waiting);
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener, true);
    dragging.now = false;
    if (kept && moved) move(now);
    end(kept && moved, { shift, moved });
  };
  const mine = (kept) => (ended) => {
    if (ended.pointerId !== pointerId) return;
    shift = ended.shiftKey;
    done(kept);
  };
  const listeners = {
    pointermove: onMove,
    pointerup: mine(true),
    pointercancel: mine(false),
    blur: (lost) => lost.target === window && done(false),
    keydown: (key) => {
      if (key.key !== "Escape") return;
      key.preventDefault();
      key.stopPropagation();
      done(false);
    },
  };
  dragging.now = true;
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener, true);
  if (moved) frame();
}

// A finger on what can be dragged does not scroll the page. Not every browser heeds touch-action inside a picture.
export function holdStill(root, selector) {
  root.addEventListener("touchstart", (event) => event.target.closest(selector()) && event.cancelable && event.preventDefault(), { passive: false });
}
