/* The keyboard. Keys do nothing while one types in a field, except those that a field has no use
 * for; Escape always closes. */

import { SWITCHES, type View3 } from "./contract";
import { type Context, cameras } from "./ui_context";
import { closePopovers } from "./ui_popover";
import { whyOff } from "./ui_switches";
import { followNewest, nextSpeed, stepLive, toggleLive } from "./ui_timeline";

export interface KeyTargets {
  toggleHelp(): void;
  closeHelp(): boolean;
  togglePlots(): void;
  togglePanel(): void;
  nextTheme(): void;
  throwBox(): void;
  changeForceScale(steps: number): void;
  frameAll(): void;
}

const VIEWS = ["corner", "x", "-x", "y", "-y", "z"] as const;

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type === "number" || target.type === "text";
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  return target.isContentEditable;
}

function step(context: Context, frames: number): void {
  const live = context.live();
  const { player } = context.app;
  if (!live) {
    player.stepFrames(frames);
  } else if (frames > 0 && player.time >= player.end - 1e-9) {
    stepLive(context);
  } else {
    live.pause();
    player.stepFrames(frames);
  }
}

function changeSpeed(context: Context, direction: number): void {
  const live = context.live();
  if (live) live.setSpeed(nextSpeed(live.state().speed, direction));
  else context.app.player.speed = nextSpeed(context.app.player.speed, direction);
}

function commands(context: Context, targets: KeyTargets): Record<string, (shift: boolean) => void> {
  const { player } = context.app;
  const eachView = (run: (view: View3) => void): void => cameras(context).forEach(run);
  const table: Record<string, (shift: boolean) => void> = {
    " ": () => (context.live() ? toggleLive(context) : player.toggle()),
    ArrowLeft: (shift) => step(context, shift ? -10 : -1),
    ArrowRight: (shift) => step(context, shift ? 10 : 1),
    Home: () => player.seek(player.start),
    End: () => (context.live() ? followNewest(context) : player.seek(player.end)),
    "+": () => changeSpeed(context, 1),
    "=": () => changeSpeed(context, 1),
    "-": () => changeSpeed(context, -1),
    "[": () => targets.changeForceScale(-1),
    "]": () => targets.changeForceScale(1),
    l: () => (player.loop = !player.loop),
    a: targets.frameAll,
    z: () => eachView((view) => view.frameSelected()),
    u: () => context.follow(!context.following),
    p: targets.togglePlots,
    i: targets.togglePanel,
    d: targets.nextTheme,
    x: targets.throwBox,
    r: () => {
      if (!context.live()) return;
      context.live()?.reset();
      followNewest(context);
    },
    "?": targets.toggleHelp,
    h: targets.toggleHelp,
  };
  VIEWS.forEach((direction, i) => {
    table[String(i + 1)] = () => eachView((view) => view.lookFrom(direction));
  });
  for (const [name, , key] of SWITCHES) {
    if (key)
      table[key] = () =>
        whyOff(context, name) === null && context.setSwitch(name, !context.switches.get(name));
  }
  return table;
}

export function watchKeys(context: Context, targets: KeyTargets): void {
  const table = commands(context, targets);
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.key === "Escape") {
        if (closePopovers() || targets.closeHelp()) return;
        (document.activeElement as HTMLElement | null)?.blur();
        context.select(0, null);
        return;
      }
      if (typing(event.target)) return;
      /* A focused button is pressed by space; sliders of the panels keep their arrows. */
      const target = event.target as HTMLElement;
      if (event.key === " " && target instanceof HTMLButtonElement) return;
      const panelSlider =
        target instanceof HTMLInputElement && target.type === "range" && target.dataset.testid !== "timeline";
      if (panelSlider && /^Arrow|Home|End/.test(event.key)) return;
      const command = table[event.key] ?? table[event.key.toLowerCase()];
      if (!command) return;
      event.preventDefault();
      command(event.shiftKey);
      context.app.requestRender();
    },
    { capture: true },
  );
}
