/* A text field for scene files, with the numbers of its lines and one line that is marked. Lines are
 * not wrapped, so that each has one number and one height. */

import "./play.css";
import { h, setText } from "./ui_dom";

const LINE = 18; // px, as in play.css
const ABOVE = 8; // px before the first line, as in play.css

export class Editor {
  readonly element: HTMLElement;
  private readonly area: HTMLTextAreaElement;
  private readonly numbers = h("pre", { class: "numbers", "aria-hidden": "true" });
  private readonly strip = h("div", { class: "strip", hidden: true, "data-testid": "play-mark" });
  private lines = 0;
  private marked = 0;

  constructor(changed: () => void) {
    this.area = h("textarea", {
      class: "text",
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
      "aria-label": "Scene file",
      "data-testid": "play-text",
    });
    this.area.addEventListener("input", () => {
      this.number();
      changed();
    });
    this.area.addEventListener("scroll", () => this.follow());
    this.element = h(
      "div",
      { class: "editor" },
      h("div", { class: "gutter" }, this.numbers),
      h("div", { class: "field" }, this.strip, this.area),
    );
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    this.area.value = text;
    this.area.scrollTop = 0;
    this.number();
    this.mark(0);
  }

  /** The line that something is wrong with, from 1; 0: none. */
  mark(line: number): void {
    this.marked = line;
    this.strip.hidden = line === 0;
    this.strip.dataset.line = String(line);
    this.follow();
  }

  /** The cursor goes to a place. */
  goTo(line: number, column: number): void {
    const before = this.text.split("\n").slice(0, line - 1);
    const at = before.reduce((sum, each) => sum + each.length + 1, 0) + Math.max(0, column - 1);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 4) * LINE);
  }

  private number(): void {
    const count = this.text.split("\n").length;
    if (count === this.lines) return;
    this.lines = count;
    setText(this.numbers, Array.from({ length: count }, (_, i) => i + 1).join("\n"));
  }

  private follow(): void {
    const up = this.area.scrollTop;
    this.numbers.style.transform = `translateY(${-up}px)`;
    this.strip.style.transform = `translateY(${ABOVE + (this.marked - 1) * LINE - up}px)`;
  }
}
