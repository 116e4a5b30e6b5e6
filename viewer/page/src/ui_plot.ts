/* One plot of figures over time on a canvas. The curves are drawn when data, size or theme change; the
 * cursor is an element of its own that moves every frame, so that playing costs nothing here.
 *
 * On logarithmic axes zeros lie on the bottom line, which says 0; what was not measured leaves a
 * gap. */

import { h, setText } from "./ui_dom";
import { compact, powerOfTen, quantity, seconds, tickTexts, ticks } from "./ui_number";
import { type Pen, SvgPen } from "./ui_plot_pen";
import { csvOf, downloadText, fileName } from "./ui_save";

export interface Curve {
  label: string;
  side: string; // "A" or "B" in a comparison, else empty
  colour: string; // a custom property of the style sheet
  dashed: boolean;
  time: Float64Array;
  values: Float32Array;
}

export interface PlotOptions {
  name: string; // the test id is plot-<name>
  file?: string; // in place of the name in the names of saved files
  title: string;
  unit: string; // "" for ratios, "count"
  logarithmic: boolean;
  legend: boolean;
  seek(time: number): void;
}

interface Scale {
  low: number;
  high: number;
  marks: { at: number; text: string }[]; // `at` in axis units (log10 on logarithmic axes)
  zero: number | null; // where zeros are drawn
}

/* The bound's label and the buttons have the margin at the top to themselves: no curve is under them. */
const MARGIN = { right: 10, top: 18, bottom: 18 };
const LEFT = { short: 46, long: 66 }; // for "-0.5 J", for "-0.5 rad/s"
const KEY = 14; // px of the dashed line beside the bound's label

/** Index of the value to show at a time: the first point that reaches it. */
export function pointAt(time: Float64Array, at: number): number {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] < at - 1e-9) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, time.length - 1);
}

function linearScale(curves: Curve[], unit: string, rows: number): Scale {
  let low = Infinity;
  let high = -Infinity;
  for (const curve of curves) {
    for (const value of curve.values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) [low, high] = [0, 1];
  if (low > 0 && (low < 0.5 * high || unit === "count")) low = 0;
  if (high < 0 && high > 0.5 * low) high = 0;
  if (high - low < 1e-6 * Math.max(Math.abs(low), Math.abs(high)) || high === low) {
    const room = Math.max(Math.abs(high), 1) * 0.1;
    high += room;
    low = low === 0 ? 0 : low - room;
  }
  let values = ticks(low, high, rows);
  if (unit === "count") values = values.filter((value) => Number.isInteger(value));
  const step = values.length > 1 ? values[1] - values[0] : high - low;
  low = Math.min(low, Math.floor(low / step + 1e-9) * step);
  high = high + (high - low) * 0.06;
  const texts = tickTexts(values, unit);
  return { low, high, marks: values.map((at, i) => ({ at, text: texts[i] })), zero: null };
}

function logarithmicScale(curves: Curve[], bound: number | null, unit: string, rows: number): Scale {
  let low = Infinity;
  let high = 0;
  let zeros = false;
  for (const curve of curves) {
    for (const value of curve.values) {
      if (value <= 0) zeros = true;
      if (!(value > 0) || value === Infinity) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (high === 0) [low, high] = [bound ? bound / 1e3 : 1e-9, bound ?? 1e-6];
  if (bound && bound < high * 1e4) high = Math.max(high, bound * 1.5);
  let bottom = Math.floor(Math.log10(low) + 1e-9);
  const top = Math.max(Math.log10(high) + 0.15, bottom + 1, unit === "m" ? -14 : -17);
  bottom = Math.max(bottom, Math.floor(top) - 16, unit === "m" ? -15 : -18); // below that it is rounding
  const every = Math.max(1, Math.ceil((top - bottom) / rows));
  const marks: Scale["marks"] = [];
  for (let power = Math.ceil(bottom / every) * every; power <= top; power += every) {
    marks.push({
      at: power,
      text: unit === "" ? powerOfTen(power) : quantity(10 ** power, unit, 1),
    });
  }
  if (!zeros) return { low: bottom, high: top, marks, zero: null };
  const zero = bottom - (top - bottom) * 0.14;
  marks.push({ at: zero, text: "0" });
  return { low: zero, high: top, marks, zero };
}

export class Plot {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { role: "img" });
  private readonly cursor = h("div", { class: "cursor", "aria-hidden": "true" });
  private readonly tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  private readonly area: HTMLElement;
  private readonly readings = h("div", { class: "readings" });
  private readonly hidden = new Set<string>();
  private readonly options: PlotOptions;
  private curves: Curve[] = [];
  private bound: { value: number; text: string } | null = null;
  private from = 0;
  private to = 1;
  private reading: Map<string, HTMLElement> = new Map();
  private labels = "";
  private readonly left: number; // margin

  constructor(options: PlotOptions) {
    this.options = options;
    this.left = options.unit.length > 2 && options.unit !== "count" ? LEFT.long : LEFT.short;
    this.area = h("div", { class: "plot-area" }, this.canvas, this.cursor, this.tip, this.saveButtons());
    this.element = h(
      "figure",
      {
        class: options.legend ? "plot with-legend" : "plot",
        "data-testid": `plot-${options.name}`,
      },
      h("figcaption", {}, h("span", { class: "plot-title" }, options.title), this.readings),
      this.area,
    );
    this.area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || (event.target as Element).closest("button")) return;
      this.area.setPointerCapture(event.pointerId);
      options.seek(this.timeUnder(event));
    });
    this.area.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) options.seek(this.timeUnder(event));
      this.showTip(event);
    });
    this.area.addEventListener("pointerleave", () => (this.tip.hidden = true));
  }

  /** Gives the curves and draws them. */
  draw(curves: Curve[], from: number, to: number, bound: { value: number; text: string } | null): void {
    this.curves = curves.filter((curve) => curve.time.length > 0);
    this.from = from;
    this.to = to > from ? to : from + 1;
    this.bound = bound;
    this.arrangeReadings();
    this.paint();
  }

  /** Moves the cursor, and shows the values there. */
  show(time: number): void {
    const width = this.area.clientWidth - this.left - MARGIN.right;
    const part = Math.min(1, Math.max(0, (time - this.from) / (this.to - this.from)));
    this.cursor.style.transform = `translateX(${this.left + part * width}px)`;
    for (const curve of this.curves) {
      const element = this.reading.get(curve.side + curve.label);
      if (element) setText(element, this.valueText(curve, time));
    }
  }

  private valueText(curve: Curve, time: number): string {
    const { unit, legend } = this.options;
    const value = curve.values[pointAt(curve.time, time)] ?? NaN;
    return unit === "" && !legend ? compact(value) : quantity(value, unit);
  }

  /** A row per kind of curve, with a value for each side. */
  private arrangeReadings(): void {
    const labels = this.curves.map((curve) => curve.side + curve.label).join();
    if (labels === this.labels) return;
    this.labels = labels;
    this.element.classList.toggle(
      "two",
      this.curves.some((curve) => curve.dashed),
    );
    this.reading = new Map();
    const groups = new Map<string, Curve[]>();
    for (const curve of this.curves) groups.set(curve.label, [...(groups.get(curve.label) ?? []), curve]);
    const items = [...groups].map(([label, curves]) => {
      const values = curves.map((curve) => {
        const value = h("b", {
          class: curve.dashed ? "dashed" : null,
          title: curve.side || null,
        });
        this.reading.set(curve.side + label, value);
        return value;
      });
      if (!this.options.legend) return h("span", { class: "reading" }, ...values);
      const key = h("i", { class: "key", style: `--colour: var(${curves[0].colour})` });
      const item = h(
        "button",
        { type: "button", class: "reading", title: "Show or hide this curve" },
        key,
        h("span", {}, label),
        ...values,
      );
      const show = (): void => item.setAttribute("aria-pressed", String(!this.hidden.has(label)));
      item.addEventListener("click", () => {
        if (!this.hidden.delete(label)) this.hidden.add(label);
        show();
        this.paint();
      });
      show();
      return item;
    });
    this.readings.replaceChildren(...items);
  }

  /** The plot as it is shown, or its numbers, as a file. */
  private saveButtons(): HTMLElement {
    const { name, title, unit } = this.options;
    const button = (format: string, click: () => void): HTMLButtonElement =>
      h(
        "button",
        {
          type: "button",
          title: `Save the plot ${title} as ${format}`,
          "data-testid": `save-${name}-${format.toLowerCase()}`,
          onclick: click,
        },
        format,
      );
    const file = (suffix: string): string =>
      fileName(document.title.split(" – ")[0], this.options.file ?? name) + suffix;
    const saveSvg = (): void => {
      const pen = new SvgPen();
      const [width, height] = [this.area.clientWidth, this.area.clientHeight];
      this.paintOn(pen, width, height);
      const background = getComputedStyle(this.element).getPropertyValue("--surface");
      downloadText(file(".svg"), "image/svg+xml", pen.document(width, height, title, background));
    };
    const saveCsv = (): void => downloadText(file(".csv"), "text/csv", csvOf(this.visible(), unit));
    return h("div", { class: "plot-save" }, button("SVG", saveSvg), button("CSV", saveCsv));
  }

  private timeUnder(event: PointerEvent): number {
    const box = this.area.getBoundingClientRect();
    const part =
      (event.clientX - box.left - this.left) / Math.max(1, box.width - this.left - MARGIN.right);
    return this.from + Math.min(1, Math.max(0, part)) * (this.to - this.from);
  }

  private showTip(event: PointerEvent): void {
    const time = this.timeUnder(event);
    const box = this.area.getBoundingClientRect();
    const rows = this.curves
      .filter((curve) => !this.hidden.has(curve.label))
      .map((curve) =>
        [curve.side, this.options.legend ? curve.label : "", this.valueText(curve, time)]
          .filter(Boolean)
          .join(" "),
      );
    this.tip.textContent = [seconds(time, this.to - this.from), ...rows].join("\n");
    this.tip.hidden = event.pointerType === "touch" || rows.length === 0;
    const x = event.clientX - box.left;
    this.tip.style.left = `${x < box.width / 2 ? x + 12 : x - 12 - this.tip.offsetWidth}px`;
  }

  private paint(): void {
    const ratio = window.devicePixelRatio || 1;
    const width = this.area.clientWidth;
    const height = this.area.clientHeight;
    if (width < 20 || height < 20) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    const measured = this.curves.some((curve) => curve.values.some((value) => !Number.isNaN(value)));
    this.element.classList.toggle("empty", !measured);
    this.canvas.setAttribute(
      "aria-label",
      `${this.options.title} over time${measured ? "" : ": not measured"}`,
    );
    if (!measured) return; // the canvas is empty now
    pen.scale(ratio, ratio);
    this.paintOn(pen, width, height);
  }

  private visible(): Curve[] {
    return this.curves.filter((curve) => !this.hidden.has(curve.label));
  }

  private paintOn(pen: Pen, width: number, height: number): void {
    const style = getComputedStyle(this.element);
    const visible = this.visible();
    const { unit, logarithmic } = this.options;
    const rows = Math.max(2, Math.floor((height - MARGIN.top - MARGIN.bottom) / 22));
    const scale = logarithmic
      ? logarithmicScale(visible, this.bound?.value ?? null, unit, rows)
      : linearScale(visible, unit, rows);
    const x = (time: number): number =>
      this.left + ((time - this.from) / (this.to - this.from)) * (width - this.left - MARGIN.right);
    const y = (at: number): number =>
      height -
      MARGIN.bottom -
      ((at - scale.low) / (scale.high - scale.low)) * (height - MARGIN.top - MARGIN.bottom);
    this.paintAxes(pen, style, width, height, scale, x, y);
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, width - this.left - MARGIN.right + 1, height - MARGIN.bottom + 2);
    pen.clip();
    for (const curve of visible) paintCurve(pen, style, curve, scale, logarithmic, x, y);
    pen.restore();
    if (this.bound && logarithmic) this.paintBound(pen, style, width, y(Math.log10(this.bound.value)));
  }

  private paintAxes(
    pen: Pen,
    style: CSSStyleDeclaration,
    width: number,
    height: number,
    scale: Scale,
    x: (time: number) => number,
    y: (at: number) => number,
  ): void {
    pen.font = `10.5px ${style.fontFamily}`;
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.fillStyle = style.getPropertyValue("--muted");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const { at, text } of scale.marks) {
      const row = Math.round(y(at)) + 0.5;
      pen.beginPath();
      pen.moveTo(this.left, row);
      pen.lineTo(width - MARGIN.right, row);
      pen.stroke();
      pen.fillText(text, this.left - 5, Math.max(row, 6));
    }
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    const wanted = Math.max(2, Math.floor((width - this.left) / 52));
    const marks = ticks(this.from, this.to, wanted);
    const step = marks.length > 1 ? marks[1] - marks[0] : this.to - this.from;
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    /* From the last, which has the unit, backwards: what would touch a text that is there is left out. */
    let free = Infinity;
    for (let i = marks.length - 1; i >= 0; i--) {
      const text = marks[i].toFixed(decimals) + (i === marks.length - 1 ? " s" : "");
      const middle = Math.min(x(marks[i]), width - 14);
      const half = pen.measureText(text).width / 2;
      if (middle + half > free) continue;
      pen.fillText(text, middle, height - 5);
      free = middle - half - 5;
    }
  }

  private paintBound(
    pen: Pen,
    style: CSSStyleDeclaration,
    width: number,
    row: number,
  ): void {
    if (!this.bound || !Number.isFinite(row) || row < MARGIN.top - 1) return;
    pen.save();
    pen.strokeStyle = pen.fillStyle = style.getPropertyValue("--bad");
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(this.left, row);
    pen.lineTo(width - MARGIN.right, row);
    pen.stroke();
    /* A long label in a narrow plot begins left of the curves: it is not cut off. In files its width is
     * known about. */
    const room = width - MARGIN.right - KEY - 4 - pen.measureText(this.bound.text).width;
    const start = Math.max(0, Math.min(this.left, room));
    pen.beginPath();
    pen.moveTo(start, MARGIN.top - 10);
    pen.lineTo(start + KEY, MARGIN.top - 10);
    pen.stroke();
    pen.setLineDash([]);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(this.bound.text, start + KEY + 4, MARGIN.top - 10);
    pen.restore();
  }
}

interface Column {
  x: number;
  least: number;
  most: number;
}

/** Points as rows of pixels, gathered in columns of a pixel; null where there is a gap. */
function columnsOf(
  curve: Curve,
  scale: Scale,
  logarithmic: boolean,
  x: (time: number) => number,
  y: (at: number) => number,
): (Column | null)[] {
  const columns: (Column | null)[] = [];
  let last: Column | null = null;
  for (let i = 0; i < curve.values.length; i++) {
    const value = curve.values[i];
    if (Number.isNaN(value)) {
      if (last) columns.push(null);
      last = null;
      continue;
    }
    let at = Math.min(Math.max(value, -1e300), 1e300);
    if (logarithmic) at = value > 0 ? Math.max(Math.log10(at), scale.low) : (scale.zero ?? scale.low);
    const row = y(Math.min(at, scale.high));
    const place = x(curve.time[i]);
    if (last && place - last.x < 1) {
      last.least = Math.max(last.least, row);
      last.most = Math.min(last.most, row);
    } else {
      last = { x: place, least: row, most: row };
      columns.push(last);
    }
  }
  return columns;
}

/** The largest values as a line; where a column holds many values, their range as a shade. */
function paintCurve(
  pen: Pen,
  style: CSSStyleDeclaration,
  curve: Curve,
  scale: Scale,
  logarithmic: boolean,
  x: (time: number) => number,
  y: (at: number) => number,
): void {
  const columns = columnsOf(curve, scale, logarithmic, x, y);
  pen.strokeStyle = pen.fillStyle = style.getPropertyValue(curve.colour);
  pen.globalAlpha = 0.22;
  for (const column of columns) {
    if (column && column.least - column.most > 1)
      pen.fillRect(column.x - 0.5, column.most, 1, column.least - column.most);
  }
  pen.globalAlpha = 1;
  pen.lineWidth = 1.4;
  pen.lineJoin = "round";
  pen.setLineDash(curve.dashed ? [4, 3] : []);
  pen.beginPath();
  let drawing = false;
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i];
    if (!column) {
      drawing = false;
      continue;
    }
    if (drawing) pen.lineTo(column.x, column.most);
    else pen.moveTo(column.x, column.most);
    /* A value between two gaps would be invisible without a dot. */
    if (!drawing && !columns[i + 1]) pen.lineTo(column.x + 1.5, column.most);
    drawing = true;
  }
  pen.stroke();
  pen.setLineDash([]);
}
