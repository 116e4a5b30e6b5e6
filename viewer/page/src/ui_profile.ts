/* Where the time of a step goes: a line for each stage of the pipeline, with its milliseconds a step and a
 * bar for its share of the step. */

import type { StepProfile } from "./contract";
import { h, setText } from "./ui_dom";
import { fixed } from "./ui_number";

interface Row {
  element: HTMLElement;
  bar: HTMLElement;
  time: HTMLElement;
  share: HTMLElement;
}

/** With digits enough to tell short stages from nothing, the same for all of a step. */
function milliseconds(value: number, step: number): string {
  return fixed(value, step < 1 ? 4 : step < 100 ? 3 : 1);
}

function makeRow(stage: string): Row {
  const bar = h("span", { class: "bar" });
  const time = h("td", {});
  const share = h("td", {});
  const element = h(
    "tr",
    { "data-stage": stage },
    h("th", { scope: "row" }, stage),
    h("td", { class: "track" }, bar),
    time,
    share,
  );
  return { element, bar, time, share };
}

export function createProfile(): { element: HTMLElement; show(profile: StepProfile | null): void } {
  const head = h("span", {});
  const body = h("tbody", {});
  const element = h(
    "div",
    { class: "profile", "data-testid": "live-profile" },
    h("h3", {}, "Stages of a step ", head),
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...["stage", "", "ms", "%"].map((text) => h("th", { scope: "col" }, text)))),
      body,
    ),
  );
  const rows = new Map<string, Row>();
  const show = (profile: StepProfile | null): void => {
    element.hidden = !profile;
    if (!profile) return;
    setText(head, `${milliseconds(profile.step_ms, profile.step_ms)} ms`);
    for (const [stage, value] of Object.entries(profile.stages_ms)) {
      let row = rows.get(stage);
      if (!row) {
        row = makeRow(stage);
        rows.set(stage, row);
        body.append(row.element);
      }
      const share = profile.step_ms > 0 ? (100 * value) / profile.step_ms : 0;
      row.bar.style.width = `${Math.min(share, 100)}%`;
      setText(row.time, milliseconds(value, profile.step_ms));
      setText(row.share, fixed(share, 1));
    }
  };
  return { element, show };
}
