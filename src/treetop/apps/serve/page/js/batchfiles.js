/** What is saved of a batch: the file as it was, with its suggestions. */

import { csvLine } from "./separated.js";
import { asText } from "./tables.js";

const ADDED = ["suggestions", "suggestion_texts", "scores", "problem"];
const LONG = ["text", "rank", "label", "label_text", "score"];

export const FORMS = [
  { name: "csv", words: "csv, a row for each text", type: "text/csv", parts: wide },
  { name: "long.csv", words: "csv, a row for each suggestion", type: "text/csv", parts: long },
  { name: "jsonl", words: "JSON lines", type: "application/jsonl", parts: lines },
];

const names = (suggestions) => suggestions.map(({ label }) => label);
const texts = (suggestions) => (suggestions.some(({ text }) => text) ? suggestions.map(({ text }) => text ?? "") : []);
const scores = (suggestions) => suggestions.map(({ score }) => score);

function wide({ columns, rows }, results) {
  const own = free(columns, ADDED);
  const line = (row, { suggestions, problem = "" }) =>
    csvLine([...columns.map((name) => asText(row[name])), ...[names, texts, scores].map((of) => of(suggestions).join("; ")), problem]);
  return [csvLine([...columns, ...own]), ...answered(results).map((at) => line(rows[at], results[at]))];
}

/** As `treetop predict` writes it, with the labels' texts: `text` is the number of the text from 0. */
function long(_, results) {
  const lineOf = (at) => results[at].suggestions.map(({ label, text, score }, place) => csvLine([at, place + 1, label, text ?? "", score]));
  return [csvLine(LONG), ...answered(results).flatMap(lineOf)];
}

function lines({ columns, rows }, results) {
  const [suggested] = free(columns, ["suggestions"]);
  return answered(results).map((at) => {
    const { suggestions, problem } = results[at];
    const found = suggestions.map(({ label, text, score, probability }) => ({ label, text, score, probability }));
    return `${JSON.stringify({ ...rows[at], [suggested]: found, ...(problem && { problem }) })}\n`;
  });
}

const answered = (results) => results.flatMap((result, at) => (result ? [at] : []));

/** Names for new columns that the file does not have. */
const free = (columns, wanted) => wanted.map((name) => (columns.includes(name) ? `treetop_${name}` : name));
