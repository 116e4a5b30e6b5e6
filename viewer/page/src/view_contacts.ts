/* Contacts: points, normals, forces and friction cones.
 *
 * A force acts on both bodies; one of the two is drawn. That on the body that can move; of two
 * that can, on the one that it carries (against gravity); if one is selected, on that one.
 * Lengths are proportional to newtons. The scale is set by the forces seen so far, and changes
 * only when they change much: the 95th percentile is as long as a typical body, or longer if it
 * is many times what is usual, since next to blows, which are hundreds of times a weight, weights
 * could not be seen. */

import * as THREE from "three";
import { CONTACT_MODES } from "./contract";
import type { Contact, Frame, Manifest } from "./contract";
import { MARK_COLOURS, MODE_COLOURS } from "./palette";
import type { Theme } from "./palette";
import { Arrows, Cones, Points } from "./view_marks";
import type { MarkUniforms } from "./view_marks";

const SAMPLES = 4096;
const PER_FRAME = 64;
/** Of the largest. */
const NEGLIGIBLE = 1e-5;

/** A size that is typical of the numbers seen, and does not jump about. */
export class Scale {
  private readonly values = new Float64Array(SAMPLES);
  private count = 0;
  private next = 0;
  private used = 0;
  private readonly seen = new Set<number>();

  /** Once per frame number. */
  add(frame: number, each: (index: number) => number, count: number): void {
    if (this.seen.has(frame) || count === 0) return;
    if (this.seen.size > 20000) this.seen.clear();
    this.seen.add(frame);
    const stride = Math.max(1, Math.floor(count / PER_FRAME));
    for (let i = 0; i < count; i += stride) {
      const value = each(i);
      if (!(value > 0) || !Number.isFinite(value)) continue;
      this.values[this.next] = value;
      this.next = (this.next + 1) % SAMPLES;
      this.count = Math.min(this.count + 1, SAMPLES);
    }
    this.refresh();
  }

  value(): number {
    return this.used;
  }

  private refresh(): void {
    if (this.count === 0) return;
    const all = this.values.slice(0, this.count).sort();
    /* Many contacts carry next to nothing (rounding): they would make "usual" meaningless. */
    const sorted = all.filter((value) => value > NEGLIGIBLE * all[all.length - 1]);
    const at = (part: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
    const large = at(0.95);
    const now = large / Math.pow(Math.max(1, large / at(0.4) / 4), 0.75);
    if (this.used === 0 || now > 1.6 * this.used || now < this.used / 2.5) this.used = now;
  }
}

/** +1: a contact's force is drawn on its body A; -1: on B. */
export function drawnSide(contact: Contact, manifest: Manifest, selected: number | null): 1 | -1 {
  if (selected === contact.a) return 1;
  if (selected === contact.b) return -1;
  const movesA = manifest.bodies[contact.a]?.motion === "dynamic";
  const movesB = manifest.bodies[contact.b]?.motion === "dynamic";
  if (movesA !== movesB) return movesA ? 1 : -1;
  const g = manifest.gravity;
  const f = contact.force;
  return f[0] * g[0] + f[1] * g[1] + f[2] * g[2] <= 0 ? 1 : -1;
}

export interface ContactSwitches {
  contacts: boolean;
  normals: boolean;
  forces: boolean;
  cones: boolean;
  modes: boolean;
}

export class ContactMarks {
  readonly object = new THREE.Group();
  private readonly points: Points;
  private readonly normals: Arrows;
  private readonly forces: Arrows;
  private readonly cones: Cones;
  private fixedScale: number | null = null; // N per typical body
  private readonly modeColours = CONTACT_MODES.map(() => new THREE.Color());
  private readonly forceColour = new THREE.Color();
  private readonly normalColour = new THREE.Color();

  constructor(
    private readonly manifest: Manifest,
    uniforms: MarkUniforms,
    private readonly typical: number,
    private scale: Scale,
  ) {
    this.cones = new Cones(uniforms, 40);
    this.normals = new Arrows(uniforms, true, 50);
    this.forces = new Arrows(uniforms, false, 60);
    this.points = new Points(uniforms, "dot", 70);
    for (const marks of [this.cones, this.normals, this.forces, this.points])
      this.object.add(marks.object);
  }

  setTheme(theme: Theme): void {
    CONTACT_MODES.forEach((mode, i) => this.modeColours[i].set(MODE_COLOURS[theme][mode]));
    this.forceColour.set(MARK_COLOURS[theme].force);
    this.normalColour.set(MARK_COLOURS[theme].normal);
  }

  useScale(scale: Scale): void {
    this.scale = scale;
  }

  setScale(newtons: number | null): void {
    this.fixedScale = newtons !== null && newtons > 0 ? newtons : null;
  }

  /** Newtons per metre of arrow. */
  newtonsPerMetre(): number {
    return (this.fixedScale ?? (this.scale.value() || this.guess())) / this.typical;
  }

  /* Before any force was seen: the weight of the heaviest body. */
  private guess(): number {
    const mass = Math.max(0, ...this.manifest.bodies.map((body) => body.mass ?? 0));
    const gravity = Math.hypot(...this.manifest.gravity) || 1;
    return mass * gravity || 1;
  }

  update(frame: Frame, on: ContactSwitches, selected: number | null): void {
    const contacts = frame.contacts;
    const forces = [...contacts, ...frame.loads];
    this.scale.add(frame.index, (i) => Math.hypot(...forces[i].force), forces.length);
    if (on.contacts) this.fillPoints(contacts, on, selected);
    else this.points.hide();
    if (on.normals) this.fillNormals(contacts, selected);
    else this.normals.hide();
    if (on.forces) this.fillForces(contacts, on, selected);
    else this.forces.hide();
    if (on.cones) this.fillCones(contacts, on, selected);
    else this.cones.hide();
  }

  hide(): void {
    for (const marks of [this.cones, this.normals, this.forces, this.points]) marks.hide();
  }

  private tone(
    out: Float32Array,
    at: number,
    contact: Contact,
    base: THREE.Color,
    on: ContactSwitches,
    selected: number | null,
  ): void {
    const colour = on.modes ? this.modeColours[CONTACT_MODES.indexOf(contact.mode)] : base;
    out[at] = colour.r;
    out[at + 1] = colour.g;
    out[at + 2] = colour.b;
    out[at + 3] = this.strength(contact, selected);
  }

  private strength(contact: Contact, selected: number | null): number {
    return selected === null || contact.a === selected || contact.b === selected ? 1 : 0.22;
  }

  private fillPoints(contacts: Contact[], on: ContactSwitches, selected: number | null): void {
    this.points.reserve(contacts.length);
    const origin = this.points.array("origin");
    const tone = this.points.array("tone");
    contacts.forEach((contact, i) => {
      origin.set(contact.position, 3 * i);
      this.tone(tone, 4 * i, contact, this.forceColour, on, selected);
    });
    this.points.finish(contacts.length);
  }

  private fillNormals(contacts: Contact[], selected: number | null): void {
    this.normals.reserve(contacts.length);
    const origin = this.normals.array("origin");
    const along = this.normals.array("along");
    const tone = this.normals.array("tone");
    contacts.forEach((contact, i) => {
      const size = drawnSide(contact, this.manifest, selected) * 0.45 * this.typical;
      for (let k = 0; k < 3; k++) {
        origin[3 * i + k] = contact.position[k];
        along[3 * i + k] = contact.normal[k] * size;
      }
      this.normalColour.toArray(tone, 4 * i);
      tone[4 * i + 3] = this.strength(contact, selected);
    });
    this.normals.finish(contacts.length);
  }

  private fillForces(contacts: Contact[], on: ContactSwitches, selected: number | null): void {
    this.forces.reserve(contacts.length);
    const origin = this.forces.array("origin");
    const along = this.forces.array("along");
    const tone = this.forces.array("tone");
    const length = 1 / this.newtonsPerMetre();
    let count = 0;
    for (const contact of contacts) {
      const size = length * drawnSide(contact, this.manifest, selected);
      const newtons = Math.hypot(...contact.force);
      if (!(newtons * length > 0.01 * this.typical)) continue; // a speck
      for (let k = 0; k < 3; k++) {
        origin[3 * count + k] = contact.position[k];
        along[3 * count + k] = contact.force[k] * size;
      }
      this.tone(tone, 4 * count, contact, this.forceColour, on, selected);
      count++;
    }
    this.forces.finish(count);
  }

  /* As high as the normal force is long, so that the force's tip lies in the cone's rim plane:
   * inside the circle it sticks, on it it slips. */
  private fillCones(contacts: Contact[], on: ContactSwitches, selected: number | null): void {
    this.cones.reserve(contacts.length);
    const origin = this.cones.array("origin");
    const along = this.cones.array("along");
    const spread = this.cones.array("spread");
    const tone = this.cones.array("tone");
    const length = 1 / this.newtonsPerMetre();
    let count = 0;
    for (const contact of contacts) {
      if (!(contact.friction > 0)) continue;
      const { normal, force } = contact;
      const pressed = normal[0] * force[0] + normal[1] * force[1] + normal[2] * force[2];
      const height = Math.max(pressed * length, 0.2 * this.typical);
      const size = height * drawnSide(contact, this.manifest, selected);
      for (let k = 0; k < 3; k++) {
        origin[3 * count + k] = contact.position[k];
        along[3 * count + k] = normal[k] * size;
      }
      spread[count] = contact.friction;
      this.tone(tone, 4 * count, contact, this.forceColour, on, selected);
      count++;
    }
    this.cones.finish(count);
  }

  dispose(): void {
    for (const marks of [this.cones, this.normals, this.forces, this.points]) marks.dispose();
  }
}
