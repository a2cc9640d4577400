/** The text, editable, with marks behind its words: a transparent text area above a copy that holds the marks. */

import { byId, make } from "./dom.js";
import { count, counted } from "./words.js";
import { runs } from "./marks.js";

const MARKED_UP_TO = 300_000; // characters; longer texts are shown without marks, so that typing stays quick

export class TextBox extends EventTarget {
  #area = byId("text");
  #behind = byId("textbox").querySelector(".backdrop");
  #before = "";

  start() {
    this.#area.addEventListener("input", () => this.#changed());
    byId("text-clear").addEventListener("click", () => ((this.value = ""), this.#area.focus()));
  }

  get value() {
    return this.#area.value;
  }

  set value(text) {
    this.#area.value = text;
    this.#changed();
  }

  /** Mark words: `[{start, end, share}]`, shares from -1 (against the label) to 1 (for it). */
  mark(words) {
    const { value } = this;
    const parts = value.length > MARKED_UP_TO ? [] : runs(value, words).map(({ text, share }) => share ? marked(text, share) : text);
    this.#behind.replaceChildren(...parts, "\u200b"); // so that a last empty line has its height
  }

  #changed() {
    const { value } = this;
    const another = !related(this.#before, value);
    this.#before = value;
    this.mark([]);
    const words = value.split(/\s+/).filter(Boolean).length;
    byId("text-facts").textContent = value ? `${counted(words, "word")}, ${count(value.length)} characters` : "";
    this.dispatchEvent(new CustomEvent("change", { detail: { another } }));
  }
}

function marked(text, share) {
  const mark = make("mark", { className: share > 0 ? "for" : "against", textContent: text });
  mark.style.setProperty("--share", Math.abs(share));
  return mark;
}

/** Whether one text is the other after some editing: most of the shorter is at the start or the end of both. */
export function related(one, other) {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return shorter > 0 && 2 * (start + end) >= shorter;
}
