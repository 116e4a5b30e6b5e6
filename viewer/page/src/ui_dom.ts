/* The few lines that stand in for a framework: elements made by a call, icons drawn by paths, and
 * storage that may be forbidden (pages opened from disk). Text always goes in as text, never as markup:
 * names of bodies and scenes come from files of strangers. */

export type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);
export type Attributes = Record<string, Value>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function")
      element.addEventListener(name.replace(/^on/, ""), value as unknown as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** Sets the text only when it differs: no layout for what did not change. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: string | null): void {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/* On a grid of 20 by 20, lines of 1.6; a trailing "!" fills the path instead. */
const ICONS = {
  play: ["M6 4.2 L15.5 10 L6 15.8 Z!"],
  pause: ["M5.5 4.5 H8.5 V15.5 H5.5 Z!", "M11.5 4.5 H14.5 V15.5 H11.5 Z!"],
  back: ["M13.5 5 L7.5 10 L13.5 15 Z!", "M5.5 5 V15"],
  forward: ["M6.5 5 L12.5 10 L6.5 15 Z!", "M14.5 5 V15"],
  loop: [
    "M4.5 9 A4 4 0 0 1 8.5 5.5 H15",
    "M12.5 3 L15.2 5.5 L12.5 8",
    "M15.5 11 A4 4 0 0 1 11.5 14.5 H5",
    "M7.5 12 L4.8 14.5 L7.5 17",
  ],
  reset: ["M5.2 6.5 A6.2 6.2 0 1 1 3.9 11", "M5 2.8 V6.8 H9"],
  newest: ["M5 5 L10.5 10 L5 15", "M14.5 5 V15"],
  plots: ["M3.5 3.5 V16.5 H16.5", "M6 13 L9 8.5 L11.5 11 L16 5"],
  panel: ["M3.5 4.5 H16.5 V15.5 H3.5 Z", "M12 4.5 V15.5"],
  compare: ["M3 4.5 H8.7 V15.5 H3 Z", "M11.3 4.5 H17 V15.5 H11.3 Z"],
  help: ["M7.4 7.6 A2.7 2.7 0 1 1 10 10.4 V11.8", "M10 14.6 V14.8"],
  sun: [
    "M10 6.7 A3.3 3.3 0 1 1 9.99 6.7 Z",
    "M10 2 V3.6",
    "M10 16.4 V18",
    "M2 10 H3.6",
    "M16.4 10 H18",
    "M4.4 4.4 L5.5 5.5",
    "M14.5 14.5 L15.6 15.6",
    "M4.4 15.6 L5.5 14.5",
    "M14.5 5.5 L15.6 4.4",
  ],
  moon: ["M15.8 11.9 A6.6 6.6 0 1 1 8.1 4.2 A5.2 5.2 0 0 0 15.8 11.9 Z"],
  auto: ["M10 3.4 A6.6 6.6 0 1 1 9.99 3.4 Z", "M10 3.4 A6.6 6.6 0 0 1 10 16.6 Z!"],
  fit: [
    "M3.5 7.5 V3.5 H7.5",
    "M12.5 3.5 H16.5 V7.5",
    "M16.5 12.5 V16.5 H12.5",
    "M7.5 16.5 H3.5 V12.5",
    "M8 8 H12 V12 H8 Z",
  ],
  follow: ["M10 6.2 A3.8 3.8 0 1 1 9.99 6.2 Z", "M10 2.5 V5", "M10 15 V17.5", "M2.5 10 H5", "M15 10 H17.5"],
  close: ["M5 5 L15 15", "M15 5 L5 15"],
  throw: ["M3.5 12.5 H8.5 V17 H3.5 Z", "M9.5 9.5 L16 4", "M11.5 3.8 H16.2 V8.5"],
  hand: [
    "M7 10.5 V4.8 M9.6 10 V3.6 M12.2 10 V4.6 M14.8 11 V6.6",
    "M14.8 10 V12.5 A4.6 4.6 0 0 1 10.2 17 C7.6 17 6.5 15.4 4 11.4 L5.4 10.6 L7 12.4",
  ],
  camera: ["M3 6.5 H6.3 L7.6 4.5 H12.4 L13.7 6.5 H17 V15.5 H3 Z", "M10 8 A2.8 2.8 0 1 1 9.99 8 Z"],
  film: ["M3 5 H17 V15 H3 Z", "M6 5 V15", "M14 5 V15", "M3 8.3 H6 M3 11.7 H6 M14 8.3 H17 M14 11.7 H17"],
  check: ["M4.5 10.5 L8.3 14.3 L15.5 6"],
  alert: ["M10 3.2 L17.3 16.2 H2.7 Z", "M10 8 V11.6", "M10 13.8 V14"],
} as const;
export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
  const picture = svg("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" });
  for (const path of ICONS[name]) {
    const filled = path.endsWith("!");
    picture.append(svg("path", { d: filled ? path.slice(0, -1) : path, class: filled ? "fill" : "line" }));
  }
  return picture;
}

/** A button that shows an icon; the label is for screen readers and the tooltip. */
export function iconButton(
  name: IconName,
  label: string,
  testId: string,
  click: () => void,
): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      class: "icon-button",
      title: label,
      "aria-label": label,
      "data-testid": testId,
      onclick: click,
    },
    icon(name),
  );
}

export function setIcon(button: HTMLElement, name: IconName, label: string): void {
  if (button.dataset.icon === name && button.title === label) return;
  button.dataset.icon = name;
  button.title = label;
  button.setAttribute("aria-label", label);
  button.replaceChildren(icon(name));
}

/** Runs at most once per so many milliseconds, and once more at the end. */
export function paced(milliseconds: number, run: () => void): () => void {
  let last = -Infinity;
  let timer = 0;
  const now = (): void => {
    timer = 0;
    last = performance.now();
    run();
  };
  return () => {
    if (timer) return;
    const wait = last + milliseconds - performance.now();
    if (wait <= 0) now();
    else timer = window.setTimeout(now, wait);
  };
}

/* Pages opened from disk may be refused storage, by an exception. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem("rigor." + key, value);
  } catch {
    /* The choice lasts as long as the page. */
  }
}

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem("rigor." + key);
  } catch {
    return null;
  }
}
