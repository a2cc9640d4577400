/** Explanations: asked for when a label is pointed at, kept while the text stays, shown as marks in the text. */

import { ask } from "./api.js";
import { byId, make } from "./dom.js";
import { Latest } from "./latest.js";
import { toUnits } from "./marks.js";
import { title } from "./words.js";

const PAUSE = 120; // milliseconds that a label is pointed at before the service is asked

export class Explaining {
  #latest = new Latest();
  #kept = new Map(); // label → its explanation; of the answer that is shown
  #answer = null;

  constructor(textbox) {
    this.textbox = textbox;
  }

  /** A new answer: nothing of the old ones holds. */
  follow(answer) {
    this.#latest.cancel();
    this.#answer = answer;
    this.#kept.clear();
    this.textbox.mark([]);
    byId("legend").replaceChildren();
  }

  /** Why a label; undefined if another was asked for meanwhile, null if the service cannot say. */
  async of(label, pause = 0) {
    const answer = this.#answer;
    if (!answer) return null;
    if (this.#kept.has(label)) {
      this.#latest.cancel();
      return this.#kept.get(label);
    }
    const body = { texts: [answer.text], model: answer.model, k: 1, labels: [label], explain: true };
    const given = await this.#latest.run((signal) => ask("v1/suggest", { body, signal }), pause);
    if (!given || answer !== this.#answer) return undefined;
    const found = given.results[0].suggestions[0]?.explanation ?? null;
    this.#kept.set(label, found);
    return found;
  }

  /** Mark the words that speak for a label, and against it. */
  async mark(label) {
    const explanation = await this.of(label.label, PAUSE);
    if (!explanation || this.textbox.value !== this.#answer.text) return;
    const largest = Math.max(...explanation.words.map(({ contribution }) => Math.abs(contribution)), 1e-9);
    const words = explanation.words.map(({ start, end, contribution }) => ({ start, end, share: contribution / largest }));
    this.textbox.mark(toUnits(this.#answer.text, words));
    byId("legend").replaceChildren(
      "Words that speak ", make("mark", { className: "for" }, "for"), " and ", make("mark", { className: "against" }, "against"),
      " ", make("strong", {}, title(label)),
    );
  }
}
