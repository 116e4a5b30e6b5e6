/* A recorded run, wherever its bytes lie: fetches the chunks that are looked at and a little
 * ahead in the direction of travel, and forgets the least recently used ones when they fill the
 * memory set aside for them. So an hour's recording is seen without loading it whole.
 *
 * How it fails: when a chunk cannot be had, error() says so as long as it is the one looked at,
 * and it is tried again when it is asked for after a while. */

import type { Frame, FrameSource, Manifest, Overview } from "./contract";
import { readChunk } from "./format";
import type { Chunk } from "./format";

export interface RecordedData {
  manifest: Manifest;
  times: Float64Array;
  overview: Overview;
  /** The bytes of a chunk. */
  fetchChunk(index: number): Promise<ArrayBuffer>;
}

const CACHE_BYTES = 128 << 20;
const AHEAD = 2; // chunks
const AT_ONCE = 3; // requests
const RETRY_MS = 2000;

export class RecordedSource implements FrameSource {
  readonly live = null;
  readonly manifest: Manifest;
  private readonly times: Float64Array;
  private readonly chunkFrames: number;
  private readonly chunkCount: number;
  private readonly chunks = new Map<number, Chunk>(); // in the order of last use
  private bytes = 0;
  private wanted: number[] = [];
  private readonly running = new Set<number>();
  private readonly failed = new Map<number, { when: number; why: string }>(); // by chunk
  private listeners: (() => void)[] = [];
  private lastChunk = 0;
  private direction = 1;
  private closed = false;

  constructor(
    private readonly data: RecordedData,
    private readonly cacheBytes = CACHE_BYTES,
  ) {
    this.manifest = data.manifest;
    this.times = data.times;
    this.chunkFrames = Math.max(1, data.manifest.chunk_frames ?? 64);
    this.chunkCount = Math.ceil(this.times.length / this.chunkFrames);
  }

  first(): number {
    return 0;
  }

  count(): number {
    return this.times.length;
  }

  timeOf(index: number): number {
    if (this.times.length === 0) return 0;
    return this.times[Math.max(0, Math.min(index, this.times.length - 1))];
  }

  indexAt(time: number): number {
    let low = 0;
    let high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  frame(index: number): Frame | null {
    if (index < 0 || index >= this.times.length) return null;
    const number = Math.floor(index / this.chunkFrames);
    if (number !== this.lastChunk) {
      this.direction = number > this.lastChunk ? 1 : -1;
      this.lastChunk = number;
    }
    this.want(number);
    const chunk = this.chunks.get(number);
    if (!chunk) return null;
    this.chunks.delete(number); // and to the end: most recently used
    this.chunks.set(number, chunk);
    return chunk.frames[index - number * this.chunkFrames] ?? null;
  }

  peek(index: number): Frame | null {
    const number = Math.floor(index / this.chunkFrames);
    return this.chunks.get(number)?.frames[index - number * this.chunkFrames] ?? null;
  }

  prefetch(index: number): void {
    const number = Math.floor(index / this.chunkFrames);
    if (this.closed || this.running.size > 0 || this.chunks.has(number)) return;
    if (Date.now() - (this.failed.get(number)?.when ?? -Infinity) >= RETRY_MS) void this.load(number);
  }

  overview(): Overview {
    return this.data.overview;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  error(): string | null {
    return this.failed.get(this.lastChunk)?.why ?? null;
  }

  close(): void {
    this.closed = true;
    this.listeners = [];
    this.chunks.clear();
  }

  private want(number: number): void {
    this.wanted.length = 0;
    for (let i = 0; i <= AHEAD; i++) {
      const next = number + i * this.direction;
      if (next >= 0 && next < this.chunkCount && !this.chunks.has(next)) this.wanted.push(next);
    }
    if (this.wanted.length > 0) this.pump();
  }

  private pump(): void {
    const now = Date.now();
    for (const number of this.wanted) {
      if (this.closed || this.running.size >= AT_ONCE) return;
      if (this.running.has(number) || this.chunks.has(number)) continue;
      if (now - (this.failed.get(number)?.when ?? -Infinity) < RETRY_MS) continue;
      void this.load(number);
    }
  }

  private async load(number: number): Promise<void> {
    this.running.add(number);
    try {
      const chunk = await readChunk(await this.data.fetchChunk(number));
      if (this.closed) return;
      this.failed.delete(number);
      this.chunks.set(number, chunk);
      this.bytes += chunk.bytes;
      this.forget(number);
    } catch (problem) {
      this.failed.set(number, {
        when: Date.now(),
        why: problem instanceof Error ? problem.message : String(problem),
      });
    } finally {
      this.running.delete(number);
    }
    if (this.closed) return;
    this.pump();
    for (const listener of this.listeners) listener();
  }

  /* Never the chunk just loaded, nor the one that is shown. */
  private forget(newest: number): void {
    for (const [number, chunk] of this.chunks) {
      if (this.bytes <= this.cacheBytes) return;
      if (number === newest || number === this.lastChunk) continue;
      this.chunks.delete(number);
      this.bytes -= chunk.bytes;
    }
  }
}
