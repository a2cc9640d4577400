/** The tab of labels: the tree to walk through, a field to find one, and a card of the label chosen. */

import { byId, make, symbol } from "./dom.js";
import { LabelSearch } from "./labelsearch.js";
import { show as showTab } from "./tabs.js";
import { LabelTreeView } from "./tree.js";
import { code, counted, title } from "./words.js";

export function startBrowsing(settings, take) {
  const card = (label) => showCard(label, take);
  new LabelSearch(byId("finding"), { words: "Words of a label", settings, chosen: card });
  const tree = new LabelTreeView(card);
  const follow = () => !byId("browse").hidden && tree.show(settings.model);
  document.addEventListener("tab", follow);
  settings.addEventListener("change", follow);
  settings.addEventListener("models", follow);
}

function showCard(label, take) {
  const known = code(label);
  const add = make("button", { className: "primary", onclick: () => (take(label), showTab("suggest")) }, symbol("add"), "Add to the text");
  byId("label-card").replaceChildren(make("article", { className: "card" },
    make("h3", {}, title(label)), known ? make("code", {}, known) : "",
    make("p", { className: "facts" }, label.frequency ? `${counted(label.frequency, "text")} of the training ${label.frequency === 1 ? "has" : "have"} it` : "no text of the training has it"), add));
  byId("label-card").scrollIntoView({ block: "nearest" });
}
