/* What `rigor export` makes of a recording: the page of fifty dominoes is small, the glTF is valid by
 * Khronos' validator and moves as the recording does, pictures and films are what they should be. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { check, checkNear, main, require } from "./harness.mjs";

const MEGABYTE = 1e6;

function testSize(bench, recording) {
  bench.rigor("export", recording, "--html", "fifty.html");
  const size = statSync(bench.file("fifty.html")).size;
  console.log(`  the page of 50 dominoes, 10 s: ${(size / MEGABYTE).toFixed(2)} MB`);
  check(size < 3 * MEGABYTE, `${size} bytes`);
}

/** The JSON part of a binary glTF, and a function that reads an accessor. */
function readGltf(bytes) {
  check(bytes.toString("latin1", 0, 4) === "glTF" && bytes.readUInt32LE(4) === 2, "binary glTF 2");
  const length = bytes.readUInt32LE(12);
  const json = JSON.parse(bytes.toString("utf8", 20, 20 + length));
  const data = 20 + length + 8;
  const numbers = { SCALAR: 1, VEC3: 3, VEC4: 4 };
  const read = (index) => {
    const accessor = json.accessors[index];
    const view = json.bufferViews[accessor.bufferView];
    const begin = data + (view.byteOffset ?? 0) + (accessor.byteOffset ?? 0);
    return Array.from({ length: accessor.count * numbers[accessor.type] }, (_, i) => bytes.readFloatLE(begin + 4 * i));
  };
  return { json, read };
}

async function testGltf(bench, recording) {
  bench.rigor("export", recording, "--gltf", "dominoes.glb");
  const bytes = readFileSync(bench.file("dominoes.glb"));
  const report = await require("gltf-validator").validateBytes(new Uint8Array(bytes));
  const messages = report.issues.messages.map((message) => `${message.code} ${message.pointer}: ${message.message}`);
  check(report.issues.numErrors === 0, `errors:\n  ${messages.slice(0, 10).join("\n  ")}`);
  check(report.issues.numWarnings === 0, `warnings:\n  ${messages.slice(0, 10).join("\n  ")}`);

  const { json, read } = readGltf(bytes);
  check(json.animations?.length === 1, "one animation");
  const node = json.nodes.findIndex((one) => /1/.test(one.name ?? "") && one.mesh !== undefined);
  const animation = json.animations[0];
  const times = read(animation.samplers[0].input);
  checkNear(times[times.length - 1], 10, 1e-6, "its length");
  check(node >= 0 && animation.channels.some((channel) => channel.target.path === "rotation"), "bodies turn");
  /* The first domino has fallen: some node ends lower than it began (y is up in glTF, unless a
   * parent turns it). */
  const falls = animation.channels.some((channel) => {
    if (channel.target.path !== "translation") return false;
    const places = read(animation.samplers[channel.sampler].output);
    return [0, 1, 2].some((axis) => Math.abs(places[axis] - places[places.length - 3 + axis]) > 0.01);
  });
  check(falls, "bodies move");
}

function testPng(bench, recording) {
  bench.rigor("export", recording, "--png", "frames", "--fps", "20", "--size", "640x360");
  const names = readdirSync(bench.file("frames")).sort();
  check((names.length === 10 || names.length === 11) && names.every((name) => /\.png$/.test(name)), `${names.length} pictures: ${names.slice(0, 3)}`);
  const pictures = names.map((name) => readFileSync(join(bench.file("frames"), name)));
  for (const bytes of pictures) check(bytes.readUInt32BE(0) === 0x89504e47, "they are PNGs");
  const size = (bytes) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  check(pictures.every((bytes) => String(size(bytes)) === String(size(pictures[0]))), "all of one size");
  check(String(size(pictures[0])) === "640,360", `as large as was asked: ${size(pictures[0])}`);
  check(!pictures[0].equals(pictures[pictures.length - 1]), "the last is not the first");
  check(pictures[0].length > 5000, "there is something in them");
}

/** Pixels of the orange of the first body in each picture of a strip. */
function orangeOf(svg) {
  return [...svg.matchAll(/base64,([^"]+)"/g)].map(([, text]) => {
    const raw = execFileSync("ffmpeg", ["-loglevel", "error", "-i", "pipe:0", "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"], {
      input: Buffer.from(text, "base64"),
      maxBuffer: 64 * MEGABYTE,
    });
    let count = 0;
    for (let i = 0; i < raw.length; i += 3) if (raw[i] > raw[i + 2] + 60) count++;
    return count;
  });
}

/* A ball that slides ten of its radii between two pictures is in both, as large as before: one camera
 * for all of them. */
function testStrip(bench) {
  bench.rigor("strip", "point-on-incline", "--at", "0.01,0.2", "--out", "strip.svg");
  const [first, last] = orangeOf(readFileSync(bench.file("strip.svg"), "utf8"));
  check(first > 500 && last > 0.7 * first && last < 1.4 * first, `orange pixels: ${first}, ${last}`);
  bench.rigor("strip", "billiard", "--at", "0,1", "--view", "x", "--out", "ends.svg");
  bench.rigor("strip", "billiard", "--at", "0,1", "--view", "-y", "--out", "side.svg");
  const ends = orangeOf(readFileSync(bench.file("ends.svg"), "utf8"));
  const side = orangeOf(readFileSync(bench.file("side.svg"), "utf8"));
  check(ends[0] === 0 && side[0] > 100 && side[1] > 100, `behind the last ball ${ends[0]}, from the side ${side}`);
}

function testMp4(bench, recording) {
  bench.rigor("export", recording, "--mp4", "film.mp4", "--fps", "20", "--size", "640x360");
  const probe = JSON.parse(
    execFileSync("ffprobe", ["-v", "error", "-show_streams", "-show_format", "-of", "json", bench.file("film.mp4")], {
      encoding: "utf8",
    }),
  );
  const stream = probe.streams.find((one) => one.codec_type === "video");
  check(stream?.codec_name === "h264", `codec ${stream?.codec_name}`);
  check(stream.pix_fmt === "yuv420p", `pixels that every player shows: ${stream.pix_fmt}`);
  check(stream.width === 640 && stream.height === 360, `${stream.width} x ${stream.height}`);
  checkNear(Number(probe.format.duration), 0.5, 0.2, "its length");
}

await main(async (bench) => {
  const fifty = bench.record("fifty", "dominoes", "count=50", "--duration", "10");
  await bench.test("a page of 50 dominoes, 10 s, is under 3 MB", () => testSize(bench, fifty));
  await bench.test("glTF", () => testGltf(bench, fifty));
  const short = bench.record("short", "dominoes", "count=5", "--duration", "0.5");
  await bench.test("pictures", () => testPng(bench, short));
  await bench.test("a film", () => testMp4(bench, short));
  await bench.test("a strip", () => testStrip(bench));
});
