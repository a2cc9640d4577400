/** One explanation as a person reads it: words, sources, the path through the tree, texts nearby. */

import { bar, make } from "./dom.js";
import { counted } from "./words.js";

const WORDS_SHOWN = 12;

export function explanationView(explanation) {
  if (!explanation) return make("p", { className: "empty" }, "There is nothing to explain: the model knows no word of this text.");
  const parts = [wordTable, removalLine, sources, path, nearest, members, notes].map((part) => part(explanation));
  return make("div", { className: "explanation" }, parts.filter(Boolean));
}

const part = (name, ...content) => make("section", {}, make("h3", {}, name), content);

const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(2)}`;

/** Names with numbers, and bars to the right for what speaks for the label, to the left for what speaks against it. */
function contributions(pairs) {
  const largest = Math.max(...pairs.map(([, number]) => Math.abs(number)), 1e-9);
  const row = ([name, number]) => make("tr", {},
    make("th", { scope: "row" }, name),
    make("td", { className: "diverging" }, bar(Math.abs(number) / largest, number < 0 ? "against" : "for")),
    make("td", { className: "number" }, signed(number)),
  );
  const oneSided = pairs.every(([, number]) => number >= 0) ? " one-sided" : "";
  return make("table", { className: `contributions${oneSided}` }, make("tbody", {}, pairs.map(row)));
}

function wordTable({ words }) {
  if (!words.length) return part("Words", make("p", { className: "empty" }, "No word of this text is known to the model."));
  const sums = new Map();
  for (const { word, contribution } of words) {
    const key = word.toLowerCase();
    sums.set(key, (sums.get(key) ?? 0) + contribution);
  }
  const sorted = [...sums].sort(([, one], [, other]) => Math.abs(other) - Math.abs(one));
  const rest = sorted.slice(WORDS_SHOWN);
  const shown = contributions(sorted.slice(0, WORDS_SHOWN));
  return part("Words", shown, rest.length ? folded(`${counted(rest.length, "word")} more`, contributions(rest)) : null);
}

const folded = (name, ...content) => make("details", {}, make("summary", {}, name), content);

function removalLine({ removal }) {
  if (!removal || !removal.words.length) return null;
  const words = removal.words.map((word) => `“${word}”`).join(", ");
  const effect = removal.enough ? "would fall below" : "would still be above";
  const scores = `${removal.before.toFixed(2)} → ${removal.after.toFixed(2)}`;
  return make("p", {}, `Without ${words} it ${effect} the threshold of ${removal.threshold.toFixed(2)} (${scores}).`);
}

/** Shown where there is more than one source beside the constant. */
function sources({ parts }) {
  const pairs = Object.entries(parts).filter(([, number]) => Math.abs(number) >= 0.005);
  return pairs.filter(([name]) => name !== "bias").length > 1 ? part("Where it comes from", contributions(pairs)) : null;
}

/** The search from coarse to fine; each node by the labels in it, and what decided there. */
function path({ path: steps, words }) {
  if (steps.length < 2) return null;
  const step = (one) => make("li", {},
    make("strong", {}, one.labels === 1 ? one.examples[0] : counted(one.labels, "label")),
    one.labels > 1 ? make("span", { className: "facts" }, ` such as ${one.examples.slice(0, 3).join(" · ")}`) : null,
    make("span", { className: "facts" }, ` (${signed(one.margin)}${because(one, words)})`),
  );
  const trees = Map.groupBy(steps, ({ tree }) => tree);
  const lists = [...trees].map(([tree, those]) => [trees.size > 1 ? make("h4", {}, `Tree ${tree + 1}`) : null, make("ol", { className: "path" }, those.map(step))]);
  return folded("The way through the label tree", lists.flat());
}

function because({ words: shares }, words) {
  const strongest = shares.map((share, at) => [share, words[at]?.word]).filter(([share]) => share > 0.005)
    .sort(([one], [other]) => other - one).map(([, word]) => word);
  const told = [...new Set(strongest)].slice(0, 3);
  return told.length ? ` by ${told.join(", ")}` : "";
}

function nearest({ nearest: texts }) {
  if (!texts.length) return null;
  const near = ({ text, similarity, words }) => make("li", {},
    make("p", {}, text.length > 300 ? `${text.slice(0, 300)}…` : text),
    make("p", { className: "facts" }, `${Math.round(100 * similarity)} % alike: ${words.slice(0, 6).join(", ")}`),
  );
  return folded("Texts of the training that have this label", make("ul", { className: "near" }, texts.map(near)));
}

function members({ members: those }) {
  const one = ({ weight, explanation }) => folded(`${explanation.method}, ${Math.round(100 * weight)} % of the votes`, explanationView(explanation));
  return those.length ? part("The models", those.map(one)) : null;
}

const notes = ({ notes: lines }) => (lines?.length ? make("ul", { className: "notes facts" }, lines.map((line) => make("li", {}, line))) : null);
