/* The bar at the top: what this is (scene, method, solver, step), whether it is certified, and the
 * buttons for the page itself. */

import type { Context, Panel } from "./ui_context";
import { h, setText, svg } from "./ui_dom";
import { count, seconds, stepLength } from "./ui_number";

/** A block that rests on the ground: the word mark's picture. */
function mark(): SVGSVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 20 20", class: "mark", "aria-hidden": "true" },
    svg("path", { d: "M2 16.5 H18", class: "ground" }),
    svg("path", {
      d: "M5 14.5 L5 6.5 L13 6.5 L13 14.5 Z",
      transform: "rotate(18 13 14.5)",
      class: "block",
    }),
  );
}

export interface ToolbarParts {
  badge: HTMLElement[]; // badge and its popover
  chip: HTMLElement;
  buttons: HTMLElement[];
}

export function createToolbar(context: Context, parts: ToolbarParts): Panel {
  const { app } = context;
  const title = h("h1", { class: "scene", "data-testid": "scene" });
  const runs = h("select", { class: "runs", "aria-label": "Run", "data-testid": "runs" });
  runs.addEventListener("change", () => {
    void app.openRun(runs.value, 0).catch((problem: unknown) => context.toast(String(problem)));
  });
  const meta = h("span", { class: "meta", "data-testid": "meta" });
  const note = h("span", { class: "chip warn", hidden: true });
  const element = h(
    "header",
    { class: "toolbar" },
    h("div", { class: "brand" }, mark(), h("span", { class: "word" }, "rigor")),
    h("div", { class: "what" }, title, runs, meta, note),
    parts.chip,
    h("div", { class: "anchor" }, ...parts.badge),
    h("div", { class: "buttons" }, ...parts.buttons),
  );

  const showMeta = (): void => {
    const source = app.sources[0];
    if (!source) return;
    const { manifest } = source;
    const state = source.live?.state();
    const words = [
      state?.method || manifest.method,
      state?.solver || manifest.solver,
      `step ${stepLength(state?.step || manifest.step)}`,
      manifest.bodies.length === 1 ? "1 body" : `${count(manifest.bodies.length)} bodies`,
    ];
    setText(meta, words.join(" · "));
  };
  const arrange = (): void => {
    const source = app.sources[0];
    const several = app.runs.length > 1;
    title.hidden = several;
    runs.hidden = !several;
    if (several && runs.dataset.runs !== app.runs.map((run) => run.id).join()) {
      runs.dataset.runs = app.runs.map((run) => run.id).join();
      runs.replaceChildren(...app.runs.map((run) => h("option", { value: run.id }, run.name)));
    }
    runs.value = app.runIn(0) ?? app.runs[0]?.id ?? "";
    const name = source?.manifest.name ?? app.runs[0]?.name ?? "";
    setText(title, name);
    document.title = name ? `${name} – rigor` : "rigor";
    meta.title = source?.manifest.generator ?? "";
    const unfinished = source?.manifest.finished === false;
    note.hidden = !unfinished;
    if (unfinished && source) {
      const reached = source.count() > 0 ? source.timeOf(source.first() + source.count() - 1) : 0;
      const meant = source.manifest.duration;
      setText(note, `unfinished: ${seconds(reached, 100)}${meant ? ` of ${seconds(meant, 100)}` : ""}`);
    }
    showMeta();
  };
  return { element, arrange, update: () => context.live() && showMeta() };
}
