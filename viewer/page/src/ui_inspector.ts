/* The inspector of the selected body: what it is, how it moves, what touches it, what pushes it. In
 * a comparison the bodies of the same name on both sides stand one above the other. */

import { type BodyContact, type BodyState, bodyState } from "./ui_body";
import { createBodyPlot } from "./ui_body_plot";
import { type Context, type Panel, SIDES, type Slot, cameras, comparing } from "./ui_context";
import { h, icon, paced, setText } from "./ui_dom";
import { createFreeBody } from "./ui_free_body";
import { jointCoordinates, jointFrames } from "./ui_joint";
import { seekIn } from "./ui_plots";
import { fixed, plain, radiansInDegrees, si, siList } from "./ui_number";
import { axisAngle, length, placementOf } from "./ui_vector";
import type { Body, Frame, Joint, Manifest, Quat, Vec3 } from "./contract";

const MOST_CONTACTS = 40;
const MOST_NAMES = 2000;
const MOTION = {
  dynamic: "dynamic",
  fixed: "fixed",
  kinematic: "kinematic (prescribed motion)",
} as const;

function vectorText(vector: Vec3, decimals: number, planar: boolean): string {
  const values = planar ? [vector[0], vector[2]] : vector;
  return values.map((value) => fixed(value, decimals)).join("  ");
}

function orientationText(orientation: Quat, planar: boolean): string {
  /* In the plane, angles are positive from x towards z: against the y axis. */
  if (planar) return radiansInDegrees(2 * Math.atan2(-orientation[1], orientation[3]));
  const { angle, axis } = axisAngle(orientation);
  if (angle < 1e-4) return "not turned";
  return `${radiansInDegrees(angle)} about ${axis.map((value) => fixed(value, 2)).join(" ")}`;
}

function momentText(body: Body, planar: boolean): string {
  if (!body.inertia) return "–";
  const moments = planar ? [body.inertia[1]] : body.inertia;
  return siList(moments, "kg m²");
}

/** The coordinates of a joint, with their limits. */
function jointText(joint: Joint, frame: Frame): string {
  const [a, b] = jointFrames(joint, (body) => placementOf(frame, body));
  const texts = jointCoordinates(joint, a, b).map((value, i) => {
    const { angle, lower, upper } = joint.axes[i];
    const text = (x: number): string => (angle ? radiansInDegrees(x) : si(x, "m", 4));
    const from = lower === null ? "" : `${text(lower)} ≤ `;
    const to = upper === null ? "" : ` ≤ ${text(upper)}`;
    return from + text(value) + to;
  });
  return texts.join(", ") || "–";
}

/** The joints of the body: what they are, what they hold it to, and their coordinates. */
function createJoints(suffix: string): { element: HTMLElement; update(manifest: Manifest, body: number, frame: Frame): void } {
  const list = h("dl", { class: "facts", "data-testid": "inspector-joints" + suffix });
  const element = h("section", {}, h("h3", {}, "Joints"), list);
  let shown: Joint[] = [];
  let values: HTMLElement[] = [];
  const update = (manifest: Manifest, body: number, frame: Frame): void => {
    const joints = (manifest.joints ?? []).filter(({ a, b }) => a === body || b === body);
    element.hidden = joints.length === 0;
    if (joints.length !== shown.length || joints.some((joint, i) => joint !== shown[i])) {
      shown = joints;
      values = joints.map(() => h("dd", {}));
      const rows = joints.flatMap((joint, i) => {
        const other = joint.a === body ? joint.b : joint.a;
        const to = other < 0 ? "the world" : (manifest.bodies[other]?.name ?? "?");
        return [h("dt", { title: joint.name }, `${joint.kind} to ${to}`), values[i]];
      });
      list.replaceChildren(...rows);
    }
    const bodies = frame.position.length / 3;
    joints.forEach((joint, i) =>
      setText(values[i], joint.a < bodies && joint.b < bodies ? jointText(joint, frame) : "–"),
    );
  };
  return { element, update };
}

/** A list of names and values; the values are set by name. */
class Facts {
  readonly element = h("dl", { class: "facts" });
  private values = new Map<string, HTMLElement>();

  add(name: string, testId?: string): void {
    const value = h("dd", { "data-testid": testId });
    this.values.set(name, value);
    this.element.append(h("dt", {}, name), value);
  }

  set(name: string, text: string): void {
    const value = this.values.get(name);
    if (value) setText(value, text);
  }
}

interface Row {
  element: HTMLElement;
  show(felt: BodyContact, name: string): void;
}

function createRow(index: number, suffix: string, choose: (body: number) => void): Row {
  let other = 0;
  const swatch = h("i", { class: "swatch" });
  const name = h("button", { type: "button", class: "link", onclick: () => choose(other) });
  const [normal, tangential, gap] = [h("td"), h("td"), h("td")];
  const meter = h("i", { class: "meter" });
  const useText = h("span", {});
  const element = h(
    "tr",
    { "data-testid": `inspector-contact-${index}${suffix}` },
    h("td", { class: "contact-name" }, h("span", { class: "number" }, String(index + 1)), swatch, name),
    normal,
    tangential,
    h("td", { class: "use" }, meter, useText),
    gap,
  );
  return {
    element,
    show: (felt, otherName) => {
      other = felt.other;
      const { mode } = felt.contact;
      setText(name, otherName);
      element.dataset.mode = mode;
      element.title = `${mode}, slips at ${si(felt.contact.slip, "m/s")}, friction ${plain(felt.contact.friction)}`;
      swatch.style.setProperty("--colour", `var(--mode-${mode})`);
      setText(normal, si(felt.normalForce, "N"));
      setText(tangential, si(felt.tangentialForce, "N"));
      setText(useText, Number.isNaN(felt.use) ? "–" : fixed(felt.use, 2));
      meter.style.setProperty("--part", String(Math.min(1, felt.use || 0)));
      meter.style.setProperty("--colour", `var(--mode-${mode})`);
      setText(gap, si(felt.contact.gap, "m", 2));
    },
  };
}

interface Card {
  element: HTMLElement;
  update(): void;
}

function createCard(context: Context, slot: Slot): Card {
  const suffix = slot === 0 ? "" : "-1";
  const side = h("span", { class: "side" });
  const name = h("h2", { "data-testid": "inspector-name" + suffix });
  const motion = h("span", { class: "chip" });
  const facts = new Facts();
  facts.add("Mass", "inspector-mass" + suffix);
  for (const fact of ["Inertia", "Position", "Turned", "Velocity", "Angular velocity", "Kinetic energy"])
    facts.add(fact);
  const forces = new Facts();
  for (const fact of ["Contact force", "Other forces", "Weight", "Sum"]) forces.add(fact);
  const rows: Row[] = [];
  const body = h("tbody", {});
  const more = h("p", { class: "fine" });
  const heads = ["Contact", "normal", "tangential", "of μN", "gap"];
  const table = h(
    "table",
    { class: "contacts" },
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
    body,
  );
  const freeBody = createFreeBody("free-body" + suffix, "Free-body diagram");
  const joints = createJoints(suffix);
  const element = h(
    "article",
    { class: "card" },
    h("header", { class: "row" }, side, name, motion),
    facts.element,
    freeBody.element,
    joints.element,
    h("h3", {}, "Contacts"),
    table,
    more,
    forces.element,
  );

  const showContacts = (manifest: Manifest, contacts: BodyContact[]): void => {
    const shown = Math.min(contacts.length, MOST_CONTACTS);
    while (rows.length < shown)
      rows.push(createRow(rows.length, suffix, (other) => context.select(slot, other)));
    if (body.childElementCount !== shown)
      body.replaceChildren(...rows.slice(0, shown).map((row) => row.element));
    for (let i = 0; i < shown; i++)
      rows[i].show(contacts[i], manifest.bodies[contacts[i].other]?.name ?? "?");
    table.hidden = shown === 0;
    const rest = contacts.length - shown;
    const none =
      manifest.has_contacts === false ? "This recording holds no contacts." : "Nothing touches it now.";
    setText(more, shown === 0 ? none : rest > 0 ? `and ${rest} more` : "");
  };
  const showMotion = (manifest: Manifest, description: Body, state: BodyState): void => {
    const { planar } = manifest;
    setText(name, description.name);
    const sensor = description.colliders.length > 0 && description.colliders.every((collider) => collider.sensor);
    setText(motion, MOTION[description.motion] + (sensor ? ", sensor" : ""));
    facts.set("Mass", description.mass === null ? "–" : si(description.mass, "kg", 4));
    facts.set("Inertia", momentText(description, planar));
    facts.set("Position", vectorText(state.at.position, 4, planar) + " m");
    facts.set("Turned", orientationText(state.at.orientation, planar));
    facts.set("Velocity", `${vectorText(state.velocity, 3, planar)} m/s`);
    const spin = planar ? fixed(-state.angular[1], 3) : vectorText(state.angular, 3, false);
    facts.set("Angular velocity", `${spin} rad/s`);
    facts.set("Kinetic energy", si(state.kinetic, "J"));
    const newtons = (force: Vec3): string => `${si(length(force), "N")}`;
    forces.set("Contact force", newtons(state.contactForce));
    forces.set("Other forces", state.loads.length === 0 ? "–" : newtons(state.loadForce));
    forces.set("Weight", description.motion === "dynamic" ? newtons(state.weight) : "–");
    forces.set("Sum", description.motion === "dynamic" ? newtons(state.sum) : "–");
  };
  const update = (): void => {
    const source = context.app.sources[slot];
    const index = context.selected[slot];
    const frame = context.frames[slot];
    element.hidden = !source || index === null || index === undefined;
    if (element.hidden || !source || index === null || index === undefined) return;
    const { manifest } = source;
    side.hidden = !comparing(context);
    setText(side, `${SIDES[slot]} ${manifest.method}, ${manifest.solver}`);
    const description = manifest.bodies[index];
    const state = frame && description ? bodyState(manifest, frame, index) : null;
    if (!description || !state) {
      setText(name, description ? description.name : "?");
      setText(motion, frame ? "not there yet" : "loading …");
      return;
    }
    showMotion(manifest, description, state);
    showContacts(manifest, state.contacts);
    freeBody.update(manifest, index, state, context.app.views[slot]);
    if (frame) joints.update(manifest, index, frame);
  };
  return { element, update };
}

/** Finds a body by its name: for the keyboard, and for bodies that are small or hidden. */
function createFinder(context: Context): { element: HTMLElement; arrange(): void } {
  const names = h("datalist", { id: "body-names" });
  const input = h("input", {
    type: "text",
    list: "body-names",
    placeholder: "Find a body by its name",
    "aria-label": "Find a body by its name",
    "data-testid": "inspector-find",
    autocomplete: "off",
    spellcheck: "false",
  });
  input.addEventListener("change", () => {
    const wanted = input.value.trim();
    const found = context.app.sources[0]?.manifest.bodies.findIndex((body) => body.name === wanted) ?? -1;
    if (found >= 0) {
      input.value = "";
      context.select(0, found);
    } else if (wanted !== "") context.toast(`There is no body named ${wanted}.`, "note");
  });
  let listed = -1;
  const arrange = (): void => {
    const bodies = context.app.sources[0]?.manifest.bodies ?? [];
    if (bodies.length === listed) return;
    listed = bodies.length;
    names.replaceChildren(...bodies.slice(0, MOST_NAMES).map((body) => h("option", { value: body.name })));
  };
  return { element: h("div", { class: "finder" }, input, names), arrange };
}

export function createInspector(context: Context): Panel {
  const finder = createFinder(context);
  const cards = [createCard(context, 0), createCard(context, 1)];
  const follow = h(
    "button",
    {
      type: "button",
      class: "button",
      "data-testid": "follow",
      onclick: () => context.follow(!context.following),
    },
    icon("follow"),
    "Follow",
  );
  const zoom = h(
    "button",
    {
      type: "button",
      class: "button",
      "data-testid": "frame-selected",
      onclick: () => cameras(context).forEach((view) => view.frameSelected()),
    },
    icon("fit"),
    "Zoom to it",
  );
  const close = h(
    "button",
    { type: "button", class: "button", onclick: () => context.select(0, null) },
    icon("close"),
    "Deselect",
  );
  const actions = h("div", { class: "row actions" }, follow, zoom, close);
  const plot = createBodyPlot(context, seekIn(context));
  const empty = h("p", { class: "empty-note" }, "Click a body to see its mass, motion, contacts and forces.");
  const element = h(
    "div",
    { class: "inspector", "data-testid": "inspector" },
    finder.element,
    empty,
    actions,
    cards[0].element,
    cards[1].element,
    plot.element,
  );

  const arrange = (): void => {
    const any = context.selected.some((body) => body !== null);
    empty.hidden = finder.element.hidden = any;
    finder.arrange();
    actions.hidden = !any;
    follow.setAttribute("aria-pressed", String(context.following));
    cards.forEach((card) => card.update());
    plot.arrange();
  };
  const refresh = paced(60, () => {
    if (element.offsetParent === null) return;
    cards.forEach((card) => card.update());
    plot.update();
  });
  return { element, arrange, update: refresh };
}
