/* The playground: a scene file beside the view of what it does. The library runs in the page
 * (play_worker.ts); while one types, it reads the text and says what is wrong where, in the words of
 * the command. Run, or Ctrl and Enter, begins anew with the text as it is. */

import "./play.css";
import type { App, PlayHandle } from "./contract";
import { Editor } from "./play_editor";
import { Engine, type Problem, Refusal } from "./play_engine";
import { bytesOf, linkOf, sceneOf, unzip } from "./play_link";
import type { Wire } from "./source_live";
import { h, setText } from "./ui_dom";

const CHECK_AFTER = 250; // ms without a key
const FILE = "scene.yaml"; // what the text is called in messages

export interface PlayData {
  name: string;
  text: string;
  module: Uint8Array<ArrayBuffer>; // compressed
}

/** What the page carries (docs/view-format.md, In a page). */
export function readPlay(): PlayData {
  const content = (id: string): string => document.getElementById(id)?.textContent ?? "";
  const scene = JSON.parse(content("rigor-scene")) as { name: string; text: string };
  return { ...scene, module: bytesOf(content("rigor-module")) };
}

function parametersOf(text: string): Record<string, string> {
  const words = text.split(/\s+/).filter((word) => word.includes("="));
  return Object.fromEntries(
    words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
  );
}

function button(text: string, testId: string, title: string, click: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "button", title, "data-testid": testId, onclick: click }, text);
}

export class Playground implements PlayHandle {
  private readonly engine = new Engine((problem) => this.show(problem));
  private readonly editor = new Editor(() => this.checkSoon());
  private readonly verdict = h("button", {
    type: "button",
    class: "verdict",
    role: "status",
    "data-testid": "play-verdict",
    onclick: () => this.goToProblem(),
  });
  private readonly builtins = h("select", {
    "aria-label": "Built-in scene",
    "data-testid": "play-builtin",
    onchange: () => void this.openBuiltin(),
  });
  private readonly parameters = h("input", {
    type: "text",
    placeholder: "base=8 mu=0.5",
    "aria-label": "Parameters of the built-in scene",
    "data-testid": "play-parameters",
    onchange: () => void this.openBuiltin(),
  });
  private problem: Problem | null = null;
  private timer = 0;

  constructor(
    private readonly data: PlayData,
    private readonly app: App,
  ) {
    const panel = h(
      "aside",
      { class: "play", "aria-label": "Scene file" },
      h(
        "div",
        { class: "play-bar" },
        button("Run", "play-run", "Begin anew with this text (Ctrl+Enter)", () => void this.run()),
        this.builtins,
        this.parameters,
      ),
      this.editor.element,
      this.verdict,
      h(
        "div",
        { class: "play-bar" },
        button("Link", "play-link", "An address with this scene in it", () => void this.share()),
        button("State hash", "play-hash", "The same on every machine", () => void this.showHash()),
      ),
    );
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.run();
    });
    document.documentElement.dataset.play = "yes";
    document.body.append(panel);
    window.addEventListener("hashchange", () => void this.takeLink());
  }

  async start(): Promise<void> {
    const bytes = (await unzip(this.data.module)).buffer as ArrayBuffer;
    const list = await this.engine.ask<{ name: string; summary: string }[]>({ kind: "load", bytes });
    this.builtins.append(
      h("option", { value: "" }, "Built-in scenes"),
      ...list.map(({ name, summary }) => h("option", { value: name, title: summary }, name)),
    );
    this.editor.text = (await this.linked()) ?? this.data.text;
    await this.run();
  }

  wire(): Wire {
    return this.engine.wire();
  }

  hash(): Promise<{ hash: string; steps: number }> {
    return this.engine.ask({ kind: "hash" });
  }

  measure(
    name: string,
    parameters: Record<string, string>,
    steps: number,
  ): Promise<{ milliseconds: number; hash: string }> {
    return this.engine.ask({ kind: "measure", name, parameters, steps });
  }

  /* ---- inside ---- */

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    if (!(await this.accepted({ kind: "open", name: FILE, text: this.editor.text }))) return;
    await this.app.openRun(this.app.runs[0].id, 0);
  }

  private checkSoon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), CHECK_AFTER);
  }

  /** Requests are answered in order: afterwards no older verdict can take the place of what is shown. */
  private check(): Promise<boolean> {
    clearTimeout(this.timer);
    return this.accepted({ kind: "check", name: FILE, text: this.editor.text });
  }

  private async accepted(request: Parameters<Engine["ask"]>[0]): Promise<boolean> {
    try {
      await this.engine.ask(request);
      this.show(null);
      return true;
    } catch (cause) {
      this.show(cause instanceof Refusal ? cause.problem : { text: String(cause), line: 0, column: 0 });
      return false;
    }
  }

  private show(problem: Problem | null): void {
    this.problem = problem;
    this.verdict.classList.toggle("bad", problem !== null);
    setText(this.verdict, problem ? problem.text : "This scene can be run.");
    this.editor.mark(problem?.line ?? 0);
  }

  private goToProblem(): void {
    if (this.problem && this.problem.line > 0)
      this.editor.goTo(this.problem.line, this.problem.column);
  }

  private async openBuiltin(): Promise<void> {
    const name = this.builtins.value;
    if (!name) return;
    try {
      const parameters = parametersOf(this.parameters.value);
      this.editor.text = await this.engine.ask<string>({ kind: "builtin", name, parameters });
      await this.run();
    } catch (cause) {
      if (cause instanceof Refusal) this.show({ ...cause.problem, line: 0 });
    }
  }

  private async linked(): Promise<string | null> {
    try {
      return await sceneOf(location.hash);
    } catch {
      return null; // not an address that was made here
    }
  }

  private async takeLink(): Promise<void> {
    const text = await this.linked();
    if (text === null || text === this.editor.text) return;
    this.editor.text = text;
    await this.run();
  }

  private async share(): Promise<void> {
    await this.check();
    const address = location.href.split("#")[0] + (await linkOf(this.editor.text));
    history.replaceState(null, "", address);
    setText(this.verdict, "The link is in the address line.");
    try {
      await navigator.clipboard.writeText(address); // a browser may ask first, or refuse
      setText(this.verdict, "The link is in the address line and in the clipboard.");
    } catch {
      // it stays in the address line
    }
  }

  private async showHash(): Promise<void> {
    await this.check();
    try {
      const { hash, steps } = await this.hash();
      setText(this.verdict, `State hash after ${steps} steps: ${hash}`);
    } catch (cause) {
      setText(this.verdict, String(cause));
    }
  }
}
