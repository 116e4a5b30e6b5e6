/* Begins here: finds out which runs there are (inside the page, or on the server that sent it),
 * opens the first, and draws whenever something has changed. */

import "./style.css";
import type { App, BootRun, Frame, FrameSource, PageHandle, View3 } from "./contract";
import { FormatError } from "./format";
import { Playground, readPlay } from "./play";
import { TimePlayer } from "./player";
import { openEmbedded } from "./source_embedded";
import { openLive } from "./source_live";
import { fetchRuns, openServed } from "./source_server";
import { createUi } from "./ui";
import { View } from "./view";

interface Boot {
  mode: "embedded" | "server" | "play";
  runs: BootRun[];
}

interface Slot {
  run: BootRun;
  source: FrameSource;
  view: View | null; // null: the browser cannot draw
}

async function readBoot(): Promise<Boot> {
  const element = document.getElementById("rigor-boot");
  /* The server sends the page as it was built: with nothing in it. */
  if (!element && location.protocol.startsWith("http"))
    return { mode: "server", runs: await fetchRuns() };
  if (!element)
    throw new FormatError(
      "There is no run in this page. Make one with rigor export RECORDING --html page.html, " +
        "or look at a scene with rigor view SCENE.",
    );
  const boot = JSON.parse(element.textContent ?? "") as Partial<Boot>;
  if (boot.mode === "server") return { mode: "server", runs: await fetchRuns() };
  if (boot.mode === "play")
    return { mode: "play", runs: (boot.runs ?? []).map((run) => ({ ...run, live: true })) };
  return { mode: "embedded", runs: (boot.runs ?? []).map((run) => ({ ...run, live: false })) };
}

/* In place of a view, or of the whole page. */
function showMessage(host: HTMLElement, text: string): void {
  const message = document.createElement("div");
  message.className = "message";
  message.setAttribute("role", "alert");
  message.dataset.testid = "message";
  message.style.cssText =
    "position: absolute; inset: 0; display: grid; place-content: center; padding: 2em 4em;" +
    "text-align: center; font: 16px/1.5 system-ui, sans-serif";
  message.textContent = text;
  host.append(message);
}

class Page {
  private readonly slots: (Slot | null)[] = [null, null];
  private readonly player = new TimePlayer();
  private readonly listeners: (() => void)[] = [];
  private readonly app: App;
  private readonly ui;
  private readonly playground: Playground | null = null;
  private scheduled = false;
  private last = 0;
  private capturing: Promise<unknown> = Promise.resolve();
  private posing = false; // views have a picture's size
  private relax: ReturnType<typeof setTimeout> | undefined;
  private isReady!: () => void;
  private isLost!: (problem: Error) => void;
  readonly handle: PageHandle;

  constructor(private readonly boot: Boot) {
    this.app = {
      runs: boot.runs,
      sources: [],
      views: [],
      player: this.player,
      errors: [],
      openRun: (id, slot) => this.openRun(id, slot),
      closeSlot: (slot) => this.closeSlot(slot),
      runIn: (slot) => this.slots[slot]?.run.id ?? null,
      onSources: (listener) => this.listeners.push(listener),
      requestRender: () => this.request(),
      capture: async (time, width, height) =>
        (await this.capture(time, width, height)).toDataURL("image/png"),
      captureCanvas: (time, width, height) => this.capture(time, width, height),
    };
    this.handle = {
      ready: new Promise((resolve, reject) => {
        this.isReady = resolve;
        this.isLost = reject;
      }),
      player: this.player,
      views: this.app.views,
      sources: this.app.sources,
      capture: this.app.capture,
    };
    this.handle.ready.catch(() => {}); // the page shows what went wrong
    window.rigor = this.handle;
    this.ui = createUi(this.app);
    this.player.on(() => this.request());
    if (boot.mode === "play") {
      this.playground = new Playground(readPlay(), this.app);
      this.handle.play = this.playground;
    }
  }

  async openRun(id: string, slot: 0 | 1): Promise<void> {
    const run = this.boot.runs.find((entry) => entry.id === id);
    if (!run) return this.complain(`There is no run ${id}.`);
    let source: FrameSource;
    try {
      if (this.playground) source = await openLive(run, () => this.playground!.wire());
      else if (this.boot.mode === "embedded") source = await openEmbedded(run);
      else source = run.live ? await openLive(run) : await openServed(run);
    } catch (problem) {
      return this.complain(
        `${run.name}: ${problem instanceof Error ? problem.message : String(problem)}`,
      );
    }
    this.closeSlot(slot);
    const host = this.ui.host(slot);
    let view: View | null = null;
    try {
      view = new View(source, () => this.request());
      view.canvas.dataset.testid = `canvas-${slot}`;
      view.canvas.setAttribute("role", "img");
      view.canvas.setAttribute("aria-label", `The run ${run.name} in three dimensions`);
      host.append(view.canvas);
    } catch (problem) {
      showMessage(host, problem instanceof Error ? problem.message : String(problem));
    }
    this.slots[slot] = { run, source, view };
    source.onChange(() => {
      this.player.refresh();
      this.request();
    });
    this.changed();
  }

  closeSlot(slot: 0 | 1): void {
    const open = this.slots[slot];
    if (!open) return;
    this.slots[slot] = null;
    open.view?.dispose();
    open.source.close();
    this.ui.host(slot).querySelector(".message")?.remove();
    this.changed();
  }

  private complain(text: string): void {
    this.app.errors.push(text);
    this.isLost(new Error(text));
    for (const listener of this.listeners) listener();
    this.request();
  }

  private changed(): void {
    const open = this.slots.filter((slot) => slot !== null);
    /* The same arrays, since others hold them. */
    this.app.sources.splice(0, Infinity, ...open.map((slot) => slot.source));
    const views: View3[] = [];
    for (const slot of open) if (slot.view) views.push(slot.view);
    this.app.views.splice(0, Infinity, ...views);
    this.player.setSources(this.app.sources);
    for (const listener of this.listeners) listener();
    this.request();
  }

  private request(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame((now) => this.draw(now));
  }

  private draw(now: number): void {
    this.scheduled = false;
    if (this.posing) return; // it asks again when it ends
    this.player.tick(this.last > 0 ? (now - this.last) / 1000 : 0);
    const frames = this.slots.filter((slot) => slot !== null).map((slot) => this.drawSlot(slot));
    this.ui.update(frames);
    if (frames.length > 0 && frames.every((frame) => frame !== null)) this.isReady();
    /* Time runs on only while something moves: after a pause it begins anew. */
    this.last = this.player.playing ? now : 0;
    const waits =
      this.app.sources.some((source) => source.live) && this.player.time >= this.player.end;
    if (this.player.playing && !waits) this.request();
  }

  private drawSlot(slot: Slot): Frame | null {
    const { source, view } = slot;
    if (!view) return source.count() > 0 ? source.frame(source.indexAt(this.player.time)) : null;
    const frame = view.show(this.player.time);
    view.render();
    return frame;
  }

  /* One after the other. */
  capture(time: number, width: number, height: number): Promise<HTMLCanvasElement> {
    const picture = this.capturing
      .catch(() => null)
      .then(() => this.takePicture(time, width, height))
      .finally(() => this.endPose());
    this.capturing = picture;
    return picture;
  }

  private async takePicture(time: number, width: number, height: number): Promise<HTMLCanvasElement> {
    const views = this.slots
      .map((slot) => slot?.view ?? null)
      .filter((view) => view !== null)
      .filter((view) => !view.canvas.parentElement?.hidden); // an overlay has one
    if (views.length === 0) throw new Error("Nothing is open, or the browser cannot draw.");
    this.beginPose();
    this.player.pause();
    this.player.seek(time);
    const patience = Date.now() + 30000;
    /* The end as well: the camera is placed by where things go, once for all pictures. */
    while (!views.every((view) => view.isLoaded(time) && view.isLoaded(this.player.end))) {
      const problem = this.app.sources
        .map((source) => source.error())
        .find((text) => text !== null);
      if (problem || Date.now() > patience) throw new Error(problem ?? "The data did not come.");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const picture = document.createElement("canvas");
    picture.width = width;
    picture.height = height;
    const paper = picture.getContext("2d")!;
    views.forEach((view, i) => {
      const left = Math.round((i * width) / views.length);
      const right = Math.round(((i + 1) * width) / views.length);
      view.setCaptureSize({ width: right - left, height });
      view.show(time);
      view.render();
      paper.drawImage(view.canvas, left, 0);
    });
    return picture;
  }

  /* A film's pictures follow each other: the page is not drawn between them. */
  private beginPose(): void {
    clearTimeout(this.relax);
    if (!this.posing) this.ui.setCaptureMode(true);
    this.posing = true;
  }

  private endPose(): void {
    this.relax = setTimeout(() => {
      if (!this.posing) return;
      this.posing = false;
      for (const slot of this.slots) slot?.view?.setCaptureSize(null);
      this.ui.setCaptureMode(false);
      this.request();
    }, 400);
  }

  start(): void {
    const first = this.boot.runs[0];
    if (!first) this.complain("There is no run to show.");
    else if (this.playground)
      this.playground.start().catch((problem: unknown) => this.complain(String(problem)));
    else void this.openRun(first.id, 0);
  }
}

async function begin(): Promise<void> {
  try {
    new Page(await readBoot()).start();
  } catch (problem) {
    showMessage(document.body, problem instanceof Error ? problem.message : String(problem));
  }
}

/* The data may stand after the script. */
if (document.readyState === "loading")
  document.addEventListener("DOMContentLoaded", () => void begin());
else void begin();
