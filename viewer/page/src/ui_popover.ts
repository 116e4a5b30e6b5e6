/* A small window that hangs from a button: opens by click or key, closes by Escape, by a click
 * elsewhere and by the button itself. */

import { h } from "./ui_dom";

export interface Popover {
  readonly element: HTMLElement;
  isOpen(): boolean;
  toggle(): void;
  close(): void;
}

const open = new Set<Popover>();

/** Closes the popovers that are open; says whether there were any. */
export function closePopovers(): boolean {
  const any = open.size > 0;
  for (const popover of [...open]) popover.close();
  return any;
}

export function createPopover(
  button: HTMLElement,
  label: string,
  content: HTMLElement,
  opened: () => void,
): Popover {
  const element = h("div", { class: "popover", role: "dialog", "aria-label": label, hidden: true }, content);
  button.setAttribute("aria-haspopup", "dialog");
  button.setAttribute("aria-expanded", "false");

  const show = (on: boolean): void => {
    element.hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    if (on) open.add(popover);
    else open.delete(popover);
  };
  const popover: Popover = {
    element,
    isOpen: () => !element.hidden,
    toggle: () => {
      const on = element.hidden;
      closePopovers();
      if (on) {
        opened();
        show(true);
      }
    },
    close: () => show(false),
  };
  button.addEventListener("click", () => popover.toggle());
  document.addEventListener("pointerdown", (event) => {
    const target = event.target as Node;
    if (!element.hidden && !element.contains(target) && !button.contains(target)) popover.close();
  });
  return popover;
}
