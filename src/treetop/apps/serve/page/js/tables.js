/** Files with many texts: rows with columns, whatever the form of the file. */

import { betweenOf, csvRows } from "./separated.js";
import { Told } from "./told.js";

const LIKELY = ["text", "abstract", "description", "body", "content", "title", "name"];

/** `{name, ending, columns, rows}`, a row as an object; what cannot be read is an error with its line. */
export function tableOf(name, text) {
  const ending = /\.(\w+)$/.exec(name)?.[1].toLowerCase() ?? "txt";
  const read = READERS[ending] ?? READERS.txt;
  const rows = named(name, () => read(text));
  if (!rows.length) throw new Told(`${name} has no texts.`);
  const columns = [...new Set(rows.slice(0, 1000).flatMap(Object.keys))];
  return { name, ending, columns, rows };
}

/** Whatever is wrong names the file. */
function named(name, read) {
  try {
    return read();
  } catch (error) {
    throw error instanceof Told ? new Told(`${name}: ${error.message}`) : error;
  }
}

const READERS = {
  csv: (text) => withHeader(csvRows(text, betweenOf(text))),
  tsv: (text) => withHeader(csvRows(text, "\t")),
  jsonl: (text) => text.split("\n").flatMap((line, at) => (line.trim() ? [asRow(json(line, `line ${at + 1}`))] : [])),
  json: (text) => list(json(text, "the file")).map(asRow),
  txt: (text) => text.split("\n").filter((line) => line.trim()).map((line) => ({ text: line })),
};
READERS.ndjson = READERS.jsonl;

function withHeader([header = [], ...rows]) {
  const long = rows.findIndex((row) => row.length > header.length);
  if (long >= 0) throw new Told(`row ${long + 2} has ${rows[long].length} values, but there are ${header.length} columns.`);
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ""])));
}

function json(text, where) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Told(`${where} is not JSON.`);
  }
}

const list = (value) => (Array.isArray(value) ? value : [value]);

const asRow = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : { text: value });

/** The columns that probably hold the text: by name, else the one with the longest values. */
export function likelyText({ columns, rows }) {
  const named = columns.filter((name) => LIKELY.includes(name.toLowerCase()));
  if (named.length) return named.includes("text") ? ["text"] : named;
  const length = (name) => rows.slice(0, 100).reduce((sum, row) => sum + asText(row[name]).length, 0);
  return [columns.reduce((best, name) => (length(name) > length(best) ? name : best))];
}

/** The text of a row, from one or several columns. */
export const joined = (row, columns) => columns.map((name) => asText(row[name])).filter(Boolean).join("\n");

export function asText(value) {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}
