/** The key of services that ask for one: kept for this tab only. */

import { byId } from "./dom.js";

const PLACE = "treetop-key";

export function keyHeaders() {
  const key = sessionStorage.getItem(PLACE);
  return key ? { Authorization: `Bearer ${key}` } : {};
}

let asking = null;

/** Show the dialog; whether a key was given. Several requests that are refused at once share one dialog. */
export function askForKey() {
  asking ??= answered(byId("key-dialog")).finally(() => (asking = null));
  return asking;
}

async function answered(dialog) {
  if (sessionStorage.getItem(PLACE)) byId("key-reason").textContent = "That key was not accepted. Try another one.";
  dialog.returnValue = "";
  byId("key-cancel").onclick = () => dialog.close("");
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  const key = byId("key").value.trim();
  byId("key").value = "";
  if (dialog.returnValue !== "use" || !key) return false;
  sessionStorage.setItem(PLACE, key);
  return true;
}
