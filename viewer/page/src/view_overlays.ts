/* What is drawn of bodies beside themselves: centres of mass, velocities, traces, bounding boxes. */

import * as THREE from "three";
import type { Frame, FrameSource, Manifest } from "./contract";
import { bodyColour, MARK_COLOURS } from "./palette";
import type { Theme } from "./palette";
import type { Scale } from "./view_contacts";
import { Arrows, Lines, Points } from "./view_marks";
import type { MarkUniforms } from "./view_marks";
import { jumps } from "./view_pose";
import { product, rotation } from "./view_scene";
import type { SceneSize } from "./view_scene";
import { worldBox } from "./view_shapes";

const TRACE_SECONDS = 3;
const TRACE_SEGMENTS = 60000; // of all bodies together
const BOX_LINES = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];

export interface Poses {
  position: Float32Array;
  orientation: Float32Array;
  count: number; // of bodies
}

export class Overlays {
  readonly object = new THREE.Group();
  private readonly centres: Points;
  private readonly velocities: Arrows;
  private readonly traces: Lines;
  private readonly boxes: Lines;
  private readonly dynamic: number[];
  private readonly hasPrescribed: boolean;
  private readonly velocityColour = new THREE.Color();
  private readonly boxColour = new THREE.Color();
  private readonly bodyColours: THREE.Color[];
  private readonly offset = new THREE.Vector3();
  private readonly quaternion = new THREE.Quaternion();
  private readonly corner = new Float64Array(6);
  private readonly here = new THREE.Vector3();
  private readonly before = new THREE.Vector3();

  constructor(
    private readonly manifest: Manifest,
    private readonly size: SceneSize,
    uniforms: MarkUniforms,
    private readonly speedScale: Scale,
  ) {
    this.traces = new Lines(uniforms, 1.6, 0.25, 20);
    this.boxes = new Lines(uniforms, 1.1, 0.3, 30);
    this.velocities = new Arrows(uniforms, false, 65);
    this.centres = new Points(uniforms, "centre", 80);
    for (const marks of [this.traces, this.boxes, this.velocities, this.centres])
      this.object.add(marks.object);
    this.hasPrescribed = manifest.bodies.some((body) => body.motion === "kinematic");
    this.dynamic = [];
    manifest.bodies.forEach((body, i) => body.motion !== "fixed" && this.dynamic.push(i));
    this.bodyColours = manifest.bodies.map((_body, i) =>
      new THREE.Color(bodyColour(i)).multiplyScalar(0.75),
    );
  }

  setTheme(theme: Theme): void {
    this.velocityColour.set(MARK_COLOURS[theme].velocity);
    this.boxColour.set(MARK_COLOURS[theme].box);
    this.bodyColours.forEach((colour, i) =>
      colour.set(bodyColour(i)).multiplyScalar(theme === "light" ? 0.7 : 1),
    );
  }

  private centreOf(
    poses: Pick<Poses, "position" | "orientation">,
    body: number,
    out: THREE.Vector3,
  ): THREE.Vector3 {
    out.fromArray(this.manifest.bodies[body].centre);
    out.applyQuaternion(this.quaternion.fromArray(poses.orientation, 4 * body));
    out.x += poses.position[3 * body];
    out.y += poses.position[3 * body + 1];
    out.z += poses.position[3 * body + 2];
    return out;
  }

  updateCentres(poses: Poses, on: boolean): void {
    if (!on) return this.centres.hide();
    this.centres.reserve(this.dynamic.length);
    const origin = this.centres.array("origin");
    const tone = this.centres.array("tone");
    let count = 0;
    for (const body of this.dynamic) {
      if (body >= poses.count) continue;
      this.centreOf(poses, body, this.offset).toArray(origin, 3 * count);
      tone.fill(1, 4 * count, 4 * count + 4);
      count++;
    }
    this.centres.finish(count);
  }

  /** Of all bodies that move, or of those whose motion is prescribed only. */
  updateVelocities(poses: Poses, frame: Frame, all: boolean, prescribed: boolean): void {
    const v = frame.velocity;
    const speed = (body: number) => Math.hypot(v[3 * body], v[3 * body + 1], v[3 * body + 2]);
    this.speedScale.add(frame.index, (i) => speed(this.dynamic[i]), this.dynamic.length);
    if (!all && !(prescribed && this.hasPrescribed)) return this.velocities.hide();
    this.velocities.reserve(this.dynamic.length);
    const origin = this.velocities.array("origin");
    const along = this.velocities.array("along");
    const tone = this.velocities.array("tone");
    /* What is prescribed is slow beside what falls: alone it has a scale of its own. */
    const driven = this.dynamic.filter((body) => this.manifest.bodies[body].motion === "kinematic" && body < poses.count);
    const fastest = all ? this.speedScale.value() : Math.max(0, ...driven.map(speed));
    const seconds = (1.4 * this.size.typical) / (fastest || 1);
    let count = 0;
    for (const body of this.dynamic) {
      if (body >= poses.count || !(speed(body) * seconds > 0.02 * this.size.typical)) continue;
      if (!all && this.manifest.bodies[body].motion !== "kinematic") continue;
      this.centreOf(poses, body, this.offset).toArray(origin, 3 * count);
      for (let k = 0; k < 3; k++) along[3 * count + k] = v[3 * body + k] * seconds;
      this.velocityColour.toArray(tone, 4 * count);
      tone[4 * count + 3] = 1;
      count++;
    }
    this.velocities.finish(count);
  }

  /** The way of the centres of mass over the last seconds, as far as it is loaded. Samples are
   * taken at frame numbers that do not depend on the present, so that the line does not waver. */
  updateTraces(poses: Poses, source: FrameSource, index: number, on: boolean): void {
    if (!on) return this.traces.hide();
    const now = source.timeOf(index);
    const begin = source.indexAt(now - TRACE_SECONDS);
    const most = Math.max(
      6,
      Math.min(90, Math.floor(TRACE_SEGMENTS / Math.max(1, this.dynamic.length))),
    );
    const stride = Math.max(1, Math.ceil((index - begin) / most));
    const frames: Frame[] = [];
    for (let i = Math.ceil(begin / stride) * stride; i <= index; i += stride) {
      const frame = source.peek(i);
      if (frame) frames.push(frame);
    }
    const spacing = index > source.first() ? stride * (now - source.timeOf(index - 1)) : 0;
    this.traces.reserve(this.dynamic.length * (frames.length + 1));
    const first = this.traces.array("begin");
    const last = this.traces.array("end");
    const tone = this.traces.array("tone");
    const tail = this.traces.array("tail");
    let count = 0;
    for (const body of this.dynamic) {
      let known = false;
      for (let s = 0; s <= frames.length; s++) {
        const frame = s < frames.length ? frames[s] : null; // null: now
        const bodies = frame ? frame.position.length / 3 : poses.count;
        if (body >= bodies) continue;
        this.centreOf(frame ?? poses, body, this.here);
        const moved = this.here.distanceTo(this.before);
        if (known && moved < 1e-4 * this.size.typical) continue;
        const age = 1 - (now - (frame ? frame.time : now)) / TRACE_SECONDS;
        if (
          known &&
          s > 0 &&
          !jumps(frames[s - 1], frame ?? frames[s - 1], body, this.size.typical)
        ) {
          this.before.toArray(first, 3 * count);
          this.here.toArray(last, 3 * count);
          this.bodyColours[body].toArray(tone, 4 * count);
          tone[4 * count + 3] = 0.9 * Math.max(0, age);
          tail[count] = age > 0 ? Math.max(0, age - spacing / TRACE_SECONDS) / age : 0;
          count++;
        }
        this.before.copy(this.here);
        known = true;
      }
    }
    this.traces.finish(count);
  }

  /** Along the world's axes, as the broad phase has them. */
  updateBoxes(poses: Poses, on: boolean): void {
    if (!on) return this.boxes.hide();
    const bodies = Math.min(poses.count, this.manifest.bodies.length);
    this.boxes.reserve(12 * bodies);
    const begin = this.boxes.array("begin");
    const end = this.boxes.array("end");
    const tone = this.boxes.array("tone");
    const tail = this.boxes.array("tail");
    const box = new Float64Array(6);
    let count = 0;
    for (let body = 0; body < bodies; body++) {
      if (this.size.parts[body].length === 0) continue;
      this.boxAround(poses, body, box);
      for (let k = 0; k < BOX_LINES.length; k += 2) {
        for (let axis = 0; axis < 3; axis++) {
          begin[3 * count + axis] = box[axis + ((BOX_LINES[k] >> axis) & 1 ? 3 : 0)];
          end[3 * count + axis] = box[axis + ((BOX_LINES[k + 1] >> axis) & 1 ? 3 : 0)];
        }
        this.boxColour.toArray(tone, 4 * count);
        tone[4 * count + 3] = 0.8;
        tail[count] = 1;
        count++;
      }
    }
    this.boxes.finish(count);
  }

  private boxAround(poses: Poses, body: number, out: Float64Array): void {
    out.fill(Infinity, 0, 3).fill(-Infinity, 3, 6);
    const o = poses.orientation;
    const turn = rotation(o[4 * body], o[4 * body + 1], o[4 * body + 2], o[4 * body + 3]);
    for (const { shape, pose } of this.size.parts[body]) {
      const m = product(turn, rotation(pose[3], pose[4], pose[5], pose[6]));
      const p = [0, 1, 2].map(
        (i) =>
          poses.position[3 * body + i] +
          turn[3 * i] * pose[0] +
          turn[3 * i + 1] * pose[1] +
          turn[3 * i + 2] * pose[2],
      );
      worldBox(shape, m, p, this.corner);
      for (let i = 0; i < 3; i++) {
        out[i] = Math.min(out[i], this.corner[i]);
        out[3 + i] = Math.max(out[3 + i], this.corner[3 + i]);
      }
    }
  }

  dispose(): void {
    for (const marks of [this.traces, this.boxes, this.velocities, this.centres]) marks.dispose();
  }
}
