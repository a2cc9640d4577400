/** What a person decided about the labels of one text. */

export class Decisions extends EventTarget {
  #all = new Map(); // name of a label → { label, decision }

  get size() {
    return this.#all.size;
  }

  /** "accepted", "rejected", "added" or null. */
  of(name) {
    return this.#all.get(name)?.decision ?? null;
  }

  /** Decide about a label; deciding the same again takes it back. */
  toggle(label, decision) {
    if (this.of(label.label) === decision) this.#all.delete(label.label);
    else this.#all.set(label.label, { label, decision });
    this.#changed();
  }

  add(label) {
    this.#all.set(label.label, { label, decision: "added" });
    this.#changed();
  }

  clear() {
    if (!this.size) return;
    this.#all.clear();
    this.#changed();
  }

  /** The labels with one of the decisions, in the order in which they were made. */
  labels(...decisions) {
    return [...this.#all.values()].filter(({ decision }) => decisions.includes(decision)).map(({ label }) => label);
  }

  names(decision) {
    return this.labels(decision).map(({ label }) => label);
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
