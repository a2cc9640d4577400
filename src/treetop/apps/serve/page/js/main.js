/** The page put together: who tells whom. */

import { ask } from "./api.js";
import { startBatch } from "./batch.js";
import { startBrowsing } from "./browse.js";
import { startCopying } from "./copying.js";
import { Decisions } from "./decisions.js";
import { byId } from "./dom.js";
import { Explaining } from "./explaining.js";
import { explanationView } from "./explanation.js";
import { startFeedback } from "./feedback.js";
import { takeFiles, textOf } from "./files.js";
import { LabelSearch } from "./labelsearch.js";
import { clear, complain, say } from "./messages.js";
import { Settings } from "./settings.js";
import { SuggestionList } from "./suggestions.js";
import { Suggesting } from "./suggesting.js";
import { show as showTab, startTabs } from "./tabs.js";
import { TextBox } from "./textbox.js";
import { startTheme } from "./theme.js";
import { counted, duration, sureness, title } from "./words.js";

const settings = new Settings();
const textbox = new TextBox();
const decisions = new Decisions();
const suggesting = new Suggesting(textbox, settings);
const list = new SuggestionList(decisions);
const explaining = new Explaining(textbox);

function start() {
  startTheme();
  for (const part of [settings, textbox, suggesting, list]) part.start();
  connectText();
  connectAnswers();
  startFeedback(suggesting, textbox, decisions);
  startCopying(suggesting, decisions);
  startBrowsing(settings, take);
  new LabelSearch(byId("adding"), { words: "Add a label", settings, chosen: take, inventing: true });
  const openBatch = startBatch(settings);
  takeFiles(byId("suggest"), byId("text-open"), byId("text-file"), (file) => openText(file, openBatch));
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  startTabs();
  loadModels();
}

async function loadModels() {
  try {
    settings.offer((await ask("v1/models")).models);
    settings.dispatchEvent(new Event("models"));
    suggesting.ask();
  } catch (error) {
    complain(error, loadModels);
  }
}

/** Add a label to the text; one that is suggested is accepted. */
function take(label) {
  const suggested = suggesting.answer?.suggestions.some((one) => one.label === label.label);
  if (!suggested) decisions.add(label);
  else if (decisions.of(label.label) !== "accepted") decisions.toggle(label, "accepted");
  say(`${title(label)} added`);
}

/** Tables belong to the other tab; anything else is the text. */
async function openText(file, openBatch) {
  if (/\.(csv|tsv|jsonl|ndjson)$/i.test(file.name)) {
    showTab("batch");
    return openBatch(file);
  }
  try {
    textbox.value = await textOf(file);
    clear();
  } catch (error) {
    complain(error);
  }
}

function connectText() {
  textbox.addEventListener("change", ({ detail }) => detail.another && decisions.clear());
  byId("ask").addEventListener("click", () => suggesting.ask());
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) suggesting.ask();
  });
}

function connectAnswers() {
  const busy = (now) => byId("suggestions").setAttribute("aria-busy", String(now));
  suggesting.addEventListener("asking", () => busy(true));
  suggesting.addEventListener("problem", ({ detail }) => (busy(false), complain(detail, () => suggesting.ask())));
  suggesting.addEventListener("answer", ({ detail }) => (busy(false), clear(), showAnswer(detail)));
  list.addEventListener("point", ({ detail }) => list.explains && explaining.mark(detail).catch(complain));
  list.addEventListener("why", ({ detail }) => showWhy(detail));
}

function showAnswer(answer) {
  explaining.follow(answer);
  const suggestions = list.show(answer, settings.model?.explains ?? false);
  byId("copies").hidden = !answer;
  byId("suggestions-none").hidden = suggestions.length > 0;
  byId("suggestions-none").textContent = answer ? "The model suggests no label as sure as that." : "Labels will appear here, each with how sure the model is.";
  byId("suggestions-facts").textContent = answer ? `${suggestions.length} in ${timeOf(answer)}` : "";
  if (answer) say(suggestions.length ? `${counted(suggestions.length, "suggestion")}. First: ${title(suggestions[0])}, ${sureness(suggestions[0])}` : "No suggestions");
}

const timeOf = ({ seconds }) => (seconds < 1 ? `${Math.max(1, Math.round(1000 * seconds))} ms` : duration(seconds));

async function showWhy({ label, place }) {
  place.textContent = "Looking for the reasons…";
  try {
    const found = await explaining.of(label.label);
    if (found === undefined) return;
    place.replaceChildren(explanationView(found));
    await explaining.mark(label);
  } catch (error) {
    place.hidden = true;
    complain(error, () => showWhy({ label, place: Object.assign(place, { hidden: false }) }));
  }
}

start();
