/* The page around the views: makes the panels, lays them out, and tells them when something changed. No
 * panel knows another; what they share is the context. */

import { type App, type Frame, SWITCHES, type SwitchName, type Ui } from "./contract";
import { MODE_COLOURS } from "./palette";
import { createBadge } from "./ui_badge";
import { Certificate, certificateLine } from "./ui_certificate";
import { createCompare } from "./ui_compare";
import { type Context, type Panel, type Slot, applyFollow, cameras } from "./ui_context";
import { h, iconButton, paced, remember, remembered, setText } from "./ui_dom";
import { Drawer } from "./ui_drawer";
import { createHelp } from "./ui_help";
import { createInspector } from "./ui_inspector";
import { watchKeys } from "./ui_keys";
import { createLive, throwBox } from "./ui_live";
import { createPlots } from "./ui_plots";
import { watchPointer } from "./ui_pointer";
import { makeFilm } from "./ui_film";
import { download, downloadBlob, fileName } from "./ui_save";
import { createSwitches } from "./ui_switches";
import { createTheme } from "./ui_theme";
import { createTimeline } from "./ui_timeline";
import { createToasts } from "./ui_toast";
import { createToolbar } from "./ui_toolbar";

const PHONE = "(max-width: 760px)";
const LARGE = "(min-width: 1000px) and (min-height: 700px)";
const LOOKS = [
  ["corner", "3D"],
  ["x", "x"],
  ["y", "y"],
  ["z", "z"],
] as const;

/** One view's place: the canvas goes in; labels and notes lie over it. */
interface Host {
  element: HTMLElement;
  note: HTMLElement;
  banners: HTMLElement;
  labels: HTMLElement;
}

function createHost(slot: Slot): Host {
  const note = h("div", { class: "view-note", role: "status", hidden: true });
  const banners = h("div", { class: "view-banners" });
  const labels = h("div", { class: "view-labels" });
  return {
    element: h("div", { class: "view-host", hidden: slot === 1, "data-slot": slot }, banners, labels, note),
    note,
    banners,
    labels,
  };
}

function createContext(app: App, toast: Context["toast"]): Context {
  const theme = createTheme(() => {
    applyTheme(context);
    context.refresh();
  });
  const context: Context = {
    app,
    theme,
    frames: [],
    certificates: [],
    selected: [null, null],
    following: false,
    together: true,
    overlay: false,
    switches: new Map<SwitchName, boolean>(SWITCHES.map(([name, , , on]) => [name, on])),
    pulling: true,
    version: 0,
    live: () => app.sources[0]?.live ?? null,
    select: () => {},
    follow: (on) => {
      context.following = on && context.selected[0] !== null;
      applyFollow(context);
      context.refresh();
    },
    setSwitch: (name, on) => {
      context.switches.set(name, on);
      app.views.forEach((view) => view.setSwitch(name, on));
      app.requestRender();
      context.refresh();
    },
    toast,
    openTab: () => {},
    refresh: () => {},
  };
  return context;
}

function applyTheme(context: Context): void {
  const theme = context.theme.current();
  for (const [mode, colour] of Object.entries(MODE_COLOURS[theme]))
    document.documentElement.style.setProperty(`--mode-${mode}`, colour);
  context.app.views.forEach((view) => view.setTheme(theme));
  context.app.requestRender();
}

/** The body of that name in another run. */
function sameBody(app: App, from: Slot, to: Slot, body: number | null): number | null {
  const name = body === null ? undefined : app.sources[from]?.manifest.bodies[body]?.name;
  if (name === undefined || body === null || !app.sources[to]) return null;
  const bodies = app.sources[to].manifest.bodies;
  if (bodies[body]?.name === name) return body;
  const found = bodies.findIndex((each) => each.name === name);
  return found < 0 ? null : found;
}

function createViewTools(context: Context, frameAll: () => void): HTMLElement {
  const looks = LOOKS.map(([direction, text]) =>
    h(
      "button",
      {
        type: "button",
        title: direction === "corner" ? "From the corner (1)" : `Along ${text}`,
        "aria-label": direction === "corner" ? "View from the corner" : `View along ${text}`,
        "data-testid": `look-${direction}`,
        onclick: () =>
          cameras(context).forEach((view) => view.lookFrom(direction === "y" ? "-y" : direction)),
      },
      text,
    ),
  );
  /* A planar scene is seen from one side. */
  context.app.onSources(() => {
    const planar = context.app.sources.every((source) => source.manifest.planar);
    for (const look of looks) look.hidden = planar && context.app.sources.length > 0;
  });
  return h(
    "div",
    { class: "view-tools", role: "group", "aria-label": "Camera" },
    iconButton("fit", "Everything in view (a)", "frame-all", frameAll),
    ...looks,
  );
}

/** What stands over a view that has nothing to show. */
function noteFor(context: Context, slot: Slot): string {
  const { app } = context;
  const source = app.sources[slot];
  if (!source) {
    if (slot === 1) return "";
    if (app.errors.length > 0) return app.errors[app.errors.length - 1];
    return app.runs.length > 0
      ? `Loading ${app.runs[0].name} …`
      : "Nothing to show. rigor view SCENE and rigor export RECORDING --html give this page a run.";
  }
  if (source.manifest.bodies.length === 0) return "This scene has no bodies.";
  if (source.count() === 0)
    return source.live ? "Waiting for the first frame …" : "This recording has no frames.";
  if (!context.frames[slot]) return source.error() ?? "Loading frames …";
  return "";
}

/** The scene as it is shown now, twice as fine as on the screen. */
async function savePicture(context: Context): Promise<void> {
  const { app } = context;
  const views = document.querySelector(".views") ?? document.body;
  const [width, height] = [2 * views.clientWidth, 2 * views.clientHeight];
  try {
    const time = app.player.time;
    const picture = await app.capture(time, width, height);
    const name = app.sources[0]?.manifest.name ?? "rigor";
    download(fileName(name, `${time.toFixed(3)}s`) + ".png", picture);
  } catch (problem) {
    context.toast(String(problem), "error");
  }
}

/** The whole time line at the speed at which it plays, as large as the scene is on the screen. */
async function saveFilm(context: Context, line: HTMLElement): Promise<void> {
  const { app } = context;
  const { player } = app;
  const views = document.querySelector(".views") ?? document.body;
  const [width, height] = [views.clientWidth & ~1, views.clientHeight & ~1];
  const now = player.time;
  let going = true;
  const stop = (event: KeyboardEvent): void => {
    if (event.key === "Escape") going = false;
  };
  app.sources[0]?.live?.pause();
  window.addEventListener("keydown", stop, true);
  line.hidden = false;
  try {
    const film = await makeFilm({
      from: player.start,
      to: player.end,
      speed: player.speed,
      width,
      height,
      picture: (time) => app.captureCanvas(time, width, height),
      progress: (made, all) => {
        setText(line, `Film: picture ${made + 1} of ${all}. Esc ends it.`);
        return going;
      },
    });
    const name = app.sources[0]?.manifest.name ?? "rigor";
    if (film) downloadBlob(fileName(name) + ".webm", film);
  } catch (problem) {
    context.toast(problem instanceof Error ? problem.message : String(problem), "error");
  } finally {
    line.hidden = true;
    window.removeEventListener("keydown", stop, true);
    player.seek(now);
  }
}

class Page implements Ui {
  private readonly context: Context;
  private readonly hosts: Host[];
  private readonly views = h("div", { class: "views" });
  private readonly dock = h("div", { class: "plots-dock" });
  private readonly drawer: Drawer;
  private readonly panels: Panel[];
  private readonly plots: Panel;
  private readonly plotsButton: HTMLButtonElement;
  private readonly panelButton: HTMLButtonElement;
  private readonly line = h("div", { class: "capture-line" });
  private readonly film = h("div", { class: "film-line", role: "status", "data-testid": "film-line", hidden: true });
  private readonly phone = window.matchMedia(PHONE);
  private watched = new Set<unknown>();
  private known: unknown[] = [];
  private errorsShown = 0;
  private sourceErrors: (string | null)[] = [];
  private wasLive = false;
  private readonly placeLabels: () => void; // each in the view of its run
  private overlaid = false;

  constructor(private readonly app: App) {
    const toasts = createToasts();
    const context = (this.context = createContext(app, toasts.show));
    context.select = (slot, body, quietly) => this.select(slot, body, !quietly);
    context.openTab = (name) => this.drawer.select(name);
    context.refresh = () => this.arrange();

    const badge = createBadge(context);
    const compare = createCompare(context);
    const switches = createSwitches(context);
    const inspector = createInspector(context);
    const live = createLive(context);
    const help = createHelp();
    this.plots = createPlots(context);
    this.plotsButton = iconButton("plots", "Plots (p)", "plots", () => this.togglePlots());
    this.panelButton = iconButton("panel", "Panel (i)", "panel", () => this.togglePanel());
    const timeline = createTimeline(context, this.plotsButton);
    const toolbar = createToolbar(context, {
      badge: [badge.element, badge.popover],
      chip: live.chip,
      buttons: [
        iconButton("camera", "Save this picture (PNG)", "picture", () => void savePicture(context)),
        iconButton("film", "Save a film of the time line (WebM)", "film", () => void saveFilm(context, this.film)),
        compare.element,
        compare.popover,
        context.theme.button,
        help.button,
        this.panelButton,
      ],
    });
    this.drawer = new Drawer(
      [
        { name: "live", label: "Live", element: live.element },
        { name: "show", label: "Show", element: switches.element },
        { name: "body", label: "Body", element: inspector.element },
        { name: "plots", label: "Plots", element: h("div", { class: "plots-place" }) },
      ],
      () => this.arrange(),
    );
    this.panels = [toolbar, badge, timeline, switches, live, inspector, compare, this.plots];
    this.hosts = [createHost(0), createHost(1)];
    this.placeLabels = () => {
      for (const slot of [0, 1] as const) {
        const host = this.hosts[context.overlay ? 0 : slot];
        host.banners.append(badge.banner(slot));
        host.labels.append(compare.label(slot));
      }
    };
    this.placeLabels();
    const frameAll = (): void => cameras(context).forEach((view) => view.frameAll());
    this.views.append(
      this.hosts[0].element,
      this.hosts[1].element,
      createViewTools(context, frameAll),
      toasts.element,
    );
    const root = h(
      "div",
      { class: "app" },
      toolbar.element,
      this.views,
      this.dock,
      this.drawer.element,
      timeline.element,
      this.line,
      this.film,
    );
    document.body.append(root, help.element);

    const pointer = watchPointer(
      context,
      this.hosts.map((host) => host.element),
    );
    watchKeys(context, {
      toggleHelp: help.toggle,
      closeHelp: help.close,
      togglePlots: () => this.togglePlots(),
      togglePanel: () => this.togglePanel(),
      nextTheme: context.theme.next,
      throwBox: () => throwBox(context, pointer.at()),
      changeForceScale: switches.changeForceScale,
      frameAll,
    });
    this.watch(root);
    const large = window.matchMedia(LARGE).matches;
    document.documentElement.dataset.plots =
      (remembered("plots") ?? (large ? "open" : "closed")) === "open" ? "open" : "closed";
    this.drawer.select("show");
    this.drawer.open = !this.phone.matches && window.innerWidth >= 900;
    applyTheme(context);
    this.arrange();
  }

  update(frames: (Frame | null)[]): void {
    this.context.frames = frames;
    this.updatePanels();
  }

  host(slot: 0 | 1): HTMLElement {
    this.hosts[slot].element.hidden = false;
    return this.hosts[slot].element;
  }

  setCaptureMode(on: boolean, certificate = false): void {
    const root = document.documentElement;
    if (on) root.dataset.capture = certificate ? "line" : "on";
    else delete root.dataset.capture;
    const first = this.context.certificates[0];
    setText(
      this.line,
      on && certificate && first ? certificateLine(first, this.context.frames[0] ?? null) : "",
    );
    this.app.views.forEach((view) => view.resize());
  }

  private updatePanels(): void {
    this.hosts.forEach((host, slot) => {
      const text = noteFor(this.context, slot as Slot);
      host.note.hidden = text === "";
      host.note.classList.toggle("error", this.app.errors.includes(text));
      setText(host.note, text);
    });
    if (document.documentElement.dataset.capture) {
      const first = this.context.certificates[0];
      if (first && this.line.textContent !== "")
        setText(this.line, certificateLine(first, this.context.frames[0] ?? null));
      return;
    }
    this.showErrors();
    for (const panel of this.panels) panel.update();
  }

  /** Everything that does not change with time alone. */
  private arrange(): void {
    if (!this.panels) return; // still being made
    const isLive = this.context.live() !== null;
    const root = document.documentElement;
    root.dataset.live = isLive ? "yes" : "no";
    if (isLive !== this.wasLive) {
      this.wasLive = isLive;
      if (isLive) this.drawer.select("live");
      if (isLive && !this.drawer.open)
        this.context.toast("Drag a body to pull it. Drag beside it to turn the camera.", "note");
    }
    this.drawer.setAvailable("live", isLive);
    this.drawer.setAvailable("plots", this.phone.matches);
    const place = this.phone.matches ? this.drawer.page("plots") : this.dock;
    if (this.plots.element.parentElement !== place) place.append(this.plots.element);
    this.panelButton.setAttribute("aria-pressed", String(this.drawer.open));
    this.plotsButton.setAttribute("aria-pressed", String(root.dataset.plots === "open"));
    for (const panel of this.panels) panel.arrange();
    this.hosts[1].element.hidden = this.app.sources.length < 2 || this.context.overlay;
    if (this.overlaid !== this.context.overlay) this.placeLabels();
    this.overlaid = this.context.overlay;
    this.updatePanels();
  }

  private watch(root: HTMLElement): void {
    const { app, context } = this;
    app.onSources(() => this.takeSources());
    app.player.on(() => this.updateSoon());
    this.phone.addEventListener("change", () => this.arrange());
    const sizes = new ResizeObserver(() => {
      app.views.forEach((view) => view.resize());
      app.requestRender();
      for (const panel of this.panels) panel.update();
    });
    for (const host of this.hosts) sizes.observe(host.element);
    sizes.observe(this.dock);
    /* After a click the keys belong to the page again: space plays, wherever one clicked last. */
    root.addEventListener("click", (event) => {
      const button = (event.target as Element).closest("button");
      if (event.detail > 0 && button) button.blur();
    });
    root.addEventListener("change", (event) => {
      const target = event.target;
      if (target instanceof HTMLSelectElement) target.blur();
    });
    /* Errors can come before the first source does, without a frame being drawn. */
    const wait = window.setInterval(() => {
      if (app.sources.length > 0) window.clearInterval(wait);
      this.updatePanels();
    }, 400);
    void context;
  }

  private readonly updateSoon = paced(30, () => this.updatePanels());

  private readonly dataSoon = paced(250, () => {
    this.context.version++;
    this.context.certificates.forEach((certificate) => certificate.refresh());
    this.updatePanels();
  });

  private takeSources(): void {
    const { app, context } = this;
    context.certificates = app.sources.map((source) => new Certificate(source));
    context.version++;
    app.sources.forEach((source) => {
      if (this.watched.has(source)) return;
      this.watched.add(source);
      let bodies = source.manifest.bodies.length;
      source.onChange(() => {
        if (!app.sources.includes(source)) return;
        if (source.manifest.bodies.length !== bodies) {
          bodies = source.manifest.bodies.length;
          this.dropLostSelection();
          this.arrange();
        }
        this.dataSoon();
      });
    });
    app.views.forEach((view, slot) => {
      view.canvas.dataset.testid = `canvas-${slot}`;
      if (this.known[slot] === view) return;
      view.setTheme(context.theme.current());
      for (const [name, on] of context.switches) view.setSwitch(name, on);
    });
    this.known = [...app.views];
    const kept = context.selected[0];
    this.select(
      0,
      kept !== null && kept < (app.sources[0]?.manifest.bodies.length ?? 0) ? kept : null,
      false,
    );
    this.arrange();
  }

  private dropLostSelection(): void {
    const bodies = this.app.sources[0]?.manifest.bodies.length ?? 0;
    const selected = this.context.selected[0];
    if (selected !== null && selected >= bodies) this.select(0, null);
  }

  private select(slot: Slot, body: number | null, open = true): void {
    const { app, context } = this;
    const other = (1 - slot) as Slot;
    context.selected[slot] = body;
    context.selected[other] = sameBody(app, slot, other, body);
    app.views.forEach((view, index) => view.select(context.selected[index]));
    if (context.following) {
      context.following = body !== null;
      applyFollow(context);
    }
    if (body !== null && open) {
      this.drawer.select("body");
      if (!this.drawer.open) this.drawer.open = true;
    }
    app.requestRender();
    this.arrange();
  }

  private togglePlots(): void {
    if (this.phone.matches) {
      const shown = this.drawer.open && this.drawer.tab === "plots";
      if (!shown) this.drawer.select("plots");
      this.drawer.open = !shown;
      return;
    }
    const root = document.documentElement;
    root.dataset.plots = root.dataset.plots === "open" ? "closed" : "open";
    remember("plots", root.dataset.plots);
    this.arrange();
  }

  private togglePanel(): void {
    this.drawer.open = !this.drawer.open;
  }

  private showErrors(): void {
    const { app, context } = this;
    if (app.sources.length > 0) {
      for (; this.errorsShown < app.errors.length; this.errorsShown++)
        context.toast(app.errors[this.errorsShown]);
    }
    app.sources.forEach((source, slot) => {
      const error = source.error();
      if (error && error !== this.sourceErrors[slot]) context.toast(error);
      this.sourceErrors[slot] = error;
    });
  }
}

export function createUi(app: App): Ui {
  return new Page(app);
}
