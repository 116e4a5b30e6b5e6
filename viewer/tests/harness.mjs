/* What the tests in a browser share: Chromium, a folder to work in, the command, and a count of
 * what was checked.
 *
 * A test may leave nothing in the console, may not fail to load anything, and may not ask anybody but
 * this machine for anything; the harness looks after that for every page. */

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const SKIPPED = 77; // what CTest takes for "skipped"
export const root = resolve(fileURLToPath(import.meta.url), "../../..");
/** The packages are those of the page. */
export const require = createRequire(join(root, "viewer/page/package.json"));
/** How long anything may take on a slow machine that draws without a GPU. */
const PATIENCE = 30_000;

const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/* No GPU, nothing fetched in the background, and pictures that do not depend on the screen. */
const SWITCHES = [
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--ignore-gpu-blocklist",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-sync",
  "--no-first-run",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
];

function findOnPath(name) {
  for (const folder of (process.env.PATH ?? "").split(":"))
    if (folder && existsSync(join(folder, name))) return join(folder, name);
  return null;
}

export function findBrowser() {
  const wanted = process.env.RIGOR_CHROMIUM;
  if (wanted) return existsSync(wanted) ? wanted : findOnPath(wanted);
  return BROWSERS.map(findOnPath).find((path) => path) ?? null;
}

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(SKIPPED);
}

export class Failure extends Error {}

export function check(condition, what) {
  if (!condition) throw new Failure(what);
}

export function checkNear(value, wanted, relative, what) {
  const error = Math.abs(value - wanted) / Math.abs(wanted || 1);
  check(error <= relative, `${what}: ${value} instead of ${wanted} (relative error ${error})`);
}

/** Waits until a function, here or in the page, says yes; says what was waited for if it does not. */
export async function until(what, condition, milliseconds = PATIENCE) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Failure(`waited in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 30));
  }
}

export class Bench {
  constructor(command) {
    this.command = command;
    this.folder = mkdtempSync(join(tmpdir(), "rigor-viewer-"));
    this.browser = null;
    this.children = [];
    this.failures = 0;
    this.checks = 0;
  }

  file(name) {
    return join(this.folder, name);
  }

  write(name, text) {
    writeFileSync(this.file(name), text);
    return this.file(name);
  }

  /** The command, to its end; its standard output. */
  rigor(...words) {
    try {
      return execFileSync(this.command, words, {
        cwd: this.folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        maxBuffer: 1 << 28,
      });
    } catch (error) {
      throw new Failure(`rigor ${words.join(" ")}: ${error.stderr || error.message}`);
    }
  }

  record(name, ...words) {
    this.rigor("run", ...words, "--out", name + ".h5", "--quiet");
    return this.file(name + ".h5");
  }

  /** An exported page of recordings, as the address of a file. */
  page(name, ...recordings) {
    this.rigor("export", ...recordings, "--html", name + ".html", "--overwrite");
    return pathToFileURL(this.file(name + ".html")).href;
  }

  /** `rigor view`, until it has said where it is. */
  async serve(...words) {
    const child = spawn(this.command, ["view", ...words], {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "" },
    });
    const server = { child, output: "", address: null, ended: null };
    server.ended = new Promise((done) => child.on("exit", (code, signal) => done({ code, signal })));
    this.children.push(child);
    const take = (data) => {
      server.output += data;
      server.address ??= /http:\/\/\S+/.exec(server.output)?.[0] ?? null;
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    await until("`rigor view` says its address", () => {
      if (child.exitCode !== null) throw new Failure(`rigor view ended: ${server.output}`);
      return server.address;
    });
    return server;
  }

  async open(address, options = {}) {
    const { allow = [], ...rest } = options;
    const context = await this.browser.newContext({
      viewport: { width: 1000, height: 700 },
      colorScheme: "light",
      reducedMotion: "reduce", // the camera is where it was sent at once
      deviceScaleFactor: 1,
      ...rest,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.wrong = [];
    const allowed = (text) => allow.some((pattern) => pattern.test(text));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !allowed(message.text()))
        page.wrong.push(`console: ${message.text()} (${message.location().url.slice(0, 100)})`);
    });
    page.on("pageerror", (error) => page.wrong.push(`error: ${error.stack ?? error}`));
    page.on("requestfailed", (request) => {
      if (!allowed(request.url())) page.wrong.push(`failed: ${request.url().slice(0, 200)}`);
    });
    page.on("request", (request) => {
      const ours = /^(file:|data:|blob:|https?:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/])/;
      if (!ours.test(request.url())) page.wrong.push(`asks elsewhere: ${request.url().slice(0, 200)}`);
    });
    page.on("crash", () => page.wrong.push("the page crashed"));
    try {
      await page.goto(address);
      await until("the page has begun", () => page.evaluate(() => window.rigor !== undefined));
      await Promise.race([
        page.evaluate(() => window.rigor.ready),
        new Promise((_, fail) => setTimeout(() => fail(new Failure("no frame is on the screen")), PATIENCE).unref()),
      ]);
    } catch (error) {
      const said = await page.locator("body").innerText().catch(() => "");
      error.message += `\n  the page says: ${said.slice(0, 500)}\n  ${page.wrong.join("\n  ")}`;
      throw error;
    }
    return page;
  }

  async close(page) {
    const wrong = page.wrong;
    await page.context().close();
    check(wrong.length === 0, `the page complained:\n  ${wrong.join("\n  ")}`);
  }

  async test(name, run) {
    if (!name.includes(process.env.RIGOR_ONLY ?? "")) return;
    const begin = Date.now();
    this.checks++;
    try {
      await run();
      console.log(`ok: ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.failures++;
      console.log(`failed: ${name}\n  ${error instanceof Failure ? error.message : error.stack}`);
    }
  }

  /** A test with a page of its own, which may complain about nothing. */
  async testPage(name, address, options, run) {
    await this.test(name, async () => {
      const page = await this.open(typeof address === "function" ? await address() : address, options);
      try {
        await run(page);
      } catch (error) {
        if (process.env.RIGOR_SHOTS)
          await page.screenshot({ path: join(process.env.RIGOR_SHOTS, `failed-${this.checks}.png`) });
        if (page.wrong.length) error.message += `\n  and the page complained:\n  ${page.wrong.join("\n  ")}`;
        await page.context().close();
        throw error;
      }
      await this.close(page);
    });
  }
}

/** Calls a function with Chromium, the command and a folder that is thrown away afterwards. */
export async function launch(work) {
  const command = process.argv[2];
  if (!command) {
    console.error(`usage: node ${process.argv[1]} RIGOR-COMMAND`);
    process.exit(2);
  }
  const executablePath = findBrowser();
  if (!executablePath) skip("no Chromium (apt-get install chromium, or RIGOR_CHROMIUM=PATH)");
  let chromium;
  try {
    ({ chromium } = require("playwright-core"));
  } catch {
    skip("no playwright-core (tools/page fetches it)");
  }
  const bench = new Bench(resolve(command));
  try {
    bench.browser = await chromium.launch({
      executablePath,
      args: process.getuid() === 0 ? [...SWITCHES, "--no-sandbox"] : SWITCHES,
    });
    await work(bench);
  } finally {
    await bench.browser?.close();
    for (const child of bench.children) if (child.exitCode === null) child.kill("SIGKILL");
    rmSync(bench.folder, { recursive: true, force: true });
  }
}

/** Runs the tests of one file: `node FILE RIGOR-COMMAND`. */
export async function main(tests) {
  await launch(async (bench) => {
    await tests(bench);
    console.log(`${bench.checks} tests, ${bench.failures} failed`);
    process.exitCode = bench.failures ? 1 : 0;
  });
}

/* ---- what is asked of pages ---- */

export const byId = (page, id) => page.locator(`[data-testid="${id}"]`);

export const playerTime = (page) => page.evaluate(() => window.rigor.player.time);

/** Pauses at a time, and waits until its frame is loaded and shown. */
export async function showTime(page, time) {
  await page.evaluate((at) => {
    window.rigor.player.pause();
    window.rigor.player.seek(at);
  }, time);
  await until(`the frame at ${time} s`, () =>
    page.evaluate((at) => window.rigor.sources.every((source) => source.frame(source.indexAt(at)) !== null), time),
  );
  await settle(page);
}

/** Two animation frames: what was asked for is on the screen. */
export async function settle(page) {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))),
  );
}

/** How many pixels of a canvas differ from those of the last call. */
export function changedPixels(page, slot = 0) {
  return page.evaluate((at) => {
    const view = window.rigor.views[at];
    view.show(window.rigor.player.time);
    view.render(); // what was drawn can be read until this function ends
    const copy = document.createElement("canvas");
    copy.width = view.canvas.width;
    copy.height = view.canvas.height;
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(view.canvas, 0, 0);
    const data = context.getImageData(0, 0, copy.width, copy.height).data;
    const last = (window.lastPixels ??= {})[at];
    window.lastPixels[at] = data;
    if (!last || last.length !== data.length) return data.length / 4;
    let changed = 0;
    for (let i = 0; i < data.length; i += 4) {
      const by = Math.max(
        Math.abs(data[i] - last[i]),
        Math.abs(data[i + 1] - last[i + 1]),
        Math.abs(data[i + 2] - last[i + 2]),
      );
      if (by > 6) changed++;
    }
    return changed;
  }, slot);
}

/** Where on the page a point of the world is, by what the camera says of the pointer's places. */
export function project(page, point, slot = 0) {
  return page.evaluate(
    ({ point, slot }) => {
      const view = window.rigor.views[slot];
      const box = view.canvas.getBoundingClientRect();
      const miss = (x, y) => Math.hypot(...view.pointAt(x, y, point).map((value, i) => value - point[i]));
      let [x, y, w, h] = [box.left + box.width / 2, box.top + box.height / 2, box.width, box.height];
      for (let round = 0; round < 12; round++) {
        let best = [Infinity, x, y];
        for (let i = -4; i <= 4; i++)
          for (let j = -4; j <= 4; j++) {
            const at = [x + (i * w) / 8, y + (j * h) / 8];
            const value = miss(...at);
            if (value < best[0]) best = [value, ...at];
          }
        [, x, y] = best;
        w /= 3;
        h /= 3;
      }
      return { x, y };
    },
    { point, slot },
  );
}

/** The number and present place of a body. */
export function whereIs(page, name, slot = 0) {
  return page.evaluate(
    ({ name, slot }) => {
      const source = window.rigor.sources[slot];
      const index = source.manifest.bodies.findIndex((body) => body.name === name);
      const time = source.live ? source.timeOf(source.first() + source.count() - 1) : window.rigor.player.time;
      const frame = source.frame(source.indexAt(time));
      return {
        body: index,
        time: frame.time,
        position: Array.from(frame.position.slice(3 * index, 3 * index + 3)),
        velocity: Array.from(frame.velocity.slice(3 * index, 3 * index + 3)),
      };
    },
    { name, slot },
  );
}

/** Opens the second of two runs beside the first, if it is not open yet. */
export async function openBeside(page) {
  if ((await page.evaluate(() => window.rigor.sources.length)) < 2) {
    await byId(page, "compare").click();
    await page.locator('[data-testid^="compare-run-"]').last().click();
    await until("a second run is open", () => page.evaluate(() => window.rigor.sources.length === 2));
    await page.keyboard.press("Escape");
  }
}

/** Brings a part of the panel to the front. */
export async function openTab(page, name) {
  const tab = byId(page, `tab-${name}`);
  if ((await tab.getAttribute("aria-selected")) !== "true") await tab.click();
  await settle(page);
}

/** The forces on a body, and its weight, from what the page was given. */
export function forcesOn(page, body) {
  return page.evaluate((index) => {
    const source = window.rigor.sources[0];
    const frame = source.frame(source.indexAt(window.rigor.player.time));
    const sum = [0, 0, 0];
    for (const contact of frame.contacts)
      for (let i = 0; i < 3; i++)
        sum[i] += (contact.a === index ? contact.force[i] : 0) - (contact.b === index ? contact.force[i] : 0);
    return { sum, mass: source.manifest.bodies[index].mass };
  }, body);
}
