/** The tab for many texts: a file, which columns hold the text, then suggestions for all rows, saved as a file. */

import { FORMS } from "./batchfiles.js";
import { BatchRun } from "./batchrun.js";
import { byId, make } from "./dom.js";
import { save, takeFiles, textOf } from "./files.js";
import { clear, complain, say } from "./messages.js";
import { asText, joined, likelyText, tableOf } from "./tables.js";
import { count, counted, duration, sureness, title } from "./words.js";

const SHOWN = 50; // rows with their suggestions; the rest is in the saved file
const PREVIEW = 3;

export function startBatch(settings) {
  const open = (file) => openFile(file, settings);
  takeFiles(byId("batch"), byId("batch-open"), byId("batch-file"), open);
  return open;
}

let work = null;

async function openFile(file, settings) {
  try {
    work?.leave();
    const table = tableOf(file.name, await textOf(file));
    clear();
    work = new BatchWork(table, settings);
    byId("batch-work").replaceChildren(work.view);
    say(`${table.name}: ${counted(table.rows.length, "text")}`);
    work.startButton.focus();
  } catch (error) {
    complain(error);
  }
}

/** One file and what becomes of it. */
class BatchWork {
  run = null;

  constructor(table, settings) {
    Object.assign(this, { table, settings });
    this.columns = new Set(likelyText(table));
    this.startButton = make("button", { className: "primary", onclick: () => this.#start() }, "Suggest labels for all");
    this.stopButton = make("button", { hidden: true, onclick: () => this.run.stop() }, "Cancel");
    this.progress = make("progress", { max: table.rows.length, value: 0, "aria-label": "Texts done" });
    this.told = make("p", { className: "facts", role: "status" });
    this.save = make("div", { className: "actions", hidden: true }, make("span", {}, "Save as"), FORMS.map((form) => this.#saver(form)));
    this.choice = make("fieldset", { className: "columns" }, make("legend", {}, "The text is in"), table.columns.map((name) => this.#column(name)));
    this.rows = make("tbody");
    this.view = this.#view();
    this.#preview();
  }

  #view() {
    const { name, rows, columns } = this.table;
    const head = make("tr", {}, ["No.", "Text", "Suggestions"].map((word) => make("th", { scope: "col" }, word)));
    return make("div", { className: "batch-work" },
      make("h2", {}, name, make("span", { className: "facts" }, ` ${counted(rows.length, "text")}`)),
      columns.length > 1 ? this.choice : null,
      make("div", { className: "actions" }, this.startButton, this.stopButton, this.progress, this.told),
      this.save,
      make("div", { className: "scrolled", tabIndex: 0, role: "region", "aria-label": "Texts with their suggestions" },
        make("table", { className: "results" }, make("thead", {}, head), this.rows)),
    );
  }

  leave() {
    this.run?.stop();
  }

  #column(name) {
    const change = ({ target }) => {
      if (target.checked) this.columns.add(name);
      else this.columns.delete(name);
      this.#preview();
    };
    return make("label", {}, make("input", { type: "checkbox", checked: this.columns.has(name), onchange: change }), ` ${name}`);
  }

  #texts(rows) {
    const chosen = this.table.columns.filter((name) => this.columns.has(name));
    return rows.map((row) => joined(row, chosen));
  }

  /** A change of columns makes what was there obsolete. */
  #preview() {
    this.run = null;
    this.save.hidden = true;
    this.progress.value = 0;
    this.told.textContent = "";
    this.startButton.disabled = !this.columns.size;
    this.startButton.textContent = "Suggest labels for all";
    this.rows.replaceChildren(...this.#texts(this.table.rows.slice(0, PREVIEW)).map((text, at) => resultRow(at, text, null)));
  }

  async #start() {
    if (!this.run || this.run.done === this.table.rows.length) this.#newRun();
    this.#busy(true);
    this.started = { at: performance.now(), done: this.run.done };
    try {
      const whole = await this.run.go();
      this.#tell(whole ? `Done: ${counted(this.run.done, "text")}${problemsOf(this.run)}` : `Stopped after ${counted(this.run.done, "text")}`);
    } catch (error) {
      this.#tell(`Stopped after ${counted(this.run.done, "text")}`);
      complain(error, () => this.#start());
    }
    this.#busy(false);
  }

  #newRun() {
    this.run = new BatchRun(this.#texts(this.table.rows), this.settings.asked);
    this.rows.replaceChildren();
    this.run.addEventListener("progress", ({ detail }) => this.#follow(detail));
    this.run.addEventListener("wait", ({ detail }) => this.#tell(`${detail.error.message} Trying again in ${duration(detail.seconds)}.`));
  }

  #busy(now) {
    this.stopButton.hidden = !now;
    this.startButton.disabled = this.choice.disabled = now;
    const rest = this.run.done < this.table.rows.length;
    this.startButton.textContent = this.run.done && rest ? "Go on" : "Suggest labels for all";
    this.save.hidden = now || !this.run.done;
    if (!now && !this.save.hidden) this.save.querySelector("button").focus();
  }

  #follow(row) {
    const { done, texts, results } = this.run;
    if (this.rows.childElementCount < SHOWN) this.#show(row, resultRow(row, texts[row], results[row]));
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      if (this.stopButton.hidden) return;
      const each = (performance.now() - this.started.at) / 1000 / Math.max(1, this.run.done - this.started.done);
      this.#tell(`${count(this.run.done)} of ${count(texts.length)}, ${duration(each * (texts.length - this.run.done))} to go`);
    });
    this.progress.value = done;
  }

  #show(row, element) {
    element.row = row;
    const after = [...this.rows.children].find((other) => other.row > row);
    this.rows.insertBefore(element, after ?? null);
  }

  #tell(words) {
    this.progress.value = this.run.done;
    this.told.textContent = words;
  }

  #saver({ name, words, type, parts }) {
    const onclick = () => save(this.table.name.replace(/\.\w+$/, "") + `-suggestions.${name}`, parts(this.table, this.run.results), type);
    return make("button", { onclick }, words);
  }
}

function problemsOf({ results }) {
  const refused = results.filter(({ problem }) => problem).length;
  return refused ? `, ${count(refused)} of them refused` : "";
}

function resultRow(at, text, result) {
  const chips = result?.suggestions.map((one) => make("span", { className: "chip" }, title(one), make("small", {}, sureness(one))));
  const told = result?.problem ?? (result && !chips.length ? "none" : null);
  return make("tr", {},
    make("td", { className: "number" }, count(at + 1)),
    make("td", { className: "text" }, asText(text).slice(0, 400) || "(empty)"),
    make("td", {}, chips ?? [], told ? make("span", { className: "facts" }, told) : null),
  );
}
