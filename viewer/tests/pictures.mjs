/* Makes the pictures of the documentation anew: node viewer/tests/pictures.mjs RIGOR-COMMAND [NAME ...]
 * runs the scenes, opens them as a visitor would, and leaves docs/pictures/view-NAME.jpg. Look at them
 * before they are kept. */

import { statSync } from "node:fs";
import { basename, join } from "node:path";

import { byId, launch, openBeside, openTab, project, root, settle, showTime, whereIs } from "./harness.mjs";

const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

/* run: the words after `rigor run`; at: s; on, off: switches; pick: the body that is clicked; tab: of the
 * panel; look: from where; near: "selected" (the camera goes to the body); zoom: turns of the wheel
 * (negative: away); turn: pixels that the camera is dragged; longer: steps of the force arrows. */
const DOMINOES = ["dominoes", "--duration", "6"];
const BUNNIES = [join(root, "scenes/meshes/bunny-bin.yaml"), "columns=2", "rows=2", "--duration", "3", "--points"];
const PICTURES = [
  { name: "dominoes", run: DOMINOES, at: 2.5, pick: "domino12", near: "selected", zoom: -4, turn: [-60, 20], longer: 4 },
  { name: "dominoes-dark", run: DOMINOES, at: 2.5, dark: true, pick: "domino12", near: "selected", zoom: -4, turn: [-60, 20], longer: 4 },
  { name: "pyramid", run: ["pyramid", "base=10", "--duration", "1"], at: 0.5, pick: "box14" },
  { name: "incline", run: ["incline", "angle=20", "mu=0.5"], at: 0.5, on: ["cones"], pick: "box" },
  { name: "pile", run: ["pile", "count=200", "--duration", "1.5"], at: 1.4, off: ["contacts"], zoom: 3 },
  { name: "brick-stack", run: ["brick-stack", "--duration", "2"], at: 0.5, pick: "brick3" },
  { name: "spring", run: [join(root, "scenes/spring-pendulum.yaml"), "--duration", "3"], at: 1.2, pick: "bob" },
  { name: "compare", run: DOMINOES, beside: [...DOMINOES, "--step", "0.02"], at: 3.0, zoom: 2, longer: 3 },
  { name: "points", run: [...BUNNIES, "all"], beside: [...BUNNIES, "4"], at: 2.5, zoom: 2 },
  { name: "phone", run: DOMINOES, at: 2.5, size: PHONE, zoom: 3, longer: 3 },
  { name: "phone-dark", run: DOMINOES, at: 2.5, size: PHONE, dark: true, zoom: 3, longer: 3 },
];
const recorded = new Map();

function record(bench, run) {
  const key = run.join(" ");
  if (!recorded.has(key)) recorded.set(key, bench.record(`${basename(run[0], ".yaml")}${recorded.size ? `-${recorded.size}` : ""}`, ...run));
  return recorded.get(key);
}

async function setSwitches(page, names, on) {
  if (names.length === 0) return;
  await openTab(page, "show");
  for (const name of names) {
    const control = byId(page, `switch-${name}`);
    if ((await control.getAttribute("aria-checked")) !== String(on)) await control.click();
  }
}

async function glide(page) {
  await page.waitForTimeout(900);
  await settle(page);
}

async function moveCamera(page, picture) {
  const box = await byId(page, "canvas-0").boundingBox();
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  if (picture.look) await page.evaluate((from) => window.rigor.views[0].lookFrom(from), picture.look);
  if (picture.pick) {
    await glide(page);
    const { position } = await whereIs(page, picture.pick);
    const at = await project(page, position);
    await page.mouse.click(at.x, at.y);
  }
  if (picture.near === "selected") await page.evaluate(() => window.rigor.views.forEach((view) => view.frameSelected()));
  await glide(page);
  await page.mouse.move(...middle);
  for (let i = 0; i < Math.abs(picture.zoom ?? 0); i++) await page.mouse.wheel(0, picture.zoom > 0 ? -120 : 120);
  if (picture.turn) {
    await page.mouse.move(box.x + 20, box.y + box.height - 20); // beside the bodies
    await page.mouse.down();
    await page.mouse.move(box.x + 20 + picture.turn[0], box.y + box.height - 20 + picture.turn[1], { steps: 5 });
    await page.mouse.up();
  }
  await glide(page);
}

async function take(bench, picture) {
  const recordings = [picture.run, picture.beside].filter((run) => run).map((run) => record(bench, run));
  const address = bench.page(picture.name, ...recordings);
  const page = await bench.open(address, { ...(picture.size ?? DESKTOP), colorScheme: picture.dark ? "dark" : "light" });
  if (picture.beside) await openBeside(page);
  await showTime(page, picture.at);
  await setSwitches(page, picture.on ?? [], true);
  await setSwitches(page, picture.off ?? [], false);
  await moveCamera(page, picture);
  for (let i = 0; i < (picture.longer ?? 0); i++) await page.keyboard.press("]");
  if (picture.tab) await openTab(page, picture.tab);
  await page.mouse.move(0, 0);
  await settle(page);
  const path = join(root, `docs/pictures/view-${picture.name}.jpg`);
  await page.screenshot({ path, type: "jpeg", quality: picture.size ? 80 : 86 });
  await bench.close(page);
  console.log(`${path}: ${(statSync(path).size / 1000).toFixed(0)} kB`);
}

await launch(async (bench) => {
  const wanted = process.argv.slice(3);
  for (const picture of PICTURES) if (!wanted.length || wanted.includes(picture.name)) await take(bench, picture);
});
