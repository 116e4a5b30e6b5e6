/* The library as a WebAssembly module, without threads: what rigor.mjs gives out, for those who have
 * the bytes of the module themselves. The types, with what each function does, are in rigor.d.mts. */

import { Wasi } from "./wasi.mjs";

const OPTIONS = {
  method: "--method",
  solver: "--solver",
  friction: "--friction",
  impact: "--impact",
  integrator: "--integrator",
  rootFinder: "--root-finder",
  points: "--points",
};

class Jump {
  constructor(code) {
    this.code = code;
  }
}

export class RigorError extends Error {
  constructor(status, text, line, column) {
    super(text);
    this.name = "RigorError";
    this.status = status;
    this.line = line;
    this.column = column;
  }
}

function hexadecimal(hash) {
  return BigInt.asUintN(64, hash).toString(16).padStart(16, "0");
}

async function instantiate(source, wasi) {
  let exports;
  const rigor = {
    jump: (code) => {
      throw new Jump(code);
    },
    /* Calls a function of the module; a jump out of it gives the stack back. */
    attempt: (pointer, user) => {
      const stack = exports.__stack_pointer.value;
      try {
        exports.__indirect_function_table.get(pointer)(user);
        return 0;
      } catch (problem) {
        if (!(problem instanceof Jump)) throw problem;
        exports.__stack_pointer.value = stack;
        return problem.code;
      }
    },
  };
  const imports = { rigor, wasi_snapshot_preview1: wasi.imports() };
  const made = await WebAssembly.instantiate(source, imports);
  exports = (made.instance ?? made).exports;
  wasi.memory = exports.memory;
  exports._initialize();
  return exports;
}

export async function loadFrom(wasm, files = {}) {
  const wasi = new Wasi();
  const rigor = new Rigor(await instantiate(wasm, wasi), wasi);
  for (const [path, content] of Object.entries(files)) rigor.addFile(path, content);
  return rigor;
}

export class Rigor {
  constructor(module, wasi) {
    this.module = module;
    this.wasi = wasi;
    this.version = this.read(module.rigor_version());
  }

  addFile(path, content) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.wasi.files.set(path.replace(/^\/+/, ""), bytes);
  }

  builtins() {
    return Array.from({ length: this.module.rigor_builtin_count() }, (_, i) => ({
      name: this.read(this.module.rigor_builtin_name(i)),
      summary: this.read(this.module.rigor_builtin_summary(i)),
    }));
  }

  scene(text, options = {}) {
    return this.openScene(options.name ?? "scene.yaml", text, options);
  }

  builtin(name, parameters, options = {}) {
    return this.openScene(name, null, { ...options, parameters });
  }

  file(path, options = {}) {
    return this.openScene(path, null, options);
  }

  /* ---- inside ---- */

  openScene(name, text, options) {
    const given = Object.entries(options.parameters ?? {});
    for (const [key, option] of Object.entries(OPTIONS))
      if (options[key] !== undefined) given.push([option, options[key]]);
    const words = given.flat().map((word) => `${word}\0`);
    const at = this.write(words.join(""));
    const called = this.write(name);
    const content = text === null ? { pointer: 0, size: 0 } : this.write(text);
    const pointer = this.call(() =>
      this.module.rigor_scene_open(
        called.pointer, content.pointer, content.size, at.pointer, words.length / 2,
      ),
    );
    for (const used of [at, called, content]) this.module.free(used.pointer);
    if (!pointer) this.fail();
    return new Scene(this, pointer);
  }

  /* A trap of the module, with what it had to say. */
  call(action) {
    this.wasi.said = "";
    try {
      return action();
    } catch (problem) {
      if (this.wasi.said && problem instanceof Error) problem.message += `: ${this.wasi.said}`;
      throw problem;
    }
  }

  fail() {
    const { module } = this;
    throw new RigorError(
      this.read(module.rigor_error_name()), this.read(module.rigor_error_text()),
      module.rigor_error_line(), module.rigor_error_column(),
    );
  }

  /* Text as the module wants it, with a zero byte at the end; to be freed. */
  write(text) {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const pointer = this.take(bytes.length);
    new Uint8Array(this.module.memory.buffer, pointer, bytes.length).set(bytes);
    return { pointer, size: bytes.length - 1 };
  }

  take(size) {
    const pointer = this.module.malloc(size);
    if (!pointer) throw new RigorError("out-of-memory", "the module has no more memory", 0, 0);
    return pointer;
  }

  read(pointer) {
    const bytes = new Uint8Array(this.module.memory.buffer);
    return new TextDecoder().decode(bytes.slice(pointer, bytes.indexOf(0, pointer)));
  }

  /* `count` doubles that fill(pointer) writes. */
  doubles(count, fill) {
    const pointer = this.take(Math.max(8, 8 * count));
    fill(pointer);
    const values = new Float64Array(this.module.memory.buffer, pointer, count).slice();
    this.module.free(pointer);
    return values;
  }
}

/* What is there in the module until it is closed: from then on `pointer` throws. */
class Handle {
  #pointer;
  #closed;

  constructor(rigor, pointer) {
    this.rigor = rigor;
    this.#pointer = pointer;
  }

  get pointer() {
    if (!this.#pointer) throw new RigorError("invalid-handle", this.#closed, 0, 0);
    return this.#pointer;
  }

  /* Gives the pointer out for the last time, 0 if that was done; `why` is what later calls say. */
  letGo(why) {
    const pointer = this.#pointer;
    this.#pointer = 0;
    this.#closed ??= why;
    return pointer;
  }
}

export class Scene extends Handle {
  constructor(rigor, pointer) {
    super(rigor, pointer);
    const { module } = rigor;
    this.name = rigor.read(module.rigor_scene_name(pointer));
    this.stepSize = module.rigor_scene_step_size(pointer);
    this.duration = module.rigor_scene_duration(pointer);
  }

  get time() {
    return this.rigor.module.rigor_scene_time(this.pointer);
  }

  get energy() {
    return this.rigor.module.rigor_scene_energy(this.pointer);
  }

  get bodyCount() {
    return this.rigor.module.rigor_scene_body_count(this.pointer);
  }

  bodyNames() {
    return Array.from({ length: this.bodyCount }, (_, i) =>
      this.rigor.read(this.rigor.module.rigor_scene_body_name(this.pointer, i)),
    );
  }

  step(count = 1, stepSize = this.stepSize) {
    const { rigor } = this;
    if (rigor.call(() => rigor.module.rigor_scene_step(this.pointer, stepSize, count)))
      rigor.fail();
  }

  hash() {
    return hexadecimal(this.rigor.module.rigor_scene_hash(this.pointer));
  }

  poses() {
    const { module } = this.rigor;
    return this.rigor.doubles(7 * this.bodyCount, (to) => module.rigor_scene_poses(this.pointer, to));
  }

  velocities() {
    const { module } = this.rigor;
    return this.rigor.doubles(6 * this.bodyCount, (to) =>
      module.rigor_scene_velocities(this.pointer, to),
    );
  }

  certificate() {
    const { rigor, pointer } = this;
    const [maxPenetration, complementarity, momentumError, solverFailures, passedThrough] =
      rigor.doubles(5, (to) => rigor.module.rigor_scene_certificate(pointer, to));
    return { maxPenetration, complementarity, momentumError, solverFailures, passedThrough };
  }

  text() {
    const { rigor } = this;
    const pointer = rigor.module.rigor_scene_text(this.pointer);
    if (!pointer) rigor.fail();
    const text = rigor.read(pointer);
    rigor.module.free(pointer);
    return text;
  }

  close() {
    const pointer = this.letGo("the scene is closed");
    if (pointer) this.rigor.module.rigor_scene_close(pointer);
  }

  live(options = {}) {
    const { rigor } = this;
    const pointer = rigor.call(() =>
      rigor.module.rigor_live_open(this.pointer, options.paused ? 1 : 0),
    );
    if (!pointer) rigor.fail();
    this.letGo("the scene is closed: a live run has taken it over");
    return new Live(rigor, pointer);
  }
}

export class Live extends Handle {
  post(message) {
    const { rigor, pointer } = this;
    const text = rigor.write(JSON.stringify(message));
    rigor.module.rigor_live_post(pointer, text.pointer, text.size);
    rigor.module.free(text.pointer);
  }

  turn() {
    return this.rigor.call(() => this.rigor.module.rigor_live_turn(this.pointer));
  }

  hash() {
    return hexadecimal(this.rigor.module.rigor_live_hash(this.pointer));
  }

  get steps() {
    return this.rigor.module.rigor_live_steps(this.pointer);
  }

  take() {
    const { rigor, pointer } = this;
    const { module } = rigor;
    const messages = [];
    if (!module.rigor_live_take(pointer)) return messages;
    for (let i = 0, text; (text = module.rigor_live_problem(pointer, i)) !== 0; i++)
      messages.push(rigor.read(text));
    const manifest = this.part((size) => module.rigor_live_manifest(pointer, size));
    if (manifest) messages.push(new TextDecoder().decode(manifest));
    const state = module.rigor_live_state(pointer);
    if (state) messages.push(rigor.read(state));
    const frame = this.part((size) => module.rigor_live_frame(pointer, size));
    if (frame) messages.push(frame.buffer);
    return messages;
  }

  close() {
    const pointer = this.letGo("the live run is closed");
    if (pointer) this.rigor.module.rigor_live_close(pointer);
  }

  /* A copy of bytes that get(pointer to their number) gives; null: none. */
  part(get) {
    const { module } = this.rigor;
    const size = this.rigor.take(4);
    const at = get(size);
    const count = new Uint32Array(module.memory.buffer, size, 1)[0];
    module.free(size);
    return at ? new Uint8Array(module.memory.buffer, at, count).slice() : null;
  }
}
