/* Writes what docs/view-format.md describes, from plain objects: the data of the tests. It is
 * written from the document alone and shares no code with the page. */

import { deflateSync } from "node:zlib";

export const LOADS = ["constant", "spring", "drag", "field", "central", "function", "applied", "joint"];
export const MODES = ["separating", "stick", "slip", "roll", "sensor"];
const FIGURES = 20;

/* Differences to the row before, then byte planes. `rows`: the number of values in each frame. */
function coded(values, rows, float) {
  const words = new Uint32Array(values.length);
  if (float) words.set(new Uint32Array(Float32Array.from(values).buffer));
  else words.set(values);
  const differences = words.slice();
  let start = 0;
  rows.forEach((count, f) => {
    const before = f > 0 ? rows[f - 1] : 0;
    for (let i = 0; i < Math.min(count, before); i++)
      differences[start + i] = (words[start + i] - words[start - before + i]) >>> 0;
    start += count;
  });
  const n = values.length;
  const bytes = new Uint8Array(4 * n);
  for (let i = 0; i < n; i++)
    for (let plane = 0; plane < 4; plane++)
      bytes[plane * n + i] = (differences[i] >>> (8 * plane)) & 255;
  return bytes;
}

function plain(values, type) {
  return new Uint8Array(type.from(values).buffer);
}

/** frames: { time, step, position, orientation, velocity, angular, contacts, loads, figures } with
 * arrays. */
export function encodeChunk(frames, { first = 0, code = true, compress = true, bodies } = {}) {
  const B = bodies ?? (frames[0]?.position.length ?? 0) / 3;
  const contacts = frames.flatMap((frame) => frame.contacts ?? []);
  const hasContacts = frames.some((frame) => frame.contacts);
  const loads = frames.flatMap((frame) => frame.loads ?? []);
  const hasLoads = frames.some((frame) => frame.loads);
  const loadCounts = frames.map((frame) => (frame.loads ?? []).length);
  const perLoad = (n) => loadCounts.map((count) => n * count);
  const G = frames.some((frame) => frame.figures) ? FIGURES : 0;
  const perFrame = (n) => frames.map(() => n);
  const counts = frames.map((frame) => (frame.contacts ?? []).length);
  const put = (values, rows, float = true) =>
    code ? coded(values, rows, float) : plain(values, float ? Float32Array : Uint32Array);
  const perContact = (n) => counts.map((count) => n * count);
  const parts = [
    plain(
      frames.map((frame) => frame.time),
      Float64Array,
    ),
    plain(
      frames.map((frame) => frame.step),
      Float64Array,
    ),
    put(
      frames.flatMap((frame) => [...frame.position]),
      perFrame(3 * B),
    ),
    put(
      frames.flatMap((frame) => [...frame.orientation]),
      perFrame(4 * B),
    ),
    put(
      frames.flatMap((frame) => [...frame.velocity]),
      perFrame(3 * B),
    ),
    put(
      frames.flatMap((frame) => [...frame.angular]),
      perFrame(3 * B),
    ),
    plain(contacts.length > 0 ? counts : [], Uint32Array), // only with flag 4
    put(
      contacts.map((c) => c.a),
      perContact(1),
      false,
    ),
    put(
      contacts.map((c) => c.b),
      perContact(1),
      false,
    ),
    put(
      contacts.map((c) => MODES.indexOf(c.mode)),
      perContact(1),
      false,
    ),
    put(
      contacts.flatMap((c) => c.position),
      perContact(3),
    ),
    put(
      contacts.flatMap((c) => c.normal),
      perContact(3),
    ),
    put(
      contacts.flatMap((c) => c.force),
      perContact(3),
    ),
    put(
      contacts.map((c) => c.gap),
      perContact(1),
    ),
    put(
      contacts.map((c) => c.friction),
      perContact(1),
    ),
    put(
      contacts.map((c) => c.slip),
      perContact(1),
    ),
    plain(hasLoads ? loadCounts : [], Uint32Array), // only with flag 16
    put(
      loads.map((load) => LOADS.indexOf(load.kind)),
      perLoad(1),
      false,
    ),
    put(
      loads.map((load) => load.number),
      perLoad(1),
      false,
    ),
    put(
      loads.map((load) => load.body),
      perLoad(1),
      false,
    ),
    put(
      loads.flatMap((load) => load.point),
      perLoad(3),
    ),
    put(
      loads.flatMap((load) => load.force),
      perLoad(3),
    ),
    put(
      loads.flatMap((load) => load.torque),
      perLoad(3),
    ),
    put(G > 0 ? frames.flatMap((frame) => frame.figures) : [], perFrame(G)),
  ];
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(32);
  header.write("RGV1", 0, "latin1");
  const flags =
    (compress ? 1 : 0) |
    (code ? 2 : 0) |
    (hasContacts ? 4 : 0) |
    (G > 0 ? 8 : 0) |
    (hasLoads ? 16 : 0);
  [flags, first, frames.length, B, contacts.length, G, body.length].forEach((value, i) =>
    header.writeUInt32LE(value, 4 + 4 * i),
  );
  return Buffer.concat([header, compress ? deflateSync(body) : body]);
}

/** An overview: figures only. */
export function encodeOverview(frames) {
  const empty = { position: [], orientation: [], velocity: [], angular: [] };
  return encodeChunk(
    frames.map(({ time, step, figures }) => ({ time, step, figures, ...empty })),
    { code: false, bodies: 0 },
  );
}

/** The page with runs in it: [{ id, name, manifest, frames }]. */
export function embed(page, runs, perChunk = 64) {
  const json = (value) => JSON.stringify(value).replace(/</g, "\\u003c");
  const boot = { mode: "embedded", runs: runs.map(({ id, name }) => ({ id, name })) };
  const scripts = [`<script type="application/json" id="rigor-boot">${json(boot)}</script>`];
  for (const { id, manifest, frames } of runs) {
    const full = { ...manifest, frame_count: frames.length, chunk_frames: perChunk };
    scripts.push(
      `<script type="application/json" id="rigor-manifest-${id}">${json(full)}</script>`,
    );
    const data = (name, bytes) =>
      scripts.push(
        `<script type="application/octet-stream" id="rigor-${name}">${bytes.toString("base64")}</script>`,
      );
    data(`overview-${id}`, encodeOverview(frames));
    for (let n = 0; n * perChunk < frames.length; n++)
      data(
        `chunk-${id}-${n}`,
        encodeChunk(frames.slice(n * perChunk, (n + 1) * perChunk), {
          first: n * perChunk,
        }),
      );
  }
  return page.replace("<!--rigor-data-->", () => scripts.join("\n"));
}
