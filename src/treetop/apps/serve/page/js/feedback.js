/** Sends what was decided about a text, for the next training to learn from. */

import { ask } from "./api.js";
import { byId } from "./dom.js";
import { clear, complain, confirmOn } from "./messages.js";
import { counted } from "./words.js";

export function startFeedback(suggesting, textbox, decisions) {
  const user = byId("user");
  user.value = localStorage.getItem("treetop-user") ?? "";
  user.addEventListener("change", () => localStorage.setItem("treetop-user", user.value.trim()));
  decisions.addEventListener("change", () => show(decisions));
  byId("decided-clear").addEventListener("click", () => decisions.clear());
  byId("send").addEventListener("click", () => send(suggesting, textbox, decisions));
}

function show(decisions) {
  byId("decided").hidden = !decisions.size;
  byId("decided-facts").textContent = ["accepted", "rejected", "added"]
    .filter((decision) => decisions.names(decision).length)
    .map((decision) => `${decisions.names(decision).length} ${decision}`)
    .join(", ");
}

async function send(suggesting, textbox, decisions) {
  const button = byId("send");
  const told = counted(decisions.size, "decision");
  button.disabled = true;
  try {
    await ask("v1/feedback", { body: said(suggesting, textbox, decisions) });
    clear();
    byId("text").focus();
    decisions.clear();
    confirmOn(byId("ask"), `Thank you: ${told} kept`);
  } catch (error) {
    complain(error, () => send(suggesting, textbox, decisions));
  } finally {
    button.disabled = false;
  }
}

function said(suggesting, textbox, decisions) {
  const { model, version } = suggesting.answer ?? { model: suggesting.settings.model.name, version: null };
  const [accepted, rejected, added] = ["accepted", "rejected", "added"].map((decision) => decisions.names(decision));
  return { text: textbox.value, model, version, accepted, rejected, added, user: byId("user").value.trim() || null };
}
