/* A slider for each motor of a live run: its target, within the range that the server gives. What it
 * shows is what the server says, so that a target which is refused springs back; a motor that nobody
 * has touched follows the scene. Beside it is where the axis is now. */

import type { Joint, LiveMotor, Manifest } from "./contract";
import type { Context } from "./ui_context";
import { h, iconButton, setText } from "./ui_dom";
import { jointCoordinates, jointFrames } from "./ui_joint";
import { fixed } from "./ui_number";
import { placementOf } from "./ui_vector";

const NOTCHES = 400;

function bodyName(manifest: Manifest, body: number): string {
  return body < 0 ? "world" : manifest.bodies[body]?.name || `body ${body + 1}`;
}

/** "knee", "wheel2", and of a joint with several axes "wrist 2". */
function motorName(manifest: Manifest, joint: Joint, motor: LiveMotor): string {
  const name = joint.name || bodyName(manifest, joint.b < 0 ? joint.a : joint.b);
  return joint.axes.length > 1 ? `${name} ${motor.axis + 1}` : name;
}

function unitOf(joint: Joint, motor: LiveMotor): string {
  const length = joint.axes[motor.axis]?.angle ? "rad" : "m";
  return motor.kind === "velocity" ? `${length}/s` : length;
}

interface Row {
  element: HTMLElement;
  show(motor: LiveMotor): void;
}

function createRow(context: Context, manifest: Manifest, joint: Joint, first: LiveMotor): Row {
  const name = motorName(manifest, joint, first);
  const unit = unitOf(joint, first);
  const id = `${first.joint}-${first.axis}`;
  const between = `${joint.kind} of ${bodyName(manifest, joint.a)} and ${bodyName(manifest, joint.b)}`;
  const send = (target: number | null): void =>
    context.live()?.setMotor(first.joint, first.axis, target);
  const slider = h("input", {
    type: "range",
    min: first.least,
    max: first.most,
    step: "any",
    "data-testid": `motor-${id}`,
    "aria-label": `Motor of ${name}: target in ${unit}`,
  });
  const target = h("output", { class: "value", "data-testid": `motor-target-${id}` });
  const now = h("span", { class: "motor-now muted" });
  const back = iconButton("reset", "As the scene says", `motor-scene-${id}`, () => send(null));
  let held = false;
  slider.addEventListener("pointerdown", () => {
    held = true;
  });
  for (const end of ["pointerup", "pointercancel", "blur"])
    slider.addEventListener(end, () => {
      held = false;
    });
  slider.addEventListener("input", () => {
    const notch = (first.most - first.least) / NOTCHES;
    const value = first.least + notch * Math.round((Number(slider.value) - first.least) / notch);
    send(Math.min(first.most, Math.max(first.least, value)));
  });
  const element = h(
    "div",
    { class: "motor", title: between },
    h("div", { class: "motor-head" }, h("span", { class: "motor-name" }, name), now),
    h("div", { class: "field" }, slider, target, back),
  );
  const place = (): number => {
    const source = context.app.sources[0];
    const frame = source?.frame(source.first() + source.count() - 1);
    if (!frame) return Number.NaN;
    const [a, b] = jointFrames(joint, (body) => placementOf(frame, body));
    return jointCoordinates(joint, a, b)[first.axis] ?? Number.NaN;
  };
  const show = (motor: LiveMotor): void => {
    const middle = 0.5 * (motor.least + motor.most);
    if (!held) slider.value = String(motor.target ?? middle);
    slider.classList.toggle("unset", !motor.set);
    setText(target, motor.target === null ? "f(t)" : fixed(motor.target, 2));
    setText(now, motor.kind === "velocity" ? `in ${unit}` : `in ${unit}, now ${fixed(place(), 2)}`);
    back.setAttribute("aria-pressed", String(!motor.set));
  };
  return { element, show };
}

export function createMotors(context: Context): {
  element: HTMLElement;
  show(motors: LiveMotor[]): void;
} {
  const list = h("div", { class: "motor-list" });
  const element = h("section", { class: "motors", "data-testid": "motors" }, h("h3", {}, "Motors"), list);
  let rows: Row[] = [];
  let made = "";
  const show = (motors: LiveMotor[]): void => {
    const manifest = context.app.sources[0]?.manifest;
    const known = motors.filter((motor) => manifest?.joints?.[motor.joint]);
    element.hidden = known.length === 0;
    if (!manifest) return;
    const key = known
      .map((motor) => [manifest.joints?.[motor.joint]?.name, motor.joint, motor.axis, motor.kind, motor.least, motor.most].join())
      .join(";");
    if (key !== made) {
      made = key;
      rows = known.map((motor) =>
        createRow(context, manifest, manifest.joints![motor.joint], motor),
      );
      list.replaceChildren(...rows.map((row) => row.element));
    }
    known.forEach((motor, i) => rows[i].show(motor));
  };
  return { element, show };
}
