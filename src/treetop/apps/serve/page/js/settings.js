/** The model, how many labels, and from which score on. */

import { byId, make } from "./dom.js";
import { count, counted } from "./words.js";

const AIMS = [
  { name: "all", words: "all of them", cut: null },
  { name: "value", words: "at least as sure as", cut: { min: 0, max: 1, step: 0.01, start: 0.3 } },
  { name: "auto", words: "the best balance (F1)", cut: null, calibrated: true },
  { name: "f1-macro", words: "the best for rare labels (macro-F1)", cut: null, calibrated: true },
  { name: "precision", words: "a precision of", cut: { min: 0.5, max: 0.99, step: 0.01, start: 0.9 }, calibrated: true },
];
const MARGINS = { min: -10, max: 10, step: 0.1, start: 0 };

export class Settings extends EventTarget {
  #models = [];

  /** Show what is served; the first model, or the one kept from before, is chosen. */
  offer(models) {
    const before = byId("model").value;
    this.#models = models;
    byId("model").replaceChildren(...models.map(({ name }) => make("option", { value: name, textContent: name })));
    if (models.some(({ name }) => name === before)) byId("model").value = before;
    this.#follow();
  }

  get model() {
    return this.#models.find(({ name }) => name === byId("model").value) ?? null;
  }

  get k() {
    return Math.min(1000, Math.max(1, Math.round(Number(byId("k").value)) || 10));
  }

  /** As the service takes it: null, a number, or words such as precision:0.9. */
  get threshold() {
    const aim = this.#aim;
    if (aim.name === "all") return null;
    if (aim.name === "value") return Number(byId("cut").value) || 0;
    return aim.cut ? `${aim.name}:${byId("cut").value || aim.cut.start}` : aim.name;
  }

  /** What a request needs to know. */
  get asked() {
    return { model: this.model?.name ?? null, k: this.k, threshold: this.threshold };
  }

  get #aim() {
    return AIMS.find(({ name }) => name === byId("aim").value) ?? AIMS[0];
  }

  start() {
    linked("k", () => this.#changed());
    linked("cut", () => this.#changed());
    byId("model").addEventListener("change", () => (this.#follow(), this.#changed()));
    byId("aim").addEventListener("change", () => (this.#showCut(), this.#changed()));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  #follow() {
    const { model } = this;
    byId("model-facts").textContent = model ? factsOf(model) : "";
    const before = byId("aim").value;
    const offered = AIMS.filter(({ calibrated }) => !calibrated || model?.thresholds);
    byId("aim").replaceChildren(...offered.map(({ name, words }) => make("option", { value: name, textContent: words })));
    byId("aim").value = offered.some(({ name }) => name === before) ? before : "all";
    if (byId("aim").value !== before || !before) this.#showCut();
  }

  #showCut() {
    const aim = this.#aim;
    byId("cut-field").hidden = !aim.cut;
    if (!aim.cut) return;
    const { min, max, step, start } = aim.name === "value" && this.model?.kind === "margin" ? MARGINS : aim.cut;
    Object.assign(byId("cut-slider"), { min, max, step, value: start });
    Object.assign(byId("cut"), { min, max, value: start });
  }
}

function factsOf({ method, labels, trained_texts: texts, calibrated }) {
  const known = `${method}, ${counted(labels, "label")}, learned from ${count(texts)} texts`;
  return calibrated ? `${known}, calibrated` : `${known}; scores are not probabilities`;
}

/** A slider and a field that show the same number. */
function linked(id, changed) {
  const [field, slider] = [byId(id), byId(`${id}-slider`)];
  slider.addEventListener("input", () => ((field.value = slider.value), changed()));
  field.addEventListener("input", () => ((slider.value = field.value), field.checkValidity() && field.value && changed()));
}
