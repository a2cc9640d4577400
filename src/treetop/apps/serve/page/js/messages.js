/** What the page says: problems where all can see them, news for those who listen. */

import { byId, make, symbol } from "./dom.js";
import { Told } from "./told.js";

/** News for screen readers. */
export function say(words) {
  byId("status").textContent = words;
}

/** A problem, until it is closed or solved; `again` offers to try it again. */
export function complain(error, again = null) {
  if (!(error instanceof Told)) console.error(error);
  const retry = again && make("button", { textContent: "Try again", onclick: () => (clear(), again()) });
  const close = make("button", { className: "icon", "aria-label": "Close the message", onclick: clear }, symbol("reject"));
  byId("messages").replaceChildren(make("div", { className: "message" }, make("p", {}, error.message), retry, close));
}

export function clear() {
  byId("messages").replaceChildren();
}

/** A short word on a button that something was done, then its own again. */
export function confirmOn(button, words) {
  const own = (button.dataset.own ??= button.textContent);
  button.textContent = words;
  say(words);
  clearTimeout(button.timer);
  button.timer = setTimeout(() => (button.textContent = own), 1600);
}
