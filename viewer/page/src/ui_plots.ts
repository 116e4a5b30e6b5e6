/* The plots in step with the time line: energy ledger, penetration, complementarity, contacts, solver
 * iterations. In a comparison the second run is dashed, and one more plot has the distance between the
 * runs: the farthest that the centre of mass of a body is from where it is in the other run. A click or a drag in a plot goes to that time. */

import type { SeriesName } from "./contract";
import { type Context, type Panel, SIDES, comparing } from "./ui_context";
import { h, paced } from "./ui_dom";
import { boundary } from "./ui_number";
import { type Curve, Plot } from "./ui_plot";
import { type FrameSeries, distanceOf } from "./ui_series";

interface Entry {
  series: SeriesName;
  label: string;
  colour: string;
}

interface Definition {
  name: string;
  title: string;
  unit: string;
  logarithmic: boolean;
  entries: Entry[];
}

const PLOTS: Definition[] = [
  {
    name: "energy",
    title: "Energy ledger",
    unit: "J",
    logarithmic: false,
    entries: [
      { series: "energy", label: "energy", colour: "--curve-1" },
      { series: "kinetic", label: "kinetic", colour: "--curve-2" },
      { series: "impact_loss", label: "impact loss", colour: "--curve-3" },
      { series: "friction_work", label: "friction", colour: "--curve-4" },
      { series: "external_work", label: "external", colour: "--curve-5" },
      { series: "stabilisation", label: "stabilisation", colour: "--curve-6" },
    ],
  },
  {
    name: "penetration",
    title: "Penetration",
    unit: "m",
    logarithmic: true,
    entries: [{ series: "overlap", label: "penetration", colour: "--curve-1" }],
  },
  {
    name: "complementarity",
    title: "Complementarity",
    unit: "",
    logarithmic: true,
    entries: [{ series: "complementarity", label: "complementarity", colour: "--curve-1" }],
  },
  {
    name: "contacts",
    title: "Contacts",
    unit: "count",
    logarithmic: false,
    entries: [{ series: "contacts", label: "contacts", colour: "--curve-1" }],
  },
  {
    name: "iterations",
    title: "Iterations",
    unit: "count",
    logarithmic: false,
    entries: [{ series: "solver_iterations", label: "iterations", colour: "--curve-1" }],
  },
];

function curvesOf(context: Context, definition: Definition): Curve[] {
  const two = comparing(context);
  return context.app.sources.flatMap((source, slot) => {
    const overview = source.overview();
    return definition.entries.map((entry) => ({
      label: entry.label,
      side: two ? SIDES[slot] : "",
      colour: entry.colour,
      dashed: slot === 1,
      time: overview.time,
      values: overview.series[entry.series],
    }));
  });
}

function boundOf(context: Context, definition: Definition): { value: number; text: string } | null {
  const check = context.certificates[0]?.checks.find((each) => each.series === definition.entries[0].series);
  if (!check || !definition.logarithmic) return null;
  return { value: check.bound, text: `allowed ${boundary(check.bound, check.unit)}` };
}

/** Goes to a time; a live run is paused for it. */
export function seekIn(context: Context): (time: number) => void {
  const { player } = context.app;
  return (time) => {
    const live = context.live();
    if (live?.state().running) live.pause();
    if (live) player.pause();
    player.seek(time);
  };
}

/** The plot of the distance between two runs; hidden where there is one. */
function createDistance(context: Context, seek: (time: number) => void): { plot: Plot; draw(): void } {
  const { sources, player } = context.app;
  const plot = new Plot({
    name: "distance",
    title: "Distance A–B",
    unit: "m",
    logarithmic: true,
    legend: false,
    seek,
  });
  let series: FrameSeries | null = null;
  let of: unknown[] = [];
  const draw = (): void => {
    plot.element.hidden = !comparing(context);
    if (plot.element.hidden) return;
    if (of[0] !== sources[0] || of[1] !== sources[1]) {
      of = [sources[0], sources[1]];
      series = distanceOf(sources[0], sources[1]);
    }
    if (!series) return;
    series.refresh();
    const curve = { label: "distance", side: "", colour: "--curve-3", dashed: false };
    plot.draw([{ ...curve, time: series.time, values: series.values }], player.start, player.end, null);
  };
  return { plot, draw };
}

export function createPlots(context: Context): Panel {
  const { player } = context.app;
  const seek = seekIn(context);
  const plots = PLOTS.map(
    (each) =>
      new Plot({
        name: each.name,
        title: each.title,
        unit: each.unit,
        logarithmic: each.logarithmic,
        legend: each.entries.length > 1,
        seek,
      }),
  );
  const distance = createDistance(context, seek);
  const element = h(
    "section",
    { class: "plots", "aria-label": "Plots" },
    ...plots.map((plot) => plot.element),
    distance.plot.element,
  );
  const show = (): void => [...plots, distance.plot].forEach((plot) => plot.show(player.time));

  let drawn = "";
  const draw = (): void => {
    plots.forEach((plot, i) =>
      plot.draw(curvesOf(context, PLOTS[i]), player.start, player.end, boundOf(context, PLOTS[i])),
    );
    distance.draw();
    show();
  };
  const drawPaced = paced(250, draw);
  const readPaced = paced(50, show);
  const update = (): void => {
    if (element.offsetParent === null) return;
    const state = `${context.version} ${player.start} ${player.end} ${element.clientWidth} ${element.clientHeight} ${context.theme.current()} ${context.app.sources.length}`;
    if (drawn !== state) {
      drawn = state;
      drawPaced();
    } else readPaced();
  };
  return {
    element,
    arrange: () => {
      distance.plot.element.hidden = !comparing(context);
      drawn = "";
      update();
    },
    update,
  };
}
