/* A plot of the selected body: which quantity is chosen from a list, the curves grow as frames are read.
 * In a comparison the body of the same name on the other side is dashed. */

import { type Context, type Panel, SIDES, type Slot, comparing } from "./ui_context";
import { h, paced } from "./ui_dom";
import { type Curve, Plot } from "./ui_plot";
import { type Quantity, quantitiesOf } from "./ui_quantity";
import { type FrameSeries, seriesOf } from "./ui_series";

interface Shown {
  series: FrameSeries;
  curve: Omit<Curve, "time" | "values">;
}

function optionsOf(quantities: Quantity[]): HTMLElement[] {
  const groups = new Map<string, Quantity[]>();
  for (const each of quantities) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
  return [...groups].map(([group, list]) =>
    h("optgroup", { label: group }, ...list.map(({ name, title }) => h("option", { value: name }, title))),
  );
}

export function createBodyPlot(context: Context, seek: (time: number) => void): Panel {
  const { app } = context;
  const { player } = app;
  const select = h("select", { "aria-label": "What to plot of this body", "data-testid": "body-plot" });
  const place = h("div", { class: "body-plot-place" });
  const element = h("section", { class: "body-plot" }, h("label", { class: "row" }, "Plot", select), place);
  let chosen = "";
  let made = ""; // what the plot was made for
  let shown: Shown[] = [];
  let plot: Plot | null = null;

  const shownOf = (slot: Slot): Shown[] => {
    const source = app.sources[slot];
    const body = context.selected[slot];
    if (!source || body === null || body === undefined) return [];
    const quantity = quantitiesOf(source.manifest, body).find((each) => each.name === chosen);
    return (quantity?.curves ?? []).map(({ label, colour, value }) => ({
      series: seriesOf(source, value),
      curve: { label, colour, side: comparing(context) ? SIDES[slot] : "", dashed: slot === 1 },
    }));
  };
  const draw = (): void => {
    if (!plot) return;
    for (const { series } of shown) series.refresh();
    const curves = shown.map(({ series, curve }) => ({ ...curve, time: series.time, values: series.values }));
    plot.draw(curves, player.start, player.end, null);
    plot.show(player.time);
  };
  const drawSoon = paced(250, draw);
  const make = (): void => {
    const body = context.selected[0];
    const source = app.sources[0];
    const quantities = source && body !== null ? quantitiesOf(source.manifest, body) : [];
    const quantity = quantities.find((each) => each.name === chosen);
    plot = null;
    shown = [];
    select.replaceChildren(h("option", { value: "" }, "choose a quantity …"), ...optionsOf(quantities));
    select.value = quantity ? chosen : "";
    if (quantity && source && body !== null) {
      const { name } = source.manifest.bodies[body];
      plot = new Plot({
        name: "body",
        file: `${name}-${quantity.name}`,
        title: quantity.title,
        unit: quantity.unit,
        logarithmic: false,
        legend: quantity.curves.length > 1,
        seek,
      });
      shown = [...shownOf(0), ...shownOf(1)];
    }
    place.replaceChildren(...(plot ? [plot.element] : []));
    draw();
  };
  select.addEventListener("change", () => {
    chosen = select.value;
    make();
  });

  let drawn = "";
  const update = (): void => {
    if (element.offsetParent === null || !plot) return;
    const state = `${context.version} ${player.start} ${player.end} ${place.clientWidth} ${context.theme.current()}`;
    if (state !== drawn) drawSoon();
    else plot.show(player.time);
    drawn = state;
  };
  const arrange = (): void => {
    const manifests = app.sources.map((source) => source.manifest.bodies.length);
    const now = JSON.stringify([context.selected, manifests, app.runIn(0), app.runIn(1)]);
    element.hidden = context.selected[0] === null;
    if (now !== made) {
      made = now;
      make();
    }
    drawn = "";
    update();
  };
  return { element, arrange, update };
}
