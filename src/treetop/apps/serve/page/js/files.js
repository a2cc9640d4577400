/** Files: dropped or chosen, read as text whatever their encoding, and offered for saving. */

import { make } from "./dom.js";
import { Told } from "./told.js";

export const LARGEST = 200_000_000; // bytes that a page can hold comfortably

/** A place where files may be dropped, with a button and a hidden field for choosing one; `taken(file)` is told. */
export function takeFiles(place, button, field, taken) {
  let over = 0;
  const light = (by) => place.classList.toggle("over", (over += by) > 0);
  const holds = (event) => event.dataTransfer?.types.includes("Files");
  place.addEventListener("dragenter", (event) => holds(event) && light(1));
  place.addEventListener("dragleave", (event) => holds(event) && light(-1));
  place.addEventListener("dragover", (event) => holds(event) && event.preventDefault());
  place.addEventListener("drop", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    light(-over);
    if (event.dataTransfer.files.length) taken(event.dataTransfer.files[0]);
  });
  button.addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    if (field.files.length) taken(field.files[0]);
    field.value = "";
  });
}

/** The text of a file: UTF-8, UTF-16 with its mark, else what Windows used before. */
export async function textOf(file) {
  if (file.size > LARGEST) throw new Told(`${file.name} is too large for a page (over ${LARGEST / 1e6} MB). Use treetop predict, or split the file.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = decoded(bytes);
  if (text.includes("\0")) throw new Told(`${file.name} is no text file. Save it as plain text, csv or jsonl.`);
  return text.replaceAll(/\r\n?/g, "\n");
}

function decoded(bytes) {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(mark, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Offer parts of text as a file. */
export function save(name, parts, type) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
