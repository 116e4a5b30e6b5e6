/* A simulation that runs, in Chromium: `rigor view SCENE` is paused, stepped, reset; a body is grabbed and
 * moved, friction is changed until it slips, a box is thrown; and the server goes away. `rigor view
 * RECORDING` is played as well: chunks come as they are needed. */

import { byId, changedPixels, check, checkNear, forcesOn, main, openTab, project, settle, showTime, until, whereIs } from "./harness.mjs";

const STEP = 1 / 240;
/* A crate that stands, one that friction holds on a slope of 20 degrees, room to throw. */
const SCENE = `rigor: 1
gravity: [0, 0, -9.81]
method: {name: stepping, step: 1/240}
materials:
  default: {friction: 0.6}
bodies:
  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1]}}}
  - name: slope
    motion: fixed
    shape: {box: [3, 1.5, 0.2]}
    position: [2.5, 0, 0.8]
    orientation: {axis: [0, 1, 0], degrees: 20}
  - {name: sled, shape: {box: [0.4, 0.4, 0.2]}, density: 500, position: [2.5684040286651337, 0, 0.9879385241571817],
     orientation: {axis: [0, 1, 0], degrees: 20}}
  - {name: crate, shape: {box: [0.5, 0.5, 0.5]}, density: 400, position: [-1, 0, 0.25]}
duration: 60
record: {every: 1/60}
`;

/* A puck that is soon far from where the camera looks, and one that stays. */
const PUCKS = `rigor: 1
gravity: [0, 0, -9.81]
method: {name: stepping, step: 1/240}
materials:
  default: {friction: 0}
bodies:
  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1]}}}
  - {name: fast, shape: {box: [0.4, 0.4, 0.2]}, position: [0, 0, 0.1], velocity: [20, 8, 0]}
  - {name: still, shape: {box: [0.4, 0.4, 0.2]}, position: [-1, 0, 0.1]}
duration: 60
`;

/* An arm between limits that follows a function of time, and a wheel. */
const ARMS = `rigor: 1
method: {name: stepping, step: 1/240}
bodies:
  - {name: arm, shape: {box: [0.1, 0.1, 1]}, position: [0, 0, -0.5]}
  - {name: wheel, shape: {box: [0.4, 0.1, 0.4]}, position: [1, 0, 0]}
joints:
  - {kind: hinge, bodies: [world, arm], point: [0, 0, 0], axis: [0, 1, 0],
     axes: {lower: -1, upper: 0.5, motor: {position: 0.2*sin(t), gain: 1e5, gain_velocity: 1e3}}}
  - {kind: hinge, name: spin, bodies: [world, wheel], point: [1, 0, 0], axis: [0, 1, 0], axes: {motor: {velocity: 8}}}
duration: 60
`;

const live = (page) => page.evaluate(() => window.rigor.sources[0].live.state());
const bodies = (page) => page.evaluate(() => window.rigor.sources[0].manifest.bodies.length);

/** The newest frame's contacts of a body: modes. */
function modesOf(page, body) {
  return page.evaluate((index) => {
    const source = window.rigor.sources[0];
    const frame = source.frame(source.first() + source.count() - 1);
    if (!frame) return [];
    return frame.contacts.filter((contact) => contact.a === index || contact.b === index).map((contact) => contact.mode);
  }, body);
}

async function pause(page) {
  if ((await live(page)).running) await byId(page, "live-play").click();
  await until("paused", async () => !(await live(page)).running);
}

async function go(page) {
  if (!(await live(page)).running) await byId(page, "live-play").click();
  await until("running", async () => (await live(page)).running);
}

async function testPauseStepReset(page) {
  await go(page);
  const begin = (await live(page)).time;
  await until("time goes on", async () => (await live(page)).time > begin + 0.2);
  await pause(page);
  const paused = (await live(page)).time;
  await page.waitForTimeout(250);
  check((await live(page)).time === paused, "time stands still when paused");

  await byId(page, "live-step").click();
  await until("a step is made", async () => (await live(page)).time > paused);
  checkNear((await live(page)).time - paused, STEP, 1e-9, "it is one step long");

  await byId(page, "live-reset").click();
  await until("the time is zero again", async () => (await live(page)).time < paused - 0.05);
  await pause(page);
  const { position } = await whereIs(page, "crate");
  checkNear(position[2], 0.25, 1e-6, "the crate is where it began");
}

/* The crate is pulled 1 m to the side through the contact problem: it may not pass into the floor. */
async function testGrab(page) {
  await go(page);
  await page.evaluate(() => window.rigor.views[0].lookFrom("-y"));
  await settle(page);
  const from = await whereIs(page, "crate");
  const at = await project(page, from.position);
  const to = await project(page, [from.position[0] - 1, from.position[1], from.position[2] + 0.6]);
  const picked = await page.evaluate(({ x, y }) => window.rigor.views[0].pick(x, y)?.body, at);
  check(picked === from.body, `the crate is under the pointer: ${picked}`);
  const eye = await page.evaluate(() => window.rigor.views[0].cameraPosition());
  await page.evaluate(() => {
    /* What the page asks to be drawn of the spring. */
    const view = window.rigor.views[0];
    const show = view.showPull.bind(view);
    window.pulls = [];
    view.showPull = (pull) => {
      window.pulls.push(pull && { ...pull });
      show(pull);
    };
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 10 });
  const moved = await until("the crate follows", async () => {
    const now = await whereIs(page, "crate");
    return now.position[0] < from.position[0] - 0.5 && now.position[2] > 0.4 ? now : null;
  });
  check(Math.abs(moved.position[1]) < 0.3, "and stays in the plane of the pull");
  const still = await page.evaluate(() => window.rigor.views[0].cameraPosition());
  check(eye.every((value, i) => Math.abs(value - still[i]) < 1e-6), "the camera stays");
  const drawn = await page.evaluate(() => window.pulls.at(-1));
  check(drawn?.body === from.body, `the spring is drawn from the crate: ${JSON.stringify(drawn)}`);
  await page.evaluate(() => window.rigor.player.pause()); // the same frame with and without it
  await settle(page);
  await changedPixels(page);
  await page.evaluate(() => window.rigor.views[0].showPull(null));
  check((await changedPixels(page)) > 20, "the spring is seen");
  await page.evaluate(() => window.rigor.player.play());
  await page.mouse.up();
  await until("released, the spring is gone", () => page.evaluate(() => window.pulls.at(-1) === null));
  await until("released, it comes to rest on the floor", async () => {
    const now = await whereIs(page, "crate");
    return now.position[2] < 0.26 && Math.hypot(...now.velocity) < 1e-3;
  });
  const worst = await page.evaluate(() => Math.max(...window.rigor.sources[0].overview().series.penetration.filter((depth) => !Number.isNaN(depth))));
  check(worst < 1e-5, `the deepest penetration: ${worst} m`);
}

async function isInView(page, name) {
  const { position } = await whereIs(page, name);
  const { x, y } = await project(page, position);
  const box = await byId(page, "canvas-0").boundingBox();
  return page.evaluate(
    ({ x, y, box, position }) => {
      const found = window.rigor.views[0].pointAt(x, y, position);
      const miss = Math.hypot(...found.map((value, i) => value - position[i]));
      return miss < 0.5 && x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
    },
    { x, y, box, position },
  );
}

/* The camera stays where it was put; a key and a button bring back what has left. */
async function testFrameAll(page) {
  await go(page);
  await until("the fast one is far away", async () => (await whereIs(page, "fast")).position[0] > 30);
  await pause(page);
  await page.evaluate(() => window.rigor.player.seek(window.rigor.player.end));
  await settle(page);
  check((await isInView(page, "still")) && !(await isInView(page, "fast")), "it has left the view");
  await page.keyboard.press("a");
  await settle(page);
  check((await isInView(page, "still")) && (await isInView(page, "fast")), "the key a brings everything into view");
  await byId(page, "look-corner").click();
  await settle(page);
  check((await isInView(page, "still")) && !(await isInView(page, "fast")), "the view from the corner is of the scene");
  await byId(page, "frame-all").click();
  await settle(page);
  check((await isInView(page, "still")) && (await isInView(page, "fast")), "and so does the button");
  if (process.env.RIGOR_SHOTS) await page.screenshot({ path: `${process.env.RIGOR_SHOTS}/frame-all.png` });
  await page.keyboard.press("?");
  const help = await page.locator("dialog[open]").innerText();
  check(/everything in view/.test(help), `the help says so: ${help}`);
  await page.keyboard.press("Escape");
}

async function setFriction(page, value) {
  const control = byId(page, "live-friction");
  await control.evaluate((element, wanted) => {
    const input = element.matches("input") ? element : element.querySelector("input");
    input.value = String(wanted);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }, value);
  await until(`friction is ${value}`, async () => Math.abs(((await live(page)).friction ?? -1) - value) < 0.011);
}

async function testFriction(page) {
  await go(page);
  const { body, position } = await whereIs(page, "sled");
  await until("the sled sticks", async () => {
    const modes = await modesOf(page, body);
    return modes.length > 0 && modes.every((mode) => mode === "stick");
  });
  await setFriction(page, 0.1); // tan 20 degrees is 0.36
  await until("the sled slips", async () => (await modesOf(page, body)).includes("slip"));
  await until("and comes down", async () => (await whereIs(page, "sled")).position[2] < position[2] - 0.1);
}

async function testThrow(page) {
  const before = await bodies(page);
  await go(page);
  await byId(page, "throw").click();
  await settle(page);
  if ((await bodies(page)) === before) {
    /* A mode: the click says where to. */
    const box = await byId(page, "canvas-0").boundingBox();
    await page.mouse.click(box.x + box.width * 0.4, box.y + box.height * 0.6);
  }
  await until("there is one body more", async () => (await bodies(page)) === before + 1);
  await until("it is on its way, in the picture", () =>
    page.evaluate((index) => {
      const source = window.rigor.sources[0];
      const frame = source.frame(source.first() + source.count() - 1);
      return frame && frame.position.length === 3 * (index + 1) && frame.position.every(Number.isFinite);
    }, before),
  );
  await byId(page, "live-reset").click();
  await until("a reset takes it away", async () => (await bodies(page)) === before);
}

async function testSettings(page) {
  await go(page);
  for (const id of ["live-speed", "live-gravity", "live-method", "live-solver"])
    check((await byId(page, id).count()) > 0, `${id} is there`);
  const { solvers } = await live(page);
  check(solvers.includes("newton"), `the solvers: ${solvers}`);
  await byId(page, "live-solver").selectOption("newton");
  await until("the solver is newton", async () => (await live(page)).solver === "newton");
  const begin = (await live(page)).time;
  await until("and it goes on", async () => (await live(page)).time > begin + 0.1);
}

async function testRecording(page) {
  const frames = await page.evaluate(() => window.rigor.sources[0].count());
  check(frames > 300, `${frames} frames`);
  const loaded = () =>
    page.evaluate(() => performance.getEntriesByType("resource").filter((entry) => /\/chunks\//.test(entry.name)).length);
  const first = await loaded();
  check(first < Math.ceil(frames / 64), `${first} chunks are there at first, not all`);
  await showTime(page, 5.5);
  check((await loaded()) > first, "others come when they are looked at");
  const frame = await page.evaluate(() => {
    const source = window.rigor.sources[0];
    return source.frame(source.indexAt(5.5)).time;
  });
  check(Math.abs(frame - 5.5) < 0.02, `the frame of the time: ${frame}`);
}

/* All 24 bits of the forces come here. */
async function testWeight(page) {
  await showTime(page, 5.9);
  const { body } = await whereIs(page, "crate");
  const { sum, mass } = await forcesOn(page, body);
  checkNear(mass, 50, 1e-12, "the mass");
  checkNear(sum[2], 50 * 9.81, 1e-6, "the contacts carry the weight");
  check(Math.hypot(sum[0], sum[1]) < 1e-6 * 50 * 9.81, `and do not push it aside: ${sum}`);
}

/* The panel shows what the server measured: a row for each stage, whose shares sum to the step. */
async function testProfile(page) {
  await go(page);
  await until("there is a profile", async () => (await live(page)).profile !== null);
  await openTab(page, "live");
  const panel = byId(page, "live-profile");
  check(await panel.isVisible(), "the stages are shown");
  await pause(page);
  await settle(page);
  const { profile } = await live(page);
  const names = Object.keys(profile.stages_ms);
  check(names.includes("solve") && names.includes("judge") && names.length === 11, `the stages: ${names}`);
  const rows = await panel.locator("tbody tr").evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
  check(rows.map((row) => row[0]).join() === names.join(), `a row for each of them: ${rows}`);
  const sum = Object.values(profile.stages_ms).reduce((a, b) => a + b, 0);
  checkNear(sum, profile.step_ms, 0.02, "they sum to the step");
  const shares = rows.reduce((total, row) => total + Number(row[3]), 0);
  check(Math.abs(shares - 100) < 2.6, `the shares, as rounded, sum to ${shares} %`);
  const widest = await panel.locator(".bar").evaluateAll((bars) => Math.max(...bars.map((bar) => bar.offsetWidth)));
  check(widest > 5, `the longest bar is ${widest} pixels wide`);
  const overflow = await panel.evaluate((element) => element.scrollWidth - element.clientWidth);
  check(overflow <= 0, `the table is ${overflow} pixels too wide`);
}

const motors = async (page) => (await live(page)).motors;

/* Drags the knob of a slider to a share of its length. */
async function slide(page, id, share) {
  const slider = byId(page, id);
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 8 + share * (box.width - 16), box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
}

/* A slider per motor: the arm goes where it is put, the wheel turns the other way; what is out of range is
 * refused; the scene's targets come back, one by one and with a reset. */
async function testMotors(page) {
  await go(page);
  await openTab(page, "live");
  check(await byId(page, "motors").isVisible(), "the motors are shown");
  const first = await motors(page);
  check(first.length === 2 && first.every((motor) => !motor.set), `two motors: ${JSON.stringify(first)}`);
  check(first[0].target === null && first[0].least === -1 && first[0].most === 0.5, "a function of time, with limits");
  // Every place that the knob passes is sent: beyond the end there is only one.
  await slide(page, "motor-0-0", 1.5);
  const target = first[0].most;
  await until("the server has the target", async () => Math.abs((await motors(page))[0].target - target) < 1e-12);
  check((await motors(page))[0].set, "it is no longer the scene's");
  await until("the arm is there", async () => {
    const { position } = await whereIs(page, "arm");
    return Math.abs(Math.atan2(-position[0], -position[2]) - target) < 0.01;
  });
  await slide(page, "motor-1-0", 0);
  await until("the wheel is told to turn back", async () => (await motors(page))[1].target < -10);
  check(/\u2212\d/.test(await byId(page, "motor-target-1-0").textContent()), "and the page says so");
  await page.evaluate(() => window.rigor.sources[0].live.setMotor(0, 0, 99));
  await until("what is out of range is refused", async () => /from -1 to 0.5/.test(await byId(page, "toasts").textContent()));
  check(Math.abs((await motors(page))[0].target - target) < 1e-12, "and changes nothing");
  await byId(page, "motor-scene-0-0").click();
  await until("the scene's target is back", async () => !(await motors(page))[0].set && (await motors(page))[0].target === null);
  await byId(page, "live-reset").click();
  await until("a reset gives all of them back", async () => (await motors(page)).every((motor) => !motor.set));
  const overflow = await byId(page, "motors").evaluate((element) => element.scrollWidth - element.clientWidth);
  check(overflow <= 0, `the sliders are ${overflow} pixels too wide`);
}

/* The file is written anew while it is looked at: the page shows the new scene; of a mistake it says where
 * it is, and the old scene goes on. */
async function testReload(bench) {
  bench.write("changing.yaml", SCENE);
  const server = await bench.serve("changing.yaml");
  const page = await bench.open(server.address);
  const before = await bodies(page);
  await until("it runs", async () => (await live(page)).time > 0.05);
  bench.write("changing.yaml", SCENE.replace("name: crate,", "name: chest,").replace("duration:", "  - {name: ball, shape: {sphere: 0.2}, position: [-2, 0, 0.2]}\nduration:"));
  await until("there is one body more", async () => (await bodies(page)) === before + 1);
  const names = await page.evaluate(() => window.rigor.sources[0].manifest.bodies.map((body) => body.name));
  check(names.includes("chest") && names.includes("ball"), `the new scene's: ${names}`);
  await until("frames of it come", async () => (await whereIs(page, "ball")).position.every(Number.isFinite));
  const time = (await live(page)).time;
  bench.write("changing.yaml", SCENE.replace("friction: 0.6", "friction: much"));
  await until("the page says what is wrong", async () => /changing\.yaml:5.*friction/.test(await byId(page, "toasts").textContent()));
  await until("the scene before goes on", async () => (await live(page)).time > time);
  check((await bodies(page)) === before + 1, "with its bodies");
  bench.write("changing.yaml", SCENE);
  await until("mended, it is shown again", async () => (await bodies(page)) === before);
  check(/has changed/.test(server.output), `the command says so: ${server.output}`);
  await bench.close(page);
}

async function testServerEnds(bench) {
  const server = await bench.serve("scene.yaml");
  const page = await bench.open(server.address, { allow: [/WebSocket|ERR_CONNECTION|ERR_SOCKET/, /^http:\/\/127/] });
  await until("connected", async () => (await live(page)).connected);
  server.child.kill("SIGINT");
  const end = await server.ended;
  check(end.code === 0 || end.code === 130, `the server ends by itself: ${JSON.stringify(end)}`);
  await until("the page says that the connection is lost", async () =>
    /connection|disconnected|server/i.test(await page.locator("body").innerText()) && !(await live(page)).connected,
  );
  await bench.close(page);
}

await main(async (bench) => {
  bench.write("scene.yaml", SCENE);
  const server = await bench.serve("scene.yaml");
  await bench.testPage("pause, step, reset", server.address, {}, testPauseStepReset);
  await bench.testPage("a body is grabbed and moved", server.address, {}, testGrab);
  await bench.testPage("less friction: the contact slips", server.address, {}, testFriction);
  await bench.testPage("a box is thrown", server.address, {}, testThrow);
  bench.write("pucks.yaml", PUCKS);
  const pucks = await bench.serve("pucks.yaml");
  await bench.testPage("what has left the view comes back", pucks.address, {}, testFrameAll);
  bench.write("arms.yaml", ARMS);
  const arms = await bench.serve("arms.yaml");
  await bench.testPage("a slider for each motor", arms.address, {}, testMotors);
  await bench.testPage("how long the stages of a step take", server.address, {}, testProfile);
  await bench.testPage("another solver", server.address, {}, testSettings);
  await bench.test("without the token there is nothing to see", async () => {
    const answer = await fetch(server.address.replace(/token=[^&]*/, "token=x"));
    check(answer.status === 403 || answer.status === 401, `answer ${answer.status}`);
  });

  const recording = bench.record("dominoes", "dominoes", "count=8", "--duration", "6");
  const replay = await bench.serve(recording);
  await bench.testPage("a recording, chunk by chunk", replay.address, {}, testRecording);
  const still = await bench.serve(bench.record("still", "scene.yaml", "--duration", "6"));
  await bench.testPage("a crate at rest: its forces are its weight", still.address, {}, testWeight);
  await bench.test("a scene file that changes is read again", () => testReload(bench));
  await bench.test("the server ends: the page says so", () => testServerEnds(bench));
});
