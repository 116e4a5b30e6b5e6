/* Tests of what the page does without a browser: reading data, keeping it, choosing the time,
 * posing bodies. Data are made by encode.mjs, which is written from the document, and one chunk
 * by hand. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { createServer } from "vite";
import { LOADS, encodeChunk, encodeOverview } from "./encode.mjs";

const here = dirname(fileURLToPath(import.meta.url));
let server;
let format, sources, player, pose, scene, shapes, contacts;

before(async () => {
  server = await createServer({
    root: resolve(here, ".."),
    configFile: false,
    logLevel: "error",
    appType: "custom",
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  const load = (name) => server.ssrLoadModule(`/src/${name}.ts`);
  format = await load("format");
  sources = await load("source");
  player = await load("player");
  pose = await load("view_pose");
  scene = await load("view_scene");
  shapes = await load("view_shapes");
  contacts = await load("view_contacts");
});
after(() => server.close());

/* ---- data ---- */

let seed = 1;
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}
const numbers = (count) => Array.from({ length: count }, () => Math.fround(random() * 20 - 10));

function randomLoad() {
  return {
    kind: LOADS[Math.floor(random() * LOADS.length)],
    number: Math.floor(random() * 2 ** 32),
    body: Math.floor(random() * 7),
    point: numbers(3),
    force: numbers(3),
    torque: numbers(3),
  };
}

function randomContact() {
  const modes = ["separating", "stick", "slip", "roll", "sensor"];
  return {
    a: Math.floor(random() * 7),
    b: Math.floor(random() * 7),
    mode: modes[Math.floor(random() * modes.length)],
    position: numbers(3),
    normal: numbers(3),
    force: numbers(3),
    gap: numbers(1)[0],
    friction: numbers(1)[0],
    slip: numbers(1)[0],
  };
}

function randomFrames(count, bodies) {
  return Array.from({ length: count }, (_unused, i) => ({
    time: i / 3,
    step: i / 7,
    position: numbers(3 * bodies),
    orientation: numbers(4 * bodies),
    velocity: numbers(3 * bodies),
    angular: numbers(3 * bodies),
    contacts: Array.from({ length: [3, 0, 5, 1, 4][i % 5] }, randomContact),
    loads: Array.from({ length: [2, 2, 0, 6][i % 4] }, randomLoad),
    figures: numbers(20).map((x, k) => (k === i ? NaN : x)),
  }));
}

const bytes = (buffer) => buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.length);

function assertSame(frame, expected, index) {
  assert.equal(frame.index, index);
  assert.equal(frame.time, expected.time);
  assert.equal(frame.step, expected.step);
  for (const name of ["position", "orientation", "velocity", "angular"])
    assert.deepEqual([...frame[name]], expected[name], name);
  const felt = expected.contacts.filter((contact) => contact.mode === "sensor");
  assert.deepEqual(
    frame.contacts,
    expected.contacts.filter((contact) => !felt.includes(contact)),
  );
  assert.deepEqual(frame.sensors, new Set(felt.map((contact) => contact.b)));
  assert.deepEqual(frame.loads, expected.loads);
  assert.deepEqual(Object.values(frame.figures), expected.figures);
}

/* ---- format ---- */

test("a chunk comes back as it was written", async () => {
  const frames = randomFrames(11, 4);
  for (const options of [
    { code: true, compress: true },
    { code: false, compress: true },
    { code: true, compress: false },
    { code: false, compress: false },
  ]) {
    const data = bytes(encodeChunk(frames, { first: 5, ...options }));
    const chunk = await format.readChunk(data);
    assert.equal(chunk.first, 5);
    assert.equal(chunk.frames.length, 11);
    frames.forEach((frame, i) => assertSame(chunk.frames[i], frame, 5 + i));
    assert.deepEqual(
      [...(await format.readTimes(data))],
      frames.map((frame) => frame.time),
    );
  }
});

test("a chunk written by hand", async () => {
  /* One body, two frames, neither contacts nor figures; position (1, 2, 3), then (1, 2, 4). */
  const body = Buffer.alloc(16 * 2 + 52 * 2);
  body.writeDoubleLE(0, 0);
  body.writeDoubleLE(0.5, 8);
  body.writeDoubleLE(0.1, 16);
  body.writeDoubleLE(0.2, 24);
  /* 1 = 3f800000, 2 = 40000000, 3 = 40400000, 4 = 40800000; second row: 0, 0, 00400000. */
  const planes = [
    [0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0],
    [0x80, 0x00, 0x40, 0, 0, 0x40],
    [0x3f, 0x40, 0x40, 0, 0, 0],
  ];
  Buffer.from(planes.flat()).copy(body, 32);
  const header = Buffer.from(
    "52475631" +
      "03000000" +
      "09000000" +
      "02000000" +
      "01000000" +
      "00000000" +
      "00000000" +
      "88000000",
    "hex",
  );
  const chunk = await format.readChunk(bytes(Buffer.concat([header, deflateSync(body)])));
  assert.deepEqual([...chunk.frames[0].position], [1, 2, 3]);
  assert.deepEqual([...chunk.frames[1].position], [1, 2, 4]);
  assert.equal(chunk.frames[1].index, 10);
  assert.equal(chunk.frames[1].step, 0.2);
  assert.deepEqual(chunk.frames[1].contacts, []);
  assert.deepEqual(chunk.frames[1].loads, []);
  assert.ok(Number.isNaN(chunk.frames[1].figures.energy));
});

test("a live frame is read at once", () => {
  const [frame] = randomFrames(1, 3);
  const chunk = format.readPlainChunk(
    bytes(encodeChunk([frame], { first: 77, code: false, compress: false })),
  );
  assertSame(chunk.frames[0], frame, 77);
  assert.throws(() => format.readPlainChunk(bytes(encodeChunk([frame]))), format.FormatError);
});

test("an overview", async () => {
  const frames = randomFrames(6, 0);
  const overview = await format.readOverview(bytes(encodeOverview(frames)));
  assert.deepEqual(
    [...overview.time],
    frames.map((frame) => frame.time),
  );
  assert.deepEqual(
    [...overview.series.solves],
    frames.map((frame) => frame.figures[18]),
  );
  assert.ok(Number.isNaN(overview.series.energy[0]));
});

test("damaged chunks are refused", async () => {
  const good = encodeChunk(randomFrames(3, 2));
  const refuse = (data) => assert.rejects(format.readChunk(bytes(data)), format.FormatError);
  await refuse(Buffer.alloc(0));
  await refuse(good.subarray(0, 31));
  await refuse(good.subarray(0, good.length - 40));
  for (let at = 0; at < 32; at += 4) {
    if (at === 8) continue; // the first frame's number may be any
    const bad = Buffer.from(good);
    bad[at] ^= at === 4 ? 4 : 0x55;
    await refuse(bad);
  }
  const garbled = Buffer.from(good);
  garbled.fill(0xaa, 34);
  await refuse(garbled);
  const plain = encodeChunk(randomFrames(3, 2), { compress: false });
  await refuse(plain.subarray(0, plain.length - 1));
});

test("manifests of other formats are refused", () => {
  assert.throws(() => format.readManifest("{"), format.FormatError);
  assert.throws(() => format.readManifest("{}"), format.FormatError);
  const manifest = { format: "rigor-view", version: 1, shapes: [], bodies: [] };
  assert.equal(format.readManifest(JSON.stringify(manifest)).version, 1);
  assert.throws(() => format.readManifest(JSON.stringify({ ...manifest, version: 2 })), /format 2/);
  const bodies = [{ name: "lost", colliders: [{ shape: 3 }] }];
  assert.throws(() => format.readManifest(JSON.stringify({ ...manifest, bodies })), /lost/);
});

/* ---- sources ---- */

function recorded(count, perChunk, cacheBytes, fail = () => false) {
  const frames = randomFrames(count, 2);
  const asked = [];
  const source = new sources.RecordedSource(
    {
      manifest: { chunk_frames: perChunk },
      times: Float64Array.from(frames, (frame) => frame.time),
      overview: {},
      fetchChunk: async (n) => {
        asked.push(n);
        if (fail(n)) throw new Error(`no chunk ${n}`);
        return bytes(
          encodeChunk(frames.slice(n * perChunk, (n + 1) * perChunk), {
            first: n * perChunk,
          }),
        );
      },
    },
    cacheBytes,
  );
  return { source, frames, asked };
}

async function loaded(source, index) {
  for (let i = 0; i < 500; i++) {
    const frame = source.frame(index);
    if (frame) return frame;
    await new Promise((done) => setTimeout(done, 2));
  }
  throw new Error(`frame ${index} did not come`);
}

test("frames are fetched when they are looked at, and ahead", async () => {
  const { source, frames, asked } = recorded(100, 10, 1 << 30);
  let told = 0;
  source.onChange(() => told++);
  assert.equal(source.frame(35), null);
  assertSame(await loaded(source, 35), frames[35], 35);
  await loaded(source, 45);
  await loaded(source, 55);
  assert.deepEqual([...new Set(asked)].slice(0, 3), [3, 4, 5]);
  assert.ok(!asked.includes(1) && !asked.includes(9));
  assert.ok(told >= 3);
  await loaded(source, 25); // and backwards
  await loaded(source, 15);
  await loaded(source, 5);
  assert.equal(new Set(asked).size, asked.length, "nothing is fetched twice");
  assert.equal(source.peek(95), null);
  assert.ok(!asked.includes(9), "peek fetches nothing");
  assert.equal(source.frame(-1), null);
  assert.equal(source.frame(100), null);
});

test("old chunks are forgotten", async () => {
  const { source, asked } = recorded(200, 10, 20000);
  for (let i = 0; i < 200; i += 5) await loaded(source, i);
  let kept = 0;
  for (let i = 0; i < 200; i += 10) if (source.peek(i)) kept++;
  assert.ok(kept >= 1 && kept <= 6, `${kept} chunks kept`);
  assert.ok(source.peek(195), "what is shown is kept");
  await loaded(source, 0);
  assert.ok(asked.filter((n) => n === 0).length === 2);
});

test("a chunk that cannot be had is reported, the others come", async () => {
  const { source } = recorded(60, 10, 1 << 30, (n) => n === 2);
  await loaded(source, 5);
  source.frame(25);
  await new Promise((done) => setTimeout(done, 30));
  assert.equal(source.frame(25), null);
  assert.match(source.error(), /no chunk 2/);
  await loaded(source, 35);
  assert.equal(source.error(), null);
});

test("the frame at a time", () => {
  const { source } = recorded(4, 2, 1 << 20); // at 0, 1/3, 2/3, 1
  assert.deepEqual(
    [-1, 0, 0.3, 1 / 3, 0.9, 1, 9].map((t) => source.indexAt(t)),
    [0, 0, 0, 1, 2, 3, 3],
  );
  assert.equal(source.timeOf(99), 1);
});

/* ---- player ---- */

function fake(times, { live = false, ready = () => true } = {}) {
  return {
    live: live ? {} : null,
    times,
    first: () => 0,
    count: () => times.length,
    timeOf: (i) => times[i],
    indexAt: (t) => Math.max(0, times.filter((x) => x <= t).length - 1),
    frame: (i) => (ready(i) ? { index: i } : null),
  };
}

test("playing, seeking, stepping", () => {
  const p = new player.TimePlayer();
  p.setSources([fake([0, 1, 2, 3])]);
  assert.deepEqual([p.start, p.end, p.time, p.playing], [0, 3, 0, false]);
  p.tick(0.1);
  assert.equal(p.time, 0);
  p.play();
  p.tick(0.1);
  assert.equal(p.time, 0.1);
  p.speed = 4;
  p.tick(0.1);
  assert.ok(Math.abs(p.time - 0.5) < 1e-12);
  p.stepFrames(1);
  assert.deepEqual([p.time, p.playing], [1, false]);
  p.seek(1.5);
  p.stepFrames(-1);
  assert.equal(p.time, 1);
  p.stepFrames(-5);
  assert.equal(p.time, 0);
  p.seek(99);
  assert.equal(p.time, 3);
  p.seek(NaN);
  assert.equal(p.time, 3);
  p.play(); // from the end: from the beginning
  assert.equal(p.time, 0);
  p.seek(2.9);
  p.tick(0.1);
  assert.deepEqual([p.time, p.playing], [3, false]);
  p.loop = true;
  p.play();
  p.seek(2.9);
  p.tick(0.1);
  assert.ok(Math.abs(p.time - 0.3) < 1e-12 && p.playing);
  for (const [set, got] of [
    [1000, 16],
    [0.001, 0.05],
    [0.5, 0.5],
    [-1, 0.5],
    [NaN, 0.5],
  ]) {
    p.speed = set;
    assert.equal(p.speed, got);
  }
});

test("playing waits for frames that are not there", () => {
  let there = false;
  const p = new player.TimePlayer();
  p.setSources([fake([0, 1, 2], { ready: (i) => i < 1 || there })]);
  p.play();
  p.seek(1);
  p.tick(0.2);
  assert.equal(p.time, 1);
  there = true;
  p.tick(0.2);
  assert.equal(p.time, 1.2);
});

test("a live run is followed until one looks back", () => {
  const source = fake([0, 1], { live: true });
  const p = new player.TimePlayer();
  p.setSources([source]);
  assert.deepEqual([p.time, p.playing], [1, true]);
  source.times.push(2);
  p.refresh();
  assert.equal(p.time, 2);
  p.seek(0.5);
  source.times.push(3);
  p.refresh();
  assert.deepEqual([p.time, p.end, p.playing], [0.5, 3, false]);
  p.play();
  for (let i = 0; i < 20; i++) p.tick(0.2);
  assert.deepEqual([p.time, p.playing], [3, true]);
  source.times.push(4);
  p.refresh();
  assert.equal(p.time, 4);
  source.times.splice(0, 9, 0); // a reset
  p.refresh();
  assert.deepEqual([p.time, p.start, p.end], [0, 0, 0]);
});

/* ---- poses ---- */

function still(time, position, orientation, velocity = [0, 0, 0]) {
  return {
    time,
    position: Float32Array.from(position),
    orientation: Float32Array.from(orientation),
    velocity: Float32Array.from(velocity),
    angular: new Float32Array(3),
  };
}
const about = (axis, angle) =>
  [0, 1, 2].map((i) => (i === axis ? Math.sin(angle / 2) : 0)).concat(Math.cos(angle / 2));
const near = (a, b) =>
  [...a].forEach((x, i) => assert.ok(Math.abs(x - b[i]) < 1e-6, `${[...a]} is not ${b}`));

test("poses between frames", () => {
  const out = { position: new Float32Array(3), orientation: new Float32Array(4), count: 1 };
  const a = still(1, [0, 0, 0], about(2, 0.2), [2, 0, 0]);
  const b = still(2, [2, 0, 4], about(2, 2.2), [2, 0, 4]);
  pose.interpolate(a, b, 1.25, 1, out);
  near(out.position, [0.5, 0, 1]);
  near(out.orientation, about(2, 0.7));
  /* The short way: -q is the same orientation. */
  pose.interpolate(a, { ...b, orientation: b.orientation.map((x) => -x) }, 1.5, 1, out);
  near(out.orientation, about(2, 1.2));
  pose.interpolate(a, b, 5, 1, out);
  near(out.position, [2, 0, 4]);
  pose.interpolate(a, null, 1.5, 1, out);
  near(out.position, [0, 0, 0]);
});

test("a jump is not a motion", () => {
  const out = { position: new Float32Array(3), orientation: new Float32Array(4), count: 1 };
  const a = still(0, [0, 0, 0], [0, 0, 0, 1]);
  const b = still(0.01, [5, 0, 0], [0, 0, 0, 1]);
  pose.interpolate(a, b, 0.005, 1, out);
  near(out.position, [0, 0, 0]);
  pose.interpolate(still(0, [0, 0, 0], [0, 0, 0, 1], [500, 0, 0]), b, 0.005, 1, out);
  near(out.position, [2.5, 0, 0]);
});

/* ---- sizes ---- */

const SHAPES = [
  { kind: "box", size: [1, 2, 3] },
  { kind: "sphere", radius: 0.7 },
  { kind: "capsule", radius: 0.3, length: 1 },
  { kind: "cylinder", radius: 0.5, length: 2 },
  { kind: "cone", radius: 0.5, length: 2 },
  { kind: "ellipsoid", size: [0.5, 1, 1.5] },
  {
    kind: "hull",
    points: [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3],
    facets: [
      [0, 2, 1],
      [0, 1, 3],
      [1, 2, 3],
      [2, 0, 3],
    ],
  },
  { kind: "disc", radius: 0.4 },
  { kind: "polygon", points: [-1, 0, -1, 1, 0, -1, 0, 0, 2] },
];

test("geometry, boxes and extents agree", () => {
  for (const shape of SHAPES) {
    const form = shapes.formOf(shape, 0);
    const geometry = form.build(1);
    const corners = geometry.getAttribute("position");
    const q = [0.2, -0.5, 0.4, 0.7].map((x) => x / Math.hypot(0.2, 0.5, 0.4, 0.7));
    const m = scene.rotation(...q);
    const box = new Float64Array(6);
    shapes.worldBox(shape, m, [10, 20, 30], box);
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    const own = { low: [...low], high: [...high] };
    for (let i = 0; i < corners.count; i++) {
      const local = [corners.getX(i), corners.getY(i), corners.getZ(i)].map(
        (x, k) => x * form.scale[k],
      );
      const p = scene.apply(m, local);
      for (let k = 0; k < 3; k++) {
        low[k] = Math.min(low[k], p[k] + 10 * (k + 1));
        high[k] = Math.max(high[k], p[k] + 10 * (k + 1));
        own.low[k] = Math.min(own.low[k], local[k]);
        own.high[k] = Math.max(own.high[k], local[k]);
      }
    }
    const round = !["box", "hull", "polygon"].includes(shape.kind);
    const local = shapes.boxOf(shape);
    for (let k = 0; k < 3; k++) {
      const slack = round ? 0.01 : 1e-6; // facets lie inside what is round
      assert.ok(
        Math.abs(box[k] - low[k]) < slack && Math.abs(box[3 + k] - high[k]) < slack,
        shape.kind,
      );
      assert.ok(low[k] > box[k] - 1e-6 && high[k] < box[3 + k] + 1e-6, shape.kind);
      assert.ok(Math.abs(own.low[k] - (local.middle[k] - local.half[k])) < slack, shape.kind);
      assert.ok(Math.abs(own.high[k] - (local.middle[k] + local.half[k])) < slack, shape.kind);
    }
  }
});

test("facets face outwards, and edges are where facets meet at an angle", () => {
  for (const shape of SHAPES) {
    if (shape.kind === "disc" || shape.kind === "polygon") continue; // flat
    const geometry = shapes.formOf(shape, 0).build(1);
    const p = geometry.getAttribute("position");
    const n = geometry.getAttribute("normal");
    const inside = shape.kind === "hull" ? [0.2, 0.3, 0.4] : [0, 0, 0];
    for (let i = 0; i < p.count; i++) {
      const out = [p.getX(i), p.getY(i), p.getZ(i)].reduce(
        (sum, x, k) => sum + (x - inside[k]) * [n.getX(i), n.getY(i), n.getZ(i)][k],
        0,
      );
      assert.ok(out > 0, `${shape.kind}: normal ${i} points inwards`);
    }
  }
  const edges = (shape) => {
    const rim = shapes.formOf(shape, 0).build(1).getAttribute("rim");
    let count = 0; // sides of triangles that are edges: zero at two of the three corners
    for (let i = 0; i < rim.count; i += 3)
      for (let side = 0; side < 3; side++)
        if ([0, 1, 2].filter((k) => rim.getComponent(i + k, side) === 0).length === 2) count++;
    return count;
  };
  assert.equal(edges(SHAPES[0]), 24); // 12 edges, two sides each
  assert.equal(edges(SHAPES[1]), 0);
  assert.equal(edges(SHAPES[6]), 12);
  const flat = {
    kind: "hull",
    points: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1],
    facets: [
      [0, 3, 2],
      [0, 2, 1],
      [0, 1, 4],
      [1, 2, 4],
      [2, 3, 4],
      [3, 0, 4],
    ],
  };
  assert.equal(edges(flat), 16); // the base's diagonal is none
});

test("what the camera frames", () => {
  const body = (shape, motion) => ({
    name: "",
    motion,
    colliders: [{ shape, pose: [0, 0, 0, 0, 0, 0, 1] }],
  });
  const manifest = {
    planar: false,
    shapes: [
      { kind: "halfspace", normal: [0, 0, 1], offset: 0 },
      { kind: "box", size: [1, 1, 1] },
      { kind: "box", size: [500, 500, 1] },
    ],
    bodies: [body(0, "fixed"), body(1, "dynamic"), body(1, "dynamic"), body(2, "fixed")],
  };
  const size = new scene.SceneSize(manifest);
  assert.equal(size.typical, 1);
  const at = (x) => ({
    position: Float32Array.from([0, 0, 0, 0, 0, 0, x, 0, 0, 0, 0, -1]),
    orientation: Float32Array.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]),
  });
  const box = size.box(at(3));
  near(box.low, [-0.5, -0.5, -0.5]);
  near(box.high, [3.5, 0.5, 0.5]);
  near(size.box(at(900), box).high, [0.5, 0.5, 0.5]); // flown off
});

test("on which body a force is drawn", () => {
  const manifest = {
    gravity: [0, 0, -10],
    bodies: [{ motion: "fixed" }, { motion: "dynamic" }, { motion: "dynamic" }],
  };
  const side = (a, b, force, selected = null) =>
    contacts.drawnSide({ a, b, force }, manifest, selected);
  assert.equal(side(0, 1, [0, 0, -5]), -1);
  assert.equal(side(1, 0, [0, 0, 5]), 1);
  assert.equal(side(1, 2, [0, 0, 5]), 1);
  assert.equal(side(1, 2, [0, 0, -5]), -1);
  assert.equal(side(1, 2, [0, 0, 5], 2), -1);
  assert.equal(side(0, 1, [0, 0, -5], 0), 1);
});
