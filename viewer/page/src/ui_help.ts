/* The help window: what the pointer and the keys do. */

import { SWITCHES } from "./contract";
import { h, icon, iconButton } from "./ui_dom";

const POINTER: [string, string][] = [
  ["Click a body", "its figures, contacts and free-body diagram"],
  ["Drag", "turn the camera (in a live run, beside the bodies)"],
  ["Right drag, two fingers", "move the camera"],
  ["Wheel, pinch", "closer, farther"],
  ["Drag a body (live)", "pull it by a spring; Shift turns the camera instead"],
];
const KEYS: [string, string][] = [
  ["space", "play, pause"],
  ["← →", "one frame; with Shift ten"],
  ["Home End", "to the beginning, to the end"],
  ["+ −", "faster, slower"],
  ["l", "loop"],
  ["1 … 6", "view from the corner, x, −x, y, −y, above"],
  ["a", "everything in view, also what has left it (the button with a frame)"],
  ["z  u", "zoom to the selected body, follow it"],
  ["[ ]", "force arrows shorter, longer"],
  ["p  i", "plots, panel"],
  ["d", "dark, light, as the system says"],
  ["x  r", "throw a box, start again (live)"],
  ["Esc", "close, deselect"],
  ["?", "this help"],
];

function table(rows: [string, string][]): HTMLElement {
  const lines = rows.map(([keys, what]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, ...keys.split(/\s{2,}/).map((key) => h("kbd", {}, key))),
      h("td", {}, what),
    ),
  );
  return h("table", { class: "keys" }, h("tbody", {}, ...lines));
}

function plainTable(rows: [string, string][]): HTMLElement {
  const lines = rows.map(([what, does]) => h("tr", {}, h("th", { scope: "row" }, what), h("td", {}, does)));
  return h("table", { class: "keys" }, h("tbody", {}, ...lines));
}

export interface Help {
  readonly button: HTMLButtonElement;
  readonly element: HTMLDialogElement;
  toggle(): void;
  close(): boolean;
}

export function createHelp(): Help {
  const switches = SWITCHES.filter(([, , key]) => key).map(([, label, key]): [string, string] => [
    key,
    label,
  ]);
  const closeButton = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": "Close the help" },
    icon("close"),
  );
  const element = h(
    "dialog",
    { class: "help", "aria-label": "Help" },
    h("header", { class: "row" }, h("h2", {}, "Keys and pointer"), closeButton),
    h(
      "div",
      { class: "help-columns" },
      h("div", {}, h("h3", {}, "Time and view"), table(KEYS)),
      h("div", {}, h("h3", {}, "Shown"), table(switches)),
      h("div", { class: "help-pointer" }, h("h3", {}, "Pointer"), plainTable(POINTER)),
    ),
    h(
      "p",
      { class: "fine" },
      "Forces in newtons act on the body that they point into. The certificate says how well each step kept the laws: click the badge for its figures.",
    ),
  );
  const close = (): boolean => {
    const was = element.open;
    if (was) element.close();
    return was;
  };
  const toggle = (): void => {
    if (!close()) element.showModal();
  };
  closeButton.addEventListener("click", close);
  element.addEventListener("click", (event) => event.target === element && close());
  const button = iconButton("help", "Help (?)", "help", toggle);
  return { button, element, toggle, close };
}
