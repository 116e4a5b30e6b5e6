/* The panel at the right (on a phone: the sheet at the bottom), with a tab for each part. A click on the
 * open tab of a sheet closes the sheet. */

import { h } from "./ui_dom";

export interface Tab {
  name: string;
  label: string;
  element: HTMLElement;
}

export class Drawer {
  readonly element: HTMLElement;
  private readonly tabs: Tab[];
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly pages = new Map<string, HTMLElement>();
  private current: string;
  private readonly changed: () => void;

  constructor(tabs: Tab[], changed: () => void) {
    this.tabs = tabs;
    this.changed = changed;
    this.current = tabs[0].name;
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
    const body = h("div", { class: "drawer-body" });
    for (const tab of tabs) {
      const button = h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${tab.name}`,
          "aria-controls": `page-${tab.name}`,
          "data-testid": `tab-${tab.name}`,
          onclick: () => this.press(tab.name),
        },
        tab.label,
      );
      const page = h(
        "div",
        {
          class: "page",
          role: "tabpanel",
          id: `page-${tab.name}`,
          "aria-labelledby": `tab-${tab.name}`,
        },
        tab.element,
      );
      this.buttons.set(tab.name, button);
      this.pages.set(tab.name, page);
      list.append(button);
      body.append(page);
    }
    list.addEventListener("keydown", (event) => this.onKey(event));
    this.element = h("aside", { class: "drawer", "aria-label": "Panel" }, list, body);
    this.show();
  }

  page(name: string): HTMLElement {
    return this.pages.get(name) as HTMLElement;
  }

  get open(): boolean {
    return document.documentElement.dataset.drawer !== "closed";
  }

  set open(on: boolean) {
    document.documentElement.dataset.drawer = on ? "open" : "closed";
    this.show();
    this.changed();
  }

  get tab(): string {
    return this.current;
  }

  select(name: string): void {
    this.current = name;
    this.show();
    this.changed();
  }

  setAvailable(name: string, on: boolean): void {
    const button = this.buttons.get(name) as HTMLElement;
    button.hidden = !on;
    if (!on && this.current === name)
      this.select(this.tabs.find((tab) => !this.buttons.get(tab.name)?.hidden)?.name ?? name);
  }

  private press(name: string): void {
    const sheet = this.element.clientWidth >= window.innerWidth - 2;
    if (this.open && this.current === name && sheet) {
      this.open = false;
      return;
    }
    this.current = name;
    this.open = true;
  }

  private onKey(event: KeyboardEvent): void {
    const direction = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (direction === 0) return;
    const names = this.tabs.map((tab) => tab.name).filter((name) => !this.buttons.get(name)?.hidden);
    const next = names[(names.indexOf(this.current) + direction + names.length) % names.length];
    this.select(next);
    this.buttons.get(next)?.focus();
    event.stopPropagation();
    event.preventDefault();
  }

  private show(): void {
    for (const [name, button] of this.buttons) {
      const on = name === this.current;
      button.setAttribute("aria-selected", String(on && this.open));
      button.tabIndex = on ? 0 : -1;
      const page = this.pages.get(name);
      if (page) page.hidden = !on;
    }
  }
}
