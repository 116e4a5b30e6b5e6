/* rigor in JavaScript, in Node and in browsers. The types are in rigor.d.mts. */

import { loadFrom } from "./library.mjs";

export { Live, Rigor, RigorError, Scene } from "./library.mjs";

/* The bytes of rigor.wasm, which lies beside this file. */
async function fetchModule() {
  const place = new URL("./rigor.wasm", import.meta.url);
  if (place.protocol !== "file:") return (await fetch(place)).arrayBuffer();
  const { readFile } = await import("node:fs/promises");
  return readFile(place);
}

export async function load(options = {}) {
  return loadFrom(options.wasm ?? (await fetchModule()), options.files);
}
