/** The label tree, opened node by node (the tree pattern of ARIA): one place in the order of Tab, arrows inside. */

import { ask } from "./api.js";
import { byId, make, symbol } from "./dom.js";
import { complain } from "./messages.js";
import { code, count, counted, title } from "./words.js";

const PORTION = 100; // children shown at once

export class LabelTreeView {
  #model = undefined;

  /** `chosen(label)` is told when a person chooses a label. */
  constructor(chosen) {
    this.chosen = chosen;
    this.root = make("ul", { role: "tree", "aria-labelledby": "tree-title", onkeydown: (event) => this.#byKey(event) });
    byId("tree").append(this.root);
  }

  /** Show the tree of a model, from its root. */
  async show(model) {
    if (!model || model.name === this.#model) return;
    this.#model = model.name;
    byId("tree-facts").textContent = counted(model.labels, "label");
    this.root.replaceChildren();
    await this.#fill(this.root, null, 1);
    this.#focusable(this.root.firstElementChild);
  }

  async #fill(list, node, level) {
    const offset = list.childElementCount;
    try {
      const found = await ask("v1/tree", { query: { model: this.#model, node, limit: PORTION, offset } });
      const items = found.children.map((child) => this.#item(child, level));
      if (offset + items.length < found.total) items.push(this.#more(list, node, level, found.total - offset - items.length));
      list.append(...items);
      return items[0];
    } catch (error) {
      complain(error, () => this.#fill(list, node, level));
      return null;
    }
  }

  #item(child, level) {
    return child.node === null ? this.#label(child.examples[0], level) : this.#inner(child, level);
  }

  #entry(level, open, ...content) {
    const line = make("div", { className: "line", onclick: () => (this.#focus(item), open(item)) }, content);
    const item = make("li", { role: "treeitem", tabIndex: -1, "aria-level": level }, line);
    item.open = () => open(item);
    return item;
  }

  #inner({ node, labels, examples }, level) {
    const named = examples.slice(0, 3).map(title).join(" · ");
    const item = this.#entry(level, (own) => this.#toggle(own, node, level), symbol("closed"),
      make("span", { className: "title" }, labels > examples.length || examples.length > 3 ? `${named} · …` : named), make("span", { className: "facts" }, count(labels)));
    item.ariaExpanded = "false";
    return item;
  }

  #label(label, level) {
    const known = code(label);
    return this.#entry(level, () => this.chosen(label), make("span", { className: "leaf" }), make("span", { className: "title" }, title(label)),
      known ? make("code", {}, known) : null, make("span", { className: "facts" }, counted(label.frequency, "text")));
  }

  #more(list, node, level, left) {
    return this.#entry(level, async (own) => {
      own.remove();
      this.#focus(await this.#fill(list, node, level));
    }, symbol("add"), make("span", { className: "title" }, `${count(left)} more`));
  }

  async #toggle(item, node, level) {
    const expanded = item.ariaExpanded === "true";
    item.ariaExpanded = String(!expanded);
    const list = item.querySelector(":scope > [role=group]");
    if (list) list.hidden = expanded;
    else {
      const own = make("ul", { role: "group" });
      item.append(own);
      await this.#fill(own, node, level + 1);
    }
  }

  #visible() {
    return [...this.root.querySelectorAll("[role=treeitem]")].filter((item) => item.checkVisibility());
  }

  #focusable(item) {
    this.root.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    if (item) item.tabIndex = 0;
  }

  #focus(item) {
    this.#focusable(item);
    item?.focus();
  }

  #byKey(event) {
    const item = event.target;
    const move = { ArrowDown: () => this.#step(item, 1), ArrowUp: () => this.#step(item, -1), Home: () => this.#focus(this.#visible()[0]),
      End: () => this.#focus(this.#visible().at(-1)), ArrowRight: () => this.#inwards(item), ArrowLeft: () => this.#outwards(item),
      Enter: () => item.open(), " ": () => item.open() }[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }

  #step(item, by) {
    const all = this.#visible();
    const next = all[all.indexOf(item) + by];
    if (next) this.#focus(next);
  }

  #inwards(item) {
    if (item.ariaExpanded === "false") item.open();
    else if (item.ariaExpanded === "true") this.#step(item, 1);
  }

  #outwards(item) {
    if (item.ariaExpanded === "true") item.open();
    else this.#focus(item.parentElement.closest("[role=treeitem]") ?? item);
  }
}
