/* What can be plotted of a body and of its joints: a title, a unit, and for each curve a function of a
 * frame. Vectors in world axes; a planar world has x and z. */

import type { Frame, Joint, Manifest, Vec3 } from "./contract";
import { type BodyState, bodyState } from "./ui_body";
import { jointCoordinates, jointFrames } from "./ui_joint";
import { add, length, placementOf } from "./ui_vector";

export interface Quantity {
  name: string; // the same in all runs and for all bodies that have it
  group: string;
  title: string;
  unit: string;
  curves: { label: string; colour: string; value(frame: Frame): number }[];
}

const COLOURS = ["--curve-1", "--curve-2", "--curve-3", "--curve-4"];

function vectorCurves(planar: boolean, size: string, value: (frame: Frame) => Vec3 | null): Quantity["curves"] {
  const axes = planar ? [0, 2] : [0, 1, 2];
  const parts = axes.map((axis) => ({ label: "xyz"[axis], part: (v: Vec3): number => v[axis] }));
  if (size) parts.push({ label: size, part: length });
  return parts.map(({ label, part }, i) => ({
    label,
    colour: COLOURS[i],
    value: (frame) => {
      const vector = value(frame);
      return vector ? part(vector) : NaN;
    },
  }));
}

function ofBody(manifest: Manifest, body: number): Quantity[] {
  const { planar } = manifest;
  const state = <T>(frame: Frame, take: (state: BodyState) => T): T | null => {
    const now = bodyState(manifest, frame, body);
    return now && take(now);
  };
  const vector = (name: string, title: string, unit: string, size: string, take: (state: BodyState) => Vec3): Quantity => ({
    name,
    group: "Body",
    title,
    unit,
    curves: vectorCurves(planar, size, (frame) => state(frame, take)),
  });
  const number = (name: string, title: string, unit: string, take: (state: BodyState) => number): Quantity => ({
    name,
    group: "Body",
    title,
    unit,
    curves: [{ label: title.toLowerCase(), colour: COLOURS[0], value: (frame) => state(frame, take) ?? NaN }],
  });
  const spin = planar
    ? number("angular", "Angular velocity", "rad/s", (now) => -now.angular[1])
    : vector("angular", "Angular velocity", "rad/s", "size", (now) => now.angular);
  return [
    vector("position", "Position of the centre of mass", "m", "", (now) => now.centre),
    vector("velocity", "Velocity", "m/s", "speed", (now) => now.velocity),
    spin,
    number("kinetic", "Kinetic energy", "J", (now) => now.kinetic),
    vector("contact-force", "Contact force", "N", "size", (now) => now.contactForce),
    vector("load", "Other forces", "N", "size", (now) => now.loadForce),
    vector("sum", "Sum of forces", "N", "size", (now) => now.sum),
    number("contacts", "Contacts", "count", (now) => now.contacts.length),
  ];
}

function coordinateOf(joint: Joint, axis: number, frame: Frame): number {
  const bodies = frame.position.length / 3;
  if (joint.a >= bodies || joint.b >= bodies) return NaN;
  const [a, b] = jointFrames(joint, (body) => placementOf(frame, body));
  return jointCoordinates(joint, a, b)[axis] ?? NaN;
}

/** Null: the frame has no load of it. */
function jointLoad(frame: Frame, number: number, body: number, part: "force" | "torque"): Vec3 | null {
  const found = frame.loads.filter((load) => load.kind === "joint" && load.number === number && load.body === body);
  return found.length === 0 ? null : found.reduce<Vec3>((sum, load) => add(sum, load[part]), [0, 0, 0]);
}

function ofJoint(manifest: Manifest, number: number, body: number): Quantity[] {
  const joint = (manifest.joints ?? [])[number];
  const group = `Joint ${joint.name || number + 1} (${joint.kind})`;
  const key = `joint-${joint.name || number + 1}`;
  const { planar } = manifest;
  const coordinates = joint.axes.map(({ angle }, axis): Quantity => {
    const title = angle ? "Angle" : joint.kind === "distance" ? "Length" : "Displacement";
    return {
      name: `${key}-${axis}`,
      group,
      title: joint.axes.length > 1 ? `${title}, axis ${axis + 1}` : title,
      unit: angle ? "rad" : "m",
      curves: [{ label: title.toLowerCase(), colour: COLOURS[0], value: (frame) => coordinateOf(joint, axis, frame) }],
    };
  });
  const load = (part: "force" | "torque", title: string, unit: string): Quantity => ({
    name: `${key}-${part}`,
    group,
    title,
    unit,
    curves: vectorCurves(planar && part === "force", "size", (frame) => jointLoad(frame, number, body, part)),
  });
  return [...coordinates, load("force", "Force on the body", "N"), load("torque", "Torque on the body", "N m")];
}

/** Everything that can be plotted of a body, and of the joints that hold it. */
export function quantitiesOf(manifest: Manifest, body: number): Quantity[] {
  const joints = (manifest.joints ?? []).flatMap((joint, number) =>
    joint.a === body || joint.b === body ? ofJoint(manifest, number, body) : [],
  );
  return [...ofBody(manifest, body), ...joints];
}
