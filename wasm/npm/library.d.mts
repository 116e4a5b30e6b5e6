/* The types of library.mjs. */

import type { Rigor } from "./rigor.mjs";

export { Live, Rigor, RigorError, Scene } from "./rigor.mjs";
export type { Builtin, Certificate, SceneOptions } from "./rigor.mjs";

/** As load() of rigor.mjs, from the bytes of rigor.wasm. */
export function loadFrom(
  wasm: BufferSource | WebAssembly.Module,
  files?: Record<string, string | Uint8Array>,
): Promise<Rigor>;
