/* What the view shows: the switches, the scale of the force arrows and the legend of contact modes.
 * Switches for things that a recording does not hold are off, and say why. */

import { CONTACT_MODES, SWITCHES, type SwitchName } from "./contract";
import { MODE_LABELS } from "./palette";
import type { Context, Panel } from "./ui_context";
import { h, setText } from "./ui_dom";
import { si } from "./ui_number";

const NEED_CONTACTS: SwitchName[] = ["contacts", "normals", "forces", "cones", "modes"];
const MODE_NOTES = {
  stick: "no sliding: friction holds",
  slip: "slides: friction at its limit",
  roll: "turns over the point",
  separating: "comes apart: no force",
} as const;

/** Why a switch cannot do anything here; null if it can. */
export function whyOff(context: Context, name: SwitchName): string | null {
  const source = context.app.sources[0];
  if (!source) return null;
  if (NEED_CONTACTS.includes(name) && source.manifest.has_contacts === false)
    return "This recording holds no contacts: record them, or export without --no-contacts.";
  return null;
}

function createForceScale(context: Context): {
  element: HTMLElement;
  update(): void;
  change(factor: number): void;
} {
  /* Decades from the scale that the data suggests, at the moment when the user took over. */
  let base: number | null = null;
  const slider = h("input", {
    type: "range",
    min: -1.5,
    max: 1.5,
    step: 0.05,
    value: 0,
    "aria-label": "Length of force arrows",
    "data-testid": "force-scale",
  });
  const text = h("output", { class: "muted" });
  const auto = h(
    "button",
    {
      type: "button",
      class: "button small",
      "aria-pressed": "true",
      "data-testid": "force-scale-auto",
    },
    "auto",
  );
  const element = h(
    "div",
    { class: "force-scale" },
    h("div", { class: "row" }, h("h3", {}, "Force arrows"), text, auto),
    slider,
  );

  /* Arrows of a comparison have the same scale: the first one's. */
  const match = (): void => {
    const [first, second] = context.app.views;
    if (!first || !second) return;
    const wanted = first.forceScale();
    if (Math.abs(second.forceScale() / wanted - 1) < 0.02) return;
    second.setForceScale(1);
    second.setForceScale(wanted / second.forceScale());
  };
  const update = (): void => {
    const view = context.app.views[0];
    match();
    auto.setAttribute("aria-pressed", String(base === null));
    setText(text, view ? `1 m = ${si(view.forceScale(), "N", 2)}` : "");
  };
  const apply = (): void => {
    const views = context.app.views;
    if (views.length === 0) return;
    if (base === null) {
      /* setForceScale counts in typical bodies, forceScale() in metres: one unit tells the ratio. */
      const wanted = views[0].forceScale();
      views[0].setForceScale(1);
      base = wanted / views[0].forceScale();
    }
    const newtons = base * 10 ** -Number(slider.value);
    views[0].setForceScale(newtons);
    update();
    context.app.requestRender();
  };
  slider.addEventListener("input", apply);
  auto.addEventListener("click", () => {
    base = null;
    slider.value = "0";
    context.app.views[0]?.setForceScale(null);
    update();
    context.app.requestRender();
  });
  const change = (steps: number): void => {
    slider.value = String(Number(slider.value) + 0.1 * steps);
    apply();
  };
  return { element, update, change };
}

function createLegend(): HTMLElement {
  const order = ["stick", "slip", "roll", "separating"] as const;
  const items = order
    .filter((mode) => CONTACT_MODES.includes(mode))
    .map((mode) =>
      h(
        "li",
        {},
        h("i", { class: "swatch", style: `--colour: var(--mode-${mode})` }),
        h("b", {}, MODE_LABELS[mode]),
        h("span", { class: "muted" }, MODE_NOTES[mode]),
      ),
    );
  return h("div", {}, h("h3", {}, "Contact modes"), h("ul", { class: "legend" }, ...items));
}

export function createSwitches(context: Context): Panel & { changeForceScale(steps: number): void } {
  const buttons = new Map<SwitchName, HTMLButtonElement>();
  for (const [name, label, key] of SWITCHES) {
    const hint = key ? h("kbd", { "aria-hidden": "true" }, key) : null;
    const button = h(
      "button",
      {
        type: "button",
        role: "switch",
        class: "switch",
        "data-testid": `switch-${name}`,
        "aria-keyshortcuts": key || null,
        onclick: () => context.setSwitch(name, !context.switches.get(name)),
      },
      h("i", { class: "knob", "aria-hidden": "true" }),
      h("span", {}, label),
      hint,
    );
    buttons.set(name, button);
  }
  const scale = createForceScale(context);
  const reason = h("p", { class: "fine warn", hidden: true });
  const element = h(
    "div",
    { class: "show-panel" },
    h("div", { class: "switches" }, ...buttons.values()),
    reason,
    scale.element,
    createLegend(),
  );
  const arrange = (): void => {
    let why: string | null = null;
    for (const [name, button] of buttons) {
      const off = whyOff(context, name);
      why = off ?? why;
      button.disabled = off !== null;
      button.title = off ?? "";
      button.setAttribute("aria-checked", String(off === null && context.switches.get(name) === true));
    }
    reason.hidden = why === null;
    setText(reason, why ?? "");
    scale.update();
  };
  return { element, arrange, update: scale.update, changeForceScale: scale.change };
}
