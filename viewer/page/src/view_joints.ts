/* Joints: the points that they hold together, the axes that they leave free, limits of angles as
 * arcs with a hand at the angle of now, limits of sliders as the way between them, rods and ropes
 * as lines. */

import * as THREE from "three";
import type { Joint, Manifest, Vec3 } from "./contract";
import { MARK_COLOURS } from "./palette";
import type { Theme } from "./palette";
import { jointCoordinates, jointFrames } from "./ui_joint";
import { type Placement, add, length, rotate, scale, subtract } from "./ui_vector";
import { Lines, Points } from "./view_marks";
import type { MarkUniforms } from "./view_marks";
import type { Poses } from "./view_overlays";
import type { SceneSize } from "./view_scene";

const AXIS = 0.7; // typical bodies: half the length of an axis
const ARC = 0.45; // ... radius of an arc
const LONGEST = 4; // ... half the way of a slider at most
const ARC_LINES = 24;
const APART = 1e-3; // ... points that are drawn as two

export class Joints {
  readonly object = new THREE.Group();
  private readonly lines: Lines;
  private readonly points: Points;
  private readonly colour = new THREE.Color();
  private lineCount = 0;
  private pointCount = 0;

  constructor(
    private readonly manifest: Manifest,
    private readonly size: SceneSize,
    uniforms: MarkUniforms,
  ) {
    this.lines = new Lines(uniforms, 2.2, 0.45, 66);
    this.points = new Points(uniforms, "joint", 67);
    this.object.add(this.lines.object, this.points.object);
  }

  setTheme(theme: Theme): void {
    this.colour.set(MARK_COLOURS[theme].joint);
  }

  private line(from: Vec3, to: Vec3, opacity: number): void {
    const i = this.lineCount++;
    this.lines.reserve(this.lineCount);
    this.lines.array("begin").set(from, 3 * i);
    this.lines.array("end").set(to, 3 * i);
    this.colour.toArray(this.lines.array("tone"), 4 * i);
    this.lines.array("tone")[4 * i + 3] = opacity;
    this.lines.array("tail")[i] = 1;
  }

  private point(at: Vec3): void {
    const i = this.pointCount++;
    this.points.reserve(this.pointCount);
    this.points.array("origin").set(at, 3 * i);
    this.colour.toArray(this.points.array("tone"), 4 * i);
    this.points.array("tone")[4 * i + 3] = 1;
  }

  /** Along a direction of a frame, both ways. */
  private axis(frame: Placement, direction: Vec3, from: number, to: number): void {
    const along = rotate(frame.orientation, direction);
    const at = frame.position;
    this.line(add(at, scale(along, from)), add(at, scale(along, to)), 0.9);
  }

  private arc(frame: Placement, lower: number, upper: number, now: number): void {
    const radius = ARC * this.size.typical;
    const at = (angle: number): Vec3 => {
      const local: Vec3 = [radius * Math.cos(angle), radius * Math.sin(angle), 0];
      return add(frame.position, rotate(frame.orientation, local));
    };
    const whole = Math.min(upper - lower, 2 * Math.PI);
    for (let i = 0; i < ARC_LINES; i++) {
      const angle = lower + (whole * i) / ARC_LINES;
      this.line(at(angle), at(angle + whole / ARC_LINES), 0.55);
    }
    this.line(frame.position, at(now), 0.9);
  }

  private draw(joint: Joint, a: Placement, b: Placement): void {
    const half = AXIS * this.size.typical;
    const coordinates = jointCoordinates(joint, a, b);
    this.point(a.position);
    const apart = length(subtract(b.position, a.position));
    if (apart > APART * this.size.typical) this.point(b.position);
    const turning = joint.axes.findIndex((axis) => axis.angle);
    switch (joint.kind) {
      case "distance":
        this.line(a.position, b.position, 0.9);
        return;
      case "universal":
        this.axis(a, [1, 0, 0], -half, half);
        this.axis(b, [0, 1, 0], -half, half);
        return;
      case "planar":
        this.axis(a, [1, 0, 0], -half, half);
        this.axis(a, [0, 1, 0], -half, half);
        return;
      case "hinge":
      case "slider":
      case "cylindrical": {
        const most = LONGEST * this.size.typical;
        const way = joint.axes.find((axis) => !axis.angle);
        const from = Math.max(way?.lower ?? -half, -most);
        const to = Math.min(way?.upper ?? half, most);
        this.axis(a, [0, 0, 1], from, to);
        const { lower, upper } = turning < 0 ? { lower: null, upper: null } : joint.axes[turning];
        if (lower !== null && upper !== null) this.arc(a, lower, upper, coordinates[turning]);
        return;
      }
      default:
    }
  }

  update(poses: Poses, on: boolean): void {
    this.lineCount = 0;
    this.pointCount = 0;
    const p = poses.position;
    const q = poses.orientation;
    const placement = (i: number): Placement => ({
      position: [p[3 * i], p[3 * i + 1], p[3 * i + 2]],
      orientation: [q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]],
    });
    for (const joint of on ? (this.manifest.joints ?? []) : [])
      if (joint.a < poses.count && joint.b < poses.count)
        this.draw(joint, ...jointFrames(joint, placement));
    this.lines.finish(this.lineCount);
    this.points.finish(this.pointCount);
  }

  dispose(): void {
    this.lines.dispose();
    this.points.dispose();
  }
}
