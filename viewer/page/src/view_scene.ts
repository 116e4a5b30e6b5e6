/* How large a scene is and where: what the camera frames, what shadows cover, how long markers
 * are. Half-spaces have no size, and fixed bodies that dwarf everything else are scenery. */

import type { Frame, Manifest, Shape } from "./contract";
import { boxOf, partsOf } from "./view_shapes";
import type { Part } from "./view_shapes";

export interface Box3 {
  low: [number, number, number];
  high: [number, number, number];
}

export class SceneSize {
  /** Size of a typical body: the median of the moving ones. m */
  readonly typical: number;
  readonly parts: Part[][]; // of each body, without half-spaces
  private readonly radius: number[]; // about the origin frame; 0: nothing to see
  private readonly counted: boolean[]; // whether it is part of what is framed

  constructor(private readonly manifest: Manifest) {
    this.parts = manifest.bodies.map((body) =>
      body.colliders
        .flatMap((collider) => partsOf(manifest, collider.shape, collider.pose))
        .filter((part) => part.shape.kind !== "halfspace"),
    );
    this.radius = this.parts.map((parts) => Math.max(0, ...parts.map(reach)));
    const moving = manifest.bodies.map((body) => body.motion === "dynamic");
    const sizes = (choice: boolean) =>
      this.parts
        .filter((parts, i) => (!choice || moving[i]) && parts.length > 0)
        .map((parts) => Math.max(...parts.map((part) => typicalSize(part.shape))))
        .filter((size) => size > 0)
        .sort((a, b) => a - b);
    let list = sizes(true);
    if (list.length === 0) list = sizes(false);
    this.typical = list.length > 0 ? list[list.length >> 1] : 1;
    const largest = list.length > 0 ? list[list.length - 1] : 1;
    this.counted = manifest.bodies.map(
      (_body, i) => this.radius[i] > 0 && (moving[i] || this.radius[i] < 8 * largest),
    );
    if (!this.counted.includes(true)) this.counted = this.radius.map((r) => r > 0);
  }

  radiusOf(body: number): number {
    return this.radius[body] ?? 0;
  }

  /** The box about everything that counts. Bodies far from `near` are left out: what has flown
   * off is not worth a picture in which nothing can be seen, unless it is asked for. */
  box(frame: Frame, near?: Box3): Box3 | null {
    const low: Box3["low"] = [Infinity, Infinity, Infinity];
    const high: Box3["high"] = [-Infinity, -Infinity, -Infinity];
    const bodies = Math.min(this.manifest.bodies.length, frame.position.length / 3);
    const out = [0, 0, 0, 0, 0, 0];
    for (let b = 0; b < bodies; b++) {
      if (!this.counted[b]) continue;
      this.bodyBox(frame, b, out);
      if (!out.every(Number.isFinite)) continue;
      if (near && farFrom(near, out)) continue;
      for (let i = 0; i < 3; i++) {
        low[i] = Math.min(low[i], out[i]);
        high[i] = Math.max(high[i], out[3 + i]);
      }
    }
    return low[0] <= high[0] ? { low, high } : null;
  }

  /** Points of the world that springs and joints hang on; null: there are none. */
  anchors(): Box3 | null {
    const points = [
      ...(this.manifest.springs ?? []).filter(({ b }) => b < 0).map(({ point_b }) => point_b),
      ...(this.manifest.joints ?? []).flatMap(({ a, b, frame_a, frame_b }) =>
        a < 0 ? [frame_a.slice(0, 3)] : b < 0 ? [frame_b.slice(0, 3)] : [],
      ),
    ] as [number, number, number][];
    if (points.length === 0) return null;
    return points
      .map((point): Box3 => ({ low: [...point], high: [...point] }))
      .reduce((box, other) => joinBoxes(box, other) ?? box);
  }

  /** With room for arrows where there are only a few bodies. */
  withRoom(box: Box3): Box3 {
    const largest = Math.max(...box.low.map((x, i) => box.high[i] - x));
    const room = Math.max(0, 0.3 * (3.5 * this.typical - largest));
    const flat = this.manifest.planar ? [room, 0, room] : [room, room, room];
    return {
      low: box.low.map((x, i) => x - flat[i]) as Box3["low"],
      high: box.high.map((x, i) => x + flat[i]) as Box3["high"],
    };
  }

  /** Roughly: turned boxes of the parts. */
  bodyBox(frame: Frame, body: number, out: number[]): void {
    for (let i = 0; i < 3; i++) {
      out[i] = Infinity;
      out[3 + i] = -Infinity;
    }
    const [x, y, z, w] = frame.orientation.subarray(4 * body, 4 * body + 4);
    for (const { shape, pose } of this.parts[body]) {
      const box = boxOf(shape);
      if (!box) continue;
      const m = product(rotation(x, y, z, w), rotation(pose[3], pose[4], pose[5], pose[6]));
      const local = apply(rotation(x, y, z, w), [pose[0], pose[1], pose[2]]);
      const middle = apply(m, box.middle);
      for (let i = 0; i < 3; i++) {
        const half =
          Math.abs(m[3 * i]) * box.half[0] +
          Math.abs(m[3 * i + 1]) * box.half[1] +
          Math.abs(m[3 * i + 2]) * box.half[2];
        const at = frame.position[3 * body + i] + local[i] + middle[i];
        out[i] = Math.min(out[i], at - half);
        out[3 + i] = Math.max(out[3 + i], at + half);
      }
    }
  }
}

function farFrom(near: Box3, box: number[]): boolean {
  let size = 0;
  for (let i = 0; i < 3; i++) size = Math.max(size, near.high[i] - near.low[i]);
  for (let i = 0; i < 3; i++)
    if (box[i] < near.low[i] - 1.5 * size || box[3 + i] > near.high[i] + 1.5 * size) return true;
  return false;
}

export function joinBoxes(a: Box3 | null, b: Box3 | null): Box3 | null {
  if (!a || !b) return a ?? b;
  return {
    low: a.low.map((x, i) => Math.min(x, b.low[i])) as Box3["low"],
    high: a.high.map((x, i) => Math.max(x, b.high[i])) as Box3["high"],
  };
}

function reach({ shape, pose }: Part): number {
  const box = boxOf(shape);
  if (!box) return 0;
  const far = Math.hypot(...box.half) + Math.hypot(...box.middle);
  return Math.hypot(pose[0], pose[1], pose[2]) + far;
}

/* The side of a cube (square) of the same volume (area) as its box. */
function typicalSize(shape: Shape): number {
  const box = boxOf(shape);
  if (!box) return 0;
  const sorted = [...box.half].sort((a, b) => a - b);
  return (
    2 *
    (sorted[0] === 0
      ? Math.sqrt(sorted[1] * sorted[2])
      : Math.cbrt(sorted[0] * sorted[1] * sorted[2]))
  );
}

/** Row-major rotation matrix of a quaternion. */
export function rotation(x: number, y: number, z: number, w: number): number[] {
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - w * z),
    2 * (x * z + w * y),
    2 * (x * y + w * z),
    1 - 2 * (x * x + z * z),
    2 * (y * z - w * x),
    2 * (x * z - w * y),
    2 * (y * z + w * x),
    1 - 2 * (x * x + y * y),
  ];
}

export function product(a: number[], b: number[]): number[] {
  const c: number[] = [];
  for (let i = 0; i < 3; i++)
    for (let j = 0; j < 3; j++)
      c.push(a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]);
  return c;
}

export function apply(m: number[], v: readonly number[]): [number, number, number] {
  return [
    m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
    m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
    m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
  ];
}
