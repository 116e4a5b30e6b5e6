/* Messages that come and go: errors of the server, refusals, hints. The same text is not shown
 * twice at once. */

import { h, icon } from "./ui_dom";

const LASTS_MS = { error: 9000, note: 5000 };

export interface Toasts {
  readonly element: HTMLElement;
  show(text: string, kind?: "error" | "note"): void;
}

export function createToasts(): Toasts {
  const element = h("div", {
    class: "toasts",
    role: "status",
    "aria-live": "polite",
    "data-testid": "toasts",
  });
  const show: Toasts["show"] = (text, kind = "error") => {
    if ([...element.children].some((child) => (child as HTMLElement).dataset.text === text)) return;
    const close = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": "Close the message" },
      icon("close"),
    );
    const toast = h("div", { class: `toast ${kind}`, "data-text": text }, h("span", {}, text), close);
    const remove = (): void => toast.remove();
    close.addEventListener("click", remove);
    window.setTimeout(remove, LASTS_MS[kind]);
    while (element.childElementCount >= 3) element.firstElementChild?.remove();
    element.append(toast);
  };
  return { element, show };
}
