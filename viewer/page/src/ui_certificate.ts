/* What the figures of a run allow to be said. Each check has a bound and its reason in words; a frame,
 * or a run up to a time, is certified if every figure that was measured keeps its bound. Figures that
 * were not measured (NaN) neither pass nor fail, and a run without any figure is "not measured",
 * which is not the same as certified. */

import type { Frame, FrameSource, Manifest, SeriesName } from "./contract";
import { boundary, quantity, seconds, si } from "./ui_number";
import { thinnest } from "./ui_size";

/** Bodies may overlap by this part of the thinnest moving body before the page says that they pass
 * into each other: less cannot be seen. */
const PENETRATION_PART = 0.01;
/** Balances are computed in double precision; 1e-6 is far above rounding and far below what matters. */
const BALANCE_BOUND = 1e-6;
/** Figures travel as 32-bit numbers, tolerances as 64-bit ones: they may differ in the 7th digit. */
const ROUNDING = 1 + 1e-6;

export interface Check {
  series: SeriesName;
  label: string;
  unit: string; // "" for ratios, "count"
  bound: number;
  boundText: string;
  /** What a broken bound means. */
  words: string;
}

export interface Breach {
  check: Check;
  value: number;
  time: number;
}

export function checksOf(manifest: Manifest): Check[] {
  const depth = PENETRATION_PART * thinnest(manifest);
  const part = "1\u202f% of the thinnest moving body";
  const tolerance = manifest.tolerance > 0 ? manifest.tolerance : 1e-8;
  const solver = "the solver's tolerance";
  return [
    {
      series: "passed_through",
      label: "Passed through",
      unit: "count",
      bound: 0,
      boundText: "none allowed",
      words: "pairs of bodies passed through each other",
    },
    {
      series: "penetration",
      label: "Penetration",
      unit: "m",
      bound: depth,
      boundText: part,
      words: "bodies pass into each other",
    },
    {
      series: "overlap",
      label: "Between samples",
      unit: "m",
      bound: depth,
      boundText: part,
      words: "bodies pass into each other within a step",
    },
    {
      series: "complementarity",
      label: "Complementarity",
      unit: "",
      bound: tolerance,
      boundText: solver,
      words: "contact forces and gaps do not complement each other",
    },
    {
      series: "cone_violation",
      label: "Friction cone",
      unit: "",
      bound: tolerance,
      boundText: solver,
      words: "friction leaves its cone",
    },
    {
      series: "momentum_error",
      label: "Momentum",
      unit: "",
      bound: BALANCE_BOUND,
      boundText: "fixed",
      words: "momentum is not kept",
    },
    {
      series: "joint_error",
      label: "Joints",
      unit: "m",
      bound: depth,
      boundText: part,
      words: "joints come apart",
    },
    {
      series: "closure_rel",
      label: "Energy closure",
      unit: "",
      bound: BALANCE_BOUND,
      boundText: "fixed",
      words: "the energy ledger does not close",
    },
    {
      series: "solver_failures",
      label: "Failed solves",
      unit: "count",
      bound: 0,
      boundText: "none allowed",
      words: "solves ended above the tolerance",
    },
  ];
}

function breaks(check: Check, value: number): boolean {
  return Math.abs(value) > check.bound * ROUNDING; // false for NaN, true for infinity
}

/** "complementarity 3.20 × 10⁻⁶, allowed 10⁻⁸ (the solver's tolerance): contact forces and …". */
export function reason(breach: Breach): string {
  const { check, value } = breach;
  if (check.series === "passed_through")
    return value === 1
      ? "a pair of bodies passed through each other"
      : `${quantity(value, "count")} ${check.words}`;
  if (check.series === "solver_failures")
    return value === 1 ? "one solve ended above the tolerance" : `${quantity(value, "count")} ${check.words}`;
  const bound = `${boundary(check.bound, check.unit)}${check.boundText === "fixed" ? "" : ` (${check.boundText})`}`;
  return `${check.label.toLowerCase()} ${quantity(Math.abs(value), check.unit)}, allowed ${bound}: ${check.words}`;
}

export interface Span {
  from: number;
  to: number;
}

/** The certificate of one source, kept up to date with its overview. */
export class Certificate {
  readonly source: FrameSource;
  checks: Check[];
  /** The worst value per check up to each point of the overview, and over all. */
  private worst: Float64Array[] = [];
  private time: Float64Array = new Float64Array(0);
  private bodies = -1;
  private scanned: { frame: Frame | null; bad: boolean } = { frame: null, bad: false };
  breaches: Breach[] = [];
  spans: Span[] = [];
  measured = false;

  constructor(source: FrameSource) {
    this.source = source;
    this.checks = checksOf(source.manifest);
    this.refresh();
  }

  /** After the overview changed. */
  refresh(): void {
    const manifest = this.source.manifest;
    if (manifest.bodies.length !== this.bodies) {
      this.bodies = manifest.bodies.length;
      this.checks = checksOf(manifest);
    }
    const overview = this.source.overview();
    this.time = overview.time;
    const points = overview.time.length;
    const bad = new Uint8Array(points);
    this.breaches = [];
    this.measured = false;
    this.worst = this.checks.map((check) => this.accumulate(check, overview.series[check.series], bad));
    this.spans = [];
    for (let i = 0; i < points; i++) {
      if (!bad[i]) continue;
      const from = i > 0 ? overview.time[i - 1] : overview.time[0];
      const last = this.spans[this.spans.length - 1];
      if (last && bad[i - 1]) last.to = overview.time[i];
      else this.spans.push({ from, to: overview.time[i] });
    }
  }

  private accumulate(check: Check, values: Float32Array, bad: Uint8Array): Float64Array {
    const worst = new Float64Array(values.length);
    let so_far = NaN;
    let worstBreach: Breach | null = null;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (!Number.isNaN(value)) {
        if (check.unit !== "count") this.measured = true;
        if (check.unit === "count") so_far = (Number.isNaN(so_far) ? 0 : so_far) + value;
        else if (!(Math.abs(value) <= so_far)) so_far = Math.abs(value);
        if (breaks(check, value)) {
          bad[i] = 1;
          if (!worstBreach || check.unit === "count") {
            worstBreach = {
              check,
              value: so_far,
              time: worstBreach ? worstBreach.time : this.time[i],
            };
          } else if (Math.abs(value) > worstBreach.value) {
            worstBreach = { check, value: Math.abs(value), time: this.time[i] };
          }
        }
      }
      worst[i] = so_far;
    }
    if (worstBreach) this.breaches.push(worstBreach);
    return worst;
  }

  /** The last point of the overview at or before a time; -1 if there is none. */
  private pointAt(time: number): number {
    let low = 0;
    let high = this.time.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= time + 1e-12) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  soFar(check: number, frame: Frame | null): number {
    const at = frame ? this.pointAt(frame.time) : -1;
    const before = at >= 0 ? this.worst[check][at] : NaN;
    if (!frame || this.checks[check].unit === "count") return before;
    const here = Math.abs(frame.figures[this.checks[check].series]);
    return Number.isNaN(before) || here > before ? here : before;
  }

  overall(check: number): number {
    const values = this.worst[check];
    return values.length ? values[values.length - 1] : NaN;
  }

  /** What this frame breaks. */
  atFrame(frame: Frame | null): Breach[] {
    if (!frame) return [];
    const found: Breach[] = [];
    for (const check of this.checks) {
      const value = frame.figures[check.series];
      if (breaks(check, value)) found.push({ check, value, time: frame.time });
    }
    return found;
  }

  /** Positions that are no numbers are beyond any bound. */
  lost(frame: Frame | null): boolean {
    if (!frame) return false;
    if (this.scanned.frame !== frame) {
      let bad = false;
      for (const value of frame.position) if (!Number.isFinite(value)) bad = true;
      this.scanned = { frame, bad };
    }
    return this.scanned.bad;
  }
}

/** One line for films and pictures: "dominoes · stepping, auto · 1.250 s · certified: …". */
export function certificateLine(certificate: Certificate, frame: Frame | null): string {
  const manifest = certificate.source.manifest;
  const time = frame ? seconds(frame.time, manifest.duration ?? 10) : "";
  const head = `${manifest.name} · ${manifest.method}, ${manifest.solver} · ${time}`;
  const here = certificate.atFrame(frame);
  if (certificate.lost(frame)) return `${head} · not certified: a position is not a number`;
  if (here.length) return `${head} · not certified: ${reason(here[0])}`;
  if (certificate.breaches.length) return `${head} · not certified: ${reason(certificate.breaches[0])}`;
  if (!certificate.measured) return `${head} · not measured`;
  const value = (series: SeriesName): number =>
    certificate.soFar(
      certificate.checks.findIndex((check) => check.series === series),
      frame,
    );
  return (
    `${head} · certified: penetration ≤ ${si(value("overlap"), "m")}, ` +
    `complementarity ≤ ${quantity(value("complementarity"), "")}`
  );
}
