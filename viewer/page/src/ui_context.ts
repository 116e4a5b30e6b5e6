/* What the panels share: the page's app, what is selected, and the way to tell each other. */

import type { App, Frame, LiveControl, SwitchName, View3 } from "./contract";
import type { Certificate } from "./ui_certificate";
import type { Theme } from "./ui_theme";

export type Slot = 0 | 1;

/** Every panel has an element and hears of two things. */
export interface Panel {
  readonly element: HTMLElement;
  /** Runs were opened or closed, a manifest changed, the selection changed, the size changed. */
  arrange(): void;
  /** The time or the data changed. */
  update(): void;
}

export interface Context {
  readonly app: App;
  readonly theme: Theme;
  /** Per slot: what its view shows, its certificate and the selected body. */
  frames: (Frame | null)[];
  certificates: Certificate[];
  selected: (number | null)[];
  following: boolean;
  /** The cameras of a comparison move together: the first one's commands are enough. */
  together: boolean;
  /** The second run of a comparison lies over the first, in one view. */
  overlay: boolean;
  readonly switches: Map<SwitchName, boolean>;
  /** Dragging a body of a live run pulls it (else it turns the camera). */
  pulling: boolean;
  /** Grows with the data of a source (frames came); panels compare it with what they have drawn. */
  version: number;

  live(): LiveControl | null;
  /** Selects a body, and the one of the same name on the other side; opens the inspector, unless
   * `quietly`. */
  select(slot: Slot, body: number | null, quietly?: boolean): void;
  follow(on: boolean): void;
  setSwitch(name: SwitchName, on: boolean): void;
  toast(text: string, kind?: "error" | "note"): void;
  openTab(name: string): void;
  refresh(): void;
}

export function comparing(context: Context): boolean {
  return context.app.sources.length > 1;
}

/** The views whose cameras are told what to do. */
export function cameras(context: Context): View3[] {
  return comparing(context) && context.together ? context.app.views.slice(0, 1) : context.app.views;
}

/** The views follow the selected body, or nothing. Two that share a camera must not both move it. */
export function applyFollow(context: Context): void {
  const own = cameras(context);
  context.app.views.forEach((view, slot) =>
    view.follow(context.following && own.includes(view) ? context.selected[slot] : null),
  );
}

/** "A" and "B" in a comparison. */
export const SIDES = ["A", "B"] as const;
