/** Many texts through the service, a few requests at a time: patient when it is busy, and it can be stopped and go on. */

import { ask } from "./api.js";

const TEXTS = 32; // of one request
const CHARACTERS = 200_000; // of one request; far below the service's limit even where a character has four bytes
const AT_ONCE = 2;
const TRIES = 8; // of one request while the service is busy or gone

export class BatchRun extends EventTarget {
  #control = new AbortController();
  done = 0;

  /** `results[i]` becomes `{suggestions}` of `texts[i]`, or `{problem}` if the service takes this text not at all. */
  constructor(texts, settings) {
    super();
    Object.assign(this, { texts, settings, results: new Array(texts.length).fill(null) });
  }

  /** Ask for all that is missing; true when all is there, false if it was stopped. Problems that stay are thrown. */
  async go() {
    const { signal } = (this.#control = new AbortController());
    const chunks = chunksOf(this.texts, this.results);
    const worker = async () => {
      for (let chunk = chunks.next(); !chunk.done && !signal.aborted; chunk = chunks.next()) await this.#answer(chunk.value, signal);
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    } catch (error) {
      const stopped = signal.aborted && error.name === "AbortError";
      this.#control.abort();
      if (!stopped) throw error;
    }
    return this.done === this.texts.length;
  }

  stop() {
    this.#control.abort();
  }

  async #answer(rows, signal) {
    try {
      const body = { texts: rows.map((row) => this.texts[row]), ...this.settings };
      const { results } = await this.#patiently(body, signal);
      rows.forEach((row, at) => this.#keep(row, results[at]));
    } catch (error) {
      if (![413, 422].includes(error.status) || (error.field && !error.field.startsWith("texts"))) throw error;
      await this.#apart(rows, error, signal);
    }
  }

  /** Too much at once is asked for in halves; a single text that is refused has its problem as a result. */
  async #apart(rows, error, signal) {
    if (rows.length === 1) return this.#keep(rows[0], { suggestions: [], problem: error.message });
    const half = rows.length >> 1;
    await this.#answer(rows.slice(0, half), signal);
    return this.#answer(rows.slice(half), signal);
  }

  async #patiently(body, signal) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask("v1/suggest", { body, signal });
      } catch (error) {
        if (!error.passing || attempt === TRIES) throw error;
        const seconds = error.wait ?? Math.min(8, 0.25 * 2 ** attempt);
        this.dispatchEvent(new CustomEvent("wait", { detail: { error, seconds } }));
        await sleep(seconds, signal);
      }
    }
  }

  #keep(row, result) {
    if (!this.results[row]) this.done += 1;
    this.results[row] = result;
    this.dispatchEvent(new CustomEvent("progress", { detail: row }));
  }
}

/** Numbers of the texts without a result, in portions of a size that one request may have. */
function* chunksOf(texts, results) {
  let [rows, characters] = [[], 0];
  for (let row = 0; row < texts.length; row += 1) {
    if (results[row]) continue;
    if (rows.length === TEXTS || (rows.length && characters + texts[row].length > CHARACTERS)) {
      yield rows;
      [rows, characters] = [[], 0];
    }
    rows.push(row);
    characters += texts[row].length;
  }
  if (rows.length) yield rows;
}

function sleep(seconds, signal) {
  return new Promise((done, stopped) => {
    const timer = setTimeout(done, 1000 * seconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), stopped(new DOMException("stopped", "AbortError"))), { once: true });
  });
}
