/* What the panels compute, without a browser: numbers as text, the certificate's verdicts, forces on a
 * body, outlines. Runs with plain Node: node --test test/ui.test.mjs */

import assert from "node:assert/strict";
import { dirname, resolve } from "node:path";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const server = await createServer({
  root,
  configFile: false,
  logLevel: "error",
  server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  optimizeDeps: { noDiscovery: true },
});
after(() => server.close());
const load = (name) => server.ssrLoadModule(`/src/${name}.ts`);
const { SERIES } = await load("contract");
const number = await load("ui_number");
const { Certificate, certificateLine, checksOf, reason } = await load("ui_certificate");
const { bodyState } = await load("ui_body");
const { jointCoordinates, jointFrames } = await load("ui_joint");
const freeBody = await load("ui_free_body");
const { convexHull, silhouetteOf } = await load("ui_silhouette");
const { thinnest, typicalSize } = await load("ui_size");

/* Thin spaces are for the eye. */
const plainly = (text) => text.replace(/\u202f/g, " ").replace(/\u2212/g, "-");

test("SI prefixes, three digits", () => {
  const cases = [
    [6.4218e-5, "m", "64.2 µm"],
    [9.996e-4, "m", "1.00 mm"],
    [0.9996, "N", "1.00 N"],
    [-1497.12, "J", "-1.50 kJ"],
    [999.4, "N", "999 N"],
    [0, "m", "0 m"],
    [3.3e-14, "m", "33.0 fm"],
    [1e-30, "J", "0 J"],
    [0.02, "kg", "20.0 g"],
    [1000, "kg", "1000 kg"],
    [1.62, "kg", "1.62 kg"],
  ];
  for (const [value, unit, text] of cases) assert.equal(plainly(number.si(value, unit)), text);
  assert.equal(number.si(NaN, "m"), "–");
  assert.equal(plainly(number.si(Infinity, "m")), "∞ m");
});

test("plain numbers, bounds and lists", () => {
  assert.equal(plainly(number.plain(9.65e-9)), "9.65 × 10⁻⁹");
  assert.equal(plainly(number.plain(0.5)), "0.500");
  assert.equal(plainly(number.plain(0)), "0");
  assert.equal(number.boundary(1e-8, ""), "10⁻⁸");
  assert.equal(plainly(number.boundary(6e-4, "m")), "600 µm");
  assert.equal(plainly(number.siList([0.0216, 0.0189, 0.0031], "kg m²")), "21.6  18.9  3.1 g m²");
  assert.equal(plainly(number.siList([167, 167, 167], "kg m²")), "167  167  167 kg m²");
  assert.equal(plainly(number.compact(7.23e-9)), "7.2e-9");
  assert.equal(plainly(number.count(22869)), "22 869");
  assert.equal(plainly(number.fixed(-0.0001, 2)), "0.00");
});

test("marks of an axis are round and share a prefix", () => {
  assert.deepEqual(number.ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(number.tickTexts([0, 5000, 10000], "J").map(plainly), ["0", "5 kJ", "10 kJ"]);
  assert.deepEqual(number.tickTexts([-0.5, 0, 0.5], "N").map(plainly), ["-500 mN", "0", "500 mN"]);
});

const BOX = { kind: "box", size: [0.06, 0.3, 0.6] };
const collider = (shape) => ({
  shape,
  pose: [0, 0, 0, 0, 0, 0, 1],
  friction: 0.5,
  restitution: 0,
  material: "",
  sensor: false,
});
function manifestOf(change = {}) {
  const rest = { motion: "fixed", mass: null, centre: [0, 0, 0], inertia: null, axes: [0, 0, 0, 1] };
  return {
    name: "test",
    planar: false,
    method: "stepping",
    solver: "auto",
    step: 1 / 240,
    gravity: [0, 0, -9.81],
    tolerance: 1e-8,
    duration: 4,
    shapes: [{ kind: "halfspace", normal: [0, 0, 1], offset: 0 }, BOX],
    bodies: [
      { ...rest, name: "floor", colliders: [collider(0)] },
      {
        ...rest,
        name: "box",
        motion: "dynamic",
        mass: 2,
        inertia: [0.1, 0.2, 0.3],
        colliders: [collider(1)],
      },
    ],
    ...change,
  };
}
function figuresOf(values) {
  return Object.fromEntries(SERIES.map((name) => [name, Math.fround(values[name] ?? NaN)]));
}
function sourceOf(rows, manifest = manifestOf()) {
  const series = Object.fromEntries(
    SERIES.map((name) => [name, Float32Array.from(rows.map((row) => row[name] ?? NaN))]),
  );
  return {
    manifest,
    overview: () => ({ time: Float64Array.from(rows.map((_, i) => i)), series }),
    count: () => rows.length,
  };
}
const frameOf = (time, values) => ({
  time,
  position: Float32Array.of(0, 0, 0, 0, 0, 0.3),
  figures: figuresOf(values),
});
const GOOD = {
  penetration: 1e-5,
  complementarity: 9e-9,
  cone_violation: 1e-10,
  momentum_error: 1e-14,
  closure_rel: 1e-15,
  solver_failures: 0,
  passed_through: 0,
  overlap: 2e-5,
};

test("a run that keeps its bounds is certified", () => {
  const certificate = new Certificate(sourceOf([GOOD, { ...GOOD, penetration: 5e-5, overlap: 6e-5 }, GOOD]));
  assert.equal(certificate.breaches.length, 0);
  assert.ok(certificate.measured);
  const depth = certificate.checks.findIndex((check) => check.series === "penetration");
  assert.equal(certificate.soFar(depth, frameOf(0, GOOD)), Math.fround(1e-5));
  assert.equal(certificate.soFar(depth, frameOf(2, GOOD)), Math.fround(5e-5), "the worst so far stays");
  assert.match(
    plainly(certificateLine(certificate, frameOf(2, GOOD))),
    /certified: penetration ≤ 60\.0 µm, complementarity ≤ 9\.00 × 10⁻⁹$/,
  );
});

test("each bound that is broken is named, with its time", () => {
  const breaking = {
    penetration: [7e-4, "m"],
    complementarity: [3e-6, ""],
    cone_violation: [2e-8, ""],
    momentum_error: [1e-5, ""],
    joint_error: [7e-4, "m"],
    closure_rel: [-1e-5, ""],
    solver_failures: [2, "count"],
    passed_through: [1, "count"],
    overlap: [7e-4, "m"],
  };
  for (const [series, [value]] of Object.entries(breaking)) {
    const certificate = new Certificate(sourceOf([GOOD, GOOD, { ...GOOD, [series]: value }, GOOD]));
    assert.deepEqual(
      certificate.breaches.map((breach) => [breach.check.series, breach.time]),
      [[series, 2]],
    );
    assert.equal(certificate.atFrame(frameOf(2, { ...GOOD, [series]: value }))[0].check.series, series);
    assert.equal(certificate.atFrame(frameOf(3, GOOD)).length, 0, "other frames are not blamed");
    assert.deepEqual(certificate.spans, [{ from: 1, to: 2 }]);
  }
  const check = checksOf(manifestOf()).find((each) => each.series === "complementarity");
  assert.match(
    plainly(reason({ check, value: 3.2e-6, time: 0 })),
    /^complementarity 3\.20 × 10⁻⁶, allowed 10⁻⁸ \(the solver's tolerance\): /,
  );
});

test("infinite figures fail, missing ones do not, and nothing measured is not certified", () => {
  assert.equal(new Certificate(sourceOf([{ ...GOOD, complementarity: Infinity }])).breaches.length, 1);
  assert.equal(new Certificate(sourceOf([{ ...GOOD, complementarity: NaN }])).breaches.length, 0);
  const nothing = new Certificate(sourceOf([{}, {}]));
  assert.equal(nothing.measured, false);
  assert.match(certificateLine(nothing, frameOf(0, {})), /not measured$/);
  const lost = frameOf(0, GOOD);
  lost.position[3] = NaN;
  assert.ok(new Certificate(sourceOf([GOOD])).lost(lost));
});

test("a figure at the tolerance passes in 32 bits", () => {
  const certificate = new Certificate(sourceOf([{ ...GOOD, complementarity: Math.fround(1e-8) }]));
  assert.equal(certificate.breaches.length, 0);
});

test("sizes of the scene", () => {
  assert.equal(thinnest(manifestOf()), 0.06);
  assert.ok(Math.abs(typicalSize(manifestOf()) - 0.32) < 1e-12);
  assert.equal(
    thinnest(
      manifestOf({
        planar: true,
        shapes: [
          { kind: "disc", radius: 0.2 },
          { kind: "polygon", points: [0, 0, 0, 1, 0, 0, 1, 0, 0.5] },
        ],
      }),
    ),
    0.5,
  );
});

test("forces as the body feels them", () => {
  const frame = {
    position: Float32Array.of(0, 0, 0, 0, 0, 0.3),
    orientation: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1),
    velocity: Float32Array.of(0, 0, 0, 3, 0, 0),
    angular: Float32Array.of(0, 0, 0, 0, 2, 0),
    loads: [],
    contacts: [
      {
        a: 1,
        b: 0,
        mode: "slip",
        position: [0, 0, 0],
        normal: [0, 0, 1],
        force: [-4, 0, 8],
        gap: 0,
        friction: 0.5,
        slip: 3,
      },
      {
        a: 0,
        b: 1,
        mode: "stick",
        position: [0, 0, 0],
        normal: [0, 0, -1],
        force: [0, 3, -11.62],
        gap: 0,
        friction: 0.5,
        slip: 0,
      },
    ],
  };
  const state = bodyState(manifestOf(), frame, 1);
  assert.deepEqual(
    state.contacts.map((felt) => [felt.other, felt.normalForce, felt.tangentialForce]),
    [
      [0, 8, 4],
      [0, 11.62, 3],
    ],
  );
  assert.equal(state.contacts[0].use, 1, "at the limit of its cone");
  assert.ok(Math.abs(state.contacts[1].use - 3 / 5.81) < 1e-12);
  assert.deepEqual(state.weight, [0, 0, -19.62]);
  assert.ok(Math.hypot(state.sum[0] + 4, state.sum[1] + 3, state.sum[2]) < 1e-12);
  assert.equal(state.kinetic, 0.5 * 2 * 9 + 0.5 * 0.2 * 4);
  assert.equal(bodyState(manifestOf(), frame, 0).sum[1], 3, "and the floor the opposite");
  assert.equal(bodyState(manifestOf(), frame, 2), null);
});

test("the sum of forces counts every force, and says of what it is", () => {
  const frame = (loads, contacts = []) => ({
    position: Float32Array.of(0, 0, 0, 0, 0, 0.3),
    orientation: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1),
    velocity: Float32Array.of(0, 0, 0, 0, 0, 0),
    angular: Float32Array.of(0, 0, 0, 0, 0, 0),
    contacts,
    loads,
  });
  const load = (kind, body, force) => ({ kind, number: 0, body, point: [0, 0, 0], force, torque: [0, 0, 0] });
  const words = (state, unknown = false) => plainly(freeBody.sumWords(state, true, unknown, 72));
  const alone = bodyState(manifestOf(), frame([]), 1);
  assert.equal(words(alone), "Σ = 19.6 N, of weight alone");
  assert.equal(
    words(alone, true),
    "Σ = 19.6 N, of weight alone; springs and the like were not recorded",
  );
  const bob = bodyState(manifestOf(), frame([load("spring", 1, [0, 0, 72]), load("spring", 0, [0, 0, -72])]), 1);
  assert.deepEqual(bob.loadForce, [0, 0, 72], "not what acts on others");
  assert.ok(Math.abs(bob.sum[2] - (72 - 19.62)) < 1e-12);
  assert.equal(words(bob), "Σ = 52.4 N, of weight and springs");
  const held = [load("spring", 1, [1, 0, 0]), load("joint", 1, [-1, 0, 12]), load("applied", 1, [0, 0, 7.62])];
  assert.equal(words(bodyState(manifestOf(), frame(held), 1)), "In balance: Σ = 0 N");
  const heavy = manifestOf();
  heavy.bodies[1].gravity_scale = 0.5;
  assert.deepEqual(bodyState(heavy, frame([]), 1).weight, [0, 0, -9.81]);
});

const SIDE = { right: [1, 0, 0], up: [0, 0, 1], toward: [0, -1, 0] };
const area = (points) =>
  points.reduce((sum, [x, y], i) => {
    const [u, v] = points[(i + 1) % points.length];
    return sum + (x * v - u * y) / 2;
  }, 0);

/* About an axis: the quaternion of a turn. */
const turned = (axis, angle) => [...axis.map((x) => x * Math.sin(angle / 2)), Math.cos(angle / 2)];

test("coordinates of joints", () => {
  const free = (count) => Array.from({ length: count }, () => ({ angle: true, lower: null, upper: null }));
  const here = { position: [0, 0, 0], orientation: [0, 0, 0, 1] };
  const of = (kind, b) => jointCoordinates({ kind, axes: free(3) }, here, b);
  const close = (found, wanted) => {
    assert.equal(found.length, wanted.length);
    found.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) < 1e-12, `${found} is not ${wanted}`));
  };
  close(of("hinge", { position: [0, 0, 0], orientation: turned([0, 0, 1], -2.5) }), [-2.5]);
  close(of("hinge", { position: [0, 0, 0], orientation: turned([0, 0, 1], 4) }), [4 - 2 * Math.PI]);
  close(of("slider", { position: [0, 0, 0.3], orientation: [0, 0, 0, 1] }), [0.3]);
  close(of("cylindrical", { position: [0, 0, -1], orientation: turned([0, 0, 1], 1) }), [-1, 1]);
  close(of("planar", { position: [1, 2, 0], orientation: turned([0, 0, 1], 3) }), [1, 2, 3]);
  close(of("distance", { position: [3, 4, 12], orientation: [0, 0, 0, 1] }), [13]);
  close(of("ball", here), []);
  /* First about x of A, then about y of B: q = qx qy. */
  const [x, y] = [turned([1, 0, 0], 0.7), turned([0, 1, 0], -1.1)];
  const both = [x[0] * y[3], x[3] * y[1], x[0] * y[1], x[3] * y[3]];
  close(of("universal", { position: [0, 0, 0], orientation: both }), [0.7, -1.1]);

  /* A frame on a body that is turned by a quarter about z, and one in the world. */
  const joint = { a: -1, b: 0, frame_a: [1, 0, 0, 0, 0, 0, 1], frame_b: [2, 0, 0, 0, 0, 0, 1] };
  const [a, b] = jointFrames(joint, () => ({ position: [5, 0, 0], orientation: turned([0, 0, 1], Math.PI / 2) }));
  close(a.position, [1, 0, 0]);
  close(b.position, [5, 2, 0]);
});

test("outlines have the area of the projection", () => {
  const body = (shape, orientation = [0, 0, 0, 1]) =>
    silhouetteOf(
      manifestOf({ shapes: [shape] }),
      { colliders: [collider(0)] },
      { position: [1, 2, 3], orientation },
      SIDE,
    );
  const cases = [
    [BOX, 0.06 * 0.6, 1e-12],
    [{ kind: "sphere", radius: 0.5 }, Math.PI / 4, 0.01],
    [{ kind: "cylinder", radius: 0.5, length: 2 }, 2, 1e-12],
    [{ kind: "cone", radius: 0.5, length: 2 }, 1, 1e-12],
    [{ kind: "capsule", radius: 0.5, length: 2 }, 2 + Math.PI / 4, 0.01],
    [{ kind: "ellipsoid", size: [1, 5, 2] }, 2 * Math.PI, 0.05],
    [{ kind: "disc", radius: 1 }, Math.PI, 0.02],
  ];
  for (const [shape, expected, tolerance] of cases) {
    const { outlines } = body(shape);
    assert.ok(
      Math.abs(area(outlines[0]) - expected) < tolerance,
      `${shape.kind}: ${area(outlines[0])} instead of ${expected}`,
    );
  }
  assert.equal(body(BOX).facets.length, 1, "of a box seen from the side, one facet");
  const turned = body(BOX, [0, 0, Math.sin(0.4), Math.cos(0.4)]);
  assert.equal(turned.facets.length, 2);
  const across = 0.06 * Math.cos(0.8) + 0.3 * Math.sin(0.8);
  assert.ok(Math.abs(area(turned.outlines[0]) - 0.6 * across) < 1e-12);
  assert.equal(body({ kind: "halfspace", normal: [0, 0, 1], offset: 0 }).outlines.length, 0);
});

test("convex hulls drop what lies inside or on an edge", () => {
  const hull = convexHull([
    [0, 0],
    [1, 0],
    [2, 0],
    [2, 2],
    [1, 1],
    [0, 2],
    [0, 1],
  ]);
  assert.deepEqual(hull, [
    [0, 0],
    [2, 0],
    [2, 2],
    [0, 2],
  ]);
});
