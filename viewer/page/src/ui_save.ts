/* Saving what the page shows: plots as SVG or CSV, the picture as PNG, the time line as a film. */

import type { Curve } from "./ui_plot";

/** Hands a file to the browser's downloads. */
export function download(name: string, address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

export function downloadText(name: string, type: string, text: string): void {
  downloadBlob(name, new Blob([text], { type }));
}

export function downloadBlob(name: string, data: Blob): void {
  const address = URL.createObjectURL(data);
  download(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** A name for a file: letters, digits and dashes. */
export function fileName(...parts: string[]): string {
  return parts
    .join("-")
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

/* A name as a cell: in quotes if it must be, behind an apostrophe if a spreadsheet would compute it. */
function cellOf(name: string): string {
  const guarded = /^[=+\-@\t]/.test(name) ? `'${name}` : name;
  return /[,"\n]/.test(guarded) ? `"${guarded.replace(/"/g, '""')}"` : guarded;
}

/** The curves as a table: a line per time, a column per curve; empty where nothing was measured. */
export function csvOf(curves: Curve[], unit: string): string {
  const times = [...new Set(curves.flatMap((curve) => [...curve.time]))].sort((a, b) => a - b);
  const suffix = unit === "" || unit === "count" ? "" : ` (${unit})`;
  const head = ["time (s)", ...curves.map((curve) => [curve.side, curve.label].filter(Boolean).join(" ") + suffix)];
  const places = curves.map(() => 0);
  const lines = times.map((time) => {
    const cells = curves.map((curve, i) => {
      while (places[i] < curve.time.length && curve.time[places[i]] < time) places[i]++;
      const value = curve.time[places[i]] === time ? curve.values[places[i]] : NaN;
      return Number.isNaN(value) ? "" : String(value);
    });
    return [String(time), ...cells].join(",");
  });
  return [head.map(cellOf).join(","), ...lines].join("\n") + "\n";
}
