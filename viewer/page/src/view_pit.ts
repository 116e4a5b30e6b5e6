/* Walls that are half-spaces cannot be seen. Where they stand on level ground, their foot is
 * drawn as a line with posts at its corners, so that one understands what holds the stones. */

import * as THREE from "three";
import { BACKGROUNDS } from "./palette";
import type { Theme } from "./palette";
import { Lines } from "./view_marks";
import type { MarkUniforms } from "./view_marks";

interface Corner {
  at: THREE.Vector3;
  wall: boolean; // whether the side from here to the next corner is a wall's foot
}

/* Keeps what lies in front of a plane; the cut becomes a wall's foot. */
function clip(corners: Corner[], wall: THREE.Plane): Corner[] {
  const kept: Corner[] = [];
  corners.forEach((corner, i) => {
    const next = corners[(i + 1) % corners.length];
    const here = wall.distanceToPoint(corner.at);
    const there = wall.distanceToPoint(next.at);
    if (here >= 0) kept.push(corner);
    if (here >= 0 === there >= 0) return;
    const cut = corner.at.clone().lerp(next.at, here / (here - there));
    kept.push({ at: cut, wall: here >= 0 ? true : corner.wall });
  });
  return kept;
}

export class Pit {
  readonly object: THREE.Group;
  private readonly lines: Lines;
  private readonly colour = new THREE.Color();
  private key = "";

  constructor(uniforms: MarkUniforms) {
    this.lines = new Lines(uniforms, 1.4, 0.5, 10);
    this.object = this.lines.object;
  }

  setTheme(theme: Theme): void {
    this.colour.set(BACKGROUNDS[theme].line);
    this.key = "";
  }

  /** Planes are in the world. Nothing is done unless something has changed. */
  update(
    ground: THREE.Plane | null,
    walls: THREE.Plane[],
    middle: THREE.Vector3,
    radius: number,
  ): void {
    if (!ground || walls.length === 0) return this.lines.hide();
    const key = [ground, ...walls]
      .map((plane) => [...plane.normal.toArray(), plane.constant].join())
      .join(" ");
    if (key === this.key) return;
    this.key = key;
    const size = 4 * radius;
    const x = new THREE.Vector3()
      .crossVectors(ground.normal, new THREE.Vector3(0.1, 1, 0.2))
      .normalize();
    const y = new THREE.Vector3().crossVectors(ground.normal, x);
    const centre = ground.projectPoint(middle, new THREE.Vector3());
    let corners: Corner[] = [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ].map(([a, b]) => ({
      at: centre
        .clone()
        .addScaledVector(x, a * size)
        .addScaledVector(y, b * size),
      wall: false,
    }));
    for (const wall of walls) corners = clip(corners, wall);
    this.fill(corners, ground.normal, 0.5 * radius);
  }

  private fill(corners: Corner[], up: THREE.Vector3, height: number): void {
    const n = corners.length;
    this.lines.reserve(2 * n);
    const begin = this.lines.array("begin");
    const end = this.lines.array("end");
    const tone = this.lines.array("tone");
    const tail = this.lines.array("tail");
    let count = 0;
    const put = (from: THREE.Vector3, to: THREE.Vector3, fade: number) => {
      from.toArray(begin, 3 * count);
      to.toArray(end, 3 * count);
      this.colour.toArray(tone, 4 * count);
      tone[4 * count + 3] = 0.8;
      tail[count] = fade;
      count++;
    };
    corners.forEach((corner, i) => {
      if (corner.wall) put(corner.at, corners[(i + 1) % n].at, 1);
      if (corner.wall && corners[(i + n - 1) % n].wall)
        put(corner.at.clone().addScaledVector(up, height), corner.at, 0);
    });
    this.lines.finish(count);
  }

  dispose(): void {
    this.lines.dispose();
  }
}
