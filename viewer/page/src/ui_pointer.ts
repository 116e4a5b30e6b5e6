/* The pointer on the views: a click selects a body; in a live run a drag that begins on a body pulls it.
 * Listens before the camera does (capture on the host), so that the camera can be held still.
 * Pulling begins with the first movement: a click alone disturbs nothing. */

import type { Pick3 } from "./contract";
import type { Context, Slot } from "./ui_context";

const CLICK_PX = 5;
const CLICK_MS = 500;
const HOVER_MS = 80;

interface Press {
  slot: Slot;
  id: number;
  x: number;
  y: number;
  time: number;
  body: Pick3 | null; // that could be pulled
  pulling: boolean;
}

export interface Pointer {
  /** Where it is over a view; null elsewhere. */
  at(): { x: number; y: number } | null;
}

export function watchPointer(context: Context, hosts: HTMLElement[]): Pointer {
  let press: Press | null = null;
  let at: { x: number; y: number } | null = null;
  let hovered = 0;

  const canPull = (slot: Slot, event: PointerEvent): boolean =>
    slot === 0 &&
    context.live() !== null &&
    context.pulling &&
    !event.shiftKey &&
    event.button === 0 &&
    event.isPrimary;

  const begin = (slot: Slot, event: PointerEvent): void => {
    const view = context.app.views[slot];
    if (!view || event.target !== view.canvas) return;
    if (!event.isPrimary) return; // a second finger: the camera's
    let body: Pick3 | null = null;
    if (canPull(slot, event)) {
      const pick = view.pick(event.clientX, event.clientY);
      const motion = pick ? context.app.sources[slot].manifest.bodies[pick.body]?.motion : undefined;
      if (pick && motion === "dynamic") body = pick;
    }
    if (body) view.holdCamera(true);
    press = {
      slot,
      id: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      time: performance.now(),
      body,
      pulling: false,
    };
  };

  const move = (slot: Slot, event: PointerEvent): void => {
    at = { x: event.clientX, y: event.clientY };
    const view = context.app.views[slot];
    if (!view) return;
    if (press && press.id === event.pointerId && press.body) {
      const far = Math.hypot(event.clientX - press.x, event.clientY - press.y) > CLICK_PX - 2;
      const target = view.pointAt(event.clientX, event.clientY, press.body.point);
      if (press.pulling) {
        context.live()?.drag(target);
        view.showPull({ body: press.body.body, point: press.body.local, target });
      }
      else if (far) {
        press.pulling = true;
        context.live()?.grab(press.body.body, press.body.local, target);
        context.select(slot, press.body.body, true);
        hosts[slot].classList.add("pulling");
      }
    } else if (
      event.buttons === 0 &&
      canPull(slot, { shiftKey: event.shiftKey, button: 0, isPrimary: true } as PointerEvent)
    ) {
      const now = performance.now();
      if (now - hovered < HOVER_MS) return;
      hovered = now;
      const pick = view.pick(event.clientX, event.clientY);
      const motion = pick ? context.app.sources[slot].manifest.bodies[pick.body]?.motion : undefined;
      hosts[slot].classList.toggle("can-pull", motion === "dynamic");
    }
  };

  const end = (event: PointerEvent): void => {
    if (!press || press.id !== event.pointerId) return;
    const { slot, pulling, body, x, y, time } = press;
    const view = context.app.views[slot];
    press = null;
    hosts[slot].classList.remove("pulling");
    if (pulling) {
      context.live()?.release();
      view?.showPull(null);
    }
    if (body) view?.holdCamera(false);
    const still =
      Math.hypot(event.clientX - x, event.clientY - y) <= CLICK_PX && performance.now() - time <= CLICK_MS;
    if (view && !pulling && still && event.type === "pointerup" && event.button === 0) {
      context.select(slot, view.pick(event.clientX, event.clientY)?.body ?? null);
    }
  };

  hosts.forEach((host, index) => {
    const slot = index as Slot;
    host.addEventListener("pointerdown", (event) => begin(slot, event), { capture: true });
    host.addEventListener("pointermove", (event) => move(slot, event), { capture: true });
    host.addEventListener("pointerleave", () => (at = null));
  });
  /* After a tap, browsers make a click of the mouse at its place, where by then something else may be:
   * the panel of the body that was tapped moves the time line there. */
  for (const host of hosts)
    host.addEventListener(
      "touchend",
      (event) => {
        if (event.cancelable && event.target instanceof HTMLCanvasElement) event.preventDefault();
      },
      { passive: false },
    );
  /* On the window: the pointer may be let go outside. */
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
  window.addEventListener("pointermove", (event) => {
    if (press?.pulling && !hosts[press.slot].contains(event.target as Node)) move(press.slot, event);
  });
  return { at: () => at };
}
