/* What the parts of the page say to each other. Data flows one way:
 *
 *   source (embedded, server, live) ─► player (which time) ─► view (3D) and panels (numbers)
 *
 * Units are SI, z is up, quaternions are (x, y, z, w), bodies are counted from 0, as everywhere in
 * rigor. The names in Manifest, the layout of a chunk and the messages of a live run are written
 * down in docs/view-format.md. */

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];
/** x y z qx qy qz qw */
export type Pose = [number, number, number, number, number, number, number];

export type Shape =
  | { kind: "halfspace"; normal: Vec3; offset: number }
  | { kind: "box"; size: Vec3 }
  | { kind: "sphere"; radius: number }
  | { kind: "capsule"; radius: number; length: number }
  | { kind: "cylinder"; radius: number; length: number }
  | { kind: "cone"; radius: number; length: number }
  | { kind: "ellipsoid"; size: Vec3 }
  | { kind: "hull"; points: number[]; facets: number[][] }
  | { kind: "polygon"; points: number[] }
  | { kind: "disc"; radius: number }
  | { kind: "compound"; parts: { shape: number; pose: Pose }[] };

export interface Collider {
  shape: number; // in Manifest.shapes
  pose: Pose; // in the body's origin frame
  friction: number;
  restitution: number;
  material: string;
  sensor: boolean;
}

export interface Body {
  name: string;
  motion: "dynamic" | "fixed" | "kinematic";
  mass: number | null; // kg; null: not dynamic
  gravity_scale?: number; // factor of gravity; 1 where it is not said
  centre: Vec3; // of mass, in the origin frame
  inertia: Vec3 | null; // principal moments, kg m^2
  axes: Quat; // of the principal axes, in the origin frame
  colliders: Collider[];
}

/** Two bodies, or a body and the world (-1), at a frame on each: include/rigor/joint.h has what the
 * kinds lock, and along which axes of the frames the others move. */
export interface Joint {
  name: string;
  kind:
    | "ball"
    | "hinge"
    | "slider"
    | "universal"
    | "cylindrical"
    | "planar"
    | "fixed"
    | "distance";
  a: number;
  b: number;
  frame_a: Pose; // in the body's origin frame, or in the world
  frame_b: Pose;
  axes: { angle: boolean; lower: number | null; upper: number | null }[]; // null: no limit
}

/** Between a point of body A and a point of body B (-1: of the world), in their origin frames. */
export interface Spring {
  force: number; // its number among the loads
  a: number;
  b: number;
  point_a: Vec3;
  point_b: Vec3;
  rest_length: number; // m
}

export interface Manifest {
  format: "rigor-view";
  version: 1;
  kind: "recording" | "live";
  name: string;
  generator: string; // "rigor 0.5.0"
  planar: boolean;
  method: string;
  solver: string;
  step: number; // s
  gravity: Vec3;
  friction: string; // "cone", "polygon:8"
  tolerance: number; // of the solver: above it a step is not certified
  shapes: Shape[];
  bodies: Body[];
  joints?: Joint[];
  springs?: Spring[];
  // recordings only:
  finished?: boolean;
  duration?: number; // s that the run is meant to last
  record_every?: number; // s between frames
  frame_count?: number;
  chunk_frames?: number; // frames in a chunk; the last may have fewer
  has_certificate?: boolean;
  has_contacts?: boolean;
  has_loads?: boolean; // older ones have not
}

export const CONTACT_MODES = ["separating", "stick", "slip", "roll"] as const;
export const SENSOR_MODE = CONTACT_MODES.length; // in chunks: no contact, B is a sensor that A touches

export interface Contact {
  a: number;
  b: number;
  mode: (typeof CONTACT_MODES)[number];
  position: Vec3;
  normal: Vec3; // unit, from B to A
  force: Vec3; // N, on A
  gap: number; // m
  friction: number;
  slip: number; // m/s
}

export const LOAD_KINDS = ["constant", "spring", "drag", "field", "central", "function", "applied", "joint"] as const;

/** What acts on a body besides gravity and contact. */
export interface Load {
  kind: (typeof LOAD_KINDS)[number];
  number: number; // of the force, or of the joint
  body: number;
  point: Vec3; // m, world
  force: Vec3; // N
  torque: Vec3; // N m, besides that of the force at the point
}

/** What is plotted: one value per frame (a frame of the overview: worst or sum of several). */
export const SERIES = [
  "energy", // J, kinetic and gravity's potential
  "kinetic", // J
  "impact_loss", // J, since the beginning, as the next five
  "friction_work",
  "stabilisation",
  "integration",
  "external_work",
  "prescribed_work",
  "closure_rel",
  "penetration", // m, >= 0, at the end of a step
  "overlap", // m, >= 0, at any time of it
  "complementarity", // relative
  "cone_violation",
  "momentum_error",
  "joint_error", // m
  "contacts",
  "solver_iterations",
  "solver_failures",
  "solves",
  "passed_through", // pairs
] as const;
export type SeriesName = (typeof SERIES)[number];
export type Figures = Record<SeriesName, number>; // NaN: nothing was measured

export interface Frame {
  index: number;
  time: number;
  step: number;
  position: Float32Array; // 3 per body: origin frames
  orientation: Float32Array; // 4 per body
  velocity: Float32Array; // 3 per body: of centres of mass
  angular: Float32Array; // 3 per body
  contacts: Contact[];
  sensors: Set<number>; // bodies whose sensors are touched
  loads: Load[];
  figures: Figures;
}

/** The whole run in a few thousand points at most. */
export interface Overview {
  time: Float64Array;
  series: Record<SeriesName, Float32Array>;
}

export interface FrameSource {
  readonly manifest: Manifest;
  readonly live: LiveControl | null;
  /** Live runs grow and forget their oldest frames: [first, first + count). */
  first(): number;
  count(): number;
  timeOf(index: number): number;
  /** The last frame at or before a time. */
  indexAt(time: number): number;
  /** Loaded frames at once, others null while they are fetched (onChange tells). */
  frame(index: number): Frame | null;
  /** The same without fetching anything. */
  peek(index: number): Frame | null;
  /** Fetches a frame's chunk when nothing else is being fetched. */
  prefetch(index: number): void;
  overview(): Overview;
  /** Frames came, the manifest changed (bodies thrown in), the connection ended. */
  onChange(listener: () => void): void;
  error(): string | null;
  close(): void;
}

export interface LiveState {
  connected: boolean;
  running: boolean;
  time: number;
  speed: number; // simulated seconds per second, wanted
  achieved: number; // and reached
  method: string;
  solver: string;
  step: number;
  friction: number | null; // set for all pairs; null: as the scene says
  gravity: Vec3;
  methods: string[];
  solvers: string[];
  profile: StepProfile | null; // of the last steps; null: none yet
  dropped: number; // frames that this client was too slow for
  motors: LiveMotor[];
}

/** A motor whose target can be changed: rad or m, of velocity motors rad/s or m/s. */
export interface LiveMotor {
  joint: number; // in the manifest
  axis: number;
  kind: "velocity" | "position";
  set: boolean; // by hand; else the target is the scene's
  target: number | null; // null: a function of time
  least: number;
  most: number;
}

/** Milliseconds a step, and how its stages share them, in their order. */
export interface StepProfile {
  step_ms: number;
  stages_ms: Record<string, number>;
}

export interface LiveControl {
  state(): LiveState;
  play(): void;
  pause(): void;
  step(count: number): void;
  reset(): void;
  setSpeed(speed: number): void;
  set(change: Partial<Pick<LiveState, "method" | "solver" | "step" | "friction" | "gravity">>): void;
  /** A spring from a point of a body (its origin frame) to a point of the world. */
  grab(body: number, point: Vec3, target: Vec3): void;
  drag(target: Vec3): void;
  release(): void;
  throwBox(from: Vec3, velocity: Vec3, size: number): void;
  /** null: as the scene says. */
  setMotor(joint: number, axis: number, target: number | null): void;
}

/** The time that all views show. */
export interface Player {
  readonly time: number;
  readonly start: number;
  readonly end: number;
  readonly playing: boolean;
  speed: number;
  loop: boolean;
  play(): void;
  pause(): void;
  toggle(): void;
  seek(time: number): void;
  /** By frames of the first source, forwards or backwards; pauses. */
  stepFrames(count: number): void;
  on(listener: () => void): void; // time, playing, speed, loop or range changed
  /** Called once per animation frame. */
  tick(seconds: number): void;
}

/** What can be switched on and off, in this order in the menu: [name, label, key, on at first]. */
export const SWITCHES = [
  ["shadows", "Shadows", "", true],
  ["edges", "Edges", "e", true],
  ["grid", "Grid", "g", true],
  ["contacts", "Contact points", "c", true],
  ["normals", "Normals", "n", false],
  ["forces", "Forces", "f", true],
  ["cones", "Friction cones", "k", false],
  ["modes", "Colour by mode", "m", true],
  ["centres", "Centres of mass", "o", false],
  ["velocities", "Velocities", "v", false],
  ["traces", "Traces", "t", false],
  ["boxes", "Bounding boxes", "b", false],
  ["joints", "Joints, springs, prescribed motion", "j", true],
] as const;
export type SwitchName = (typeof SWITCHES)[number][0];

export interface Pick3 {
  body: number;
  point: Vec3; // world
  local: Vec3; // in the body's origin frame
}

/** From where a camera looks: along an axis, from above, or from a corner that suits the scene. */
export type Direction = "x" | "-x" | "y" | "-y" | "z" | "corner";

/** One canvas with one recording in it. Two stand side by side when runs are compared. */
export interface View3 {
  readonly canvas: HTMLCanvasElement;
  setSwitch(name: SwitchName, on: boolean): void;
  setTheme(theme: "light" | "dark"): void;
  /** Newtons that an arrow as long as the scene's typical body stands for; null: chosen by the data. */
  setForceScale(newtonsPerLength: number | null): void;
  forceScale(): number; // N per metre of arrow
  select(body: number | null): void;
  follow(body: number | null): void;
  /** The camera looks at everything, at what has not flown off, or at the selected body. */
  frameAll(): void;
  frameScene(): void;
  frameSelected(): void;
  /** From "x", "-x", "y", "-y", "z" (above), or the default corner view. */
  lookFrom(direction: Direction): void;
  /** From where the camera looks at first, instead of from the corner. */
  setHome(direction: Direction): void;
  pick(clientX: number, clientY: number): Pick3 | null;
  /** A point under the pointer on the plane through `through` that faces the camera. */
  pointAt(clientX: number, clientY: number, through: Vec3): Vec3;
  cameraPosition(): Vec3;
  cameraDirection(clientX: number, clientY: number): Vec3;
  /** While on, dragging with the primary button does not turn the camera (a body is held). */
  holdCamera(on: boolean): void;
  /** A spring from a point of a body (its origin frame) to a point of the world is drawn; null: none. */
  showPull(pull: { body: number; point: Vec3; target: Vec3 } | null): void;
  /** Another run is laid over this one, see-through; null: none. */
  setGhost(source: FrameSource | null): void;
  /** Both views of a comparison move together (call it on both); null: alone again. */
  syncCameraWith(other: View3 | null): void;
  resize(): void;
  /** Shows the time; interpolates between frames for poses. Returns the frame whose contacts are
   * shown. */
  show(time: number): Frame | null;
  render(): void;
  /** What it cost: for the benchmark and the status line. */
  stats(): { drawCalls: number; triangles: number; milliseconds: number };
  dispose(): void;
}

/** What runs are there, before any is opened. */
export interface BootRun {
  id: string;
  name: string;
  live: boolean;
}

/** What the panels are given. main.ts makes it, calls createUi(app), and only then opens runs: at
 * first `sources` and `views` are empty; onSources tells when a slot was filled, changed or emptied.
 * Slot 1 is the right-hand side of a comparison. */
export interface App {
  runs: BootRun[];
  sources: FrameSource[];
  views: View3[];
  player: Player;
  /** Messages for the user that are not about one run (a run that could not be opened). */
  errors: string[];
  openRun(id: string, slot: 0 | 1): Promise<void>;
  closeSlot(slot: 0 | 1): void;
  /** Id of the run that is open in a slot. */
  runIn(slot: 0 | 1): string | null;
  onSources(listener: () => void): void;
  /** Something changed that is drawn (a switch, the theme, a selection): draw soon. Views also ask
   * for it themselves when one of their methods was called. */
  requestRender(): void;
  /** As PageHandle.capture; the other gives the picture before it is coded. */
  capture(time: number, width: number, height: number): Promise<string>;
  captureCanvas(time: number, width: number, height: number): Promise<HTMLCanvasElement>;
}

/** What the panels give: ui.ts exports createUi(app: App): Ui. */
export interface Ui {
  /** Once per animation frame in which something changed, after the views were shown.
   * `frames[slot]`: what each view shows (null: not loaded yet). */
  update(frames: (Frame | null)[]): void;
  /** The element in which the slot's canvas is put; it fills it. Called for slot 1 only when a
   * second run is opened. */
  host(slot: 0 | 1): HTMLElement;
  /** While on: nothing but the scene (and, if wanted, the certificate's line). */
  setCaptureMode(on: boolean, certificate?: boolean): void;
}

/** The page's own entry points, for tests and for `rigor export --png | --mp4`. */
export interface PageHandle {
  /** Resolves when the first frame is on the screen. */
  ready: Promise<void>;
  player: Player;
  views: View3[];
  sources: FrameSource[];
  /** Shows a time in a picture of that size with nothing but the scene in it (and, if wanted, the
   * certificate's line); resolves to a data URL of a PNG. */
  capture(time: number, width: number, height: number): Promise<string>;
  /** Of a page that runs its scene itself. */
  play?: PlayHandle;
}

export interface PlayHandle {
  /** The state hash of the run, and the steps since its beginning. */
  hash(): Promise<{ hash: string; steps: number }>;
  /** Runs a built-in scene beside the one that is shown, as fast as it can. */
  measure(
    name: string,
    parameters: Record<string, string>,
    steps: number,
  ): Promise<{ milliseconds: number; hash: string }>;
}

declare global {
  interface Window {
    rigor?: PageHandle;
  }
}
