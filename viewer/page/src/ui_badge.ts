/* The certificate badge. Green says "certified" with the worst figures so far; red says which bound is
 * broken, by how much, when, and whether this frame breaks it or another of the run. A click
 * opens the table of all figures. Of two runs each has its banner, over its own view. */

import { type Certificate, reason } from "./ui_certificate";
import { type Context, type Panel, SIDES, type Slot, comparing } from "./ui_context";
import { type IconName, h, icon, setAttribute, setText } from "./ui_dom";
import { boundary, plain, quantity, seconds, si } from "./ui_number";
import { createPopover } from "./ui_popover";

type State = "certified" | "here" | "run" | "none" | "waiting";

interface Verdict {
  state: State;
  label: string;
  reason: string;
}

const WHY_NONE =
  "This run has no figures of a certificate: it was made without a judge, or by an older format.";

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Of one run at one frame. */
export function verdictOf(certificate: Certificate, frame: Context["frames"][number]): Verdict {
  const span = certificate.source.manifest.duration ?? 10;
  if (certificate.lost(frame)) {
    return {
      state: "here",
      label: "not certified",
      reason: "This frame: the position of a body is not a number.",
    };
  }
  const here = certificate.atFrame(frame);
  if (here.length > 0) {
    const all = here.map(reason).join("; ");
    return { state: "here", label: "not certified", reason: `This frame: ${all}.` };
  }
  if (certificate.breaches.length > 0) {
    const first = certificate.breaches[0];
    const when = seconds(first.time, span);
    return {
      state: "run",
      label: "run not certified",
      reason: `This frame keeps its bounds. The run does not, at ${when}: ${reason(first)}.`,
    };
  }
  if (!certificate.measured) {
    if (certificate.source.count() === 0)
      return { state: "waiting", label: "waiting", reason: "No frame has come yet." };
    return { state: "none", label: "not measured", reason: WHY_NONE };
  }
  const worst = (series: string): number =>
    certificate.soFar(
      certificate.checks.findIndex((check) => check.series === series),
      frame,
    );
  const depth = worst("overlap");
  const figures = Number.isNaN(depth)
    ? "no pair was in contact so far"
    : `penetration at most ${si(depth, "m")}, complementarity at most ${plain(worst("complementarity"))} so far`;
  return { state: "certified", label: "certified", reason: capital(figures) + "." };
}

/** "penetration 64.2 µm · complementarity 9.65 × 10⁻⁹", the words only where there is room. */
function figuresText(certificate: Certificate, frame: Context["frames"][number]): [string, string] {
  const worst = (series: string): number =>
    certificate.soFar(
      certificate.checks.findIndex((check) => check.series === series),
      frame,
    );
  const depth = worst("overlap");
  if (Number.isNaN(depth)) return ["", ""];
  return [si(depth, "m"), plain(worst("complementarity"))];
}

const RANK: State[] = ["here", "run", "waiting", "none", "certified"];

/** The table in the popover: a row per check, columns for this frame, so far, the run, the bound. */
function createTable(context: Context): { element: HTMLElement; update(): void } {
  const element = h("div", { class: "badge-tables" });
  const update = (): void => {
    const tables = context.certificates.map((certificate, slot) => {
      const frame = context.frames[slot] ?? null;
      const head = h(
        "tr",
        {},
        ...["", "this frame", "so far", "whole run", "allowed"].map((text) =>
          h("th", { scope: "col" }, text),
        ),
      );
      const rows = certificate.checks.map((check, i) => {
        const here = frame ? Math.abs(frame.figures[check.series]) : NaN;
        const so_far = certificate.soFar(i, frame);
        const overall = certificate.overall(i);
        const bad = (value: number): string => (value > check.bound * (1 + 1e-6) ? "bad" : "");
        const cell = (value: number): HTMLElement =>
          h("td", { class: bad(value) }, quantity(value, check.unit));
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, check.label),
          cell(here),
          cell(so_far),
          cell(overall),
          h(
            "td",
            { class: "muted", title: check.boundText },
            check.unit === "count" ? "none" : boundary(check.bound, check.unit),
          ),
        );
      });
      const manifest = certificate.source.manifest;
      const title = comparing(context)
        ? `${SIDES[slot]}: ${manifest.name}, ${manifest.method}, ${manifest.solver}`
        : "Certificate";
      return h(
        "section",
        {},
        h("h2", {}, title),
        h("p", { class: "muted" }, verdictOf(certificate, frame).reason),
        h("table", { class: "figures" }, h("thead", {}, head), h("tbody", {}, ...rows)),
      );
    });
    element.replaceChildren(
      ...tables,
      h(
        "p",
        { class: "fine" },
        "The judge recomputes these from positions, velocities and forces after each step; they are the worst of the steps since the frame before. Allowed depth: 1\u202f% of the thinnest moving body.",
      ),
    );
  };
  return { element, update };
}

/** Over the view of a run: which bound it breaks. */
interface Banner {
  element: HTMLElement;
  update(verdict: Verdict | undefined, side: string): void;
}

function createBanner(context: Context, slot: Slot): Banner {
  const text = h("span", { "data-testid": slot === 0 ? "badge-reason" : "badge-reason-1" });
  let seekTo: number | null = null;
  const seek = h(
    "button",
    { type: "button", class: "link", onclick: () => seekTo !== null && context.app.player.seek(seekTo) },
    "Go there",
  );
  const element = h("div", { class: "reason" }, icon("alert"), text, seek);
  const update = (verdict: Verdict | undefined, side: string): void => {
    const broken = verdict?.state === "run" || verdict?.state === "here";
    element.classList.toggle("shown", broken);
    if (!verdict) return;
    element.dataset.state = verdict.state;
    setText(text, side + verdict.reason);
    seekTo = verdict.state === "run" ? context.certificates[slot].breaches[0].time : null;
    seek.hidden = seekTo === null;
  };
  return { element, update };
}

function stateIcon(state: State): IconName {
  if (state === "certified") return "check";
  return state === "waiting" || state === "none" ? "help" : "alert";
}

export function createBadge(context: Context): Panel & { popover: HTMLElement; banner(slot: Slot): HTMLElement } {
  const mark = h("span", { class: "badge-mark" });
  const label = h("span", { class: "badge-label" });
  const depth = h("span", {});
  const complementarity = h("span", {});
  const word = (text: string): HTMLElement => h("span", { class: "word" }, text);
  const figures = h(
    "span",
    { class: "badge-figures" },
    word("penetration "),
    depth,
    " · ",
    word("complementarity "),
    complementarity,
  );
  const element = h(
    "button",
    { type: "button", class: "badge", "data-testid": "badge", "data-state": "waiting" },
    mark,
    label,
    figures,
  );
  const banners = [createBanner(context, 0), createBanner(context, 1)];
  const table = createTable(context);
  const popover = createPopover(element, "Certificate", table.element, table.update);
  let shown: State | null = null;

  const update = (): void => {
    const verdicts = context.certificates.map((certificate, slot) =>
      verdictOf(certificate, context.frames[slot] ?? null),
    );
    let worst = 0;
    verdicts.forEach((verdict, slot) => {
      if (RANK.indexOf(verdict.state) < RANK.indexOf(verdicts[worst].state)) worst = slot;
    });
    const verdict: Verdict = verdicts[worst] ?? { state: "waiting", label: "waiting", reason: "No run is open." };
    if (shown !== verdict.state) {
      shown = verdict.state;
      element.dataset.state = verdict.state;
      mark.replaceChildren(icon(stateIcon(verdict.state)));
    }
    const side = (slot: number): string => (verdicts.length > 1 ? `${SIDES[slot]}: ` : "");
    setText(label, verdict.label);
    const single = verdict.state === "certified" && context.certificates.length === 1;
    const texts = single ? figuresText(context.certificates[0], context.frames[0] ?? null) : ["", ""];
    figures.hidden = texts[0] === "";
    setText(depth, texts[0]);
    setText(complementarity, texts[1]);
    setAttribute(element, "title", verdict.reason);
    setAttribute(element, "aria-label", `Certificate: ${verdict.label}. ${side(worst)}${verdict.reason}`);
    banners.forEach((banner, slot) => banner.update(verdicts[slot], side(slot)));
    if (popover.isOpen()) table.update();
  };
  return {
    element,
    popover: popover.element,
    banner: (slot) => banners[slot].element,
    arrange: update,
    update,
  };
}
