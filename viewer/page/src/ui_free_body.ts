/* The free-body diagram: the body's outline alone, and the forces on it as arrows in newtons: weight
 * from the centre of mass, contact forces with their heads where they act, each split into its
 * normal and tangential part, springs, joints and other loads from where they act, and the sum. All arrows have one scale, which changes only when the
 * largest force has outgrown it or shrunk to half, so that the picture does not tremble. Planar worlds are drawn in their plane, others as the camera sees them or
 * along an axis. Lengths are of the projection; the figures are of the whole force. */

import type { Load, Manifest, Vec3, View3 } from "./contract";
import type { BodyContact, BodyState } from "./ui_body";
import { h, setText, svg } from "./ui_dom";
import { si } from "./ui_number";
import { type Basis, type Point2, type Silhouette, project, silhouetteOf } from "./ui_silhouette";
import { cross, length, scale, subtract, unit } from "./ui_vector";

const WIDTH = 300;
const HEIGHT = 280;
/* Before the drawing is fitted to the paper: */
const BODY_RADIUS = 66; // px of the farthest point of the body from its centre of mass
const LONGEST = 84; // px of an arrow of the full scale
const MARGIN = 40; // px for labels
const LABELS = 6;
const ARROWS = 60;

export type Plane = "view" | "xz" | "yz" | "xy";

const PLANES: Record<Exclude<Plane, "view">, Basis> = {
  xz: { right: [1, 0, 0], up: [0, 0, 1], toward: [0, -1, 0] },
  yz: { right: [0, 1, 0], up: [0, 0, 1], toward: [1, 0, 0] },
  xy: { right: [1, 0, 0], up: [0, 1, 0], toward: [0, 0, 1] },
};

export function basisOf(plane: Plane, view: View3 | undefined): Basis {
  if (plane !== "view" || !view) return PLANES[plane === "view" ? "xz" : plane];
  const box = view.canvas.getBoundingClientRect();
  const look = view.cameraDirection(box.left + box.width / 2, box.top + box.height / 2);
  const right = unit(cross(look, [0, 0, 1]), [1, 0, 0]);
  return { right, up: cross(right, look), toward: scale(look, -1) };
}

/** Newtons of the longest arrow: kept while the largest force is between half of it and all. */
function fullScale(largest: number, before: number): number {
  if (largest <= before && largest > before / 2) return before;
  return largest > 0 ? Number((1.05 * largest).toPrecision(2)) : 1;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Text that keeps clear of other text: moved up or down until there is room, or left out. */
class Labels {
  private placed: Box[] = [];
  readonly elements: SVGElement[] = [];

  add(text: string, at: Point2, away: Point2, className: string, colour?: string): void {
    const width = text.length * 6.1 + 4;
    const size = Math.hypot(...away) || 1;
    const x = Math.min(WIDTH - width, Math.max(0, at[0] + (away[0] / size) * (8 + width / 2) - width / 2));
    const first = at[1] + (away[1] / size) * 12 - 7;
    for (const offset of [0, -13, 13, -26, 26, -39, 39]) {
      const y = first + offset;
      if (y < 0 || y > HEIGHT - 14) continue;
      const box = { x, y, width, height: 13 };
      if (this.placed.some((other) => overlap(other, box))) continue;
      this.placed.push(box);
      this.elements.push(
        svg(
          "text",
          {
            x: x + 2,
            y: y + 10.5,
            class: className,
            style: colour ? `fill: color-mix(in srgb, ${colour} 70%, var(--text))` : null,
          },
          text,
        ),
      );
      return;
    }
  }
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function arrow(from: Point2, to: Point2, className: string, colour?: string): SVGElement {
  const dx = to[0] - from[0];
  const dy = to[1] - from[1];
  const size = Math.hypot(dx, dy);
  const style = colour ? `--colour: ${colour}` : null;
  if (size < 1.5)
    return svg("circle", {
      cx: to[0],
      cy: to[1],
      r: 1.8,
      class: `arrow-dot ${className}`,
      style,
    });
  const head = Math.min(7, size * 0.6);
  const [ux, uy] = [dx / size, dy / size];
  const base: Point2 = [to[0] - ux * head, to[1] - uy * head];
  const wing = head * 0.45;
  const tip = `M${to[0]} ${to[1]} L${base[0] - uy * wing} ${base[1] + ux * wing} L${base[0] + uy * wing} ${base[1] - ux * wing} Z`;
  return svg(
    "g",
    { class: `arrow ${className}`, style },
    svg("line", { x1: from[0], y1: from[1], x2: base[0], y2: base[1] }),
    svg("path", { d: tip }),
  );
}

function pathOf(points: Point2[], toPaper: (point: Point2) => Point2): string {
  const text = points.map((point) =>
    toPaper(point)
      .map((value) => value.toFixed(2))
      .join(" "),
  );
  return points.length === 2 ? `M${text.join(" L")}` : `M${text.join(" L")} Z`;
}

export interface FreeBody {
  readonly element: HTMLElement;
  update(manifest: Manifest, body: number, state: BodyState, view: View3 | undefined): void;
}

export function createFreeBody(testId: string, label: string): FreeBody {
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "free-body-svg",
    role: "img",
    "aria-label": label,
  });
  const planes = h("select", {
    class: "small",
    title: "Plane of the drawing",
    "aria-label": "Plane of the drawing",
  });
  const scaleText = h("span", { class: "muted" });
  const sumText = h("span", { class: "sum", "data-testid": testId + "-sum" });
  const split = h("input", { type: "checkbox", checked: true });
  const element = h(
    "div",
    { class: "free-body", "data-testid": testId },
    h(
      "div",
      { class: "row" },
      h("h3", {}, "Free body"),
      h("label", { class: "check" }, split, "normal and tangential"),
      planes,
    ),
    picture,
    h("div", { class: "row fine" }, sumText, scaleText),
  );
  let planar: boolean | null = null;
  let full = 0;
  let drawn: unknown = null;
  let plane = "";
  const paper = new Paper();
  let redraw = (): void => {};
  planes.addEventListener("change", () => redraw());
  split.addEventListener("change", () => redraw());

  const update: FreeBody["update"] = (manifest, body, state, view) => {
    if (planar !== manifest.planar) {
      planar = manifest.planar;
      const choices: [Plane, string][] = planar
        ? [["xz", "x–z"]]
        : [
            ["view", "as seen"],
            ["xz", "x–z"],
            ["yz", "y–z"],
            ["xy", "x–y"],
          ];
      planes.replaceChildren(...choices.map(([value, text]) => h("option", { value }, text)));
      planes.hidden = planar;
    }
    redraw = () => draw(manifest, body, state, view);
    redraw();
  };

  const draw = (manifest: Manifest, body: number, state: BodyState, view: View3 | undefined): void => {
    const basis = basisOf(planes.value as Plane, view);
    const shape = silhouetteOf(manifest, manifest.bodies[body], state.at, basis);
    const largest = Math.max(
      length(state.weight),
      length(state.sum),
      ...state.contacts.map((each) => length(each.force)),
      ...state.loads.map((each) => length(each.force)),
    );
    const again = drawn !== manifest.bodies[body];
    drawn = manifest.bodies[body];
    full = fullScale(largest, again ? 0 : full);
    const metres = farthest(shape.outlines, project(basis, state.centre), state, basis);
    paper.aim(project(basis, state.centre), metres, again || planes.value !== plane);
    plane = planes.value;
    const onPaper = (force: Vec3): Point2 => {
      const [x, y] = project(basis, force);
      return [(x / full) * paper.longest(), (-y / full) * paper.longest()];
    };
    const place = (point: Vec3): Point2 => paper.place(project(basis, point));
    paper.fit(() => cornersOf(shape, state, paper, place, onPaper));

    const children: SVGElement[] = [];
    const toPaper = (point: Point2): Point2 => paper.place(point);
    for (const outline of shape.outlines)
      children.push(svg("path", { d: pathOf(outline, toPaper), class: "body-fill" }));
    for (const facet of shape.facets)
      children.push(svg("path", { d: pathOf(facet, toPaper), class: "body-edge" }));
    for (const outline of shape.outlines)
      children.push(svg("path", { d: pathOf(outline, toPaper), class: "body-line" }));
    const labels = new Labels();
    /* Over the contacts' arrows, but first in the choice of room for its labels. */
    const middle: SVGElement[] = [];
    drawCentre(middle, labels, state, place(state.centre), onPaper, largest);
    drawLoads(children, labels, state.loads, place, onPaper, largest);
    drawContacts(children, labels, state.contacts, place, onPaper, split.checked);
    picture.replaceChildren(...children, ...middle, ...labels.elements);
    setText(scaleText, largest > 0 ? `longest arrow ${si(full, "N", 2)}` : "");
    const dynamic = manifest.bodies[body].motion === "dynamic";
    setText(sumText, sumWords(state, dynamic, unknownForces(manifest), largest));
  };
  return { element, update };
}

/** Where things lie on the paper. Zoom and place are kept while the drawing fits and fills it, so that
 * it holds still while a run plays. */
class Paper {
  private zoom = 1;
  private shift: Point2 = [0, 0];
  private centre: Point2 = [0, 0];
  private perMetre = 1;

  aim(centre: Point2, metres: number, again: boolean): void {
    this.centre = centre;
    this.perMetre = BODY_RADIUS / metres;
    if (again) this.zoom = 0;
  }

  longest(): number {
    return LONGEST * this.zoom;
  }

  place(point: Point2): Point2 {
    const scaled = this.perMetre * this.zoom;
    return [
      WIDTH / 2 + this.shift[0] + (point[0] - this.centre[0]) * scaled,
      HEIGHT / 2 + this.shift[1] - (point[1] - this.centre[1]) * scaled,
    ];
  }

  fit(corners: () => Point2[]): void {
    if (this.zoom > 0) {
      const [x0, y0, x1, y1] = bounds(corners());
      const inside =
        x0 >= MARGIN / 2 && y0 >= MARGIN / 3 && x1 <= WIDTH - MARGIN / 2 && y1 <= HEIGHT - MARGIN / 3;
      const filled = Math.max((x1 - x0) / (WIDTH - 2 * MARGIN), (y1 - y0) / (HEIGHT - 1.4 * MARGIN));
      if (inside && filled > 0.62) return;
    }
    this.zoom = 1;
    this.shift = [0, 0];
    const [x0, y0, x1, y1] = bounds(corners());
    this.zoom = Math.min(
      (WIDTH - 2 * MARGIN) / Math.max(x1 - x0, 1),
      (HEIGHT - 1.4 * MARGIN) / Math.max(y1 - y0, 1),
      3,
    );
    const [u0, v0, u1, v1] = bounds(corners());
    this.shift = [WIDTH / 2 - (u0 + u1) / 2, HEIGHT / 2 - (v0 + v1) / 2];
  }
}

function bounds(points: Point2[]): [number, number, number, number] {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    x0 = Math.min(x0, x);
    y0 = Math.min(y0, y);
    x1 = Math.max(x1, x);
    y1 = Math.max(y1, y);
  }
  return [x0, y0, x1, y1];
}

/** All ends of outlines and arrows, on the paper. */
function cornersOf(
  shape: Silhouette,
  state: BodyState,
  paper: Paper,
  place: (point: Vec3) => Point2,
  onPaper: (force: Vec3) => Point2,
): Point2[] {
  const corners = shape.outlines.flatMap((outline) => outline.map((point) => paper.place(point)));
  const centre = place(state.centre);
  corners.push(centre);
  for (const force of [state.weight, state.sum]) {
    const [x, y] = onPaper(force);
    corners.push([centre[0] + x, centre[1] + y]);
  }
  for (const load of state.loads.slice(0, ARROWS)) {
    const at = place(load.point);
    const [x, y] = onPaper(load.force);
    corners.push(at, [at[0] + x, at[1] + y]);
  }
  for (const felt of state.contacts.slice(0, ARROWS)) {
    const at = place(felt.contact.position);
    const [x, y] = onPaper(felt.force);
    corners.push(at, [at[0] - x, at[1] - y]);
  }
  return corners;
}

/** Recordings made before loads were recorded do not tell them. */
function unknownForces(manifest: Manifest): boolean {
  return manifest.kind === "recording" && manifest.has_loads !== true;
}

const LOAD_NAMES: Record<Load["kind"], string> = {
  constant: "constant forces",
  spring: "springs",
  drag: "drag",
  field: "fields",
  central: "central forces",
  function: "functions",
  applied: "applied forces",
  joint: "joints",
};
/** Beside its arrow. */
const LOAD_LABELS: Record<Load["kind"], string> = {
  constant: "F",
  spring: "spring",
  drag: "drag",
  field: "field",
  central: "central",
  function: "function",
  applied: "applied",
  joint: "joint",
};

/** Of what the sum is: "weight, contacts and springs". */
export function forcesNamed(state: BodyState): string {
  const names = [
    ...(length(state.weight) > 0 ? ["weight"] : []),
    ...(state.contacts.length > 0 ? ["contacts"] : []),
    ...new Set(state.loads.map((load) => LOAD_NAMES[load.kind])),
  ];
  if (names.length === 1 && names[0] === "weight") return "weight alone";
  const last = names.pop() ?? "nothing";
  return names.length > 0 ? `${names.join(", ")} and ${last}` : last;
}

export function sumWords(state: BodyState, dynamic: boolean, unknown: boolean, largest: number): string {
  if (!dynamic) return "Held: it bears any force.";
  if (unknown && largest === 0) return "Only contacts and weight were recorded: there are none.";
  if (largest === 0) return state.loads.length > 0 ? "Torques only." : "No force acts on it.";
  const sum = length(state.sum);
  if (unknown) return `Σ = ${si(sum, "N")}, of ${forcesNamed(state)}; springs and the like were not recorded`;
  return sum < 1e-3 * largest
    ? `In balance: Σ = ${si(sum, "N")}`
    : `Σ = ${si(sum, "N")}, of ${forcesNamed(state)}`;
}

/** Metres from the centre to the farthest point in any direction, contacts included, so that the body
 * keeps its size when it turns. */
function farthest(outlines: Point2[][], centre: Point2, state: BodyState, basis: Basis): number {
  let most = 0;
  for (const outline of outlines)
    for (const [x, y] of outline) most = Math.max(most, Math.hypot(x - centre[0], y - centre[1]));
  if (most > 0) return most;
  for (const { contact } of state.contacts) {
    const [x, y] = project(basis, subtract(contact.position, state.centre));
    most = Math.max(most, Math.hypot(x, y));
  }
  return most > 0 ? most : 1;
}

function drawContacts(
  children: SVGElement[],
  labels: Labels,
  contacts: BodyContact[],
  place: (point: Vec3) => Point2,
  onPaper: (force: Vec3) => Point2,
  split: boolean,
): void {
  const ranked = contacts
    .map((felt, index) => ({ felt, index }))
    .filter(({ felt }) => length(felt.force) > 0);
  ranked.sort((a, b) => length(b.felt.force) - length(a.felt.force));
  ranked.slice(0, ARROWS).forEach(({ felt, index }, rank) => {
    const at = place(felt.contact.position);
    const colour = `var(--mode-${felt.contact.mode})`;
    const [x, y] = onPaper(felt.force);
    const tail: Point2 = [at[0] - x, at[1] - y];
    if (split && felt.tangentialForce > 1e-3 * Math.abs(felt.normalForce)) {
      const [nx, ny] = onPaper(scale(felt.normal, felt.normalForce));
      const [tx, ty] = onPaper(felt.tangential);
      children.push(
        arrow([at[0] - nx, at[1] - ny], at, "part", colour),
        arrow([at[0] - tx, at[1] - ty], at, "part dashed", colour),
      );
    }
    children.push(arrow(tail, at, "force", colour));
    if (rank < LABELS)
      labels.add(`${index + 1}: ${si(length(felt.force), "N")}`, tail, [-x, -y], "force-label", colour);
  });
}

/** From where they act. */
function drawLoads(
  children: SVGElement[],
  labels: Labels,
  loads: Load[],
  place: (point: Vec3) => Point2,
  onPaper: (force: Vec3) => Point2,
  largest: number,
): void {
  const ranked = loads.filter((load) => length(load.force) > 1e-3 * largest);
  ranked.sort((a, b) => length(b.force) - length(a.force));
  ranked.slice(0, ARROWS).forEach((load, rank) => {
    const at = place(load.point);
    const [x, y] = onPaper(load.force);
    const tip: Point2 = [at[0] + x, at[1] + y];
    children.push(arrow(at, tip, "load"));
    if (rank < LABELS && length(load.force) > 0.01 * largest)
      labels.add(`${LOAD_LABELS[load.kind]} ${si(length(load.force), "N")}`, tip, [x, y], "load-label");
  });
}

function drawCentre(
  children: SVGElement[],
  labels: Labels,
  state: BodyState,
  at: Point2,
  onPaper: (force: Vec3) => Point2,
  largest: number,
): void {
  const weight = length(state.weight);
  const sum = length(state.sum);
  if (weight > 0) {
    const [x, y] = onPaper(state.weight);
    children.push(arrow(at, [at[0] + x, at[1] + y], "weight"));
    labels.add(`m g ${si(weight, "N")}`, [at[0] + x, at[1] + y], [x, y], "weight-label");
  }
  if (sum > 1e-3 * largest && largest > 0) {
    const [x, y] = onPaper(state.sum);
    children.push(arrow(at, [at[0] + x, at[1] + y], "sum"));
    labels.add(`Σ ${si(sum, "N")}`, [at[0] + x, at[1] + y], [x, y], "sum-label");
  }
  children.push(svg("circle", { cx: at[0], cy: at[1], r: 3, class: "centre" }));
}
