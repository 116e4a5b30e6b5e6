/* Poses between two frames: positions on a line, orientations on the shortest arc. A body that
 * has gone much further than its velocity explains has been moved by hand (or the run was reset):
 * it stays where it was until the next frame. */

import type { Frame } from "./contract";
import type { Poses } from "./view_overlays";

/** Whether a body jumps between two frames. */
export function jumps(from: Frame, to: Frame, body: number, typical: number): boolean {
  const i = 3 * body;
  const p = from.position;
  const q = to.position;
  const moved = Math.hypot(q[i] - p[i], q[i + 1] - p[i + 1], q[i + 2] - p[i + 2]);
  if (moved < 0.5 * typical) return false;
  const u = from.velocity;
  const v = to.velocity;
  const speed = Math.max(
    Math.hypot(u[i], u[i + 1], u[i + 2]),
    Math.hypot(v[i], v[i + 1], v[i + 2]),
  );
  /* The velocity is the centre of mass's; the origin may circle it. */
  const w = from.angular;
  const spin = Math.hypot(w[i], w[i + 1], w[i + 2]);
  return moved > 3 * (to.time - from.time) * (speed + spin * typical) + 0.5 * typical;
}

export function interpolate(
  from: Frame,
  to: Frame | null,
  time: number,
  typical: number,
  out: Poses,
): void {
  const { position, orientation, count } = out;
  const span = to ? to.time - from.time : 0;
  const u = span > 0 ? Math.max(0, Math.min(1, (time - from.time) / span)) : 0;
  if (!to || u === 0) {
    position.set(from.position.subarray(0, 3 * count));
    orientation.set(from.orientation.subarray(0, 4 * count));
    return;
  }
  for (let b = 0; b < count; b++) {
    const t = 3 * b < to.position.length && !jumps(from, to, b, typical) ? u : 0;
    for (let i = 3 * b; i < 3 * b + 3; i++)
      position[i] = from.position[i] + t * (to.position[i] - from.position[i]);
    turn(from.orientation, to.orientation, 4 * b, t, orientation);
  }
}

function turn(from: Float32Array, to: Float32Array, i: number, t: number, out: Float32Array): void {
  if (t === 0) {
    for (let k = i; k < i + 4; k++) out[k] = from[k];
    return;
  }
  let cosine =
    from[i] * to[i] + from[i + 1] * to[i + 1] + from[i + 2] * to[i + 2] + from[i + 3] * to[i + 3];
  const sign = cosine < 0 ? -1 : 1;
  cosine = Math.min(1, Math.abs(cosine));
  let a = 1 - t;
  let b = t;
  if (cosine < 0.9995) {
    const angle = Math.acos(cosine);
    const sine = Math.sin(angle);
    a = Math.sin((1 - t) * angle) / sine;
    b = Math.sin(t * angle) / sine;
  }
  b *= sign;
  let size = 0;
  for (let k = i; k < i + 4; k++) {
    out[k] = a * from[k] + b * to[k];
    size += out[k] * out[k];
  }
  size = 1 / Math.sqrt(size);
  for (let k = i; k < i + 4; k++) out[k] *= size;
}
