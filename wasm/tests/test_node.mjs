/* The npm package in Node: `node test_node.mjs RIGOR-COMMAND`. It is packed and installed as a user
 * would, its types are checked, and every line of tests/data/golden_hashes.txt is run in the module
 * with the hash that all other builds have. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const packed = join(root, "build/wasm/npm");
if (!existsSync(join(packed, "rigor.wasm"))) {
  console.log("skipped: tools/wasm has not built the module");
  process.exit(77);
}
const stride = Number(process.env.RIGOR_STRIDE ?? 1);
const folder = mkdtempSync(join(tmpdir(), "rigor-npm-"));
let checks = 0;
let failures = 0;

function expect(condition, what) {
  checks++;
  if (condition) return;
  failures++;
  console.log(`failed: ${what}`);
}

/* ---- the package, as a user gets it ---- */

function run(program, ...words) {
  return execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function install() {
  const archive = run("npm", "pack", "--silent", packed).trim().split("\n").pop();
  writeFileSync(join(folder, "package.json"), '{"name": "user", "type": "module"}');
  run("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", `./${archive}`);
  return join(folder, "node_modules/rigor-wasm");
}

const USE = `import { load, RigorError, type Scene } from "rigor-wasm";
const rigor = await load({ files: { "a.obj": new Uint8Array() } });
const scene: Scene = rigor.builtin("pyramid", { base: 3 }, { method: "stepping" });
scene.step(2);
const poses: Float64Array = scene.poses();
const hash: string = scene.hash();
const depth: number = scene.certificate().maxPenetration;
const error = new RigorError("a");
const line: number = error.line;
// @ts-expect-error: there is no such option
rigor.scene("", { metod: "stepping" });
export { poses, hash, depth, line };
`;

function checkTypes() {
  const compiler = join(root, "viewer/page/node_modules/typescript/bin/tsc");
  if (!existsSync(compiler)) return console.log("skipped: types: tools/page has not fetched TypeScript");
  writeFileSync(join(folder, "use.mts"), USE);
  const words = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "use.mts"];
  try {
    run(process.execPath, compiler, ...words);
    expect(true, "types");
  } catch (problem) {
    expect(false, `types: ${problem.stdout}`);
  }
}

/* ---- what it does ---- */

function refused(what, action) {
  try {
    action();
  } catch (problem) {
    return problem;
  }
  expect(false, `${what} is accepted`);
  return new Error("");
}

function checkErrors(rigor, command) {
  const text = "rigor: 1\nbodies:\n  - name: a\n    shpae: {sphere: 1}\n";
  const problem = refused("a misspelt key", () => rigor.scene(text, { name: "scene.yaml" }));
  expect(problem.status === "unknown-key", `status ${problem.status}`);
  expect(problem.line === 4 && problem.column === 5, `place ${problem.line}:${problem.column}`);
  writeFileSync(join(folder, "scene.yaml"), text);
  let native = "";
  try {
    run(command, "run", "scene.yaml");
  } catch (failure) {
    native = failure.stderr.trim();
  }
  expect(native === `rigor: ${problem.message}`, `text ${problem.message} instead of ${native}`);
  expect(refused("a word", () => rigor.builtin("pyramit")).message.includes("pyramid"), "no hint");
  const file = refused("a file that is not there", () => rigor.file("no.yaml"));
  expect(file.status === "file-unreadable", `status ${file.status}`);
  /* Qhull leaves through its error exit; the module goes on afterwards. */
  const flat = "bodies:\n  - {name: a, shape: {hull: [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}}\n";
  const hull = refused("a flat hull", () => rigor.scene(flat));
  expect(/in one plane/.test(hull.message), `a flat hull: ${hull.message}`);
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`p${i}`, i]));
  const words = refused("33 parameters", () => rigor.builtin("pyramid", many));
  expect(words.message === "there are more than 32 parameters", `33 parameters: ${words.message}`);
}

/* A tetrahedron from a file in memory, and the same scene written out and read again. */
function checkFiles(rigor) {
  rigor.addFile("part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
  const scene = rigor.scene("rigor: 1\nbodies:\n  - {name: part, shape: {mesh: {file: part.obj}}}\n");
  const again = rigor.scene(scene.text());
  scene.step(10);
  again.step(10);
  expect(scene.hash() === again.hash(), "a scene that was written and read again moves otherwise");
  expect(scene.bodyNames().join() === "part", `bodies ${scene.bodyNames()}`);
  expect(scene.poses().length === 7 && scene.velocities()[2] < 0, "it does not fall");
  scene.close();
  again.close();
}

/* The same hash step by step and as a live run that is told to make so many steps. */
function checkLive(rigor) {
  const scene = rigor.builtin("pyramid", { base: 4 });
  scene.step(30);
  const live = rigor.builtin("pyramid", { base: 4 }).live({ paused: true });
  live.post({ type: "step", count: 30 });
  const kinds = new Set();
  while (live.steps < 30) {
    live.turn();
    for (const message of live.take())
      kinds.add(typeof message === "string" ? JSON.parse(message).type : "frame");
  }
  expect(live.hash() === scene.hash(), "a live run moves otherwise");
  live.post({ type: "throw", from: [0, 0, 5], velocity: [0, 0, 0], size: 0.2 });
  live.post({ type: "nonsense" });
  live.turn();
  for (const message of live.take())
    kinds.add(typeof message === "string" ? JSON.parse(message).type : "frame");
  for (const kind of ["manifest", "state", "frame", "error"]) expect(kinds.has(kind), `no ${kind}`);
  live.close();
  scene.close();
}

/* Nothing reaches the module after close(). */
function checkClosed(rigor) {
  const scene = rigor.builtin("pyramid", { base: 3 });
  scene.close();
  scene.close();
  const problem = refused("a closed scene", () => scene.step());
  expect(problem.message === "the scene is closed", `a closed scene: ${problem.message}`);
  const given = rigor.builtin("pyramid", { base: 3 });
  given.live({ paused: true }).close();
  expect(/live run/.test(refused("a scene that runs", () => given.hash()).message), "a scene that runs");
}

/* A line of the golden file: what `rigor run` is told. */
function readLine(line) {
  const [hash, name, ...words] = line.split(/\s+/);
  const options = { parameters: {} };
  let duration = null;
  for (let i = 0; i < words.length; i++) {
    const option = /^--(.*)/.exec(words[i])?.[1];
    if (option === "duration") duration = Number(words[++i]);
    else if (option === "step") return null;
    else if (option) options[option] = words[++i];
    else options.parameters[words[i].split("=")[0]] = words[i].split("=")[1];
  }
  return { hash, name, options, duration };
}

function checkHashes(rigor) {
  const text = readFileSync(join(root, "tests/data/golden_hashes.txt"), "utf8");
  const lines = text.split("\n").filter((line) => line && !line.startsWith("#"));
  for (const name of readdirSync(join(root, "scenes")))
    if (name.endsWith(".yaml") || name.endsWith(".obj"))
      rigor.addFile(`scenes/${name}`, readFileSync(join(root, "scenes", name)));
  for (let i = 0; i < lines.length; i += stride) {
    const told = readLine(lines[i]);
    expect(told !== null, `an option that this test does not know: ${lines[i]}`);
    if (!told) continue;
    try {
      const scene = rigor.openScene(told.name, null, told.options);
      scene.step(Math.round((told.duration ?? scene.duration) / scene.stepSize));
      expect(scene.hash() === told.hash, `${lines[i]}: ${scene.hash()}`);
      scene.close();
    } catch (problem) {
      expect(false, `${lines[i]}: ${problem.message}`);
    }
  }
}

try {
  const place = install();
  checkTypes();
  const { load } = await import(pathToFileURL(join(place, "rigor.mjs")).href);
  const rigor = await load();
  checkErrors(rigor, resolve(process.argv[2]));
  checkFiles(rigor);
  checkLive(rigor);
  checkClosed(rigor);
  checkHashes(rigor);
  console.log(`${checks} checks, ${failures} failed; version ${rigor.version} from ${dirname(place)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures ? 1 : 0;
