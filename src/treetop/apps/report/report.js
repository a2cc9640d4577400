// The table of labels: unpacked once, sorted and searched here, shown fifty rows at a time.
"use strict";

const ROWS = 50;
const state = { order: [], column: "true", down: true, first: 0, model: 0, words: "" };
let data = null;

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const share = (part, whole) => (whole > 0 ? part / whole : NaN);
const columns = {
  label: (row) => data.names[row],
  learned: (row) => data.learned[row],
  true: (row) => data.true[row],
  suggested: (row) => data.models[state.model].suggested[row],
  precision: (row) => share(data.models[state.model].right[row], data.models[state.model].suggested[row]),
  recall: (row) => share(data.models[state.model].right[row], data.true[row]),
  f1: (row) => f1(state.model, row),
};

function f1(model, row) {
  const one = data.models[model];
  return share(2 * one.right[row], data.true[row] + one.suggested[row]);
}

function value(column, row) {
  return column.startsWith("f1-") ? f1(Number(column.slice(3)), row) : columns[column](row);
}

function compare(one, other) {
  const a = value(state.column, one), b = value(state.column, other);
  const absentA = Number.isNaN(a), absentB = Number.isNaN(b);
  if (absentA || absentB) return absentA - absentB || one - other; // labels without a figure come last, either way
  const order = typeof a === "string" ? a.localeCompare(b) : a - b;
  return (state.down ? -order : order) || data.true[other] - data.true[one] || one - other;
}

function matches(row, words) {
  const name = (data.names[row] + " " + (data.texts ? data.texts[row] : "")).toLowerCase();
  return words.every((word) => name.includes(word));
}

function arrange() {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  state.order = data.names.map((_, row) => row).filter((row) => matches(row, words)).sort(compare);
  state.first = 0;
  show();
}

function cell(text, kind) {
  const made = document.createElement("td");
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function labelCell(row) {
  const made = document.createElement("th");
  made.scope = "row";
  for (const piece of data.names[row].split(/(?<=[:_/.-])/)) made.append(piece, document.createElement("wbr"));
  if (data.texts && data.texts[row] !== data.names[row]) {
    const text = document.createElement("small");
    text.textContent = data.texts[row];
    made.append(" ", text);
  }
  return made;
}

function shown(column, row) {
  const found = value(column, row);
  if (Number.isNaN(found)) return "–";
  return ["learned", "true", "suggested"].includes(column) ? found.toLocaleString("en") : (100 * found).toFixed(1);
}

function show() {
  const heads = [...document.querySelectorAll("#labels th[data-column]")];
  const rows = state.order.slice(state.first, state.first + ROWS).map((row) => {
    const line = document.createElement("tr");
    line.append(labelCell(row));
    for (const head of heads.slice(1)) line.append(cell(shown(head.dataset.column, row), "number"));
    const confused = data.models[state.model].confused[row] || [];
    line.append(cell(confused.map((other) => (data.texts || data.names)[other]).join(" · "), "confused"));
    return line;
  });
  document.querySelector("#labels tbody").replaceChildren(...rows);
  for (const head of heads) {
    const sorted = head.dataset.column === state.column;
    head.setAttribute("aria-sort", sorted ? (state.down ? "descending" : "ascending") : "none");
  }
  const all = state.order.length, last = Math.min(state.first + ROWS, all);
  const number = (one) => one.toLocaleString("en");
  document.querySelector("#shown").textContent =
    all ? `${number(state.first + 1)}–${number(last)} of ${number(all)} labels` : "no such label";
  document.querySelector("#earlier").disabled = state.first === 0;
  document.querySelector("#later").disabled = last >= all;
}

function sort(column) {
  state.down = state.column === column ? !state.down : column !== "label";
  state.column = column;
  arrange();
}

function turn(rows) {
  state.first += rows;
  show();
}

function listen() {
  for (const head of document.querySelectorAll("#labels th[data-column]"))
    head.querySelector("button").addEventListener("click", () => sort(head.dataset.column));
  document.querySelector("#earlier").addEventListener("click", () => turn(-ROWS));
  document.querySelector("#later").addEventListener("click", () => turn(ROWS));
  document.querySelector("#search").addEventListener("input", (event) => {
    state.words = event.target.value;
    arrange();
  });
  document.querySelector("#model")?.addEventListener("change", (event) => {
    state.model = Number(event.target.value);
    arrange();
  });
}

addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));

unpack(document.querySelector("#packed").textContent).then((found) => {
  data = found;
  listen();
  arrange();
  document.querySelector("#labels").setAttribute("aria-busy", "false");
});
