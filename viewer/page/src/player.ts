/* The time that all views show. Recordings are played at a speed, and wait where their frames
 * have not come yet. A live run is followed: its newest frame is shown until the user pauses or
 * seeks back, and again when playing has caught up. */

import type { FrameSource, Player } from "./contract";

const SLOWEST = 0.05;
const FASTEST = 16;

export class TimePlayer implements Player {
  time = 0;
  start = 0;
  end = 0;
  private running = false;
  private following = false;
  private rate = 1;
  private again = false;
  private sources: FrameSource[] = [];
  private listeners: (() => void)[] = [];

  get playing(): boolean {
    return this.running;
  }

  get speed(): number {
    return this.rate;
  }

  set speed(value: number) {
    if (!(value > 0)) return;
    this.rate = Math.max(SLOWEST, Math.min(FASTEST, value));
    this.changed();
  }

  get loop(): boolean {
    return this.again;
  }

  set loop(value: boolean) {
    this.again = value;
    this.changed();
  }

  /** Other runs are open now. */
  setSources(sources: FrameSource[]): void {
    const wasLive = this.isLive();
    this.sources = sources.slice();
    if (this.isLive() && !wasLive) this.running = this.following = true;
    if (!this.isLive()) this.following = false;
    this.refresh();
  }

  /** Frames came or went. */
  refresh(): void {
    let start = Infinity;
    let end = -Infinity;
    for (const source of this.sources) {
      if (source.count() === 0) continue;
      start = Math.min(start, source.timeOf(source.first()));
      end = Math.max(end, source.timeOf(source.first() + source.count() - 1));
    }
    if (!(start <= end)) start = end = 0;
    const time = this.following ? end : Math.max(start, Math.min(this.time, end));
    if (start === this.start && end === this.end && time === this.time) return;
    this.start = start;
    this.end = end;
    this.time = time;
    this.changed();
  }

  play(): void {
    if (this.running) return;
    this.running = true;
    if (this.isLive()) this.following = this.time >= this.end;
    else if (this.time >= this.end) this.time = this.start;
    this.changed();
  }

  pause(): void {
    if (!this.running) return;
    this.running = this.following = false;
    this.changed();
  }

  toggle(): void {
    if (this.running) this.pause();
    else this.play();
  }

  seek(time: number): void {
    if (Number.isNaN(time)) return;
    this.time = Math.max(this.start, Math.min(time, this.end));
    if (this.isLive()) {
      this.following = this.time >= this.end;
      this.running = this.following;
    }
    this.changed();
  }

  stepFrames(count: number): void {
    const source = this.sources[0];
    if (!source || source.count() === 0) return;
    this.running = this.following = false;
    const first = source.first();
    const now = source.indexAt(this.time);
    /* Between two frames, one step back goes to the one before the present time. */
    const between = count < 0 && this.time > source.timeOf(now) ? 1 : 0;
    const index = Math.max(first, Math.min(now + count + between, first + source.count() - 1));
    this.time = source.timeOf(index);
    this.changed();
  }

  on(listener: () => void): void {
    this.listeners.push(listener);
  }

  tick(seconds: number): void {
    if (!this.running || this.following || this.end <= this.start) return;
    for (const source of this.sources)
      if (source.count() > 0 && !source.frame(source.indexAt(this.time))) return; // wait for it
    let time = this.time + Math.min(seconds, 0.25) * this.rate;
    if (time >= this.end) {
      if (this.isLive()) {
        time = this.end;
        this.following = true;
      } else if (this.again) {
        time = this.start + ((time - this.end) % (this.end - this.start));
      } else {
        time = this.end;
        this.running = false;
      }
    }
    this.time = time;
    this.changed();
  }

  private isLive(): boolean {
    return this.sources.some((source) => source.live !== null);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
