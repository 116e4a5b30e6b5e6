/* Quantities over time that are not among the figures of a run, read off its frames: of a body, of a
 * joint, the distance between two runs. At most MOST points; frames that are not loaded are asked for
 * one chunk after the other, behind what is being looked at, and the curve grows as they come. */

import type { Frame, FrameSource, Manifest, Vec3 } from "./contract";
import { add, length, place, placementOf, scale, subtract, triple } from "./ui_vector";

const MOST = 2000;

/** NaN: the frame does not have it; null: a frame that is not loaded yet. */
type Measure = (index: number) => number | null;

export class FrameSeries {
  time = new Float64Array(0);
  values = new Float32Array(0);
  private indices: number[] = [];
  private known = new Uint8Array(0);
  private first = -1;
  private count = -1;

  constructor(
    private readonly source: FrameSource,
    private readonly measure: Measure,
    private readonly fetch: (index: number) => void,
  ) {}

  /** Reads what has come, and asks for the first frame that has not. True: all is there. */
  refresh(): boolean {
    this.arrange();
    let complete = true;
    for (let i = 0; i < this.indices.length; i++) {
      if (this.known[i]) continue;
      const value = this.measure(this.indices[i]);
      if (value === null) {
        if (complete) this.fetch(this.indices[i]);
        complete = false;
        continue;
      }
      this.values[i] = value;
      this.known[i] = 1;
    }
    return complete;
  }

  /* A run that grows or forgets is sampled anew. */
  private arrange(): void {
    const { source } = this;
    if (source.first() === this.first && source.count() === this.count) return;
    this.first = source.first();
    this.count = source.count();
    const points = Math.min(MOST, this.count);
    const last = Math.max(1, points - 1);
    this.indices = Array.from({ length: points }, (_, i) =>
      this.first + Math.round((i * (this.count - 1)) / last));
    this.time = Float64Array.from(this.indices, (index) => source.timeOf(index));
    this.values = new Float32Array(points).fill(NaN);
    this.known = new Uint8Array(points);
  }
}

/** A quantity of one run. */
export function seriesOf(source: FrameSource, measure: (frame: Frame) => number): FrameSeries {
  return new FrameSeries(
    source,
    (index) => {
      const frame = source.peek(index);
      return frame && measure(frame);
    },
    (index) => source.prefetch(index),
  );
}

function centreIn(frame: Frame, body: number, centre: Vec3): Vec3 {
  return place(placementOf(frame, body), centre);
}

/** Where a centre of mass is between two frames: the cubic through both with their velocities. */
export function centreBetween(from: Frame, to: Frame | null, time: number, body: number, centre: Vec3): Vec3 {
  const p = centreIn(from, body, centre);
  const span = to ? to.time - from.time : 0;
  if (!to || !(span > 0) || time <= from.time + 1e-9 * span) return p;
  const u = (time - from.time) / span;
  const q = centreIn(to, body, centre);
  const v = scale(triple(from.velocity, body), span);
  const w = scale(triple(to.velocity, body), span);
  const along = subtract(q, p);
  const bend = subtract(add(v, w), scale(along, 2)); // of u³
  const rest = subtract(subtract(along, v), bend); // of u²
  return add(p, add(scale(v, u), add(scale(rest, u * u), scale(bend, u * u * u))));
}

/** Moving bodies that both runs have, by name. */
export function commonBodies(a: Manifest, b: Manifest): [number, number][] {
  const other = new Map(b.bodies.map((body, index) => [body.name, index]));
  return a.bodies.flatMap((body, index): [number, number][] => {
    const found = other.get(body.name);
    return body.motion === "dynamic" && found !== undefined ? [[index, found]] : [];
  });
}

/** The largest distance between a centre of mass in one run and the same body's in the other. */
export function distanceOf(a: FrameSource, b: FrameSource): FrameSeries {
  const pairs = commonBodies(a.manifest, b.manifest);
  const measure: Measure = (index) => {
    const time = a.timeOf(index);
    const last = b.first() + b.count() - 1;
    const at = b.indexAt(time);
    const after = b.timeOf(at) < time - 1e-9;
    if (b.count() === 0 || time < b.timeOf(b.first()) || (at >= last && after)) return NaN;
    const mine = a.peek(index);
    const from = b.peek(at);
    const to = after ? b.peek(at + 1) : null;
    if (!mine || !from || (after && !to)) return null;
    let largest = 0;
    for (const [i, j] of pairs) {
      if (3 * i >= mine.position.length || 3 * j >= from.position.length) continue;
      const here = centreIn(mine, i, a.manifest.bodies[i].centre);
      const there = centreBetween(from, to, time, j, b.manifest.bodies[j].centre);
      largest = Math.max(largest, length(subtract(here, there)));
    }
    return largest;
  };
  const fetch = (index: number): void => {
    const at = b.indexAt(a.timeOf(index));
    a.prefetch(index);
    b.prefetch(at);
    b.prefetch(Math.min(at + 1, b.first() + b.count() - 1));
  };
  return new FrameSeries(a, measure, fetch);
}
