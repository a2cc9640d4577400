/** Asks for suggestions whenever the text or a setting has changed; only the latest request counts. */

import { ask } from "./api.js";
import { Latest } from "./latest.js";

const PAUSE = 250; // milliseconds without a key before the service is asked

export class Suggesting extends EventTarget {
  #latest = new Latest();
  /** The answer shown: `{text, model, version, kind, suggestions, seconds}`, or null. */
  answer = null;

  constructor(textbox, settings) {
    super();
    Object.assign(this, { textbox, settings });
  }

  start() {
    this.textbox.addEventListener("change", () => this.ask(PAUSE));
    this.settings.addEventListener("change", () => this.ask(PAUSE / 2));
  }

  /** Ask now, or after a pause; tells with the events "asking", "answer" (null for no text) and "problem". */
  async ask(pause = 0) {
    const text = this.textbox.value;
    if (!text.trim() || !this.settings.model) {
      this.#latest.cancel();
      this.#tell("answer", (this.answer = null));
      return;
    }
    try {
      const answer = await this.#latest.run((signal) => this.#asked(text, signal), pause);
      if (answer) this.#tell("answer", (this.answer = answer));
    } catch (error) {
      this.#tell("problem", error);
    }
  }

  async #asked(text, signal) {
    this.#tell("asking");
    const start = performance.now();
    const { results, ...answer } = await ask("v1/suggest", { body: { texts: [text], ...this.settings.asked }, signal });
    return { text, ...answer, suggestions: results[0].suggestions, seconds: (performance.now() - start) / 1000 };
  }

  #tell(what, detail = null) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }
}
