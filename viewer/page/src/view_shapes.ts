/* Geometry of the shapes. Kinds that differ by stretching only (boxes, spheres, ellipsoids,
 * cylinders, cones, discs) share one geometry of unit size, so that thousands of bodies of all sizes
 * take a handful of draw calls; the size goes into the instance's matrix.
 *
 * Beside position and normal every corner has
 *   rim     for each side of its triangle 0 on the side and 1 opposite, or 1 everywhere if the side
 *           is not an edge of the body: the shader draws edges from it, crisp at any distance;
 *   outward a direction that is continuous over the surface: the outline of a selected body. */

import * as THREE from "three";
import type { Manifest, Pose, Shape, Vec3 } from "./contract";

/** How the surface shows that it turns: not, octants, sectors about z, sectors in the x-z plane. */
export type Pattern = "none" | "octants" | "sectors" | "flat-sectors";

export interface Form {
  key: string; // equal keys: equal geometry
  scale: Vec3;
  pattern: Pattern;
  many: boolean; // kinds of which there may be as many geometries as bodies
  build(count: number): THREE.BufferGeometry;
}

/** A shape of a body that is no compound: what is drawn, and where in the body's origin frame. */
export interface Part {
  shape: Shape;
  number: number; // in Manifest.shapes
  pose: Pose;
}

const TRIANGLES = 250000; // of all bodies of a kind together, roughly
const FEATURE_COSINE = Math.cos((18 * Math.PI) / 180);

class Builder {
  private readonly position: number[] = [];
  private readonly normal: number[] = [];
  private readonly rim: number[] = [];

  /** `smooth`: normals are continuous, and there are no edges. */
  constructor(private readonly smooth = false) {}

  /** A convex facet, corners counter-clockwise; edges[i]: whether from corner i to the next is
   * one. */
  facet(corners: THREE.Vector3[], edges: boolean[], normals?: THREE.Vector3[]): void {
    const flat = normals ? null : facetNormal(corners);
    const n = corners.length;
    for (let i = 1; i + 1 < n; i++) {
      const sides = [i === 1 && edges[0], edges[i], i + 1 === n - 1 && edges[n - 1]];
      [0, i, i + 1].forEach((corner, k) => {
        this.position.push(...corners[corner].toArray());
        this.normal.push(...(flat ?? normals![corner]).toArray());
        /* Side j goes from corner j of the triangle to the next; corner (j + 2) % 3 is
         * opposite. */
        for (let j = 0; j < 3; j++) this.rim.push(!sides[j] || (j + 2) % 3 === k ? 1 : 0);
      });
    }
  }

  finish(): THREE.BufferGeometry {
    const geometry = new THREE.BufferGeometry();
    const put = (name: string, values: number[]) =>
      geometry.setAttribute(name, new THREE.Float32BufferAttribute(values, 3));
    if (this.smooth) {
      const { index, first } = sharedCorners(this.position);
      const pick = (values: number[]) => first.flatMap((v) => values.slice(3 * v, 3 * v + 3));
      put("position", pick(this.position));
      put("normal", pick(this.normal));
      put("rim", pick(this.rim));
      put("outward", pick(this.normal));
      geometry.setIndex(index);
    } else {
      put("position", this.position);
      put("normal", this.normal);
      put("rim", this.rim);
      put("outward", outwards(this.position, this.normal));
    }
    geometry.computeBoundingSphere();
    return geometry;
  }
}

/* Corners at the same place are one: `first` of each, and for every corner which. */
function sharedCorners(position: number[]): { index: number[]; first: number[] } {
  const seen = new Map<string, number>();
  const index: number[] = [];
  const first: number[] = [];
  for (let v = 0; 3 * v < position.length; v++) {
    const key = [0, 1, 2].map((k) => Math.round(position[3 * v + k] * 1e6)).join();
    let which = seen.get(key);
    if (which === undefined) {
      which = first.length;
      first.push(v);
      seen.set(key, which);
    }
    index.push(which);
  }
  return { index, first };
}

function facetNormal(corners: THREE.Vector3[]): THREE.Vector3 {
  const normal = new THREE.Vector3();
  for (let i = 0; i < corners.length; i++)
    normal.add(new THREE.Vector3().crossVectors(corners[i], corners[(i + 1) % corners.length]));
  return normal.normalize();
}

/* The mean normal of all corners at the same place; flat things point away from their middle. */
function outwards(position: number[], normal: number[]): number[] {
  const sums = new Map<string, { sum: THREE.Vector3; seen: Set<string> }>();
  const keys: string[] = [];
  const round = (x: number) => x.toPrecision(6);
  for (let i = 0; i < position.length; i += 3) {
    const key = `${round(position[i])},${round(position[i + 1])},${round(position[i + 2])}`;
    keys.push(key);
    const entry = sums.get(key) ?? { sum: new THREE.Vector3(), seen: new Set<string>() };
    const own = `${normal[i].toFixed(3)},${normal[i + 1].toFixed(3)},${normal[i + 2].toFixed(3)}`;
    if (!entry.seen.has(own)) {
      entry.seen.add(own);
      entry.sum.add(new THREE.Vector3(normal[i], normal[i + 1], normal[i + 2]));
    }
    sums.set(key, entry);
  }
  const out: number[] = [];
  keys.forEach((key, k) => {
    const sum = sums.get(key)!.sum.clone();
    if (sum.lengthSq() < 1e-6) sum.set(position[3 * k], position[3 * k + 1], position[3 * k + 2]);
    out.push(...sum.normalize().toArray());
  });
  return out;
}

function buildBox(): THREE.BufferGeometry {
  const builder = new Builder();
  const at = (x: number, y: number, z: number) => new THREE.Vector3(x / 2, y / 2, z / 2);
  const edges = [true, true, true, true];
  for (const s of [-1, 1]) {
    const quads = [
      [at(s, -1, -1), at(s, 1, -1), at(s, 1, 1), at(s, -1, 1)],
      [at(-1, s, -1), at(-1, s, 1), at(1, s, 1), at(1, s, -1)],
      [at(-1, -1, s), at(1, -1, s), at(1, 1, s), at(-1, 1, s)],
    ];
    for (const quad of quads) builder.facet(s > 0 ? quad : quad.reverse(), edges);
  }
  return builder.finish();
}

/* Segments around a round body: as many as can be afforded for so many of them. A multiple of 4. */
function roundness(count: number): number {
  const n = Math.sqrt(TRIANGLES / Math.max(1, count));
  return 4 * Math.round(Math.max(12, Math.min(48, n)) / 4);
}

/* A surface of revolution about z. The profile runs from bottom to top: radius, height, and the
 * normal's radial and axial part; a corner of the profile is given twice. */
type Ring = [radius: number, height: number, radial: number, axial: number, edge: boolean];

function revolve(profile: Ring[], segments: number): THREE.BufferGeometry {
  const builder = new Builder(!profile.some((ring) => ring[4]));
  const corner = (ring: Ring, k: number) => {
    const angle = (2 * Math.PI * k) / segments;
    return new THREE.Vector3(ring[0] * Math.cos(angle), ring[0] * Math.sin(angle), ring[1]);
  };
  const normal = (ring: Ring, k: number) => {
    const angle = (2 * Math.PI * k) / segments;
    return new THREE.Vector3(
      ring[2] * Math.cos(angle),
      ring[2] * Math.sin(angle),
      ring[3],
    ).normalize();
  };
  for (let i = 0; i + 1 < profile.length; i++) {
    const low = profile[i];
    const high = profile[i + 1];
    if (low[0] === high[0] && low[1] === high[1]) continue;
    for (let k = 0; k < segments; k++) {
      const points = [corner(low, k), corner(low, k + 1), corner(high, k + 1), corner(high, k)];
      const normals = [normal(low, k), normal(low, k + 1), normal(high, k + 1), normal(high, k)];
      const edges = [low[4], false, high[4], false];
      const keep = [0, 1, 2, 3].filter(
        (c) => !(c === 1 && low[0] === 0) && !(c === 2 && high[0] === 0),
      );
      builder.facet(
        keep.map((c) => points[c]),
        keep.map((c) => edges[c]),
        keep.map((c) => normals[c]),
      );
    }
  }
  return builder.finish();
}

function arc(radius: number, centre: number, from: number, to: number, steps: number): Ring[] {
  const rings: Ring[] = [];
  for (let i = 0; i <= steps; i++) {
    const angle = from + ((to - from) * i) / steps;
    const flat = Math.abs(Math.cos(angle)) < 1e-9 ? 0 : Math.cos(angle);
    rings.push([radius * flat, centre + radius * Math.sin(angle), flat, Math.sin(angle), false]);
  }
  return rings;
}

function buildSphere(count: number): THREE.BufferGeometry {
  const n = roundness(count);
  return revolve(arc(1, 0, -Math.PI / 2, Math.PI / 2, n / 2), n);
}

function buildCapsule(slender: number, count: number): THREE.BufferGeometry {
  const n = roundness(count);
  const half = slender / 2;
  return revolve(
    [...arc(1, -half, -Math.PI / 2, 0, n / 4), ...arc(1, half, 0, Math.PI / 2, n / 4)],
    n,
  );
}

function buildCylinder(count: number): THREE.BufferGeometry {
  const profile: Ring[] = [
    [0, -0.5, 0, -1, false],
    [1, -0.5, 0, -1, true],
    [1, -0.5, 1, 0, true],
    [1, 0.5, 1, 0, true],
    [1, 0.5, 0, 1, true],
    [0, 0.5, 0, 1, false],
  ];
  return revolve(profile, roundness(count));
}

function buildCone(count: number): THREE.BufferGeometry {
  const profile: Ring[] = [
    [0, -0.25, 0, -1, false],
    [1, -0.25, 0, -1, true],
    [1, -0.25, 1, 1, true],
    [0, 0.75, 1, 1, false],
  ];
  return revolve(profile, roundness(count));
}

function buildHull(points: number[], facets: number[][]): THREE.BufferGeometry {
  const corner = (i: number) =>
    new THREE.Vector3(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
  const normals = facets.map((facet) => facetNormal(facet.map(corner)));
  const owner = new Map<string, number>(); // directed side: facet
  facets.forEach((facet, f) =>
    facet.forEach((a, i) => owner.set(`${a},${facet[(i + 1) % facet.length]}`, f)),
  );
  const builder = new Builder();
  facets.forEach((facet, f) => {
    const edges = facet.map((a, i) => {
      const other = owner.get(`${facet[(i + 1) % facet.length]},${a}`);
      return other === undefined || normals[other].dot(normals[f]) < FEATURE_COSINE;
    });
    builder.facet(facet.map(corner), edges);
  });
  return builder.finish();
}

function buildPolygon(points: number[]): THREE.BufferGeometry {
  const corners: THREE.Vector3[] = [];
  for (let i = 0; i < points.length; i += 3)
    corners.push(new THREE.Vector3(points[i], points[i + 1], points[i + 2]));
  if (facetNormal(corners).y > 0) corners.reverse(); // towards the eye, which is at y < 0
  const builder = new Builder();
  builder.facet(
    corners,
    corners.map(() => true),
  );
  return withOutwards(
    builder.finish(),
    corners.map((_corner, i) => mitre(corners, i)),
    (k) => fanCorner(k),
  );
}

/* The direction between the outer normals of a corner's two sides, seen from y < 0. */
function mitre(corners: THREE.Vector3[], i: number): THREE.Vector3 {
  const n = corners.length;
  const sum = new THREE.Vector3();
  for (const from of [i, (i + n - 1) % n]) {
    const side = corners[(from + 1) % n].clone().sub(corners[from]);
    sum.add(new THREE.Vector3(side.z, 0, -side.x).normalize());
  }
  return sum.normalize();
}

/* Which corner of a facet its k-th vertex is: triangles (0, i, i + 1). */
function fanCorner(k: number): number {
  return k % 3 === 0 ? 0 : Math.floor(k / 3) + (k % 3);
}

function buildDisc(count: number): THREE.BufferGeometry {
  const n = Math.max(32, roundness(count));
  const builder = new Builder();
  const at = (k: number) => {
    const angle = (2 * Math.PI * k) / n;
    return new THREE.Vector3(Math.cos(angle), 0, Math.sin(angle));
  };
  for (let k = 0; k < n; k++)
    builder.facet([new THREE.Vector3(), at(k), at(k + 1)], [false, true, false]);
  const rays = Array.from({ length: n + 1 }, (_unused, k) => at(k));
  return withOutwards(builder.finish(), rays, (k) => Math.floor(k / 3) + (k % 3 === 2 ? 1 : 0));
}

function withOutwards(
  geometry: THREE.BufferGeometry,
  directions: THREE.Vector3[],
  which: (vertex: number) => number,
): THREE.BufferGeometry {
  const outward = geometry.getAttribute("outward");
  for (let k = 0; k < outward.count; k++) {
    const { x, y, z } = directions[which(k)];
    outward.setXYZ(k, x, y, z);
  }
  return geometry;
}

/** What a shape looks like; null: it is not drawn as a body (half-spaces). */
export function formOf(shape: Shape, number: number): Form | null {
  const form = (
    key: string,
    scale: Vec3,
    pattern: Pattern,
    build: Form["build"],
    many = false,
  ): Form => ({
    key,
    scale,
    pattern,
    many,
    build,
  });
  switch (shape.kind) {
    case "box":
      return form("box", shape.size, "none", buildBox);
    case "sphere":
      return form("sphere", [shape.radius, shape.radius, shape.radius], "octants", buildSphere);
    case "ellipsoid":
      return form("sphere", shape.size, "octants", buildSphere);
    case "capsule": {
      const slender = shape.length / shape.radius;
      const r = shape.radius;
      return form(
        `capsule ${slender.toPrecision(4)}`,
        [r, r, r],
        "octants",
        (n) => buildCapsule(slender, n),
        true,
      );
    }
    case "cylinder":
      return form("cylinder", [shape.radius, shape.radius, shape.length], "sectors", buildCylinder);
    case "cone":
      return form("cone", [shape.radius, shape.radius, shape.length], "sectors", buildCone);
    case "hull":
      return form(
        `hull ${number}`,
        [1, 1, 1],
        "none",
        () => buildHull(shape.points, shape.facets),
        true,
      );
    case "polygon":
      return form(`polygon ${number}`, [1, 1, 1], "none", () => buildPolygon(shape.points), true);
    case "disc":
      return form("disc", [shape.radius, 1, shape.radius], "flat-sectors", buildDisc);
    case "halfspace":
    case "compound":
      return null;
  }
}

/** Flattens compounds. */
export function partsOf(manifest: Manifest, number: number, pose: Pose, into: Part[] = []): Part[] {
  const shape = manifest.shapes[number];
  if (shape.kind !== "compound") into.push({ shape, number, pose });
  else
    for (const part of shape.parts) partsOf(manifest, part.shape, joinPoses(pose, part.pose), into);
  return into;
}

export function joinPoses(outer: Pose, inner: Pose): Pose {
  const q = new THREE.Quaternion(outer[3], outer[4], outer[5], outer[6]);
  const p = new THREE.Vector3(inner[0], inner[1], inner[2]).applyQuaternion(q);
  q.multiply(new THREE.Quaternion(inner[3], inner[4], inner[5], inner[6]));
  return [outer[0] + p.x, outer[1] + p.y, outer[2] + p.z, q.x, q.y, q.z, q.w];
}

/** Half the size of the box about a shape, and its middle, in the shape's frame. */
export function boxOf(shape: Shape): { middle: Vec3; half: Vec3 } | null {
  switch (shape.kind) {
    case "box":
      return {
        middle: [0, 0, 0],
        half: [shape.size[0] / 2, shape.size[1] / 2, shape.size[2] / 2],
      };
    case "sphere":
      return { middle: [0, 0, 0], half: [shape.radius, shape.radius, shape.radius] };
    case "disc":
      return { middle: [0, 0, 0], half: [shape.radius, 0, shape.radius] };
    case "ellipsoid":
      return { middle: [0, 0, 0], half: [...shape.size] };
    case "capsule":
      return {
        middle: [0, 0, 0],
        half: [shape.radius, shape.radius, shape.length / 2 + shape.radius],
      };
    case "cylinder":
      return { middle: [0, 0, 0], half: [shape.radius, shape.radius, shape.length / 2] };
    case "cone":
      return {
        middle: [0, 0, shape.length / 4],
        half: [shape.radius, shape.radius, shape.length / 2],
      };
    case "hull":
    case "polygon": {
      const low: Vec3 = [Infinity, Infinity, Infinity];
      const high: Vec3 = [-Infinity, -Infinity, -Infinity];
      shape.points.forEach((x, i) => {
        low[i % 3] = Math.min(low[i % 3], x);
        high[i % 3] = Math.max(high[i % 3], x);
      });
      const middle = low.map((x, i) => (x + high[i]) / 2) as Vec3;
      return { middle, half: low.map((x, i) => (high[i] - x) / 2) as Vec3 };
    }
    case "halfspace":
    case "compound":
      return null;
  }
}

/** A part's half extents along the world's axes when it is turned by a rotation matrix (row
 * major). Exact for boxes, hulls and everything round; written to `out` as low x y z, high x y z. */
export function worldBox(
  shape: Shape,
  m: ArrayLike<number>,
  p: ArrayLike<number>,
  out: Float64Array,
): void {
  for (let i = 0; i < 3; i++) {
    const r0 = m[3 * i];
    const r1 = m[3 * i + 1];
    const r2 = m[3 * i + 2];
    let middle = 0;
    let half = 0;
    let low = Infinity;
    let high = -Infinity;
    switch (shape.kind) {
      case "sphere":
        half = shape.radius;
        break;
      case "disc":
        half = shape.radius * Math.hypot(r0, r2);
        break;
      case "ellipsoid":
        half = Math.hypot(r0 * shape.size[0], r1 * shape.size[1], r2 * shape.size[2]);
        break;
      case "box":
        half =
          (Math.abs(r0) * shape.size[0] +
            Math.abs(r1) * shape.size[1] +
            Math.abs(r2) * shape.size[2]) /
          2;
        break;
      case "capsule":
        half = shape.radius + (Math.abs(r2) * shape.length) / 2;
        break;
      case "cylinder":
        half = shape.radius * Math.hypot(r0, r1) + (Math.abs(r2) * shape.length) / 2;
        break;
      case "cone": {
        const base = shape.radius * Math.hypot(r0, r1);
        const tip = 0.75 * shape.length * r2;
        const foot = -0.25 * shape.length * r2;
        low = Math.min(tip, foot - base);
        high = Math.max(tip, foot + base);
        break;
      }
      case "hull":
      case "polygon":
        for (let k = 0; k < shape.points.length; k += 3) {
          const x = r0 * shape.points[k] + r1 * shape.points[k + 1] + r2 * shape.points[k + 2];
          if (x < low) low = x;
          if (x > high) high = x;
        }
        break;
      default:
        middle = NaN;
    }
    out[i] = p[i] + (low === Infinity ? middle - half : low);
    out[3 + i] = p[i] + (high === -Infinity ? middle + half : high);
  }
}
