/** The three tabs; the address names the one shown, so that going back and links work. */

import { byId } from "./dom.js";

const tabs = [...document.querySelectorAll("[role=tab]")];
const panel = (tab) => byId(tab.getAttribute("aria-controls"));
const named = (name) => tabs.find((tab) => panel(tab).id === name) ?? tabs[0];

/** Show a tab by the name of its panel. */
export function show(name) {
  if (location.hash !== `#${name}`) history.pushState(null, "", `#${name}`);
  select(named(name));
}

function select(chosen) {
  for (const tab of tabs) {
    tab.ariaSelected = String(tab === chosen);
    tab.tabIndex = tab === chosen ? 0 : -1;
    panel(tab).hidden = tab !== chosen;
  }
  byId("settings").hidden = panel(chosen).id === "browse"; // there they would change nothing
  document.dispatchEvent(new CustomEvent("tab", { detail: panel(chosen).id }));
}

function byKey(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  show(panel(next).id);
  next.focus();
}

export function startTabs() {
  for (const tab of tabs) {
    tab.addEventListener("click", () => show(panel(tab).id));
    tab.addEventListener("keydown", byKey);
  }
  const follow = () => select(named(location.hash.slice(1)));
  addEventListener("popstate", follow);
  follow();
}
