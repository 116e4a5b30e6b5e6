/* A pen that writes SVG: as much of a canvas's drawing as the plots use, so that a saved plot is the
 * plot that is shown. */

export type Pen = Pick<
  CanvasRenderingContext2D,
  | "beginPath"
  | "clip"
  | "fillRect"
  | "fillText"
  | "lineTo"
  | "measureText"
  | "moveTo"
  | "rect"
  | "restore"
  | "save"
  | "setLineDash"
  | "stroke"
  | "font"
  | "fillStyle"
  | "globalAlpha"
  | "lineJoin"
  | "lineWidth"
  | "strokeStyle"
  | "textAlign"
  | "textBaseline"
>;

const ANCHORS: Record<string, string> = { right: "end", center: "middle", left: "start" };

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}

function short(value: number): string {
  return String(Math.round(100 * value) / 100);
}

export class SvgPen {
  font = "10px sans-serif";
  fillStyle: string | CanvasGradient | CanvasPattern = "black";
  strokeStyle: string | CanvasGradient | CanvasPattern = "black";
  globalAlpha = 1;
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "round";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private path = "";
  private dash: number[] = [];
  private depth: number[] = [0]; // groups that each state has opened
  private clips = 0;
  private readonly parts: string[] = [];

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${short(x)} ${short(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  stroke(): void {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.parts.push(
      `<path d="${this.path}" fill="none" stroke="${this.paint(this.strokeStyle)}" stroke-width="${this.lineWidth}"` +
        ` stroke-linejoin="${this.lineJoin}" opacity="${this.globalAlpha}"${dash}/>`,
    );
  }

  clip(): void {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.depth[this.depth.length - 1]++;
  }

  save(): void {
    this.depth.push(0);
  }

  restore(): void {
    this.parts.push("</g>".repeat(this.depth.pop() ?? 0));
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"` +
        ` fill="${this.paint(this.fillStyle)}" opacity="${this.globalAlpha}"/>`,
    );
  }

  fillText(text: string, x: number, y: number): void {
    this.text(text, x, y, `fill="${this.paint(this.fillStyle)}"`);
  }

  /* About: texts are placed by their anchors; this only says which would touch. */
  measureText(text: string): TextMetrics {
    return { width: 0.56 * this.size() * text.length } as TextMetrics;
  }

  setLineDash(dash: Iterable<number>): void {
    this.dash = [...dash];
  }

  /** All that was drawn, as a file. */
  document(width: number, height: number, title: string, background: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"` +
      ` viewBox="0 0 ${width} ${height}">\n<title>${escaped(title)}</title>\n` +
      `<rect width="100%" height="100%" fill="${escaped(background)}"/>\n${this.parts.join("\n")}\n</svg>\n`
    );
  }

  private size(): number {
    return Number.parseFloat(/([\d.]+)px/.exec(this.font)?.[1] ?? "10");
  }

  private paint(style: string | CanvasGradient | CanvasPattern): string {
    return typeof style === "string" ? escaped(style.trim()) : "black";
  }

  private text(text: string, x: number, y: number, paint: string): void {
    const baseline = this.textBaseline === "middle" ? ` dominant-baseline="central"` : "";
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" font-family="sans-serif" font-size="${this.size()}"` +
        ` text-anchor="${ANCHORS[this.textAlign] ?? "start"}"${baseline} ${paint}>${escaped(text)}</text>`,
    );
  }
}
