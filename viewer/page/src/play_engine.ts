/* The page's side of the simulation in play_worker.ts: requests with their answers, and the run as a
 * wire like that to a server. */

import PlayWorker from "./play_worker?worker&inline";
import type { Wire } from "./source_live";

/** What the library has against a scene; line and column from 1, 0: no place. */
export interface Problem {
  text: string;
  line: number;
  column: number;
}

type Parameters = Record<string, string>;

export type Request =
  | { kind: "load"; bytes: ArrayBuffer }
  | { kind: "check"; name: string; text: string }
  | { kind: "open"; name: string; text: string }
  | { kind: "begin" }
  | { kind: "post"; message: object }
  | { kind: "builtin"; name: string; parameters: Parameters }
  | { kind: "hash" }
  | { kind: "measure"; name: string; parameters: Parameters; steps: number };

export type Answer =
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refusal"; id: number; problem: Problem }
  | { kind: "message"; data: string | ArrayBuffer }
  | { kind: "lost"; problem: Problem };

export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.text);
  }
}

interface Waiting {
  resolve(value: unknown): void;
  reject(problem: Refusal): void;
}

class LocalWire implements Wire {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | null = null;
  onclose: (() => void) | null = null;
  readyState: number = WebSocket.OPEN;

  constructor(private readonly engine: Engine) {}

  send(text: string): void {
    void this.engine.ask({ kind: "post", message: JSON.parse(text) as object }).catch(() => {});
  }

  close(): void {
    this.readyState = WebSocket.CLOSED;
    this.onclose = this.onmessage = null;
  }
}

export class Engine {
  private readonly worker = new PlayWorker();
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;
  private current: LocalWire | null = null;

  constructor(private readonly onLost: (problem: Problem) => void) {
    this.worker.onmessage = (event: MessageEvent<Answer>) => this.hear(event.data);
  }

  ask<T>(request: Request): Promise<T> {
    const id = this.next++;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.worker.postMessage({ id, request });
    });
  }

  /** The run that was opened last, from its beginning. */
  wire(): Wire {
    const wire = new LocalWire(this);
    this.current = wire;
    void this.ask({ kind: "begin" }).then(() => wire.onopen?.());
    return wire;
  }

  private hear(answer: Answer): void {
    if (answer.kind === "message") {
      this.current?.onmessage?.({ data: answer.data });
      return;
    }
    if (answer.kind === "lost") {
      this.current?.onmessage?.({
        data: JSON.stringify({ type: "error", text: answer.problem.text }),
      });
      this.onLost(answer.problem);
      return;
    }
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.kind === "answer") waiting?.resolve(answer.value);
    else waiting?.reject(new Refusal(answer.problem));
  }
}
