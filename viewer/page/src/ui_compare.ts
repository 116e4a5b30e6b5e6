/* Two runs side by side, or the second laid over the first and seen through: the menu that opens a second one, cameras that move together, and the label in
 * each view that says which run it is and whether it is certified. */

import { verdictOf } from "./ui_badge";
import { type Context, type Panel, SIDES, type Slot, applyFollow, cameras, comparing } from "./ui_context";
import { h, icon, iconButton, setText } from "./ui_dom";
import { stepLength } from "./ui_number";
import { createPopover } from "./ui_popover";

export function createCompare(
  context: Context,
): Panel & { popover: HTMLElement; label(slot: Slot): HTMLElement } {
  const { app } = context;
  let joined: unknown[] = [];
  const element = iconButton("compare", "Compare two runs", "compare", () => {});
  const list = h("div", { class: "menu" });
  const sync = h("input", { type: "checkbox", checked: true, "data-testid": "sync-cameras" });
  const over = h("input", { type: "checkbox", "data-testid": "overlay" });
  const close = h(
    "button",
    { type: "button", class: "button", "data-testid": "compare-close" },
    icon("close"),
    "Close the comparison",
  );
  const content = h(
    "div",
    {},
    h("h2", {}, "Beside this run"),
    list,
    h("label", { class: "check" }, over, "B over A, see-through"),
    h("label", { class: "check" }, sync, "cameras move together"),
    close,
  );

  const fill = (): void => {
    const here = app.runIn(0);
    const there = app.runIn(1);
    const items = app.runs.map((run) =>
      h(
        "button",
        {
          type: "button",
          class: "menu-item",
          "data-testid": `compare-run-${run.id}`,
          "aria-pressed": String(run.id === there),
          onclick: () => {
            popover.close();
            void app.openRun(run.id, 1).catch((problem: unknown) => context.toast(String(problem)));
          },
        },
        h("b", {}, run.name),
        run.id === here && h("span", { class: "muted" }, "the one on the left"),
      ),
    );
    const alone = "Only one run is here. Give several to rigor view or rigor export --html to compare them.";
    list.replaceChildren(...(app.runs.length > 1 ? items : [h("p", { class: "muted" }, alone)]));
    const two = comparing(context);
    close.hidden = !two;
    for (const box of [sync, over]) (box.parentElement as HTMLElement).hidden = !two;
    if (context.overlay) (sync.parentElement as HTMLElement).hidden = true; // there is one camera
  };
  const popover = createPopover(element, "Compare", content, fill);
  close.addEventListener("click", () => {
    popover.close();
    app.closeSlot(1);
  });
  const join = (): void => {
    const [a, b] = app.views;
    if (!a || !b) return;
    /* The second takes over what the first sees. */
    b.syncCameraWith(context.together ? a : null);
    a.syncCameraWith(context.together ? b : null);
    applyFollow(context);
  };
  sync.addEventListener("change", () => {
    context.together = sync.checked;
    join();
    app.requestRender();
  });

  over.addEventListener("change", () => {
    context.overlay = over.checked;
    context.refresh();
    fill();
    requestAnimationFrame(() => cameras(context).forEach((view) => view.frameScene()));
  });

  const labels = SIDES.map((side) => {
    const text = h("span", {});
    const state = h("span", { class: "label-state" });
    return {
      element: h("div", { class: "view-label", hidden: true }, h("b", {}, side), text, state),
      text,
      state,
    };
  });
  const update = (): void => {
    if (!comparing(context)) return;
    labels.forEach((label, slot) => {
      const certificate = context.certificates[slot];
      if (!certificate) return;
      const verdict = verdictOf(certificate, context.frames[slot] ?? null);
      setText(label.state, verdict.label);
      label.state.dataset.state = verdict.state;
    });
  };
  const arrange = (): void => {
    const two = comparing(context);
    element.setAttribute("aria-pressed", String(two));
    if (!two) over.checked = context.overlay = false;
    app.views[0]?.setGhost(context.overlay ? app.sources[1] : null);
    labels.forEach((label, slot) => {
      label.element.hidden = !two;
      const manifest = app.sources[slot]?.manifest;
      if (manifest)
        setText(
          label.text,
          `${manifest.name} · ${manifest.method} · ${manifest.solver} · ${stepLength(manifest.step)}`,
        );
    });
    if (two && (joined[0] !== app.views[0] || joined[1] !== app.views[1])) {
      joined = [...app.views];
      join();
      /* The views are narrower now, once they are laid out. */
      requestAnimationFrame(() => cameras(context).forEach((view) => view.frameScene()));
    }
    if (!two && joined.length > 0) {
      joined = [];
      requestAnimationFrame(() => app.views[0]?.frameScene());
    }
    if (popover.isOpen()) fill();
    update();
  };
  return {
    element,
    popover: popover.element,
    label: (slot) => labels[slot].element,
    arrange,
    update,
  };
}
