// What the page says: a notice that is seen, a sentence that is only read out, and a sign that something runs.

import { $, el, icon } from "./dom.js";

let fading = 0, speaking = 0, held = "";

// A line that stays until it is released; nothing else is said meanwhile.
export function hold(text) {
  if (held === text) return;
  held = "";
  notify(text, { error: true, fades: false });
  held = text;
}
export function release(text) {
  held = "";
  notify(text);
}

// A line for everybody; actions are [text, what it does].
export function notify(text, { error = false, actions = [], fades = !actions.length } = {}) {
  if (held) return;
  const notice = $("notice");
  const buttons = actions.map(([name, action]) => el("button", { class: "small", onclick: () => { hideNotice(); action(); } }, name));
  const close = actions.length ? [el("button", { class: "plain tiny", onclick: hideNotice, "aria-label": "Close this notice" }, icon("close"))] : [];
  notice.replaceChildren(el("span", { dir: "auto" }, text), ...buttons, ...close);
  notice.classList.toggle("error", error);
  notice.classList.toggle("shown", Boolean(text));
  clearTimeout(fading);
  if (fades) fading = setTimeout(hideNotice, error || actions.length ? 9000 : 4000);
}

// Do what may fail; what went wrong is said in a line.
export const attempt = (act) => act().catch((error) => notify(error.message, { error: true }));

function hideNotice() {
  if (held) return;
  clearTimeout(fading);
  $("notice").classList.remove("shown");
}

// A sentence for those who hear the page, once things have come to rest.
export function announce(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => ($("live").textContent = text), 250);
}

// That a search runs is seen when it takes longer than a blink, and told to those who hear the page.
const running = new Map();
export function setBusy(what, on, text = "") {
  clearTimeout(running.get(what)?.timer);
  if (on) running.set(what, { text, timer: setTimeout(showBusy, 150) });
  else {
    running.delete(what);
    showBusy();
  }
}

function showBusy() {
  const [first] = running.values();
  $("busy").hidden = !first;
  $("busy-text").textContent = first?.text || "";
}
