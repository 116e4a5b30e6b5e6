/* What a body looks like when it is projected on a plane: the outline of each of its shapes and, for
 * polyhedra, the facets that face the viewer. All shapes but compounds are convex, so an outline is the
 * convex hull of projected points; curved shapes give points of their own outline. */

import type { Body, Manifest, Shape, Vec3 } from "./contract";
import {
  type Placement,
  add,
  compose,
  conjugate,
  cross,
  dot,
  place,
  rotate,
  scale,
  subtract,
} from "./ui_vector";

/** Axes of the paper: to the right, up, and towards the reader. */
export interface Basis {
  right: Vec3;
  up: Vec3;
  toward: Vec3;
}
export type Point2 = [number, number];

export interface Silhouette {
  outlines: Point2[][];
  facets: Point2[][];
}

const ROUND = 40;
const BOX_FACETS = [
  [0, 2, 3, 1],
  [4, 5, 7, 6],
  [0, 1, 5, 4],
  [2, 6, 7, 3],
  [0, 4, 6, 2],
  [1, 3, 7, 5],
];

export function project(basis: Basis, point: Vec3): Point2 {
  return [dot(point, basis.right), dot(point, basis.up)];
}

/** Andrew's monotone chain; counter-clockwise. */
export function convexHull(points: Point2[]): Point2[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  const turn = (o: Point2, a: Point2, b: Point2): number =>
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const chain = (list: Point2[]): Point2[] => {
    const hull: Point2[] = [];
    for (const point of list) {
      while (hull.length >= 2 && turn(hull[hull.length - 2], hull[hull.length - 1], point) <= 0) hull.pop();
      hull.push(point);
    }
    hull.pop();
    return hull;
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function circle(centre: Vec3, radius: number, u: Vec3, v: Vec3): Vec3[] {
  return Array.from({ length: ROUND }, (_, i) => {
    const angle = (2 * Math.PI * i) / ROUND;
    return add(centre, add(scale(u, radius * Math.cos(angle)), scale(v, radius * Math.sin(angle))));
  });
}

function boxCorners(size: Vec3): Vec3[] {
  return Array.from({ length: 8 }, (_, i) => [
    ((i & 1) - 0.5) * size[0],
    (((i >> 1) & 1) - 0.5) * size[1],
    (((i >> 2) & 1) - 0.5) * size[2],
  ]);
}

/** The points of an ellipsoid (semi-axes) that are farthest in the directions of the paper. */
function ellipsoidOutline(semi: Vec3, at: Placement, basis: Basis): Vec3[] {
  const back = conjugate(at.orientation);
  const directions = circle([0, 0, 0], 1, rotate(back, basis.right), rotate(back, basis.up));
  return directions.map((d) => {
    const stretched: Vec3 = [semi[0] * d[0], semi[1] * d[1], semi[2] * d[2]];
    const size = Math.hypot(...stretched) || 1;
    return place(at, [
      (semi[0] * stretched[0]) / size,
      (semi[1] * stretched[1]) / size,
      (semi[2] * stretched[2]) / size,
    ]);
  });
}

function addPolyhedron(out: Silhouette, corners: Vec3[], facets: number[][], basis: Basis): void {
  out.outlines.push(convexHull(corners.map((corner) => project(basis, corner))));
  for (const facet of facets) {
    if (facet.length < 3) continue;
    const [a, b, c] = facet.map((corner) => corners[corner]);
    if (dot(cross(subtract(b, a), subtract(c, a)), basis.toward) <= 0) continue;
    out.facets.push(facet.map((corner) => project(basis, corners[corner])));
  }
}

function triples(points: number[], at: Placement): Vec3[] {
  const corners: Vec3[] = [];
  for (let i = 0; i + 2 < points.length; i += 3)
    corners.push(place(at, [points[i], points[i + 1], points[i + 2]]));
  return corners;
}

function addShape(out: Silhouette, manifest: Manifest, shape: Shape, at: Placement, basis: Basis): void {
  const outline = (points: Vec3[]): void => {
    out.outlines.push(convexHull(points.map((point) => project(basis, point))));
  };
  const rim = (radius: number, z: number): Vec3[] =>
    circle([0, 0, z], radius, [1, 0, 0], [0, 1, 0]).map((point) => place(at, point));
  switch (shape.kind) {
    case "halfspace":
      return; // has no outline
    case "box":
      return addPolyhedron(
        out,
        boxCorners(shape.size).map((corner) => place(at, corner)),
        BOX_FACETS,
        basis,
      );
    case "hull":
      return addPolyhedron(out, triples(shape.points, at), shape.facets, basis);
    case "polygon":
      out.outlines.push(triples(shape.points, at).map((point) => project(basis, point)));
      return;
    case "sphere":
      return outline(circle(at.position, shape.radius, basis.right, basis.up));
    case "disc":
      outline(circle([0, 0, 0], shape.radius, [1, 0, 0], [0, 0, 1]).map((point) => place(at, point)));
      out.facets.push([project(basis, at.position), project(basis, place(at, [shape.radius, 0, 0]))]);
      return;
    case "capsule": {
      const ends = [-shape.length / 2, shape.length / 2].map((z) => place(at, [0, 0, z]));
      return outline(ends.flatMap((end) => circle(end, shape.radius, basis.right, basis.up)));
    }
    case "cylinder":
      return outline([...rim(shape.radius, -shape.length / 2), ...rim(shape.radius, shape.length / 2)]);
    case "cone":
      return outline([...rim(shape.radius, -shape.length / 4), place(at, [0, 0, 0.75 * shape.length])]);
    case "ellipsoid":
      return outline(ellipsoidOutline(shape.size, at, basis));
    case "compound":
      for (const part of shape.parts)
        addShape(out, manifest, manifest.shapes[part.shape], compose(at, part.pose), basis);
  }
}

export function silhouetteOf(manifest: Manifest, body: Body, at: Placement, basis: Basis): Silhouette {
  const out: Silhouette = { outlines: [], facets: [] };
  for (const collider of body.colliders) {
    if (!collider.sensor)
      addShape(out, manifest, manifest.shapes[collider.shape], compose(at, collider.pose), basis);
  }
  return out;
}
