/* What one frame says about one body: motion, energy, its contacts with forces as this body feels
 * them, what else acts on it, and the sum of all that with the weight. */

import type { Contact, Frame, Load, Manifest, Vec3 } from "./contract";
import {
  type Placement,
  add,
  conjugate,
  dot,
  length,
  multiply,
  place,
  placementOf,
  rotate,
  scale,
  subtract,
  triple,
} from "./ui_vector";

export interface BodyContact {
  other: number;
  contact: Contact;
  force: Vec3; // on this body
  normal: Vec3; // towards this body
  normalForce: number; // N along the normal
  tangential: Vec3;
  tangentialForce: number; // N
  /** Of what the cone allows: 1 slips. NaN without friction or force. */
  use: number;
}

export interface BodyState {
  at: Placement;
  centre: Vec3; // of mass, world
  velocity: Vec3;
  angular: Vec3;
  kinetic: number; // J; NaN if not dynamic
  contacts: BodyContact[];
  contactForce: Vec3;
  loads: Load[]; // springs, drag, fields, functions, joints, what was applied or pulled
  loadForce: Vec3; // N: their sum
  weight: Vec3; // N; zero if not dynamic
  sum: Vec3; // of contacts, loads and weight
}

function asFelt(contact: Contact, body: number): BodyContact {
  const sign = contact.a === body ? 1 : -1;
  const force = scale(contact.force, sign);
  const normal = scale(contact.normal, sign);
  const normalForce = dot(force, normal);
  const tangential = subtract(force, scale(normal, normalForce));
  const tangentialForce = length(tangential);
  const allowed = contact.friction * normalForce;
  return {
    other: contact.a === body ? contact.b : contact.a,
    contact,
    force,
    normal,
    normalForce,
    tangential,
    tangentialForce,
    use: allowed > 0 ? tangentialForce / allowed : NaN,
  };
}

function kineticEnergy(
  manifest: Manifest,
  body: number,
  at: Placement,
  velocity: Vec3,
  angular: Vec3,
): number {
  const { mass, inertia, axes, motion } = manifest.bodies[body];
  if (motion !== "dynamic" || mass === null) return NaN;
  let energy = 0.5 * mass * dot(velocity, velocity);
  if (inertia) {
    const own = rotate(conjugate(multiply(at.orientation, axes)), angular);
    for (let i = 0; i < 3; i++) energy += 0.5 * inertia[i] * own[i] * own[i];
  }
  return energy;
}

/** Null if the frame does not know the body (it was thrown in later). */
export function bodyState(manifest: Manifest, frame: Frame, body: number): BodyState | null {
  const description = manifest.bodies[body];
  if (!description || 3 * body + 2 >= frame.position.length) return null;
  const at = placementOf(frame, body);
  const velocity = triple(frame.velocity, body);
  const angular = triple(frame.angular, body);
  const contacts: BodyContact[] = [];
  let contactForce: Vec3 = [0, 0, 0];
  for (const contact of frame.contacts) {
    if (contact.a !== body && contact.b !== body) continue;
    const felt = asFelt(contact, body);
    contacts.push(felt);
    contactForce = add(contactForce, felt.force);
  }
  const dynamic = description.motion === "dynamic" && description.mass !== null;
  const weight: Vec3 = dynamic
    ? scale(manifest.gravity, (description.mass ?? 0) * (description.gravity_scale ?? 1))
    : [0, 0, 0];
  const loads = frame.loads.filter((load) => load.body === body);
  const loadForce = loads.reduce<Vec3>((sum, load) => add(sum, load.force), [0, 0, 0]);
  return {
    at,
    centre: place(at, description.centre),
    velocity,
    angular,
    kinetic: kineticEnergy(manifest, body, at, velocity, angular),
    contacts,
    contactForce,
    loads,
    loadForce,
    weight,
    sum: add(add(contactForce, loadForce), weight),
  };
}
