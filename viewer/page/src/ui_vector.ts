/* Vectors and quaternions (x, y, z, w) for the panels. */

import type { Frame, Pose, Quat, Vec3 } from "./contract";

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec3, factor: number): Vec3 => [a[0] * factor, a[1] * factor, a[2] * factor];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);

export function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function unit(a: Vec3, otherwise: Vec3): Vec3 {
  const size = length(a);
  return size > 1e-12 ? scale(a, 1 / size) : otherwise;
}

export function rotate(q: Quat, v: Vec3): Vec3 {
  const axis: Vec3 = [q[0], q[1], q[2]];
  const twice = scale(cross(axis, v), 2);
  return add(v, add(scale(twice, q[3]), cross(axis, twice)));
}

export function multiply(a: Quat, b: Quat): Quat {
  const [ax, ay, az, aw] = a;
  const [bx, by, bz, bw] = b;
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

export const conjugate = (q: Quat): Quat => [-q[0], -q[1], -q[2], q[3]];

export interface Placement {
  position: Vec3;
  orientation: Quat;
}

export function placementOf(frame: Frame, body: number): Placement {
  const p = frame.position;
  const q = frame.orientation;
  return {
    position: [p[3 * body], p[3 * body + 1], p[3 * body + 2]],
    orientation: [q[4 * body], q[4 * body + 1], q[4 * body + 2], q[4 * body + 3]],
  };
}

export function place(at: Placement, point: Vec3): Vec3 {
  return add(at.position, rotate(at.orientation, point));
}

/** A pose given in the frame of a placement. */
export function compose(at: Placement, pose: Pose): Placement {
  return {
    position: place(at, [pose[0], pose[1], pose[2]]),
    orientation: multiply(at.orientation, [pose[3], pose[4], pose[5], pose[6]]),
  };
}

export function triple(values: Float32Array, index: number): Vec3 {
  return [values[3 * index], values[3 * index + 1], values[3 * index + 2]];
}

/** Angle and axis of a rotation; the angle in [0, pi]. */
export function axisAngle(q: Quat): { angle: number; axis: Vec3 } {
  const sign = q[3] < 0 ? -1 : 1;
  const axis: Vec3 = [q[0] * sign, q[1] * sign, q[2] * sign];
  const sine = length(axis);
  return { angle: 2 * Math.atan2(sine, q[3] * sign), axis: unit(axis, [0, 0, 1]) };
}
