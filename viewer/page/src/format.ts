/* Reads manifests, chunks and overviews (docs/view-format.md).
 *
 * A chunk is decoded as a whole into a few typed arrays; its frames are windows into them, and a
 * frame's contacts and figures become objects only when somebody asks. How it fails: FormatError
 * with a text for the user; nothing that is inconsistent is passed on. */

import { CONTACT_MODES, LOAD_KINDS, SENSOR_MODE, SERIES } from "./contract";
import type { Contact, Figures, Frame, Load, Manifest, Overview, SeriesName } from "./contract";

export class FormatError extends Error {}

const HEADER = 32;
const COMPRESSED = 1;
const CODED = 2;
const WITH_CONTACTS = 4; // without it not even their numbers
const WITH_LOADS = 16; // the same
const LOAD_BYTES = 48;

export interface ChunkHeader {
  flags: number;
  first: number;
  frames: number;
  bodies: number;
  contacts: number;
  loads: number;
  figures: number;
  bytes: number;
}

export interface Chunk {
  first: number;
  frames: Frame[];
  time: Float64Array;
  bytes: number; // of memory
}

/** Arrays of all contacts of a chunk; frame f has those from start[f] to start[f + 1]. */
interface ContactTable {
  start: Uint32Array;
  a: Uint32Array;
  b: Uint32Array;
  mode: Uint32Array;
  position: Float32Array;
  normal: Float32Array;
  force: Float32Array;
  gap: Float32Array;
  friction: Float32Array;
  slip: Float32Array;
}

/** The same of loads. */
interface LoadTable {
  start: Uint32Array;
  kind: Uint32Array;
  number: Uint32Array;
  body: Uint32Array;
  point: Float32Array;
  force: Float32Array;
  torque: Float32Array;
}

export function readManifest(text: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text) as Manifest;
  } catch {
    throw new FormatError("The manifest of the run is not JSON.");
  }
  checkManifest(manifest);
  return manifest;
}

export function checkManifest(manifest: Manifest): void {
  if (manifest?.format !== "rigor-view")
    throw new FormatError("This is not the manifest of a run.");
  if (manifest.version !== 1)
    throw new FormatError(
      `The run has format ${String(manifest.version)}; this page reads format 1.`,
    );
  if (!Array.isArray(manifest.bodies) || !Array.isArray(manifest.shapes))
    throw new FormatError("The manifest of the run lists no bodies or shapes.");
  for (const body of manifest.bodies)
    for (const collider of body.colliders)
      if (!manifest.shapes[collider.shape])
        throw new FormatError(`Body ${body.name} has a shape that is not listed.`);
}

export function readHeader(data: ArrayBuffer): ChunkHeader {
  if (data.byteLength < HEADER) throw new FormatError("A chunk is cut off.");
  const view = new DataView(data);
  if (view.getUint32(0, false) !== 0x52475631)
    throw new FormatError("A chunk does not begin with RGV1.");
  const header = {
    flags: view.getUint32(4, true),
    first: view.getUint32(8, true),
    frames: view.getUint32(12, true),
    bodies: view.getUint32(16, true),
    contacts: view.getUint32(20, true),
    loads: 0,
    figures: view.getUint32(24, true),
    bytes: view.getUint32(28, true),
  };
  if (header.figures !== 0 && header.figures !== SERIES.length)
    throw new FormatError(
      `A chunk has ${header.figures} figures per frame instead of ${SERIES.length}.`,
    );
  const { frames: F, bodies: B, contacts: K, figures: G } = header;
  const counts = (header.flags & WITH_CONTACTS ? F : 0) + (header.flags & WITH_LOADS ? F : 0);
  const rest = header.bytes - (16 * F + 52 * F * B + 4 * counts + 60 * K + 4 * F * G);
  header.loads = header.flags & WITH_LOADS ? rest / LOAD_BYTES : 0;
  if (rest !== header.loads * LOAD_BYTES || header.loads < 0 || !Number.isInteger(header.loads))
    throw new FormatError("A chunk's size does not fit its contents.");
  return header;
}

/* Of a compressed chunk, at least the first `wanted` bytes. Reading stops there: the rest is not
 * even unpacked. */
async function inflate(data: ArrayBuffer, wanted: number): Promise<Uint8Array> {
  const stream = new Blob([new Uint8Array(data, HEADER)]).stream();
  const reader = stream.pipeThrough(new DecompressionStream("deflate")).getReader();
  const out = new Uint8Array(wanted);
  let size = 0;
  while (size < wanted) {
    let block;
    try {
      block = await reader.read();
    } catch {
      throw new FormatError("A chunk cannot be unpacked.");
    }
    if (block.done) throw new FormatError("A chunk is shorter than it says.");
    const part = block.value.subarray(0, wanted - size);
    out.set(part, size);
    size += part.length;
  }
  reader.cancel().catch(() => {});
  return out;
}

async function payload(
  data: ArrayBuffer,
  header: ChunkHeader,
  wanted: number,
): Promise<ArrayBuffer> {
  if (header.flags & COMPRESSED) return (await inflate(data, wanted)).buffer as ArrayBuffer;
  return plainPayload(data, wanted);
}

function plainPayload(data: ArrayBuffer, wanted: number): ArrayBuffer {
  if (data.byteLength - HEADER < wanted) throw new FormatError("A chunk is cut off.");
  return data.slice(HEADER, HEADER + wanted);
}

/** The frames' times only. */
export async function readTimes(data: ArrayBuffer): Promise<Float64Array> {
  const header = readHeader(data);
  return new Float64Array(await payload(data, header, 8 * header.frames), 0, header.frames);
}

export async function readChunk(data: ArrayBuffer): Promise<Chunk> {
  const header = readHeader(data);
  return decode(header, await payload(data, header, header.bytes));
}

/** Of a live run: one frame, neither compressed nor coded, so there is nothing to wait for. */
export function readPlainChunk(data: ArrayBuffer): Chunk {
  const header = readHeader(data);
  if (header.flags & COMPRESSED) throw new FormatError("A live frame is compressed.");
  return decode(header, plainPayload(data, header.bytes));
}

export async function readOverview(data: ArrayBuffer): Promise<Overview> {
  const header = readHeader(data);
  const raw = await payload(data, header, header.bytes);
  const F = header.frames;
  const G = header.figures;
  const take = new Taker(raw, (header.flags & CODED) !== 0);
  const time = take.doubles(F);
  take.doubles(F);
  if (header.bodies + header.contacts > 0)
    throw new FormatError("The overview has bodies or contacts in it.");
  if (header.flags & WITH_CONTACTS) take.plain(F);
  const figures = floats(take.words(F * G, G));
  const series = {} as Record<SeriesName, Float32Array>;
  SERIES.forEach((name, column) => {
    const values = new Float32Array(F).fill(NaN);
    if (G > 0) for (let i = 0; i < F; i++) values[i] = figures[i * G + column];
    series[name] = values;
  });
  return { time, series };
}

/* Takes one array after the other, decoding those that are coded. */
class Taker {
  private offset = 0;
  constructor(
    private readonly raw: ArrayBuffer,
    private readonly coded: boolean,
  ) {}

  doubles(count: number): Float64Array {
    const values = new Float64Array(this.raw, this.offset, count);
    this.offset += 8 * count;
    return values;
  }

  plain(count: number): Uint32Array {
    const values = new Uint32Array(this.raw, this.offset, count);
    this.offset += 4 * count;
    return values;
  }

  words(count: number, row: number): Uint32Array {
    if (!this.coded) return this.plain(count);
    const words = this.joinPlanes(count);
    for (let i = row; i < count; i++) words[i] = words[i] + words[i - row];
    return words;
  }

  /* Rows have as many contacts or loads as their frames. */
  varying(start: Uint32Array, columns: number): Uint32Array {
    const frames = start.length - 1;
    const count = start[frames] * columns;
    if (!this.coded) return this.plain(count);
    const words = this.joinPlanes(count);
    for (let f = 1; f < frames; f++) {
      const here = start[f] * columns;
      const before = start[f - 1] * columns;
      const common = Math.min(start[f + 1] - start[f], start[f] - start[f - 1]) * columns;
      for (let i = 0; i < common; i++) words[here + i] = words[here + i] + words[before + i];
    }
    return words;
  }

  private joinPlanes(count: number): Uint32Array {
    const bytes = new Uint8Array(this.raw, this.offset, 4 * count);
    const words = new Uint32Array(count);
    for (let i = 0; i < count; i++)
      words[i] =
        bytes[i] |
        (bytes[count + i] << 8) |
        (bytes[2 * count + i] << 16) |
        (bytes[3 * count + i] << 24);
    this.offset += 4 * count;
    return words;
  }
}

function floats(words: Uint32Array): Float32Array {
  return new Float32Array(words.buffer, words.byteOffset, words.length);
}

/** Where each frame's rows begin, from their numbers. */
function starts(counts: Uint32Array): Uint32Array {
  const start = new Uint32Array(counts.length + 1);
  counts.forEach((count, f) => (start[f + 1] = start[f] + count));
  return start;
}

function takeLoads(take: Taker, header: ChunkHeader): LoadTable {
  const F = header.frames;
  const start = starts(header.flags & WITH_LOADS ? take.plain(F) : new Uint32Array(F));
  if (start[F] !== header.loads) throw new FormatError("A chunk's forces do not add up.");
  return {
    start,
    kind: take.varying(start, 1),
    number: take.varying(start, 1),
    body: take.varying(start, 1),
    point: floats(take.varying(start, 3)),
    force: floats(take.varying(start, 3)),
    torque: floats(take.varying(start, 3)),
  };
}

function vectorAt(values: Float32Array, i: number): [number, number, number] {
  return [values[3 * i], values[3 * i + 1], values[3 * i + 2]];
}

function decode(header: ChunkHeader, raw: ArrayBuffer): Chunk {
  const { frames: F, bodies: B, figures: G } = header;
  const take = new Taker(raw, (header.flags & CODED) !== 0);
  const time = take.doubles(F);
  const step = take.doubles(F);
  const position = floats(take.words(3 * F * B, 3 * B));
  const orientation = floats(take.words(4 * F * B, 4 * B));
  const velocity = floats(take.words(3 * F * B, 3 * B));
  const angular = floats(take.words(3 * F * B, 3 * B));

  const start = starts(header.flags & WITH_CONTACTS ? take.plain(F) : new Uint32Array(F));
  if (start[F] !== header.contacts) throw new FormatError("A chunk's contacts do not add up.");
  const table: ContactTable = {
    start,
    a: take.varying(start, 1),
    b: take.varying(start, 1),
    mode: take.varying(start, 1),
    position: floats(take.varying(start, 3)),
    normal: floats(take.varying(start, 3)),
    force: floats(take.varying(start, 3)),
    gap: floats(take.varying(start, 1)),
    friction: floats(take.varying(start, 1)),
    slip: floats(take.varying(start, 1)),
  };
  const loads = takeLoads(take, header);
  const figures = floats(take.words(F * G, G));

  const frames: Frame[] = [];
  for (let f = 0; f < F; f++)
    frames.push(
      new ChunkFrame(
        header.first + f,
        time[f],
        step[f],
        position.subarray(3 * B * f, 3 * B * (f + 1)),
        orientation.subarray(4 * B * f, 4 * B * (f + 1)),
        velocity.subarray(3 * B * f, 3 * B * (f + 1)),
        angular.subarray(3 * B * f, 3 * B * (f + 1)),
        table,
        loads,
        f,
        figures.subarray(G * f, G * (f + 1)),
      ),
    );
  return { first: header.first, frames, time, bytes: header.bytes + 256 * F };
}

class ChunkFrame implements Frame {
  private contactList: Contact[] | null = null;
  private sensorSet: Set<number> | null = null;
  private loadList: Load[] | null = null;
  private figureList: Figures | null = null;

  constructor(
    public index: number,
    readonly time: number,
    readonly step: number,
    readonly position: Float32Array,
    readonly orientation: Float32Array,
    readonly velocity: Float32Array,
    readonly angular: Float32Array,
    private readonly table: ContactTable,
    private readonly loadTable: LoadTable,
    private readonly row: number,
    private readonly values: Float32Array,
  ) {}

  get contacts(): Contact[] {
    if (this.contactList) return this.contactList;
    const t = this.table;
    const list: Contact[] = [];
    for (let i = t.start[this.row]; i < t.start[this.row + 1]; i++) {
      if (t.mode[i] === SENSOR_MODE) continue;
      list.push({
        a: t.a[i],
        b: t.b[i],
        mode: CONTACT_MODES[t.mode[i]] ?? "separating",
        position: vectorAt(t.position, i),
        normal: vectorAt(t.normal, i),
        force: vectorAt(t.force, i),
        gap: t.gap[i],
        friction: t.friction[i],
        slip: t.slip[i],
      });
    }
    this.contactList = list;
    return list;
  }

  get sensors(): Set<number> {
    if (this.sensorSet) return this.sensorSet;
    const t = this.table;
    this.sensorSet = new Set();
    for (let i = t.start[this.row]; i < t.start[this.row + 1]; i++)
      if (t.mode[i] === SENSOR_MODE) this.sensorSet.add(t.b[i]);
    return this.sensorSet;
  }

  get loads(): Load[] {
    if (this.loadList) return this.loadList;
    const t = this.loadTable;
    const list: Load[] = [];
    for (let i = t.start[this.row]; i < t.start[this.row + 1]; i++)
      list.push({
        kind: LOAD_KINDS[t.kind[i]] ?? "applied",
        number: t.number[i],
        body: t.body[i],
        point: vectorAt(t.point, i),
        force: vectorAt(t.force, i),
        torque: vectorAt(t.torque, i),
      });
    this.loadList = list;
    return list;
  }

  get figures(): Figures {
    if (this.figureList) return this.figureList;
    const figures = {} as Figures;
    SERIES.forEach((name, column) => {
      figures[name] = column < this.values.length ? this.values[column] : NaN;
    });
    this.figureList = figures;
    return figures;
  }
}
