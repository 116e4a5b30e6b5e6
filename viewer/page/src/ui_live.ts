/* Controls of a simulation that runs now: method, solver, step, friction, gravity, motors, a box to
 * throw, and what dragging does. The controls show what the server says, not what was clicked: a change
 * that it refuses springs back, with its reason in a message. */

import type { LiveState, Vec3 } from "./contract";
import type { Context, Panel } from "./ui_context";
import { type Attributes, h, icon, setText } from "./ui_dom";
import { count, fixed } from "./ui_number";
import { createMotors } from "./ui_motors";
import { createProfile } from "./ui_profile";
import { typicalSize } from "./ui_size";
import { add, length, scale, subtract, unit } from "./ui_vector";

const STEPS = [1 / 60, 1 / 120, 1 / 240, 1 / 480, 1 / 1000];
const MOST_FRICTION = 1.5;
const GRAVITIES: [string, string, number][] = [
  ["earth", "Earth, 9.81", 9.81],
  ["moon", "Moon, 1.62", 1.62],
  ["mars", "Mars, 3.71", 3.71],
  ["jupiter", "Jupiter, 24.8", 24.8],
  ["none", "none", 0],
];
/** A thrown box should arrive after this many seconds. */
const FLIGHT = 0.6;

/** Throws a box the size of a typical body at what is under the pointer (or in the middle). */
export function throwBox(context: Context, pointer: { x: number; y: number } | null): void {
  const live = context.live();
  const view = context.app.views[0];
  const source = context.app.sources[0];
  if (!live || !view || !source || !live.state().connected) return;
  const box = view.canvas.getBoundingClientRect();
  const x = pointer?.x ?? box.left + box.width / 2;
  const y = pointer?.y ?? box.top + box.height / 2;
  const { planar } = source.manifest;
  const size = typicalSize(source.manifest);
  const gravity = live.state().gravity;
  const hit = view.pick(x, y)?.point ?? view.pointAt(x, y, [0, 0, size]);
  const target: Vec3 = planar ? [hit[0], 0, hit[2]] : hit;
  let from: Vec3;
  if (planar) {
    /* The camera looks across the plane: the box comes in from the left edge. */
    const edge = view.pointAt(box.left + 0.06 * box.width, box.top + 0.35 * box.height, [0, 0, 0]);
    from = [edge[0], 0, edge[2]];
  } else {
    const eye = view.cameraPosition();
    const way = subtract(target, eye);
    const far = Math.max(length(way), 4 * size);
    from = add(eye, scale(unit(way, view.cameraDirection(x, y)), Math.min(0.35 * far, 3 * size)));
  }
  /* Where it must go, less what gravity adds on the way. */
  const velocity = subtract(scale(subtract(target, from), 1 / FLIGHT), scale(gravity, FLIGHT / 2));
  live.throwBox(from, velocity, size);
}

function field(label: string, ...controls: (HTMLElement | null)[]): HTMLElement {
  return h("div", { class: "field" }, h("span", { class: "field-label" }, label), ...controls);
}

function choice(testId: string, label: string, change: (value: string) => void): HTMLSelectElement {
  const attributes: Attributes = { "data-testid": testId, "aria-label": label };
  const select = h("select", attributes);
  select.addEventListener("change", () => change(select.value));
  return select;
}

function setChoices(select: HTMLSelectElement, choices: [string, string][], value: string): void {
  if (document.activeElement === select && select.dataset.pending) return;
  const key = choices.map(([name]) => name).join();
  if (select.dataset.choices !== key) {
    select.dataset.choices = key;
    select.replaceChildren(...choices.map(([name, text]) => h("option", { value: name }, text)));
  }
  if (select.value !== value) select.value = value;
}

function stepChoices(state: LiveState): [string, string][] {
  const steps =
    STEPS.some((step) => Math.abs(step / state.step - 1) < 1e-6) || !(state.step > 0)
      ? STEPS
      : [...STEPS, state.step].sort((a, b) => b - a);
  return steps.map((step) => [stepKey(step), `1/${Math.round(1e3 / step) / 1e3} s`]);
}

function stepKey(step: number): string {
  return step.toPrecision(9);
}

/** Keeps the direction; straight down if there was none. */
function gravityOf(state: LiveState, size: number): Vec3 {
  return scale(unit(state.gravity, [0, 0, -1]), size);
}

export function createLive(context: Context): Panel & { chip: HTMLElement } {
  const live = (): NonNullable<ReturnType<Context["live"]>> | null => context.live();
  const method = choice("live-method", "Method", (value) => live()?.set({ method: value }));
  const solver = choice("live-solver", "Solver", (value) => live()?.set({ solver: value }));
  const step = choice("live-step-size", "Step", (value) => {
    const found = STEPS.find((each) => stepKey(each) === value);
    live()?.set({ step: found ?? Number(value) });
  });

  const friction = h("input", {
    type: "range",
    min: 0,
    max: MOST_FRICTION,
    step: 0.01,
    "data-testid": "live-friction",
    "aria-label": "Friction of all pairs",
  });
  const frictionText = h("output", { class: "value" });
  const asScene = h(
    "button",
    { type: "button", class: "button small", "data-testid": "live-friction-scene" },
    "as the scene says",
  );
  friction.addEventListener("input", () => live()?.set({ friction: Number(friction.value) }));
  asScene.addEventListener("click", () => live()?.set({ friction: null }));

  const gravity = h("input", {
    type: "number",
    min: 0,
    max: 100,
    step: 0.01,
    "data-testid": "live-gravity",
    "aria-label": "Gravity, metres per second squared",
  });
  const preset = choice("live-gravity-preset", "Gravity of", (name) => {
    const found = GRAVITIES.find(([each]) => each === name);
    const state = live()?.state();
    if (found && state) live()?.set({ gravity: gravityOf(state, found[2]) });
  });
  gravity.addEventListener("change", () => {
    const state = live()?.state();
    const size = Number(gravity.value);
    if (state && Number.isFinite(size) && size >= 0) live()?.set({ gravity: gravityOf(state, size) });
  });

  const throwButton = h(
    "button",
    {
      type: "button",
      class: "button",
      "data-testid": "throw",
      onclick: () => throwBox(context, null),
    },
    icon("throw"),
    "Throw a box",
    h("kbd", {}, "x"),
  );
  const pull = h("button", { type: "button", "data-testid": "drag-bodies" }, icon("hand"), "bodies");
  const turn = h("button", { type: "button", "data-testid": "drag-camera" }, icon("reset"), "camera");
  const setPulling = (on: boolean): void => {
    context.pulling = on;
    arrange();
  };
  pull.addEventListener("click", () => setPulling(true));
  turn.addEventListener("click", () => setPulling(false));
  const motors = createMotors(context);
  const profile = createProfile();
  const status = h("p", { class: "fine status", "data-testid": "live-status" });
  const chipText = h("span", {});
  const chip = h(
    "span",
    { class: "chip live-chip", "data-testid": "live-chip" },
    h("span", { class: "word" }, "live "),
    chipText,
  );
  const element = h(
    "div",
    { class: "live-panel" },
    field(
      "Drag",
      h("div", { class: "segments", role: "group", "aria-label": "What dragging moves" }, pull, turn),
    ),
    h(
      "p",
      { class: "fine" },
      "Drag a body to pull it by a spring; the contacts stay exact. With Shift, or beside the bodies, you turn the camera.",
    ),
    h("div", { class: "row" }, throwButton),
    field("Method", method),
    field("Solver", solver),
    field("Step", step),
    field("Friction", friction, frictionText),
    h("div", { class: "row end" }, asScene),
    field("Gravity", gravity, preset),
    motors.element,
    status,
    profile.element,
  );

  const update = (): void => {
    const state = live()?.state();
    chip.hidden = !state;
    if (!state) return;
    const reached = `${fixed(state.achieved, 2)}×`;
    setText(chipText, !state.connected ? "connection lost" : state.running ? reached : "paused");
    chip.dataset.state = !state.connected ? "lost" : state.running ? "running" : "paused";
    setChoices(
      method,
      state.methods.map((name) => [name, name]),
      state.method,
    );
    setChoices(
      solver,
      state.solvers.map((name) => [name, name]),
      state.solver,
    );
    setChoices(step, stepChoices(state), stepKey(state.step));
    const set = state.friction !== null;
    if (document.activeElement !== friction || !set) friction.value = String(state.friction ?? 0.5);
    friction.classList.toggle("unset", !set);
    setText(frictionText, set ? fixed(state.friction ?? 0, 2) : "scene");
    asScene.setAttribute("aria-pressed", String(!set));
    const size = length(state.gravity);
    if (document.activeElement !== gravity) gravity.value = fixed(size, 2);
    const known = GRAVITIES.find(([, , value]) => Math.abs(value - size) < 5e-3);
    setChoices(
      preset,
      [
        ...(known ? [] : [["own", "own"] as [string, string]]),
        ...GRAVITIES.map(([name, text]) => [name, text] as [string, string]),
      ],
      known ? known[0] : "own",
    );
    const frames = state.dropped === 1 ? "1 frame was" : `${count(state.dropped)} frames were`;
    const dropped = state.dropped > 0 ? ` ${frames} left out because this page was too slow.` : "";
    setText(
      status,
      state.connected
        ? `${state.running ? `Wanted ${state.speed}×, reached ${reached} of real time.` : "Paused."}${dropped}`
        : "The connection to the simulation is lost. Start rigor view again and reload the page.",
    );
    motors.show(state.motors);
    profile.show(state.profile);
    for (const control of element.querySelectorAll<HTMLInputElement>("input, select, button"))
      control.disabled = !state.connected;
  };
  const arrange = (): void => {
    pull.setAttribute("aria-pressed", String(context.pulling));
    turn.setAttribute("aria-pressed", String(!context.pulling));
    update();
  };
  return { element, chip, arrange, update };
}
