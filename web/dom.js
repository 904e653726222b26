// Elements of a page, and the text of a number.

/** Make an element: `make("p", { className: "x" }, "text", another)`. */
export function make(tag, properties = {}, ...children) {
  const svg = ["svg", "g", "rect", "path", "text", "line", "circle", "title", "polyline"]
    .includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (svg || name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** Give an element other children. */
export function fill(element, ...children) {
  element.replaceChildren(...children);
  return element;
}

export const grouped = (number) => number.toLocaleString("en-US");

/** Say something in place of what was to come. */
export function failed(element, error) {
  fill(element, make("pre", { role: "alert", className: "celosia-wrong" }, error.message));
}

/** Let the browser draw, and answer its user. */
export const breathe = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Load JSON from beside this script. */
export async function json(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name} must be beside the page, not missing`);
  return response.json();
}
