/* A simulation that runs now: frames come over a WebSocket, or from the page itself (play.ts). The last few thousand are kept, so
 * that one can look back while it goes on; how many depends on their size.
 *
 * Frames are counted by this page, without gaps, from the first that it saw; the server may leave
 * out frames for a slow reader. When time goes back (a reset), everything before is forgotten.
 *
 * How it fails: a lost connection shows in state().connected and error(); it is tried again a few
 * times, ever more rarely. */

import { SERIES } from "./contract";
import type {
  BootRun,
  Frame,
  FrameSource,
  LiveControl,
  LiveState,
  Manifest,
  Overview,
  SeriesName,
  Vec3,
} from "./contract";
import { checkManifest, readPlainChunk } from "./format";
import { serverAddress } from "./source_server";

const KEEP_FRAMES = 4096;
const KEEP_BYTES = 256 << 20;
const RECONNECTS_MS = [500, 1000, 2000, 4000, 8000];

type ServerMessage =
  | ({ type: "manifest" } & { manifest?: Manifest })
  | ({ type: "state" } & Partial<LiveState>)
  | { type: "error"; text: string };

/** What is used of a WebSocket. */
export interface Wire {
  onopen: (() => void) | null;
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | null;
  onclose: (() => void) | null;
  readonly readyState: number;
  send(text: string): void;
  close(): void;
}

function wireToServer(run: BootRun): Wire {
  const address = new URL(serverAddress(`/api/live/${encodeURIComponent(run.id)}`));
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address.href);
  socket.binaryType = "arraybuffer";
  return socket as unknown as Wire;
}

/* Columns that grow at the end and shrink at the beginning, always contiguous. */
class History {
  private time = new Float64Array(2 * KEEP_FRAMES);
  private columns = SERIES.map(() => new Float32Array(2 * KEEP_FRAMES));
  private begin = 0;
  private end = 0;
  private cached: Overview | null = null;

  push(frame: Frame): void {
    if (this.end === this.time.length) {
      this.time.copyWithin(0, this.begin, this.end);
      for (const column of this.columns) column.copyWithin(0, this.begin, this.end);
      this.end -= this.begin;
      this.begin = 0;
    }
    this.time[this.end] = frame.time;
    const figures = frame.figures;
    SERIES.forEach((name, i) => {
      this.columns[i][this.end] = figures[name];
    });
    this.end++;
    this.cached = null;
  }

  shift(): void {
    this.begin++;
    this.cached = null;
  }

  pop(): void {
    this.end--;
    this.cached = null;
  }

  clear(): void {
    this.begin = this.end = 0;
    this.cached = null;
  }

  overview(): Overview {
    if (this.cached) return this.cached;
    const series = {} as Record<SeriesName, Float32Array>;
    SERIES.forEach((name, i) => {
      series[name] = this.columns[i].subarray(this.begin, this.end);
    });
    this.cached = { time: this.time.subarray(this.begin, this.end), series };
    return this.cached;
  }
}

class LiveSource implements FrameSource, LiveControl {
  readonly live: LiveControl = this;
  manifest!: Manifest;
  private socket: Wire | null = null;
  private frames: Frame[] = []; // frames[begin] is number `oldest`
  private begin = 0;
  private oldest = 0;
  private bytes: number[] = [];
  private total = 0;
  private readonly history = new History();
  private listeners: (() => void)[] = [];
  private message: string | null = null;
  private attempts = 0;
  private closed = false;
  private current: LiveState = {
    connected: false,
    running: false,
    time: 0,
    speed: 1,
    achieved: 0,
    method: "",
    solver: "",
    step: 0,
    friction: null,
    gravity: [0, 0, 0],
    methods: [],
    solvers: [],
    profile: null,
    dropped: 0,
    motors: [],
  };
  private opened!: () => void;
  private refused!: (problem: Error) => void;
  readonly whenOpen = new Promise<void>((resolve, reject) => {
    this.opened = resolve;
    this.refused = reject;
  });

  constructor(private readonly makeWire: () => Wire) {
    this.connect();
  }

  first(): number {
    return this.oldest;
  }

  count(): number {
    return this.frames.length - this.begin;
  }

  timeOf(index: number): number {
    const last = this.frames.length - 1;
    if (last < this.begin) return 0;
    const at = Math.max(this.begin, Math.min(index - this.oldest + this.begin, last));
    return this.frames[at].time;
  }

  indexAt(time: number): number {
    let low = this.begin;
    let high = this.frames.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.frames[middle].time <= time) low = middle;
      else high = middle - 1;
    }
    return this.oldest + low - this.begin;
  }

  frame(index: number): Frame | null {
    return index < this.oldest ? null : (this.frames[index - this.oldest + this.begin] ?? null);
  }

  peek(index: number): Frame | null {
    return this.frame(index);
  }

  prefetch(): void {} // all that it keeps is there

  overview(): Overview {
    return this.history.overview();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  error(): string | null {
    return this.message;
  }

  close(): void {
    this.closed = true;
    this.listeners = [];
    this.socket?.close();
  }

  state(): LiveState {
    return this.current;
  }

  play(): void {
    this.send({ type: "play" });
  }

  pause(): void {
    this.send({ type: "pause" });
  }

  step(count: number): void {
    this.send({ type: "step", count });
  }

  reset(): void {
    this.send({ type: "reset" });
  }

  setSpeed(speed: number): void {
    this.send({ type: "speed", value: speed });
  }

  set(
    change: Partial<Pick<LiveState, "method" | "solver" | "step" | "friction" | "gravity">>,
  ): void {
    this.send({ type: "set", ...change });
  }

  grab(body: number, point: Vec3, target: Vec3): void {
    this.send({ type: "grab", body, point, target });
  }

  drag(target: Vec3): void {
    this.send({ type: "drag", target });
  }

  release(): void {
    this.send({ type: "release" });
  }

  throwBox(from: Vec3, velocity: Vec3, size: number): void {
    this.send({ type: "throw", from, velocity, size });
  }

  setMotor(joint: number, axis: number, target: number | null): void {
    this.send({ type: "motor", joint, axis, target });
  }

  private send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private connect(): void {
    const socket = this.makeWire();
    socket.onopen = () => {
      this.attempts = 0;
      this.message = null;
      this.current = { ...this.current, connected: true };
      this.changed();
    };
    socket.onmessage = (event) => {
      try {
        if (typeof event.data === "string") this.hear(event.data);
        else this.take(event.data);
      } catch (problem) {
        this.message = problem instanceof Error ? problem.message : String(problem);
      }
      this.changed();
    };
    socket.onclose = () => {
      this.socket = null;
      this.current = { ...this.current, connected: false, running: false };
      this.message = "The connection to the simulation has ended.";
      if (this.closed) return;
      if (!this.manifest) this.refused(new Error("The simulation cannot be reached."));
      else if (this.attempts < RECONNECTS_MS.length)
        setTimeout(() => !this.closed && this.connect(), RECONNECTS_MS[this.attempts++]);
      this.changed();
    };
    this.socket = socket;
  }

  private hear(text: string): void {
    const message = JSON.parse(text) as ServerMessage;
    if (message.type === "manifest") {
      const manifest = message.manifest ?? (message as unknown as Manifest);
      checkManifest(manifest);
      this.manifest = manifest;
      this.opened();
    } else if (message.type === "state") {
      const { type: _type, ...state } = message;
      this.current = { ...this.current, ...state, connected: true };
    } else if (message.type === "error") {
      this.message = message.text;
    }
  }

  private take(data: ArrayBuffer): void {
    for (const frame of readPlainChunk(data).frames) {
      const newest =
        this.frames.length > this.begin ? this.frames[this.frames.length - 1].time : -Infinity;
      if (frame.time < newest) this.clear();
      else if (frame.time === newest) this.dropLast(); // the same moment, seen anew
      frame.index = this.oldest + this.count();
      this.frames.push(frame);
      this.bytes.push(data.byteLength);
      this.total += data.byteLength;
      this.history.push(frame);
    }
    while (this.count() > 2 && (this.count() > KEEP_FRAMES || this.total > KEEP_BYTES))
      this.dropFirst();
  }

  private clear(): void {
    this.oldest += this.count();
    this.frames = [];
    this.bytes = [];
    this.begin = 0;
    this.total = 0;
    this.history.clear();
  }

  private dropLast(): void {
    this.frames.pop();
    this.total -= this.bytes.pop() ?? 0;
    this.history.pop();
  }

  private dropFirst(): void {
    this.total -= this.bytes[this.begin];
    this.frames[this.begin] = this.frames[this.begin + 1]; // lets go of it
    this.begin++;
    this.oldest++;
    this.history.shift();
    if (this.begin >= 1024) {
      this.frames.splice(0, this.begin);
      this.bytes.splice(0, this.begin);
      this.begin = 0;
    }
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

export async function openLive(
  run: BootRun,
  makeWire: () => Wire = () => wireToServer(run),
): Promise<FrameSource> {
  const source = new LiveSource(makeWire);
  await source.whenOpen;
  return source;
}
