/* The certificate badge. Green says "certified" with the worst figures so far; red says which bound is
 * broken, by how much, when, and whether this frame breaks it or another of the run. A click
 * opens the table of all figures. */

import { type Certificate, reason } from "./ui_certificate";
import { type Context, type Panel, SIDES, comparing } from "./ui_context";
import { h, icon, setAttribute, setText } from "./ui_dom";
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

export function createBadge(context: Context): Panel & { popover: HTMLElement; reasonElement: HTMLElement } {
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
  const reasonText = h("span", { "data-testid": "badge-reason" });
  const seek = h(
    "button",
    {
      type: "button",
      class: "link",
      onclick: () => seekTo !== null && context.app.player.seek(seekTo),
    },
    "Go there",
  );
  const reasonElement = h("div", { class: "reason" }, icon("alert"), reasonText, seek);
  const table = createTable(context);
  const popover = createPopover(element, "Certificate", table.element, table.update);
  let seekTo: number | null = null;
  let shown: State | null = null;

  const update = (): void => {
    const verdicts = context.certificates.map((certificate, slot) =>
      verdictOf(certificate, context.frames[slot] ?? null),
    );
    let worst = 0;
    verdicts.forEach((verdict, slot) => {
      if (RANK.indexOf(verdict.state) < RANK.indexOf(verdicts[worst].state)) worst = slot;
    });
    const verdict = verdicts[worst] ?? {
      state: "waiting",
      label: "waiting",
      reason: "No run is open.",
    };
    if (shown !== verdict.state) {
      shown = verdict.state;
      element.dataset.state = verdict.state;
      reasonElement.dataset.state = verdict.state;
      mark.replaceChildren(
        icon(
          verdict.state === "certified"
            ? "check"
            : verdict.state === "waiting" || verdict.state === "none"
              ? "help"
              : "alert",
        ),
      );
    }
    const side = verdicts.length > 1 ? `${SIDES[worst]}: ` : "";
    const good = verdict.state === "certified";
    setText(label, verdict.label);
    const single = good && context.certificates.length === 1;
    const texts = single ? figuresText(context.certificates[0], context.frames[0] ?? null) : ["", ""];
    figures.hidden = texts[0] === "";
    setText(depth, texts[0]);
    setText(complementarity, texts[1]);
    setText(reasonText, side + verdict.reason);
    setAttribute(element, "title", verdict.reason);
    setAttribute(element, "aria-label", `Certificate: ${verdict.label}. ${side}${verdict.reason}`);
    const broken = verdict.state === "run" || verdict.state === "here";
    reasonElement.classList.toggle("shown", broken);
    seekTo = verdict.state === "run" ? context.certificates[worst].breaches[0].time : null;
    seek.hidden = seekTo === null;
    if (popover.isOpen()) table.update();
  };
  return { element, popover: popover.element, reasonElement, arrange: update, update };
}
