/** The list of suggestions: how sure the model is, what the person decides, and why it was suggested. */

import { byId, make, bar, symbol } from "./dom.js";
import { code, sureness, title } from "./words.js";

const KEYS = { a: "accept", r: "reject", w: "why" };

export class SuggestionList extends EventTarget {
  #list = byId("suggestions");
  #rows = new Map(); // name of a label → its row

  constructor(decisions) {
    super();
    this.decisions = decisions;
  }

  start() {
    this.#list.addEventListener("keydown", (event) => this.#byKey(event));
    this.decisions.addEventListener("change", () => this.#follow());
  }

  /** Show an answer, and below it what was decided about labels that are not in it. */
  show(answer, explains) {
    const suggestions = answer?.suggestions ?? [];
    const scale = scaleOf(answer?.kind, suggestions);
    const held = this.#list.querySelector(":focus");
    const [name, action] = [held?.closest(".suggestion").label.label, held?.dataset.action];
    this.#list.replaceChildren();
    this.#rows.clear();
    for (const one of suggestions) this.#append(one, bar(scale(one.score)), sureness(one), explains);
    this.explains = explains && answer !== null;
    this.#follow();
    if (held) focusSame(this.#rows.get(name) ?? this.#list.firstElementChild, action);
    return suggestions;
  }

  /** The part of a row that shows why; it opens and closes with its button. */
  why(name) {
    return this.#rows.get(name)?.querySelector(".why-place") ?? null;
  }

  #append(label, meter, value, explains) {
    const row = this.#row(label, meter, value, explains);
    this.#rows.set(label.label, row);
    this.#list.append(row);
  }

  #row(label, meter, value, explains) {
    const own = make("li", { className: "suggestion", onpointerenter: () => this.#point(label), onfocusin: () => this.#point(label) });
    own.label = label;
    own.append(
      make("div", { className: "marks" }, this.#decider(label, "accept"), this.#decider(label, "reject")),
      make("div", { className: "name" }, make("span", { className: "title" }, title(label)), badges(label), meter),
      make("output", { className: "value" }, value ?? ""),
      explains ? this.#whyButton(label) : make("span"),
      make("div", { className: "why-place", hidden: true }),
    );
    return own;
  }

  #decider(label, action) {
    const decide = () => this.decisions.toggle(label, `${action}ed`);
    return make("button", { className: `icon ${action}`, "data-action": action, "aria-pressed": "false", "aria-label": `${action === "accept" ? "Accept" : "Reject"} ${title(label)}`, onclick: decide }, symbol(action));
  }

  #whyButton(label) {
    const button = make("button", { className: "why", "data-action": "why", "aria-expanded": "false", "aria-label": `Why ${title(label)}?` }, "Why?");
    button.addEventListener("click", () => this.#toggleWhy(label, button));
    return button;
  }

  #toggleWhy(label, button) {
    const place = this.why(label.label);
    place.hidden = !place.hidden;
    button.ariaExpanded = String(!place.hidden);
    if (!place.hidden) this.dispatchEvent(new CustomEvent("why", { detail: { label, place } }));
  }

  #point(label) {
    this.dispatchEvent(new CustomEvent("point", { detail: label }));
  }

  /** Rows show what was decided; labels that were added, or are no longer suggested, have a row of their own. */
  #follow() {
    for (const row of this.#list.querySelectorAll(".own")) {
      row.remove();
      this.#rows.delete(row.label.label);
    }
    for (const label of this.decisions.labels("added", "accepted", "rejected"))
      if (!this.#rows.has(label.label)) this.#appendOwn(label);
    for (const [name, row] of this.#rows) showDecision(row, this.decisions.of(name));
  }

  #appendOwn(label) {
    this.#append(label, null, null, this.explains && !label.unknown);
    const row = this.#rows.get(label.label);
    row.classList.add("own");
    if (this.decisions.of(label.label) !== "added") return;
    const remove = make("button", { className: "icon", "data-action": "reject", "aria-label": `Remove ${title(label)}`, onclick: () => this.decisions.toggle(label, "added") }, symbol("reject"));
    row.querySelector(".marks").replaceChildren(make("span", { className: "icon done" }, symbol("add")), remove);
    row.querySelector(".name").append(make("span", { className: "facts" }, "added by you"));
  }

  #byKey(event) {
    const row = event.target.closest(".suggestion");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const action = KEYS[event.key.toLowerCase()];
    if (step) focusSame(row[step], event.target.dataset.action);
    else if (action) row.querySelector(`[data-action=${action}]`)?.click();
    else return;
    event.preventDefault();
  }
}

function focusSame(row, action) {
  (row?.querySelector(`[data-action=${action}]`) ?? row?.querySelector("button"))?.focus();
}

function badges(label) {
  const known = code(label);
  return [
    known && make("code", {}, known),
    label.unseen && make("span", { className: "badge", title: "No text of the training had this label" }, "never seen in training"),
    label.unknown && make("span", { className: "badge" }, "new label"),
  ].filter(Boolean);
}

function showDecision(row, decision) {
  row.dataset.decision = decision ?? "";
  for (const action of ["accept", "reject"]) {
    const button = row.querySelector(`.marks button.${action}`);
    if (button) button.ariaPressed = String(decision === `${action}ed`);
  }
}

/** From a score to the length of its bar: shares as they are, anything else between the worst and the best shown. */
function scaleOf(kind, suggestions) {
  if (kind === "probability" || kind === "score") return (score) => score;
  const scores = suggestions.map(({ score }) => score);
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  return (score) => (most > least ? 0.1 + (0.9 * (score - least)) / (most - least) : 1);
}
