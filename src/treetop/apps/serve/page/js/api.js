/** The service: one function that asks it, and what is said when it does not answer as hoped. */

import { askForKey, keyHeaders } from "./key.js";
import { Told } from "./told.js";

/** What went wrong, in words for people; `wait` are the seconds after which to try again, if the service says so. */
export class Problem extends Told {
  constructor(message, { status = 0, field = null, wait = null } = {}) {
    super(message);
    Object.assign(this, { status, field, wait });
  }

  /** Whether the same request may be answered later. */
  get passing() {
    return [0, 429, 502, 503, 504].includes(this.status);
  }
}

const PLAIN = {
  0: "The service does not answer. It may have been stopped, or the network is gone.",
  401: "The service asks for a key.",
  403: "The service does not allow this.",
  413: "That is more than the service takes at once.",
  429: "The service is busy.",
  500: "Something went wrong in the service; its log says more.",
  502: "The service does not answer just now.",
  503: "The service is not ready.",
  504: "The service took too long.",
};

/** Ask with GET, or with POST if there is a body; addresses are relative, so a proxy may put the page anywhere. */
export async function ask(path, { query = {}, body = null, signal = null } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== "");
  const address = given.length ? `${path}?${new URLSearchParams(given)}` : path;
  const request = body === null ? { signal } : posted(body, signal);
  for (;;) {
    const response = await send(address, request);
    if (response.ok) return response.json();
    const problem = await problemOf(response);
    if (problem.status !== 401 || !(await askForKey())) throw problem;
  }
}

function posted(body, signal) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: wellFormed(body), signal };
}

/** As JSON; halves of characters, which no UTF-8 can hold, become �. */
const wellFormed = (body) =>
  JSON.stringify(body, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));

async function send(address, request) {
  try {
    return await fetch(address, { ...request, headers: { ...request.headers, ...keyHeaders() } });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Problem(PLAIN[0]);
  }
}

/** What a refusal says: our words for its kind, then its own, which name the limit or the field. */
async function problemOf(response) {
  const { status } = response;
  const said = await response.json().catch(() => ({}));
  const seconds = Number.parseFloat(response.headers.get("Retry-After"));
  const own = typeof said.detail === "string" ? sentence(said.detail) : "";
  const plain = PLAIN[status] ?? (own ? "" : `The service answered with ${status}.`);
  return new Problem([plain, own].filter(Boolean).join(" "), {
    status, field: said.field ?? null, wait: Number.isNaN(seconds) ? null : seconds,
  });
}

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1).replace(/\.?$/, ".");
