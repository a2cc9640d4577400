/** Elements: found by id, made with properties and children. Text is set as text and never read as HTML. */

export const byId = (id) => document.getElementById(id);

/** An element; `onclick` and the like are listeners, names with a hyphen are attributes, null children are left out. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.includes("-")) element[name] = value;
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** A drawing of `symbols.svg`, which says nothing to a screen reader. */
export function symbol(name) {
  const [svg, use] = ["svg", "use"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  use.setAttribute("href", `symbols.svg#${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/** A bar of a length from 0 to 1. Lengths are set from here, since the page allows no style in its HTML. */
export function bar(share, kind = "") {
  const element = make("span", { className: `bar ${kind}`, "aria-hidden": "true" });
  element.style.setProperty("--share", Math.min(1, Math.max(0, share)));
  return element;
}
