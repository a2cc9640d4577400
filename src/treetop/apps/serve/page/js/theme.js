/** Light or dark: as the system has it, or as chosen here. */

import { byId } from "./dom.js";

const THEMES = ["auto", "light", "dark"];
const WORDS = { auto: "Colours: as the system has them", light: "Colours: light", dark: "Colours: dark" };

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").ariaLabel = byId("theme").title = WORDS[theme];
}

export function startTheme() {
  const kept = localStorage.getItem("treetop-theme");
  apply(THEMES.includes(kept) ? kept : "auto");
  byId("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
    localStorage.setItem("treetop-theme", next);
    apply(next);
  });
}
