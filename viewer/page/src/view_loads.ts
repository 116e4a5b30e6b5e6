/* What acts on bodies besides gravity and contact: loads as arrows from where they act, in the scale
 * of the contact forces; springs as coils between the points that they join; the hand of a live run
 * as a line from the point that it holds to the pointer. */

import * as THREE from "three";
import type { Frame, Manifest, Vec3 } from "./contract";
import { MARK_COLOURS } from "./palette";
import type { Theme } from "./palette";
import { type Placement, add, cross, length, place, scale, subtract, unit } from "./ui_vector";
import { Arrows, Lines, Points } from "./view_marks";
import type { MarkUniforms } from "./view_marks";
import type { Poses } from "./view_overlays";

const COILS = 9;
const COIL = 0.09; // typical bodies: half the width of a coil
const LEAD = 0.12; // of its length, straight at either end

export interface Pull {
  body: number;
  point: Vec3; // in the body's origin frame
  target: Vec3; // world
}

export class Loads {
  readonly object = new THREE.Group();
  private readonly arrows: Arrows;
  private readonly lines: Lines;
  private readonly points: Points;
  private readonly forceColour = new THREE.Color();
  private readonly springColour = new THREE.Color();
  private readonly pullColour = new THREE.Color();
  private lineCount = 0;
  private pointCount = 0;
  pull: Pull | null = null;

  constructor(
    private readonly manifest: Manifest,
    uniforms: MarkUniforms,
    private readonly typical: number,
  ) {
    this.arrows = new Arrows(uniforms, false, 61);
    this.lines = new Lines(uniforms, 2, 0.45, 64);
    this.points = new Points(uniforms, "dot", 65);
    this.object.add(this.arrows.object, this.lines.object, this.points.object);
  }

  setTheme(theme: Theme): void {
    this.forceColour.set(MARK_COLOURS[theme].force);
    this.springColour.set(MARK_COLOURS[theme].spring);
    this.pullColour.set(MARK_COLOURS[theme].selection);
  }

  private line(from: Vec3, to: Vec3, colour: THREE.Color): void {
    const i = this.lineCount++;
    this.lines.reserve(this.lineCount);
    this.lines.array("begin").set(from, 3 * i);
    this.lines.array("end").set(to, 3 * i);
    colour.toArray(this.lines.array("tone"), 4 * i);
    this.lines.array("tone")[4 * i + 3] = 0.95;
    this.lines.array("tail")[i] = 1;
  }

  private point(at: Vec3, colour: THREE.Color): void {
    const i = this.pointCount++;
    this.points.reserve(this.pointCount);
    this.points.array("origin").set(at, 3 * i);
    colour.toArray(this.points.array("tone"), 4 * i);
    this.points.array("tone")[4 * i + 3] = 1;
  }

  /** A zigzag in a plane that contains the spring and, if it can, the horizontal. */
  private coil(from: Vec3, to: Vec3, colour: THREE.Color): void {
    const along = subtract(to, from);
    const direction = unit(along, [0, 0, 1]);
    const side = unit(cross(direction, [0, 0, 1]), [1, 0, 0]);
    const width = Math.min(COIL * this.typical, 0.4 * length(along));
    let before = from;
    for (let i = 0; i <= 2 * COILS; i++) {
      const part = LEAD + ((1 - 2 * LEAD) * i) / (2 * COILS);
      const out = i === 0 || i === 2 * COILS ? 0 : i % 2 === 0 ? width : -width;
      const next = add(add(from, scale(along, part)), scale(side, out));
      this.line(before, next, colour);
      before = next;
    }
    this.line(before, to, colour);
    this.point(from, colour);
    this.point(to, colour);
  }

  private fillArrows(frame: Frame, newtonsPerMetre: number, selected: number | null): void {
    const { loads } = frame;
    this.arrows.reserve(loads.length);
    const origin = this.arrows.array("origin");
    const along = this.arrows.array("along");
    const tone = this.arrows.array("tone");
    let count = 0;
    for (const load of loads) {
      if (!(length(load.force) / newtonsPerMetre > 0.01 * this.typical)) continue; // a speck
      if (this.manifest.bodies[load.body]?.motion !== "dynamic") continue;
      origin.set(load.point, 3 * count);
      along.set(scale(load.force, 1 / newtonsPerMetre), 3 * count);
      this.forceColour.toArray(tone, 4 * count);
      tone[4 * count + 3] = selected === null || selected === load.body ? 1 : 0.22;
      count++;
    }
    this.arrows.finish(count);
  }

  update(
    poses: Poses,
    frame: Frame,
    on: { forces: boolean; joints: boolean },
    newtonsPerMetre: number,
    selected: number | null,
  ): void {
    this.lineCount = this.pointCount = 0;
    const p = poses.position;
    const q = poses.orientation;
    const at = (body: number, point: Vec3): Vec3 => {
      if (body < 0) return point;
      const placement: Placement = {
        position: [p[3 * body], p[3 * body + 1], p[3 * body + 2]],
        orientation: [q[4 * body], q[4 * body + 1], q[4 * body + 2], q[4 * body + 3]],
      };
      return place(placement, point);
    };
    for (const spring of on.joints ? (this.manifest.springs ?? []) : [])
      if (spring.a < poses.count && spring.b < poses.count)
        this.coil(at(spring.a, spring.point_a), at(spring.b, spring.point_b), this.springColour);
    if (this.pull && this.pull.body < poses.count)
      this.coil(at(this.pull.body, this.pull.point), this.pull.target, this.pullColour);
    this.lines.finish(this.lineCount);
    this.points.finish(this.pointCount);
    if (on.forces) this.fillArrows(frame, newtonsPerMetre, selected);
    else this.arrows.hide();
  }

  dispose(): void {
    for (const marks of [this.arrows, this.lines, this.points]) marks.dispose();
  }
}
