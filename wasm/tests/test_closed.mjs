/* What is closed is refused in words: `node test_closed.mjs`. Every member of Scene and Live, found by looking,
 * is used after close(), and Scene after live(). The module behind them is a stand-in, so that this runs
 * without a build of it: it answers any pointer but 0 and fails at 0, as an assertion of the library does. */

import { Live, RigorError, Scene } from "../npm/library.mjs";

let checks = 0;
let failures = 0;

function expect(condition, what) {
  checks++;
  if (condition) return;
  failures++;
  console.log(`failed: ${what}`);
}

const TAKES_NO_POINTER = new Set(["malloc", "free"]);
const module = new Proxy(
  { memory: { buffer: new ArrayBuffer(4096) }, freed: [] },
  {
    get: (target, name) =>
      name in target
        ? target[name]
        : (pointer) => {
            if (name === "malloc") return 64;
            if (!TAKES_NO_POINTER.has(name) && pointer === 0) throw new Error(`Assertion failed: /build/${name}.c`);
            if (String(name).endsWith("_close")) target.freed.push(pointer);
            if (name === "rigor_scene_body_count") return 1;
            return name === "rigor_live_open" ? 16 : String(name).endsWith("hash") ? 0n : 0;
          },
  },
);
const rigor = {
  module,
  read: () => "text",
  take: () => 64,
  write: () => ({ pointer: 64, size: 0 }),
  doubles: (count, fill) => (fill(64), new Float64Array(count)),
  call: (action) => action(),
  fail: () => {
    throw new Error("fail() is not expected");
  },
};

function refused(what, text, action) {
  try {
    action();
  } catch (problem) {
    expect(problem instanceof RigorError, `${what}: ${problem}`);
    expect(problem.status === "invalid-handle", `${what}: status ${problem.status}`);
    expect(problem.message === text, `${what}: ${problem.message}`);
    return;
  }
  expect(false, `${what} is accepted`);
}

/* Every member but close(), which may be called again and then does nothing. */
function useAll(thing, text) {
  const members = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(thing)));
  for (const [name, member] of members) {
    if (["constructor", "close"].includes(name)) continue;
    if (name === "part") continue; // of take(): gets a function, not the run
    const what = `${thing.constructor.name}.${name}`;
    if (member.get) refused(what, text, () => thing[name]);
    else refused(what, text, () => thing[name]({ type: "pause" }));
  }
  const before = module.freed.length;
  thing.close();
  expect(module.freed.length === before, `${thing.constructor.name} is freed twice`);
}

const scene = new Scene(rigor, 8);
expect(scene.name === "text" && scene.bodyCount === 1 && scene.hash() === "0".repeat(16), "an open scene");
scene.close();
expect(module.freed.join() === "8", `freed: ${module.freed}`);
useAll(scene, "the scene is closed");

const given = new Scene(rigor, 24);
const live = given.live();
useAll(given, "the scene is closed: a live run has taken it over");
expect(live.take().length === 0 && live.hash() === "0".repeat(16), "an open run");
live.close();
expect(module.freed.join() === "8,16", `freed: ${module.freed}`);
useAll(live, "the live run is closed");
expect(live instanceof Live, "live() gives a Live");

console.log(`${checks} checks, ${failures} failed`);
process.exitCode = failures ? 1 : 0;
