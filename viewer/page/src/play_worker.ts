/* The simulation of a page that runs its scene itself: the library as a WebAssembly module, in a
 * thread of its own, so that a step that takes long does not stop the page. Requests are answered in
 * order; the live run sends its messages (docs/view-format.md, Live) whenever there are some.
 *
 * How it fails: what the library refuses is answered with its text, line and column. A failed
 * assertion leaves a module that cannot be trusted: it is made anew, and the run is gone. */

import { type Live, type Rigor, RigorError, loadFrom } from "../../../wasm/npm/library.mjs";
import type { Answer, Problem, Request } from "./play_engine";

const SOON = 0.004; // s: below this browsers do not wait exactly

let module: WebAssembly.Module;
let rigor: Rigor;
let opened: Live | null = null;
let live: Live | null = null;
const now = new MessageChannel();
now.port1.onmessage = () => turn();

function post(answer: Answer, transfer: Transferable[] = []): void {
  (self as unknown as Worker).postMessage(answer, transfer);
}

function problemOf(cause: unknown): Problem {
  if (cause instanceof RigorError)
    return { text: cause.message, line: cause.line, column: cause.column };
  return { text: cause instanceof Error ? cause.message : String(cause), line: 0, column: 0 };
}

async function renew(): Promise<void> {
  opened = live = null;
  rigor = await loadFrom(module);
}

function send(): void {
  for (const data of live?.take() ?? [])
    post({ kind: "message", data }, typeof data === "string" ? [] : [data]);
}

function turn(): void {
  if (!live) return;
  try {
    const wait = live.turn();
    send();
    if (wait < SOON) now.port2.postMessage(null);
    else setTimeout(turn, 1000 * wait);
  } catch (cause) {
    post({ kind: "lost", problem: problemOf(cause) });
    void renew();
  }
}

const measure = (name: string, parameters: Record<string, string>, steps: number): unknown => {
  const scene = rigor.builtin(name, parameters);
  try {
    const begin = performance.now();
    scene.step(steps);
    return { milliseconds: performance.now() - begin, hash: scene.hash() };
  } finally {
    scene.close();
  }
};

/* What a request is answered with; what it throws is the problem. */
async function answer(request: Request): Promise<unknown> {
  switch (request.kind) {
    case "load":
      module = await WebAssembly.compile(request.bytes);
      await renew();
      return rigor.builtins();
    case "check":
      rigor.scene(request.text, { name: request.name }).close();
      return null;
    case "open":
      opened?.close();
      opened = null;
      opened = rigor.scene(request.text, { name: request.name }).live();
      return null;
    case "begin": {
      const before = live;
      live = opened;
      opened = null;
      before?.close();
      if (!before) turn();
      return null;
    }
    case "post":
      live?.post(request.message);
      return null;
    case "builtin": {
      const scene = rigor.builtin(request.name, request.parameters);
      try {
        return scene.text();
      } finally {
        scene.close();
      }
    }
    case "hash":
      if (!live) throw new Error("nothing runs");
      return { hash: live.hash(), steps: live.steps };
    case "measure":
      return measure(request.name, request.parameters, request.steps);
  }
}

async function hear(id: number, request: Request): Promise<void> {
  try {
    post({ kind: "answer", id, value: await answer(request) });
  } catch (cause) {
    if (!(cause instanceof RigorError) && module) await renew();
    post({ kind: "refusal", id, problem: problemOf(cause) });
  }
}

/* One after the other. */
let last: Promise<void> = Promise.resolve();
self.onmessage = (event: MessageEvent<{ id: number; request: Request }>) => {
  const { id, request } = event.data;
  last = last.then(() => hear(id, request));
};
