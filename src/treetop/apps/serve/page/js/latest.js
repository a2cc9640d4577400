/** Of several tasks only the latest counts: a newer one cancels those before it, and may wait for a pause in typing. */

export class Latest {
  #control = new AbortController();

  /** Run `task(signal)`; undefined if a newer one came before it was done. */
  async run(task, pause = 0) {
    this.cancel();
    const { signal } = (this.#control = new AbortController());
    if (pause) await new Promise((done) => setTimeout(done, pause));
    if (signal.aborted) return undefined;
    try {
      const found = await task(signal);
      return signal.aborted ? undefined : found;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  cancel() {
    this.#control.abort();
  }
}
