/* Dark, light, or as the system says. The choice is remembered where the browser lets it be. */

import { iconButton, remember, remembered, setIcon } from "./ui_dom";

export type ThemeChoice = "auto" | "dark" | "light";
const ORDER: ThemeChoice[] = ["auto", "dark", "light"];
const ICON = { auto: "auto", dark: "moon", light: "sun" } as const;
const LABEL = { auto: "as the system says", dark: "dark", light: "light" } as const;

export interface Theme {
  readonly button: HTMLButtonElement;
  current(): "dark" | "light";
  next(): void;
}

export function createTheme(changed: () => void): Theme {
  const system = window.matchMedia("(prefers-color-scheme: light)");
  const stored = remembered("theme") as ThemeChoice | null;
  let choice: ThemeChoice = stored && ORDER.includes(stored) ? stored : "auto";

  const current = (): "dark" | "light" => (choice === "auto" ? (system.matches ? "light" : "dark") : choice);
  const apply = (): void => {
    document.documentElement.dataset.theme = current();
    setIcon(button, ICON[choice], `Theme: ${LABEL[choice]} (d)`);
    button.dataset.choice = choice;
    changed();
  };
  const next = (): void => {
    /* The first press must change something: away from what the system says. */
    if (choice === "auto") choice = system.matches ? "dark" : "light";
    else if (choice === (system.matches ? "dark" : "light")) choice = system.matches ? "light" : "dark";
    else choice = "auto";
    remember("theme", choice);
    apply();
  };

  const button = iconButton("auto", "Theme", "theme", next);
  system.addEventListener("change", apply);
  /* The views come later and ask for current(); nothing is to be told yet. */
  document.documentElement.dataset.theme = current();
  setIcon(button, ICON[choice], `Theme: ${LABEL[choice]} (d)`);
  button.dataset.choice = choice;
  return { button, current, next };
}
