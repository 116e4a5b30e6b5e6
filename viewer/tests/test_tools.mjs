/* What the page has for those who look closer, in Chromium: plots of bodies and joints as files, films,
 * two runs over each other and the distance between them, banners, labels, a camera that stays above the
 * floor, sensors, springs and prescribed motion. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { byId, changedPixels, check, checkNear, main, openBeside, openTab, settle, showTime, until, whereIs } from "./harness.mjs";

/* A pendulum, a crate that rides on a platform through a sensor, a bob on a spring. */
const SCENE = `rigor: 1
gravity: [0, 0, -9.81]
method: {name: stepping, step: 1/240}
materials:
  default: {friction: 0.6}
bodies:
  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1]}}}
  - {name: platform, motion: kinematic, shape: {box: [1, 1, 0.1]}, position: [0, 0, 0.3], velocity: [0.3, 0, 0]}
  - {name: crate, shape: {box: [0.4, 0.4, 0.4]}, density: 400, position: [0, 0, 0.55], velocity: [0.3, 0, 0]}
  - {name: gate, motion: fixed, sensor: true, shape: {box: [0.2, 1.4, 1.2]}, position: [1, 0, 0.6]}
  - {name: bob, shape: {sphere: 0.1}, mass: 1, position: [-1, 0, 1]}
  - {name: arm, shape: {box: [0.1, 0.1, 0.6]}, mass: 1, position: [-1.5, 0, 0.7]}
forces:
  - {kind: spring, body: bob, other_point: [-1, 0, 1.72], stiffness: 60, rest_length: 0.5}
joints:
  - {name: elbow, kind: hinge, bodies: [arm, world], point: [-1.5, 0, 1], axis: [0, 1, 0]}
duration: 1
record: {every: 1/60}
`;
/* The same with an arm that is pushed, whose bob begins 2 cm lower. */
const OTHER = SCENE.replace("position: [-1.5, 0, 0.7]}", "position: [-1.5, 0, 0.7], velocity: [0.6, 0, 0], angular_velocity: [0, -2, 0]}").replace("[-1, 0, 1]}", "[-1, 0, 0.98]}");
/* Two crates; in the second run one begins inside the floor. */
const SOUND = `rigor: 1
gravity: [0, 0, -9.81]
method: {name: stepping, step: 1/240}
bodies:
  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1]}}}
  - {name: crate, shape: {box: [1, 1, 1]}, density: 250, position: [0, 0, 0.5]}
duration: 0.3
record: {every: 1/60}
`;
const SUNK = SOUND.replace("[0, 0, 0.5]", "[0, 0, 0.3]");
const GRAVITY = 9.81;

async function saved(page, id) {
  const [file] = await Promise.all([page.waitForEvent("download"), byId(page, id).click()]);
  return { name: file.suggestedFilename(), path: await file.path() };
}

async function select(page, name) {
  await page.keyboard.press("Escape");
  await openTab(page, "body");
  await byId(page, "inspector-find").fill(name);
  await byId(page, "inspector-find").press("Enter");
  await until(`${name} is selected`, async () => (await byId(page, "inspector-name").textContent()) === name);
}

/** What a plot of the selected body would be saved as: rows of numbers. */
async function bodyTable(page, quantity) {
  await byId(page, "body-plot").selectOption(quantity);
  await byId(page, "plot-body").hover();
  const read = async () => {
    const { name, path } = await saved(page, "save-body-csv");
    const [head, ...lines] = readFileSync(path, "utf8").trim().split("\n");
    return { name, head, rows: lines.map((line) => line.split(",").map((cell) => (cell === "" ? NaN : Number(cell)))) };
  };
  return until(`the plot of ${quantity} is complete`, async () => {
    const table = await read();
    return table.rows.length > 0 && table.rows.every((row) => row.every((value) => !Number.isNaN(value))) ? table : null;
  });
}

async function testBodyPlots(page) {
  await showTime(page, 0.5);
  const frames = await page.evaluate(() => window.rigor.sources[0].count());
  await select(page, "crate");
  const position = await bodyTable(page, "position");
  check(position.name.endsWith("-crate-position.csv"), position.name);
  check(position.head === "time (s),x (m),y (m),z (m)", position.head);
  check(position.rows.length === frames, `${position.rows.length} lines of ${frames} frames`);
  for (const [time, x, , z] of position.rows) {
    checkNear(x, 0.3 * time, 1e-6, `the crate rides, at ${time} s`);
    checkNear(z, 0.55, 1e-6, "and does not sink");
  }
  const force = await bodyTable(page, "contact-force");
  const weight = 0.4 ** 3 * 400 * GRAVITY;
  checkNear(force.rows[30][3], weight, 1e-4, "the platform carries it");

  const plot = await saved(page, "save-body-svg");
  const drawing = readFileSync(plot.path, "utf8");
  check(drawing.startsWith("<svg") && drawing.includes("<title>Contact force"), drawing.slice(0, 200));

  await select(page, "arm");
  const groups = await byId(page, "body-plot").locator("optgroup").evaluateAll((all) => all.map((group) => group.label));
  check(groups.join() === "Body,Joint elbow (hinge)", `groups: ${groups}`);
  const angle = await bodyTable(page, "joint-elbow-0");
  check(angle.head === "time (s),angle (rad)", angle.head);
  check(angle.rows.every(([, value]) => Math.abs(value) < 1e-6), "a pendulum at rest");
  const held = await bodyTable(page, "joint-elbow-force");
  for (const row of held.rows.slice(1)) checkNear(row[3], GRAVITY, 1e-4, "the hinge carries the arm");

  /* A click in it goes to that time. */
  const box = await byId(page, "plot-body").locator("canvas").boundingBox();
  await page.mouse.click(box.x + 0.9 * box.width, box.y + box.height / 2);
  await until("a click goes to that time", () => page.evaluate(() => window.rigor.player.time > 0.7));
}

async function testFilm(page) {
  await showTime(page, 0.25);
  const film = await saved(page, "film");
  check(film.name.endsWith(".webm"), film.name);
  const said = execFileSync("ffprobe", ["-v", "error", "-count_frames", "-show_entries", "stream=codec_name,width,height,nb_read_frames", "-show_entries", "format=duration", "-of", "json", film.path], { encoding: "utf8" });
  const { streams, format } = JSON.parse(said);
  check(streams.length === 1 && streams[0].codec_name === "vp8", said);
  check(Number(streams[0].nb_read_frames) === 31, `31 pictures in a second at 30 a second: ${said}`);
  checkNear(Number(format.duration), 31 / 30, 1e-3, "its length");
  const box = await page.locator(".views").boundingBox();
  check(Math.abs(streams[0].width - box.width) < 2 && Math.abs(streams[0].height - box.height) < 2, said);
  await until("the page is as before", () => page.evaluate(() => !document.documentElement.dataset.capture && window.rigor.player.time === 0.25));

  /* The pictures differ: the arm of the other run swings. */
  const sums = execFileSync("ffmpeg", ["-v", "error", "-i", film.path, "-f", "framemd5", "-"], { encoding: "utf8" });
  const different = new Set(sums.trim().split("\n").filter((line) => !line.startsWith("#")).map((line) => line.split(",").at(-1).trim()));
  check(different.size > 20, `${different.size} different pictures`);
}

/* The first run is drawn as before, the second over it; bodies that agree look as they did. */
async function testOverlay(page) {
  await showTime(page, 0.6);
  await openBeside(page);
  await byId(page, "canvas-1").waitFor({ state: "visible" });
  await byId(page, "compare").click();
  await byId(page, "overlay").check();
  await until("one view", async () => !(await byId(page, "canvas-1").isVisible()));
  await page.keyboard.press("Escape");
  await settle(page);
  await changedPixels(page);
  const labels = await page.locator('.view-host[data-slot="0"] .view-label').allTextContents();
  check(labels.length === 2 && labels[0].startsWith("A") && labels[1].startsWith("B"), `labels: ${labels}`);
  await page.evaluate(() => window.rigor.views[0].setGhost(null));
  const without = await changedPixels(page);
  check(without > 300, `the other run is seen: ${without} pixels`);
  const picture = await page.evaluate(async () => {
    const image = new Image();
    image.src = await window.rigor.capture(0.6, 600, 400);
    await image.decode();
    return [image.width, image.height];
  });
  check(picture.join() === "600,400", `a picture of it: ${picture}`);
  await byId(page, "compare").click();
  await byId(page, "overlay").uncheck();
  await byId(page, "canvas-1").waitFor({ state: "visible" });
  await byId(page, "compare-close").click();
  await until("one run", () => page.evaluate(() => window.rigor.sources.length === 1));
}

/* The bob's two runs differ by 2 cm cos(omega t), the pendulums by more: what the plot says is the largest. */
async function testDistance(page) {
  await openBeside(page);
  const name = "save-distance-csv";
  await byId(page, "plot-distance").hover();
  const table = await until("the distance is complete", async () => {
    const { path } = await saved(page, name);
    const lines = readFileSync(path, "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
    return lines.every((line) => line[1] !== "") ? lines.map((line) => line.map(Number)) : null;
  });
  check(table.length === 31, `${table.length} times`);
  checkNear(table[0][1], 0.02, 1e-4, "at the beginning it is the bob's");
  const wanted = await page.evaluate(() => {
    const [a, b] = window.rigor.sources;
    const [from, to] = [a.frame(20), b.frame(20)];
    let largest = 0;
    a.manifest.bodies.forEach((body, i) => {
      if (body.motion !== "dynamic") return;
      const [p, q] = [from, to].map((frame) => frame.position.slice(3 * i, 3 * i + 3));
      largest = Math.max(largest, Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
    });
    return largest;
  });
  checkNear(table[20][1], wanted, 1e-3, "and at 2/3 s that of the body that is farthest");
  await byId(page, "compare").click();
  await byId(page, "compare-close").click();
  await until("gone with the comparison", async () => !(await byId(page, "plot-distance").isVisible()));
}

async function testBanners(page) {
  await openBeside(page);
  await showTime(page, 0.2);
  const banner = byId(page, "badge-reason-1");
  await banner.waitFor({ state: "visible" });
  check(!(await byId(page, "badge-reason").isVisible()), "the sound run has none");
  check((await banner.textContent()).startsWith("B: "), `it says of whom it speaks: ${await banner.textContent()}`);
  const [runs, badge] = [await byId(page, "runs").boundingBox(), await byId(page, "badge").boundingBox()];
  check(runs.width >= 64 && runs.x + runs.width <= badge.x, `runs can be chosen beside it: ${JSON.stringify([runs, badge])}`);
  const [box, pane] = [await banner.locator("..").boundingBox(), await byId(page, "canvas-1").boundingBox()];
  check(box.x >= pane.x && box.x + box.width <= pane.x + pane.width, `it stays in its pane: ${JSON.stringify([box, pane])}`);
  check(box.y >= pane.y && box.y + box.height <= pane.y + pane.height, `it stays in its pane: ${JSON.stringify([box, pane])}`);
}

/* However one turns or moves it, the eye stays above the floor, and looks the way it was turned. */
async function testCamera(page) {
  await showTime(page, 0);
  const canvas = await byId(page, "canvas-0").boundingBox();
  const height = () => page.evaluate(() => window.rigor.views[0].cameraPosition()[2]);
  const drag = async (button, dx, dy) => {
    await page.mouse.move(canvas.x + 40, canvas.y + canvas.height / 2);
    await page.mouse.down({ button });
    for (let i = 1; i <= 8; i++) {
      await page.mouse.move(canvas.x + 40 + (i * dx) / 8, canvas.y + canvas.height / 2 + (i * dy) / 8);
      await settle(page);
      check((await height()) > 0, `the eye is above the floor: ${await height()} m`);
    }
    await page.mouse.up({ button });
  };
  const before = await height();
  await drag("left", 0, -300);
  check((await height()) < 0.2 * before, `it goes down to the floor: ${before} m, ${await height()} m`);
  await drag("right", 0, -300); // the target sinks
  await drag("right", 0, -300);
  await drag("left", 200, 100);
  await page.keyboard.press("2");
  await settle(page);
  check((await height()) > 0, "views along the axes too");
}

/* Sensors are seen through: what is behind them is seen, and picked. */
async function testSensor(page) {
  await showTime(page, 0.9);
  await page.evaluate(() => window.rigor.views[0].lookFrom("x"));
  await settle(page);
  const { body, position } = await whereIs(page, "crate");
  const at = await page.evaluate((point) => {
    const view = window.rigor.views[0];
    const box = view.canvas.getBoundingClientRect();
    for (let y = box.top + 2; y < box.bottom; y += 4)
      for (let x = box.left + 2; x < box.right; x += 4)
        if (Math.hypot(...view.pointAt(x, y, point).map((value, i) => value - point[i])) < 0.05) return { x, y };
    return null;
  }, position);
  check(at, "the crate is in the picture");
  const picked = await page.evaluate(({ x, y }) => window.rigor.views[0].pick(x, y).body, at);
  check(picked === body, `the crate behind the gate is picked: ${picked}`);
  await select(page, "gate");
  check(/sensor/.test(await byId(page, "inspector").textContent()), "the panel says that it is a sensor");
}

/* The switch takes away the spring, the hinge's axis and the arrow of the platform. */
async function testMarks(page) {
  await showTime(page, 0.5);
  await openTab(page, "show");
  await settle(page);
  await changedPixels(page);
  await byId(page, "switch-joints").click();
  await settle(page);
  const changed = await changedPixels(page);
  check(changed > 100, `springs, joints and prescribed motion: ${changed} pixels`);
  await byId(page, "switch-joints").click();
  await select(page, "platform");
  check(/prescribed/.test(await byId(page, "inspector").textContent()), "the panel says that its motion is prescribed");
}

/* The label of a bound and the buttons stand above the curves, whatever these are. */
/* "allowed 10 mm" of the penetration, whose scale has wide numbers: x and width are those of the drawing. */
async function testNarrow(page) {
  await byId(page, "plot-penetration").hover();
  const { path } = await saved(page, "save-penetration-svg");
  const label = await page.evaluate((text) => {
    const tree = new DOMParser().parseFromString(text, "image/svg+xml");
    const found = [...tree.querySelectorAll("text")].find((each) => each.textContent.startsWith("allowed"));
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${found?.getAttribute("font-size")}px sans-serif`;
    return found && {
      text: found.textContent,
      end: Number(found.getAttribute("x")) + pen.measureText(found.textContent).width,
      width: Number(tree.documentElement.getAttribute("width")),
    };
  }, readFileSync(path, "utf8"));
  check(label && label.end > 0 && label.end <= label.width, `the label and the width of the plot: ${JSON.stringify(label)}`);
}

async function testLabels(page) {
  await showTime(page, 0.5);
  await byId(page, "plot-complementarity").hover();
  const [area, buttons] = await Promise.all(
    [".plot-area", ".plot-save"].map((part) => byId(page, "plot-complementarity").locator(part).boundingBox()),
  );
  check(buttons.y + buttons.height <= area.y + 18, `the buttons stand above the curves: ${JSON.stringify([area, buttons])}`);
  for (const name of ["penetration", "complementarity"]) {
    await byId(page, `plot-${name}`).hover();
    const { path } = await saved(page, `save-${name}-svg`);
    const drawing = readFileSync(path, "utf8");
    const heights = await page.evaluate((text) => {
      const tree = new DOMParser().parseFromString(text, "image/svg+xml");
      const labels = [...tree.querySelectorAll("text")].filter((each) => each.textContent.startsWith("allowed"));
      /* The curve is the last path of the clipped group. */
      const curves = [...tree.querySelectorAll("g[clip-path] path")].map((path) => path.getAttribute("d"));
      const rows = curves.flatMap((path) => [...path.matchAll(/[ML][\d.-]+ ([\d.-]+)/g)].map((match) => Number(match[1])));
      return { labels: labels.map((each) => Number(each.getAttribute("y"))), top: Math.min(...rows), curves: curves.length };
    }, drawing);
    check(heights.curves > 0, `${name}: there is a curve`);
    for (const label of heights.labels) check(label + 5 < heights.top, `${name}: its label hides no curve: ${JSON.stringify(heights)}`);
  }
}

await main(async (bench) => {
  bench.write("scene.yaml", SCENE);
  bench.write("other.yaml", OTHER);
  bench.write("sound.yaml", SOUND);
  bench.write("sunk.yaml", SUNK);
  const scene = bench.record("scene", "scene.yaml");
  const other = bench.record("other", "other.yaml");
  const one = bench.page("scene", scene);
  const two = bench.page("two", scene, other);
  const swings = bench.page("other", other);
  const banner = bench.page("banner", bench.record("sound", "sound.yaml"), bench.record("sunk", "sunk.yaml"));
  const desk = { viewport: { width: 1400, height: 900 }, acceptDownloads: true };
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

  await bench.testPage("plots of bodies and joints", one, desk, testBodyPlots);
  await bench.testPage("a film", swings, { viewport: { width: 640, height: 480 }, acceptDownloads: true }, testFilm);
  await bench.testPage("one run over the other", two, desk, testOverlay);
  await bench.testPage("one run over the other, on a phone", two, phone, testOverlay);
  await bench.testPage("the distance between two runs", two, desk, testDistance);
  await bench.testPage("a banner covers the view that it speaks of", banner, desk, testBanners);
  await bench.testPage("a banner covers the view that it speaks of, on a phone", banner, phone, testBanners);
  await bench.testPage("the camera stays above the floor", one, desk, testCamera);
  await bench.testPage("sensors are seen through", one, desk, testSensor);
  await bench.testPage("springs, joints, prescribed motion", one, desk, testMarks);
  await bench.testPage("labels hide no curve", one, desk, testLabels);
  const flat = bench.page("flat", bench.record("flat", "block-on-floor", "--duration", "0.1"));
  await bench.testPage("a planar scene is seen from one side", flat, desk, async (page) => {
    check(await byId(page, "look-corner").isHidden(), "no choice of views");
    check(await byId(page, "frame-all").isVisible(), "but the button for everything in view");
  });
  const narrow = { viewport: { width: 1280, height: 800 }, acceptDownloads: true };
  await bench.testPage("a bound's label is not cut off in a narrow plot", bench.page("sunk", bench.file("sunk.h5")), narrow, testNarrow);
});
