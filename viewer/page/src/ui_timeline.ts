/* The time line: transport buttons, speed, the scrub bar with a small plot of the kinetic energy
 * behind it (the number of contacts where energy was not measured) and red marks where the certificate
 * fails, and the time. For a live run the buttons drive the simulation, and the bar goes back over the
 * frames that the page still has. */

import type { Overview } from "./contract";
import { type Context, type Panel, comparing } from "./ui_context";
import { h, iconButton, paced, setAttribute, setIcon, setText } from "./ui_dom";
import { count, seconds } from "./ui_number";

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export function speedText(speed: number): string {
  return `${speed}×`;
}

function createSpeed(testId: string, label: string, change: (speed: number) => void): HTMLSelectElement {
  const options = SPEEDS.map((speed) =>
    h("option", { value: speed, selected: speed === 1 }, speedText(speed)),
  );
  return h(
    "select",
    {
      class: "speed",
      title: label,
      "aria-label": label,
      "data-testid": testId,
      onchange: (event: Event) => change(Number((event.target as HTMLSelectElement).value)),
    },
    ...options,
  );
}

/** Selects the speed; one that is not in the list is added, so that what is shown is true. */
function showSpeed(select: HTMLSelectElement, speed: number): void {
  if (Number(select.value) === speed) return;
  const found = [...select.options].find((option) => Number(option.value) === speed);
  if (found) found.selected = true;
  else select.append(h("option", { value: speed, selected: true }, speedText(speed)));
}

export function nextSpeed(speed: number, direction: number): number {
  if (direction > 0) return SPEEDS.find((other) => other > speed * 1.001) ?? SPEEDS[SPEEDS.length - 1];
  return [...SPEEDS].reverse().find((other) => other < speed * 0.999) ?? SPEEDS[0];
}

/** Kinetic energy if there is more of it than rounding leaves in bodies at rest. */
function miniSeries(overview: Overview): Float32Array {
  const { kinetic, energy, contacts } = overview.series;
  let most = 0;
  for (const value of energy) if (Math.abs(value) > most) most = Math.abs(value);
  return kinetic.some((value) => value > 1e-9 * most) ? kinetic : contacts;
}

/** Filled area from the bottom; NaN leaves a gap. */
function drawMini(canvas: HTMLCanvasElement, context: Context): void {
  const { player, sources } = context.app;
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (width < 2 || height < 2) return;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  if (!pen || sources.length === 0) return;
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const span = Math.max(player.end - player.start, 1e-9);
  const overview = sources[0].overview();
  const values = miniSeries(overview);
  let high = 0;
  for (const value of values) if (value > high && value < Infinity) high = value;
  pen.fillStyle = style.getPropertyValue("--mini");
  if (high > 0) {
    pen.beginPath();
    pen.moveTo(0, height);
    let x = 0;
    for (let i = 0; i < values.length; i++) {
      x = ((overview.time[i] - player.start) / span) * width;
      const y = Number.isNaN(values[i]) ? height : height - (values[i] / high) * (height - 7);
      pen.lineTo(x, y);
    }
    pen.lineTo(x, height);
    pen.fill();
  }
  pen.fillStyle = style.getPropertyValue("--bad");
  for (const certificate of context.certificates) {
    for (const { from, to } of certificate.spans) {
      const left = ((from - player.start) / span) * width;
      pen.fillRect(left, 0, Math.max(2, ((to - from) / span) * width), 4);
    }
  }
}

interface Transport {
  element: HTMLElement;
  update(): void;
}

function createRecordingButtons(context: Context): Transport {
  const { player } = context.app;
  const back = iconButton("back", "One frame back (←)", "step-back", () => player.stepFrames(-1));
  const play = iconButton("play", "Play (space)", "play", () => player.toggle());
  const forward = iconButton("forward", "One frame on (→)", "step-forward", () => player.stepFrames(1));
  const loop = iconButton("loop", "Loop (l)", "loop", () => (player.loop = !player.loop));
  const speed = createSpeed("speed", "Speed (+ and −)", (value) => (player.speed = value));
  play.classList.add("primary");
  return {
    element: h(
      "div",
      { class: "transport", role: "group", "aria-label": "Playback" },
      back,
      play,
      forward,
      speed,
      loop,
    ),
    update: () => {
      setIcon(play, player.playing ? "pause" : "play", player.playing ? "Pause (space)" : "Play (space)");
      setAttribute(loop, "aria-pressed", String(player.loop));
      showSpeed(speed, player.speed);
    },
  };
}

/** Runs or stops the simulation; the view goes to the newest frame when it runs. */
export function toggleLive(context: Context): void {
  const live = context.live();
  if (!live) return;
  if (live.state().running) {
    live.pause();
  } else {
    followNewest(context);
    live.play();
  }
}

export function followNewest(context: Context): void {
  const { player } = context.app;
  player.seek(player.end);
  player.play();
}

export function stepLive(context: Context): void {
  const live = context.live();
  if (!live) return;
  followNewest(context);
  live.step(1);
}

function createLiveButtons(context: Context): Transport {
  const { player } = context.app;
  const reset = iconButton("reset", "Start again (r)", "live-reset", () => {
    context.live()?.reset();
    followNewest(context);
  });
  const play = iconButton("play", "Run (space)", "live-play", () => toggleLive(context));
  const step = iconButton("forward", "One step (→)", "live-step", () => stepLive(context));
  const back = iconButton("back", "One frame back (←)", "step-back", () => {
    context.live()?.pause();
    player.stepFrames(-1);
  });
  const newest = iconButton("newest", "To the newest frame (end)", "newest", () => followNewest(context));
  const speed = createSpeed("live-speed", "Simulated seconds per second", (value) =>
    context.live()?.setSpeed(value),
  );
  play.classList.add("primary");
  return {
    element: h(
      "div",
      { class: "transport", role: "group", "aria-label": "Simulation" },
      reset,
      back,
      play,
      step,
      speed,
      newest,
    ),
    update: () => {
      const state = context.live()?.state();
      if (!state) return;
      setIcon(play, state.running ? "pause" : "play", state.running ? "Pause (space)" : "Run (space)");
      showSpeed(speed, state.speed);
      const off = !state.connected;
      for (const button of [reset, play, step]) button.disabled = off;
      newest.disabled = player.time >= player.end - 1e-9;
    },
  };
}

export function createTimeline(context: Context, extra: HTMLElement): Panel {
  const { player } = context.app;
  const recording = createRecordingButtons(context);
  const live = createLiveButtons(context);
  const canvas = h("canvas", { class: "mini", "aria-hidden": "true" });
  const cursor = h("div", { class: "cursor", "aria-hidden": "true" });
  const played = h("div", { class: "played", "aria-hidden": "true" });
  const bubble = h("div", { class: "bubble", "aria-hidden": "true", hidden: true });
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: "any",
    value: 0,
    "aria-label": "Time",
    "data-testid": "timeline",
  });
  const bar = h("div", { class: "scrub" }, canvas, played, cursor, slider, bubble);
  const time = h("output", { class: "time", "data-testid": "time", "aria-label": "Time" });
  const frameNumber = h("span", { class: "frame-number" });
  const clock = h("div", { class: "clock" }, time, frameNumber);
  const transports = h("div", { class: "transports" });
  const element = h("footer", { class: "timeline" }, transports, bar, clock, extra);

  /* A recording that plays is held while the pointer is down, and goes on from there. */
  let resume = false;
  slider.addEventListener("pointerdown", () => {
    resume = player.playing && !context.live();
    if (resume) player.pause();
  });
  slider.addEventListener("input", () => {
    const run = context.live();
    if (run?.state().running) run.pause();
    player.seek(Number(slider.value));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    slider.addEventListener(end, () => {
      if (resume) player.play();
      resume = false;
    });
  }
  bar.addEventListener("pointermove", (event) => {
    const box = bar.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const span = player.end - player.start;
    setText(bubble, seconds(player.start + part * span, span));
    bubble.hidden = event.pointerType === "touch";
    bubble.style.left = `${Math.min(box.width - 36, Math.max(36, part * box.width))}px`;
  });
  bar.addEventListener("pointerleave", () => (bubble.hidden = true));

  let drawn = "";
  const draw = paced(250, () => drawMini(canvas, context));
  const update = (): void => {
    const { start, end } = player;
    const span = Math.max(end - start, 1e-9);
    const part = Math.min(1, Math.max(0, (player.time - start) / span));
    const bounds = `${start} ${end}`;
    if (slider.dataset.bounds !== bounds) {
      slider.dataset.bounds = bounds;
      slider.min = String(start);
      slider.max = String(end);
    }
    slider.value = String(player.time);
    slider.setAttribute("aria-valuetext", `${seconds(player.time, span)} of ${seconds(end, span)}`);
    cursor.style.left = `${part * 100}%`;
    played.style.width = `${part * 100}%`;
    setText(time, seconds(player.time, end));
    const frame = context.frames[0];
    const source = context.app.sources[0];
    const behind = end - player.time;
    const age = behind > 1e-9 ? `${seconds(behind, 1)} back` : "newest";
    const number = context.live()
      ? age
      : frame && source
        ? `${count(frame.index + 1)} / ${count(source.first() + source.count())}`
        : "loading …";
    setText(frameNumber, comparing(context) ? `of ${seconds(end, end)}` : number);
    (context.live() ? live : recording).update();
    const state = `${context.version} ${bounds} ${bar.clientWidth} ${context.theme.current()} ${context.certificates.length}`;
    if (drawn !== state) {
      drawn = state;
      draw();
    }
  };
  const arrange = (): void => {
    const wanted = (context.live() ? live : recording).element;
    if (wanted.parentElement !== transports) transports.replaceChildren(wanted);
    drawn = "";
    update();
  };
  return { element, arrange, update };
}
