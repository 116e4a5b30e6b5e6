/* The playground in Chromium: `node test_play.mjs RIGOR-COMMAND`. A page that `rigor export --html --live`
 * has made is opened from disk: the scene is edited, the mistake is shown at its line, mended, run; a
 * box is thrown, a body pulled; a link carries the scene; and the state hash is that of the command. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SKIPPED, byId, check, main, project, root, until, whereIs } from "../../viewer/tests/harness.mjs";

if (!existsSync(join(root, "build/wasm/rigor.wasm.gz"))) {
  console.log("skipped: tools/wasm has not built the module");
  process.exit(SKIPPED);
}

const SCENE = `# a crate on a floor
rigor: 1
method: {name: stepping, step: 1/240}
bodies:
  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1]}}}
  - name: crate
    shape: {box: [0.5, 0.5, 0.5]}
    position: [0, 0, 0.25]
duration: 60
`;

const live = (page) => page.evaluate(() => window.rigor.sources[0].live.state());
const text = (page) => byId(page, "play-text").inputValue();
const bodies = (page) => page.evaluate(() => window.rigor.sources[0].manifest.bodies.map((body) => body.name));

async function verdict(page, pattern) {
  return until(`the page says ${pattern}`, async () => {
    const words = await byId(page, "play-verdict").innerText();
    return pattern.test(words) ? words : null;
  });
}

async function testEdit(page) {
  check((await text(page)) === SCENE, "the text of the file is not shown as it was written");
  await verdict(page, /can be run/);
  await byId(page, "play-text").fill(SCENE.replace("position: [0, 0, 0.25]", "postion: [0, 0, 2]"));
  const words = await verdict(page, /^scene\.yaml:8:5: .*postion/);
  check(/position/.test(words), `no hint at the right word: ${words}`);
  check((await byId(page, "play-mark").getAttribute("data-line")) === "8", "another line is marked");
  check(await byId(page, "play-mark").isVisible(), "no line is marked");
  const [strip, area] = await Promise.all([
    byId(page, "play-mark").boundingBox(),
    byId(page, "play-text").boundingBox(),
  ]);
  check(Math.abs(strip.y - area.y - 8 - 7 * 18) < 1, `the mark is at ${strip.y - area.y}, not at line 8`);
  await byId(page, "play-run").click(); // refused: the run goes on as it was
  check((await live(page)).connected, "the old run has gone");
  await byId(page, "play-text").fill(SCENE.replace("[0, 0, 0.25]", "[0, 0, 2]"));
  await verdict(page, /can be run/);
  check(!(await byId(page, "play-mark").isVisible()), "a line is still marked");
  await byId(page, "play-run").click();
  await until("the crate began at its new place", async () => (await beginning(page)).height > 1.9);
  await until("the crate has fallen", async () => (await whereIs(page, "crate")).position[2] < 0.26);
  const { run } = await beginning(page);
  await byId(page, "play-run").click(); // from the beginning
  await until("it falls anew", async () => {
    const again = await beginning(page);
    return again.run !== run && again.height > 1.9;
  });
}

/** The first frame of what is shown, which stays, however fast the run: which run it is of, the crate's height. */
function beginning(page) {
  return page.evaluate(() => {
    const source = window.rigor.sources[0];
    const frame = source.frame(source.first());
    const crate = source.manifest.bodies.findIndex((body) => body.name === "crate");
    window.runNumbers ??= new Map();
    if (!window.runNumbers.has(source)) window.runNumbers.set(source, window.runNumbers.size);
    const run = `${window.runNumbers.get(source)} ${source.first()}`;
    return { run, height: frame ? frame.position[3 * crate + 2] : -1 };
  });
}

async function testThrowAndPull(page) {
  check((await bodies(page)).length === 2, "bodies");
  await page.evaluate(() => window.rigor.sources[0].live.throwBox([0, 0, 3], [0, 0, -2], 0.3));
  await until("a box is there", async () => (await bodies(page)).includes("thrown-1"));
  await until("the box lies on the crate", async () => {
    const box = await whereIs(page, "thrown-1");
    return box.time > 1 && Math.abs(box.position[2] - 0.65) < 0.01;
  });
  await page.evaluate(() => window.rigor.sources[0].live.reset());
  await until("the box is gone", async () => (await bodies(page)).length === 2);
  const crate = await whereIs(page, "crate");
  const from = await project(page, [0, 0, 0.25]);
  const to = await project(page, [0, 0, 1.5]);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 8 });
  await until("the crate is pulled up", async () => (await whereIs(page, "crate")).position[2] > 0.6);
  await page.mouse.up();
  check(crate.body === 1, "the crate is body 1");
}

async function testBuiltin(page) {
  await byId(page, "play-parameters").fill("base=3");
  await byId(page, "play-builtin").selectOption("pyramid");
  await until("the pyramid runs", async () => (await bodies(page)).length === 7);
  check(/bodies:/.test(await text(page)), "the built-in scene is not shown as a file");
  await byId(page, "play-parameters").fill("base=x");
  await byId(page, "play-parameters").blur();
  await verdict(page, /base/);
}

async function testLink(page, bench) {
  const changed = SCENE.replace("crate on", "änderung on").replace(/crate/g, "kiste");
  await byId(page, "play-text").fill(changed);
  await byId(page, "play-link").click();
  await verdict(page, /link is in the address/);
  await page.waitForTimeout(600); // the check of the text, due 250 ms after the last key, must not take its place
  await verdict(page, /link is in the address/);
  const address = page.url();
  check(address.includes("#scene="), address);
  const other = await bench.open(address);
  check((await text(other)) === changed, "the link gives another text");
  check((await bodies(other)).includes("kiste"), "the link gives another scene");
  await bench.close(other);
}

/** Exactly so many steps from the beginning, as the page makes them. */
async function hashAfter(page, steps) {
  await page.evaluate(() => window.rigor.sources[0].live.pause());
  await until("paused", async () => !(await live(page)).running);
  await page.evaluate(() => window.rigor.sources[0].live.reset());
  await page.evaluate((count) => window.rigor.sources[0].live.step(count), steps);
  return until(
    `${steps} steps are made`,
    async () => {
      const now = await page.evaluate(() => window.rigor.play.hash());
      return now.steps === steps ? now.hash : null;
    },
    300_000,
  );
}

async function testHash(page, bench) {
  const native = (...words) => JSON.parse(bench.rigor("run", ...words, "--json", "--quiet").trim().split("\n").pop());
  const crate = native("scene.yaml", "--duration", "0.5");
  check((await hashAfter(page, crate.steps)) === crate.state_hash, "the hash of the crate differs");
  const pyramid = native("pyramid", "base=20", "--duration", "0.5");
  const measured = await page.evaluate(
    (steps) => window.rigor.play.measure("pyramid", { base: "20" }, steps),
    pyramid.steps,
  );
  check(measured.hash === pyramid.state_hash, "the hash of the pyramid differs");
}

await main(async (bench) => {
  bench.write("scene.yaml", SCENE);
  bench.rigor("export", "scene.yaml", "--html", "play.html", "--live");
  const address = pathToFileURL(bench.file("play.html")).href;
  await bench.testPage("a mistake, shown at its line, and mended", address, {}, testEdit);
  await bench.testPage("a box is thrown, a body is pulled", address, {}, testThrowAndPull);
  await bench.testPage("a built-in scene", address, {}, testBuiltin);
  await bench.testPage("a link carries the scene", address, {}, (page) => testLink(page, bench));
  await bench.testPage("the hashes are those of the command", address, {}, (page) => testHash(page, bench));
});
