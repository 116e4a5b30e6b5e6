/* The colours that mean something, for the 3D view and for the panels' legends.
 *
 * Modes are told apart by people who see red and green alike (blue, orange, bluish green and grey
 * differ in lightness as well). Bodies are muted, so that what is drawn on them stands out. */

import type { Contact } from "./contract";

export type Theme = "light" | "dark";
export type Mode = Contact["mode"];

/** CSS colours. */
export const MODE_COLOURS: Record<Theme, Record<Mode, string>> = {
  light: { stick: "#0a5fd6", slip: "#e85d04", roll: "#00916e", separating: "#7a7f87" },
  dark: { stick: "#5aa9ff", slip: "#ff9040", roll: "#2fd1a5", separating: "#a3a9b2" },
};

export const MODE_LABELS: Record<Mode, string> = {
  stick: "sticks",
  slip: "slips",
  roll: "rolls",
  separating: "separates",
};

/** Without colour by mode, and for what is not a contact. */
export const MARK_COLOURS: Record<
  Theme,
  {
    force: string;
    normal: string;
    velocity: string;
    trace: string;
    box: string;
    selection: string;
    joint: string;
    spring: string;
  }
> = {
  light: {
    force: "#d62246",
    normal: "#4a5059",
    velocity: "#8033c9",
    trace: "#8033c9",
    box: "#5c6570",
    selection: "#ffb000",
    joint: "#0b7a75",
    spring: "#5b6472",
  },
  dark: {
    force: "#ff5c7a",
    normal: "#c9ced6",
    velocity: "#c58cff",
    trace: "#c58cff",
    box: "#98a2ae",
    selection: "#ffc233",
    joint: "#4fd6cf",
    spring: "#b9c2ce",
  },
};

const BODIES = [
  "#5b8fb9", // steel blue
  "#e3b464", // ochre
  "#7fb09a", // sage
  "#d9806c", // terracotta
  "#9a8fc2", // lilac
  "#c9c07a", // straw
  "#6fb0b7", // teal
  "#cf8fa5", // rose
  "#8aa6d1", // sky
  "#b3a08c", // clay
];

/** A body's colour stays the same whatever else is in the scene. */
export function bodyColour(index: number): string {
  return BODIES[index % BODIES.length];
}

export const FIXED_COLOURS: Record<Theme, string> = { light: "#c3c7cd", dark: "#5d646e" };
export const KINEMATIC_COLOURS: Record<Theme, string> = { light: "#a5adb8", dark: "#7b8592" };

/** A sensor that is touched. */
export const TOUCHED_COLOURS: Record<Theme, string> = { light: "#f2a900", dark: "#ffd24d" };

/** The other run, where two lie over each other. */
export const GHOST_COLOURS: Record<Theme, string> = { light: "#7a2fd0", dark: "#c79bff" };

/** The background, from top to bottom, and the ground. */
export const BACKGROUNDS: Record<
  Theme,
  { top: string; bottom: string; ground: string; line: string }
> = {
  light: { top: "#dfe6ee", bottom: "#fbfaf8", ground: "#f1f0ed", line: "#6b7684" },
  dark: { top: "#10141b", bottom: "#232a34", ground: "#2a313b", line: "#aab6c6" },
};
