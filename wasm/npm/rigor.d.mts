/* The types of rigor.mjs. Numbers are SI, z up, quaternions (x, y, z, w). */

export interface LoadOptions {
  /** The module; by default rigor.wasm beside rigor.mjs. */
  wasm?: BufferSource | WebAssembly.Module;
  /** Files that scenes may refer to (meshes, robots), by path. */
  files?: Record<string, string | Uint8Array>;
}

/** Loads the library. Every call makes an instance of its own, with its own memory. */
export function load(options?: LoadOptions): Promise<Rigor>;

/** What C calls a status: its name, the message, and the place in the scene file (0: none). */
export class RigorError extends Error {
  readonly status: string;
  readonly line: number;
  readonly column: number;
}

export interface Builtin {
  name: string;
  summary: string;
}

/** Instead of what the scene says; the values are those of `rigor run`. */
export interface SceneOptions {
  /** What the file is called in messages. */
  name?: string;
  parameters?: Record<string, string | number>;
  method?: string;
  solver?: string;
  friction?: string;
  impact?: string;
  integrator?: string;
  rootFinder?: string;
  /** Contact points of two convex parts: "all", or at most how many. */
  points?: string;
}

export class Rigor {
  readonly version: string;
  /** A file that scenes may refer to from now on. */
  addFile(path: string, content: string | Uint8Array): void;
  builtins(): Builtin[];
  /** A scene from the text of a scene file (YAML, JSON) or robot description (URDF, MJCF, SDF). */
  scene(text: string, options?: SceneOptions): Scene;
  builtin(
    name: string,
    parameters?: Record<string, string | number>,
    options?: Omit<SceneOptions, "parameters">,
  ): Scene;
  /** A scene from a file that was added. */
  file(path: string, options?: SceneOptions): Scene;
}

/** The worst of all steps so far, by the judge. */
export interface Certificate {
  maxPenetration: number;
  complementarity: number;
  momentumError: number;
  solverFailures: number;
  passedThrough: number;
}

export class Scene {
  readonly name: string;
  readonly stepSize: number;
  readonly duration: number;
  readonly time: number;
  readonly energy: number;
  readonly bodyCount: number;
  bodyNames(): string[];
  /** Makes steps; throws a RigorError if one cannot be made. */
  step(count?: number, stepSize?: number): void;
  /** The state hash, as `rigor run --json` has it: the same bits on every machine. */
  hash(): string;
  /** Of every body seven numbers: position of its origin, orientation. A copy. */
  poses(): Float64Array;
  /** Of every body six numbers: velocity of its origin, angular velocity. A copy. */
  velocities(): Float64Array;
  certificate(): Certificate;
  /** As a scene file. */
  text(): string;
  /** A run paced by the clock, which takes the scene over. */
  live(options?: { paused?: boolean }): Live;
  /** Gives the memory back; every later call throws a RigorError, "the scene is closed". */
  close(): void;
}

/** A run as the page of the viewer speaks with one: docs/view-format.md, "Live". */
export class Live {
  readonly steps: number;
  hash(): string;
  post(message: object): void;
  /** Makes the steps that are due; returns the seconds until the next frame is. */
  turn(): number;
  /** What is to be sent to the page: texts (JSON) and frames. */
  take(): (string | ArrayBuffer)[];
  close(): void;
}
