/* Where the two frames of a joint are, and its coordinates: the pose of B's frame seen from A's. */

import type { Joint, Pose, Quat, Vec3 } from "./contract";
import { type Placement, compose, conjugate, length, multiply, rotate, subtract } from "./ui_vector";

const WORLD: Placement = { position: [0, 0, 0], orientation: [0, 0, 0, 1] };

/** Frames of A and B in the world; `placement` gives the origin frames of bodies. */
export function jointFrames(
  joint: Joint,
  placement: (body: number) => Placement,
): [Placement, Placement] {
  const side = (body: number, frame: Pose): Placement =>
    compose(body < 0 ? WORLD : placement(body), frame);
  return [side(joint.a, joint.frame_a), side(joint.b, joint.frame_b)];
}

/** In the order of its axes: metres, radians. */
export function jointCoordinates(joint: Joint, a: Placement, b: Placement): number[] {
  const inverse = conjugate(a.orientation);
  const shift = rotate(inverse, subtract(b.position, a.position));
  const turn: Quat = multiply(inverse, b.orientation);
  const aboutZ = 2 * Math.atan2(turn[2], turn[3]);
  const angle = Math.atan2(Math.sin(aboutZ), Math.cos(aboutZ));
  switch (joint.kind) {
    case "hinge":
      return [angle];
    case "slider":
      return [shift[2]];
    case "cylindrical":
      return [shift[2], angle];
    case "planar":
      return [shift[0], shift[1], angle];
    case "distance":
      return [length(shift)];
    case "universal": {
      /* About x of A, then about y of B: the columns of the product say both. */
      const x: Vec3 = rotate(turn, [1, 0, 0]);
      const y: Vec3 = rotate(turn, [0, 1, 0]);
      const z: Vec3 = rotate(turn, [0, 0, 1]);
      return [Math.atan2(y[2], y[1]), Math.atan2(z[0], x[0])];
    }
    default:
      return [];
  }
}
