/* How large the bodies of a scene are: the measure of what counts as deep, far or large there. */

import type { Manifest, Shape, Vec3 } from "./contract";

function extents(shape: Shape, manifest: Manifest): Vec3 | null {
  switch (shape.kind) {
    case "halfspace":
      return null;
    case "box":
      return shape.size;
    case "ellipsoid": // semi-axes
      return [2 * shape.size[0], 2 * shape.size[1], 2 * shape.size[2]];
    case "sphere":
    case "disc":
      return [2 * shape.radius, 2 * shape.radius, 2 * shape.radius];
    case "capsule":
      return [2 * shape.radius, 2 * shape.radius, shape.length + 2 * shape.radius];
    case "cylinder":
    case "cone":
      return [2 * shape.radius, 2 * shape.radius, shape.length];
    case "hull":
    case "polygon": {
      const low: Vec3 = [Infinity, Infinity, Infinity];
      const high: Vec3 = [-Infinity, -Infinity, -Infinity];
      shape.points.forEach((value, i) => {
        low[i % 3] = Math.min(low[i % 3], value);
        high[i % 3] = Math.max(high[i % 3], value);
      });
      return [high[0] - low[0], high[1] - low[1], high[2] - low[2]];
    }
    case "compound": {
      const parts = shape.parts.map((part) => extents(manifest.shapes[part.shape], manifest));
      const sizes = parts.filter((part): part is Vec3 => part !== null);
      /* The thinnest part is what could be passed through. */
      sizes.sort((a, b) => Math.min(...a) - Math.min(...b));
      return sizes[0] ?? null;
    }
  }
}

/** Of all moving bodies, the smallest extent of any shape. */
export function thinnest(manifest: Manifest): number {
  const ofShape = manifest.shapes.map((shape) => {
    const size = extents(shape, manifest);
    const flat = manifest.planar && size ? [size[0], size[2]] : size;
    return flat ? Math.min(...flat) : Infinity;
  });
  let least = Infinity;
  for (const body of manifest.bodies) {
    if (body.motion !== "dynamic") continue;
    for (const collider of body.colliders) least = Math.min(least, ofShape[collider.shape]);
  }
  return Number.isFinite(least) && least > 0 ? least : 1;
}

/** Half of the moving bodies are larger: the mean extent of their largest shapes. */
export function typicalSize(manifest: Manifest): number {
  const ofShape = manifest.shapes.map((shape) => {
    const size = extents(shape, manifest);
    if (!size) return 0;
    return manifest.planar ? (size[0] + size[2]) / 2 : (size[0] + size[1] + size[2]) / 3;
  });
  const sizes = manifest.bodies
    .filter((body) => body.motion === "dynamic" && body.colliders.length > 0)
    .map((body) => Math.max(...body.colliders.map((collider) => ofShape[collider.shape])))
    .filter((size) => size > 0)
    .sort((a, b) => a - b);
  return sizes[sizes.length >> 1] ?? 1;
}
