/* An exported page in Chromium, opened from disk: playing, scrubbing, every switch, picking a body and
 * reading its forces, two recordings side by side, the certificate's badge, themes, a phone, keys. */

import { readFileSync } from "node:fs";

import { byId, changedPixels, check, checkNear, forcesOn, main, openBeside, openTab, playerTime, project, settle, showTime, until, whereIs } from "./harness.mjs";

/* A bob at rest on a spring that is stretched by 0.72 m. */
const SPRING = `rigor: 1
duration: 0.1
bodies:
  - {name: bob, shape: {sphere: 0.1}, mass: 1, position: [0, 0, 0]}
forces:
  - {kind: spring, body: bob, other_point: [0, 0, 1.72], stiffness: 100, rest_length: 1}
`;
/* A crate of 2 m x 1 m x 1 m and 500 kg at rest, under another of half its mass. */
const REST = `rigor: 1
gravity: [0, 0, -9.81]
method: {name: stepping, step: 1/240}
materials:
  default: {friction: 0.5}
bodies:
  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1]}}}
  - {name: crate, shape: {box: [2, 1, 1]}, density: 250, position: [0, 0, 0.5]}
  - {name: lid, shape: {box: [1, 1, 0.5]}, density: 500, position: [0.2, 0, 1.25]}
duration: 0.5
record: {every: 1/60}
`;
const GRAVITY = 9.81;
/* An exported page keeps forces to 16 bits: about five digits. */
const EXPORTED = 1e-5;
/* Begins inside the floor: no method can call that sound. */
const SUNK = REST.replace("[0, 0, 0.5]", "[0, 0, 0.3]");
/* Names come from strangers. */
const NASTY = REST.replace("name: lid", `name: "</script><img src=x onerror=alert(1)>&amp;"`);

/* How many pixels a switch has to change at least; none: what it shows is not in that scene. */
const SWITCHES = {
  shadows: 200,
  edges: 200,
  grid: 200,
  contacts: 20,
  normals: 20,
  forces: 20,
  cones: 20,
  modes: 10,
  centres: 20,
  velocities: 20,
  traces: 20,
  boxes: 100,
  joints: 0,
};

const isOn = (locator) =>
  locator.evaluate((element) => {
    const input = element.matches("input") ? element : element.querySelector("input");
    if (input) return input.checked;
    return (element.getAttribute("aria-pressed") ?? element.getAttribute("aria-checked")) === "true";
  });

async function testPlaying(page) {
  check((await playerTime(page)) >= 0, "there is a time");
  await page.evaluate(() => {
    window.rigor.player.pause();
    window.rigor.player.seek(window.rigor.player.start);
  });
  await settle(page);
  const shown = await byId(page, "time").textContent();
  await byId(page, "play").click();
  await until("time goes on", async () => (await playerTime(page)) > 0.3);
  check((await byId(page, "time").textContent()) !== shown, "the time that is shown goes on");
  await byId(page, "play").click();
  await settle(page);
  const paused = await playerTime(page);
  await page.waitForTimeout(150);
  check((await playerTime(page)) === paused, "time stands still when paused");

  await byId(page, "step-forward").click();
  const next = await playerTime(page);
  const every = await page.evaluate(() => window.rigor.sources[0].timeOf(1) - window.rigor.sources[0].timeOf(0));
  check(next > paused && next <= paused + every * 1.001, `one frame forwards: ${paused} to ${next}`);
  await byId(page, "step-back").click();
  check((await playerTime(page)) < next, "one frame back");

  /* At the end it stops, or begins again. */
  await page.evaluate(() => window.rigor.player.seek(window.rigor.player.end - 0.1));
  const looping = await page.evaluate(() => window.rigor.player.loop);
  if (looping) await byId(page, "loop").click();
  check(!(await page.evaluate(() => window.rigor.player.loop)), "the loop can be switched off");
  await byId(page, "play").click();
  await until("it stops at the end", () => page.evaluate(() => !window.rigor.player.playing));
  check((await playerTime(page)) === (await page.evaluate(() => window.rigor.player.end)), "the end is shown");
  await byId(page, "loop").click();
  await page.evaluate(() => {
    window.rigor.player.seek(window.rigor.player.end - 0.1);
    window.rigor.player.play();
  });
  await until("it begins again", async () => (await playerTime(page)) < 1);
  await page.evaluate(() => window.rigor.player.pause());
}

async function testScrubbing(page) {
  await showTime(page, 0);
  await changedPixels(page);
  const box = await byId(page, "timeline").boundingBox();
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.1, middle);
  await page.mouse.down();
  const times = [];
  for (const part of [0.2, 0.4, 0.6, 0.8]) {
    await page.mouse.move(box.x + box.width * part, middle, { steps: 3 });
    await settle(page);
    times.push(await playerTime(page));
  }
  await page.mouse.up();
  check(times.every((time, i) => i === 0 || time > times[i - 1]), `times follow the pointer: ${times}`);
  const [start, end] = await page.evaluate(() => [window.rigor.player.start, window.rigor.player.end]);
  checkNear(times[3], start + 0.8 * (end - start), 0.1, "the time under the pointer");
  await showTime(page, times[3]);
  check((await changedPixels(page)) > 500, "the picture is another one");
}

async function testSwitches(page) {
  await showTime(page, 1.0);
  await openTab(page, "show");
  for (const [name, least] of Object.entries(SWITCHES)) {
    const control = byId(page, `switch-${name}`);
    const before = await isOn(control);
    await settle(page);
    await changedPixels(page);
    check((await changedPixels(page)) === 0, "a picture that nobody touches stays as it is");
    await control.click();
    await settle(page);
    check((await isOn(control)) === !before, `${name}: the switch turns`);
    const changed = await changedPixels(page);
    check(changed >= least, `${name}: ${changed} pixels changed, at least ${least} should`);
    await control.click();
    await settle(page);
    check((await isOn(control)) === before, `${name}: and turns back`);
    const back = await changedPixels(page);
    check(Math.abs(back - changed) <= 0.02 * changed + 2, `${name}: the picture is as before`);
  }
}

/* A bob of 1 kg at rest on a spring of 100 N/m that is stretched by 0.72 m: 72 N up, 9.81 N down. */
async function testSpring(page) {
  await showTime(page, 0);
  await openTab(page, "body");
  await byId(page, "inspector-find").fill("bob");
  await byId(page, "inspector-find").press("Enter");
  await byId(page, "free-body").waitFor({ state: "visible" });
  const words = (await byId(page, "free-body-sum").textContent()).replace(/\u202f/g, " ");
  check(words === "Σ = 62.2 N, of weight and springs", `the sum counts the spring: ${words}`);
  const labels = await page.locator('[data-testid="free-body"] .load-label').allTextContents();
  check(labels.join().replace(/\u202f/g, " ") === "spring 72.0 N", `and its arrow says so: ${labels}`);
}

/* The panel that opens must not take the tap that opened it for one of its own. */
async function testTap(page) {
  await showTime(page, 0);
  await page.evaluate(() => window.rigor.views[0].lookFrom("x"));
  await settle(page);
  const { position } = await whereIs(page, "domino1");
  const at = await project(page, position);
  await page.touchscreen.tap(at.x, at.y);
  await until("the body is selected", async () =>
    ((await byId(page, "inspector-name").textContent()) ?? "").includes("domino1"));
  await settle(page);
  check((await playerTime(page)) === 0, `the time stays: ${await playerTime(page)} s`);
}

async function testPicking(page) {
  await showTime(page, 0.4);
  const { body, position } = await whereIs(page, "crate");
  const at = await project(page, [position[0] - 0.6, position[1], position[2]]);
  await page.mouse.click(at.x, at.y);
  await byId(page, "inspector").waitFor({ state: "visible" });
  check((await byId(page, "inspector-name").textContent()).includes("crate"), "its name is shown");
  const mass = await byId(page, "inspector-mass").textContent();
  check(/500/.test(mass) && /kg/.test(mass), `its mass is shown: ${mass}`);
  /* Four corners on the floor, four of the lid above. */
  const rows = await page
    .locator('[data-testid^="inspector-contact-"]')
    .evaluateAll((all) => all.map((row) => ({ text: row.textContent, mode: row.dataset.mode })));
  check(rows.length === 8, `${rows.length} contacts are listed, 8 should be`);
  check(rows.every((row) => /N/.test(row.text) && row.mode === "stick"), `forces and modes are listed: ${JSON.stringify(rows)}`);
  check(await byId(page, "free-body").isVisible(), "the free-body diagram is shown");

  const crate = await forcesOn(page, body);
  checkNear(crate.mass, 500, 1e-12, "mass of the crate");
  checkNear(crate.sum[2], 500 * GRAVITY, EXPORTED, "the contacts carry the crate's weight");
  check(Math.hypot(crate.sum[0], crate.sum[1]) < EXPORTED * 500 * GRAVITY, `and do not push it aside: ${crate.sum}`);
  const lid = await forcesOn(page, (await whereIs(page, "lid")).body);
  checkNear(lid.sum[2], 250 * GRAVITY, EXPORTED, "the contacts carry the lid's weight");

  /* Beside it there is nothing. */
  const box = await byId(page, "canvas-0").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 8);
  await until("a click beside lets go", async () => !(await byId(page, "inspector-name").isVisible()) ||
    !(await byId(page, "inspector-name").textContent()).includes("crate"));
}

async function testBadge(page, certified) {
  await showTime(page, 0.4);
  const badge = byId(page, "badge");
  const text = await badge.textContent();
  const colour = await badge.evaluate((element) => {
    /* The most vivid of the colours in it. */
    const colours = [element, ...element.querySelectorAll("*")].flatMap((part) => {
      const style = getComputedStyle(part);
      return [style.color, style.backgroundColor, style.borderTopColor, style.fill, style.stroke];
    });
    const channels = colours.map((value) => (/rgba?\(([^)]+)\)/.exec(value)?.[1] ?? "0,0,0").split(",").map(Number));
    return channels.sort((a, b) => Math.abs(b[0] - b[1]) - Math.abs(a[0] - a[1]))[0];
  });
  if (certified) {
    check(/certified/i.test(text) && !/not certified/i.test(text), `the badge says: ${text}`);
    check(colour[1] > colour[0], `the badge is green: ${colour}`);
  } else {
    check(/not certified|broken|violated|failed/i.test(text), `the badge says: ${text}`);
    check(colour[0] > colour[1], `the badge is red: ${colour}`);
    const reason = byId(page, "badge-reason");
    if (!(await reason.isVisible())) await badge.click();
    check(/pass into|penetration/i.test(await reason.textContent()), `the reason: ${await reason.textContent()}`);
  }
}

async function testCompare(page) {
  await openBeside(page);
  await byId(page, "canvas-1").waitFor({ state: "visible" });
  await showTime(page, 1.0);
  const [one, two] = await Promise.all(["canvas-0", "canvas-1"].map((id) => byId(page, id).boundingBox()));
  check(two.x >= one.x + one.width - 1 || two.y >= one.y + one.height - 1, "they stand beside each other");
  check(one.width > 200 && two.width > 200, "and have room");
  const steps = await page.evaluate(() => window.rigor.sources.map((source) => source.manifest.step));
  check(steps[0] !== steps[1], `they are two runs: steps ${steps}`);
  await changedPixels(page, 0);
  await changedPixels(page, 1);
  await showTime(page, 1.5);
  check((await changedPixels(page, 0)) > 200 && (await changedPixels(page, 1)) > 200, "both follow the time line");

  /* One camera for both. */
  await page.mouse.move(one.x + one.width / 2, one.y + one.height / 2);
  await page.mouse.down();
  await page.mouse.move(one.x + one.width / 2 + 60, one.y + one.height / 2 + 10, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const eyes = await page.evaluate(() => window.rigor.views.map((view) => view.cameraPosition()));
  check(eyes[0].every((value, i) => Math.abs(value - eyes[1][i]) < 1e-6 * (1 + Math.abs(value))), `both turn: ${eyes}`);
}

async function testThemes(page) {
  await showTime(page, 0.5);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const bright = (colour) => (/\(([^)]+)\)/.exec(colour)[1].split(",").slice(0, 3).map(Number).reduce((a, b) => a + b) > 382);
  check(bright(await background()), "light, as the system says");
  await changedPixels(page);
  const seen = new Set();
  for (let i = 0; i < 3; i++) {
    await byId(page, "theme").click();
    await settle(page);
    seen.add(bright(await background()));
    if (!bright(await background())) {
      const canvas = page.locator('[data-testid="canvas-0"]');
      const total = await canvas.evaluate((element) => element.width * element.height);
      check((await changedPixels(page)) > total / 4, "the scene is dark too");
      break;
    }
  }
  check(seen.has(false), "the theme can be dark");
}

async function testPhone(page) {
  await showTime(page, 1.0);
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  check(wide[0] <= wide[1], `nothing is wider than the screen: ${wide}`);
  for (const id of ["canvas-0", "play", "timeline", "time", "badge"]) {
    const box = await byId(page, id).boundingBox();
    check(box && box.width > 0, `${id} is there`);
    check(box.x >= -1 && box.x + box.width <= 391, `${id} is on the screen: ${JSON.stringify(box)}`);
    check(box.y >= -1 && box.y + box.height <= 845, `${id} is on the screen: ${JSON.stringify(box)}`);
  }
  const play = await byId(page, "play").boundingBox();
  check(play.width >= 36 && play.height >= 36, `a finger can hit play: ${JSON.stringify(play)}`);
  const canvas = await byId(page, "canvas-0").boundingBox();
  check(canvas.height > 300, `the scene has room: ${JSON.stringify(canvas)}`);
  await byId(page, "play").tap();
  await until("time goes on", async () => (await playerTime(page)) > 1.05);
  await byId(page, "play").tap();
  check(!(await page.evaluate(() => window.rigor.player.playing)), "a tap pauses");

  /* A finger turns the camera. */
  const before = await page.evaluate(() => window.rigor.views[0].cameraPosition());
  const client = await page.context().newCDPSession(page);
  const [x, y] = [canvas.x + canvas.width / 2, canvas.y + canvas.height / 2];
  const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  await touch("touchStart", [{ x, y }]);
  for (let i = 1; i <= 5; i++) await touch("touchMove", [{ x: x + 12 * i, y }]);
  await touch("touchEnd", []);
  await settle(page);
  const after = await page.evaluate(() => window.rigor.views[0].cameraPosition());
  check(Math.hypot(...after.map((value, i) => value - before[i])) > 1e-3, "a finger turns the camera");
  check((await page.evaluate(() => window.scrollY)) === 0, "and does not scroll the page");
}

async function testKeys(page) {
  await showTime(page, 0.5);
  await byId(page, "canvas-0").focus().catch(() => {});
  const playing = () => page.evaluate(() => window.rigor.player.playing);
  await page.keyboard.press("Space");
  await until("space plays", playing);
  await page.keyboard.press("Space");
  await until("space pauses", async () => !(await playing()));
  const before = await playerTime(page);
  await page.keyboard.press("ArrowRight");
  await until("the right arrow steps forwards", async () => (await playerTime(page)) > before);
  const after = await playerTime(page);
  await page.keyboard.press("ArrowLeft");
  await until("the left arrow steps back", async () => (await playerTime(page)) < after);
  const control = byId(page, "switch-edges");
  const edges = await isOn(control);
  await page.keyboard.press("e");
  await until("e switches edges", async () => (await isOn(control)) === !edges);
  await page.keyboard.press("e");
  /* Everything can be reached by the tab key, in view. */
  const reached = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement?.closest("[data-testid]")?.dataset.testid ?? ""));
  }
  for (const id of ["play", "timeline", "theme"]) check(reached.has(id), `tab reaches ${id}: ${[...reached]}`);
}

async function testPlots(page) {
  await showTime(page, 0.5);
  for (const name of ["energy", "penetration", "complementarity", "contacts", "iterations"]) {
    const plot = byId(page, `plot-${name}`);
    await plot.scrollIntoViewIfNeeded();
    const drawn = await plot.locator("canvas").evaluate((canvas) => {
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return seen.size;
    });
    check(drawn > 3, `${name}: something is drawn (${drawn} colours)`);
  }
  /* The figure beside the curve is that of the frame. */
  const contacts = await page.evaluate(() => {
    const source = window.rigor.sources[0];
    return source.frame(source.indexAt(window.rigor.player.time)).figures.contacts;
  });
  const text = await byId(page, "plot-contacts").textContent();
  check(text.includes(String(contacts)), `the number of contacts, ${contacts}: ${text}`);
  /* A click goes to that time. */
  const box = await byId(page, "plot-penetration").locator("canvas").boundingBox();
  await page.mouse.click(box.x + 0.8 * box.width, box.y + box.height / 2);
  const time = await until("a click in a plot goes to that time", async () => {
    const now = await playerTime(page);
    return now > 1 ? now : 0;
  });
  check(time < 3, `inside the run: ${time}`);
}

/* What the page shows, as files: a plot as SVG and CSV, the scene as PNG. */
async function testSaving(page) {
  await showTime(page, 1);
  if (!(await byId(page, "plot-contacts").isVisible())) await byId(page, "plots").click();
  const saved = async (id) => {
    const [file] = await Promise.all([page.waitForEvent("download"), byId(page, id).click()]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  await byId(page, "plot-contacts").hover();
  const table = await saved("save-contacts-csv");
  const lines = table.bytes.toString().trim().split("\n");
  const frames = await page.evaluate(() => {
    const overview = window.rigor.sources[0].overview();
    return { time: [...overview.time], contacts: [...overview.series.contacts] };
  });
  check(table.name.endsWith("-contacts.csv"), table.name);
  check(lines[0] === "time (s),contacts" && lines.length === frames.time.length + 1, `${lines.length} lines: ${lines[0]}`);
  frames.time.forEach((time, i) => {
    const [at, value] = lines[i + 1].split(",");
    const count = frames.contacts[i];
    check(Number(at) === time && (value === "" ? Number.isNaN(count) : Number(value) === count), `line ${i + 1}`);
  });
  const plot = await saved("save-contacts-svg");
  const drawing = plot.bytes.toString();
  check(plot.name.endsWith("-contacts.svg") && drawing.startsWith("<svg") && drawing.includes("<title>Contacts"), drawing.slice(0, 200));
  const parsed = await page.evaluate((text) => {
    const tree = new DOMParser().parseFromString(text, "image/svg+xml");
    return { error: tree.querySelector("parsererror")?.textContent ?? "", paths: tree.querySelectorAll("path").length };
  }, drawing);
  check(parsed.error === "" && parsed.paths > 3, JSON.stringify(parsed));
  const picture = await saved("picture");
  check(picture.name.endsWith("-1.000s.png"), picture.name);
  check(picture.bytes.subarray(1, 4).toString() === "PNG" && picture.bytes.length > 5000, `${picture.bytes.length} bytes`);
}

/* Titles and figures have their room whatever the window's width, while there is something to read. */
async function testPlotTitles(page) {
  await showTime(page, 1);
  for (const width of [1920, 1440, 1366, 1280, 1200, 1181, 1180, 1024, 900, 780]) {
    await page.setViewportSize({ width, height: 800 });
    const dock = page.locator(".plots-dock");
    if (!(await dock.isVisible())) await page.keyboard.press("p");
    await dock.waitFor();
    await until("the figures are there", () =>
      page.evaluate(() => [...document.querySelectorAll(".plots-dock .reading b")].every((figure) => figure.textContent || !figure.offsetParent)),
    );
    await settle(page);
    const parts = await page.evaluate(() =>
      [...document.querySelectorAll(".plots-dock :is(.plot-title, .readings)")].filter((part) => part.offsetParent).map((part) => ({
        text: part.textContent,
        room: part.clientWidth,
        needed: part.scrollWidth,
      })),
    );
    const plots = await page.locator(".plots-dock .plot").evaluateAll((all) => all.filter((plot) => plot.offsetParent).length);
    check(plots === (await dock.evaluate((element) => element.clientWidth > 1180 && !!element.querySelector(".two")) ? 6 : 5), `${plots} plots at ${width} pixels`);
    check(parts.length === 2 * plots, `a title and figures for each: ${parts.length}`);
    check(parts.some(({ text }) => text === "Complementarity"), "one is of complementarity");
    for (const { text, room, needed } of parts)
      check(needed <= room, `at ${width} pixels "${text}" needs ${needed} and has ${room}`);
  }
}

async function testFollow(page) {
  await showTime(page, 0.2);
  await page.evaluate(() => window.rigor.views[0].lookFrom("-y"));
  await settle(page);
  const { position } = await whereIs(page, "domino0");
  const at = await project(page, position);
  await page.mouse.click(at.x, at.y);
  await until("it is selected", async () => (await byId(page, "inspector-name").textContent()) === "domino0");
  await byId(page, "follow").click();
  await settle(page);
  const eye = () => page.evaluate(() => window.rigor.views[0].cameraPosition());
  const [before, from] = [await eye(), await whereIs(page, "domino0")];
  await showTime(page, 2.5);
  const [after, to] = [await eye(), await whereIs(page, "domino0")];
  const went = to.position.map((value, i) => value - from.position[i]);
  const camera = after.map((value, i) => value - before[i]);
  check(Math.hypot(...went) > 0.1, `it has fallen: ${went}`);
  check(Math.hypot(...camera.map((value, i) => value - went[i])) < 0.5 * Math.hypot(...went), `the camera goes along: ${camera}, ${went}`);
  await byId(page, "frame-all").click();
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await until("Escape closes the help", async () => (await page.locator("dialog[open]").count()) === 0);
}

async function testNastyNames(page) {
  await showTime(page, 0.3);
  const name = await page.evaluate(() => window.rigor.sources[0].manifest.bodies[2].name);
  check(name === "</script><img src=x onerror=alert(1)>&amp;", `the name survives: ${name}`);
  check((await page.locator("img").count()) === 0, "and stays a name");
}

await main(async (bench) => {
  bench.write("rest.yaml", REST);
  bench.write("sunk.yaml", SUNK);
  bench.write("nasty.yaml", NASTY);
  const dominoes = bench.record("dominoes", "dominoes", "count=12", "--duration", "3");
  const coarse = bench.record("coarse", "dominoes", "count=12", "--duration", "3", "--step", "0.01");
  const page = bench.page("dominoes", dominoes);
  const rest = bench.page("rest", bench.record("rest", "rest.yaml"));
  bench.write("spring.yaml", SPRING);
  const spring = bench.page("spring", bench.record("spring", "spring.yaml"));
  const sunk = bench.page("sunk", bench.record("sunk", "sunk.yaml"));
  const nasty = bench.page("nasty", bench.record("nasty", "nasty.yaml"));
  const both = bench.page("both", dominoes, coarse);

  await bench.testPage("plays, pauses, steps, loops", page, {}, testPlaying);
  await bench.testPage("scrubs", page, {}, testScrubbing);
  await bench.testPage("every switch", page, { viewport: { width: 1000, height: 620 } }, testSwitches);
  await bench.testPage("a body is picked, its forces are its weight", rest, {}, testPicking);
  await bench.testPage("the free-body diagram of a bob counts its spring", spring, {}, testSpring);
  await bench.testPage("a sound run is certified", rest, {}, (open) => testBadge(open, true));
  await bench.testPage("a broken run is not, with the reason", sunk, {}, (open) => testBadge(open, false));
  await bench.testPage("two recordings side by side", both, {}, testCompare);
  await bench.testPage("light and dark", page, {}, testThemes);
  await bench.testPage("dark by the system's choice", page, { colorScheme: "dark" }, async (open) => {
    const colour = await open.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check(/\((\d+)/.exec(colour)[1] < 100, `dark: ${colour}`);
  });
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
  await bench.testPage("a phone", page, phone, testPhone);
  await bench.testPage("a tap on a phone selects, and moves no time", page, phone, testTap);
  await bench.testPage("keys", page, {}, testKeys);
  await bench.testPage("plots", page, { viewport: { width: 1280, height: 800 } }, testPlots);
  await bench.testPage("saving", page, { acceptDownloads: true }, testSaving);
  await bench.testPage("titles of plots", page, {}, testPlotTitles);
  await bench.testPage("titles of plots of two runs", both, {}, async (open) => {
    await openBeside(open);
    await byId(open, "canvas-1").waitFor({ state: "visible" });
    await testPlotTitles(open);
  });
  await bench.testPage("a body is followed; help", page, {}, testFollow);
  await bench.testPage("names of strangers", nasty, {}, testNastyNames);
});
