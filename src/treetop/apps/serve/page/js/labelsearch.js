/** A field that finds labels while one types, and a list to choose from (the combobox pattern of ARIA). */

import { ask } from "./api.js";
import { make, symbol } from "./dom.js";
import { Latest } from "./latest.js";
import { complain, say } from "./messages.js";
import { code, count, counted, title } from "./words.js";

const PAUSE = 120;
const SHOWN = 12;

export class LabelSearch {
  #latest = new Latest();
  #found = [];
  #at = -1;
  #hurried = false; // Enter was pressed before anything had been found

  /** Build it in a place; `chosen(label)` is told. With `inventing`, a name the model does not know can be given. */
  constructor(place, { words, settings, chosen, inventing = false }) {
    Object.assign(this, { place, settings, chosen, inventing });
    const id = `${place.id}-list`;
    this.list = make("ul", { id, role: "listbox", "aria-label": "Labels found", hidden: true });
    this.field = make("input", {
      type: "search", role: "combobox", placeholder: words, "aria-label": words, autocomplete: "off", spellcheck: false,
      "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
      oninput: () => this.#look(PAUSE), onfocus: () => this.#look(0), onblur: () => this.#close(), onkeydown: (event) => this.#byKey(event),
    });
    place.append(symbol("search"), this.field, this.list);
  }

  async #look(pause) {
    const query = this.field.value.trim();
    this.#hurried = false;
    if (!query) return this.#close();
    try {
      const asked = { model: this.settings.model?.name ?? null, query, limit: SHOWN };
      const found = await this.#latest.run((signal) => ask("v1/labels", { query: asked, signal }), pause);
      if (found) this.#show(query, found.labels);
    } catch (error) {
      complain(error);
    }
  }

  #show(query, labels) {
    const known = labels.some(({ label, text }) => [label, text].includes(query));
    this.#found = this.inventing && !known ? [...labels, { label: query, text: null, unknown: true }] : labels;
    const options = this.#found.map((label, at) => this.#option(label, at));
    this.list.replaceChildren(...(options.length ? options : [make("li", { className: "empty" }, "No label has these words.")]));
    this.list.hidden = false;
    this.field.ariaExpanded = "true";
    this.#move(options.length ? 0 : -1);
    if (this.#hurried && clear(query, this.#found)) return this.#choose(this.#found[0]);
    return say(counted(labels.length, "label"));
  }

  #option(label, at) {
    const own = make("li", { role: "option", id: `${this.list.id}-${at}`, onpointerdown: (event) => (event.preventDefault(), this.#choose(label)) });
    const told = label.unknown ? "a label the model does not know yet" : `${count(label.frequency)} texts`;
    const known = code(label);
    own.append(make("span", { className: "title" }, label.unknown ? `“${label.label}”` : title(label)), known ? make("code", {}, known) : "", make("span", { className: "facts" }, told));
    return own;
  }

  #move(to) {
    this.#at = to;
    [...this.list.children].forEach((option, at) => (option.ariaSelected = String(at === to)));
    if (to < 0) this.field.removeAttribute("aria-activedescendant");
    else this.field.setAttribute("aria-activedescendant", this.list.children[to].id);
    this.list.children[to]?.scrollIntoView({ block: "nearest" });
  }

  #byKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const open = !this.list.hidden && this.#found.length > 0;
    if (step && open) this.#move((this.#at + step + this.#found.length) % this.#found.length);
    else if (event.key === "Enter" && open && this.#at >= 0) this.#choose(this.#found[this.#at]);
    else if (event.key === "Enter" && this.field.value.trim()) this.#hurried = true;
    else if (event.key === "Escape" && open) this.#close();
    else return;
    event.preventDefault();
  }

  #choose(label) {
    this.field.value = "";
    this.#close();
    this.chosen(label);
  }

  #close() {
    this.#latest.cancel();
    this.list.hidden = true;
    this.#found = [];
    this.field.ariaExpanded = "false";
    this.field.removeAttribute("aria-activedescendant");
  }
}

/** Whether there is no doubt which label is meant. */
const clear = (query, [first, ...others]) => first && (!others.length || [first.label, first.text].includes(query));
