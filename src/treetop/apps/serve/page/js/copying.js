/** Copies of the labels: those that a person chose, or all suggested while nothing is chosen. */

import { make, byId } from "./dom.js";
import { complain, confirmOn } from "./messages.js";
import { csvLine } from "./separated.js";
import { Told } from "./told.js";
import { title } from "./words.js";

const COLUMNS = ["label", "text", "score", "probability", "decision"];

const FORMS = {
  Text: (rows) => rows.map(title).join("\n"),
  JSON: (rows) => JSON.stringify(rows, null, 2),
  CSV: (rows) => [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name] ?? ""))].map((row) => csvLine(row)).join(""),
};

/** What is copied, as plain values. */
export function copied(suggestions, decisions) {
  const score = new Map(suggestions.map((one) => [one.label, one]));
  const chosen = decisions.labels("accepted", "added");
  const wanted = chosen.length ? chosen : suggestions.filter(({ label }) => decisions.of(label) !== "rejected");
  return wanted.map(({ label, text }) => ({
    label, text: text ?? null, score: score.get(label)?.score ?? null,
    probability: score.get(label)?.probability ?? null, decision: decisions.of(label),
  }));
}

export function startCopying(suggesting, decisions) {
  for (const [name, form] of Object.entries(FORMS)) {
    const button = make("button", { "aria-label": `Copy as ${name}` }, name);
    button.addEventListener("click", async () => {
      try {
        await put(form(copied(suggesting.answer?.suggestions ?? [], decisions)));
        confirmOn(button, "Copied");
      } catch {
        complain(new Told("The browser does not let this page copy. Select the labels and copy them yourself."));
      }
    });
    byId("copies").append(button);
  }
}

/** The clipboard of browsers is there on https and on this machine; the older way works elsewhere. */
async function put(words) {
  if (navigator.clipboard) return navigator.clipboard.writeText(words);
  const area = make("textarea", { value: words, className: "unseen" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Told("not copied");
}
