/* A film of what is shown, from the beginning of the time line to its end, made picture by picture so that
 * no machine is too slow for it: VP8 by the browser's encoder, in a WebM file written here (RFC 8794 and
 * RFC 9559: EBML, a segment with its length, one track, clusters of simple blocks).
 *
 * How it fails: a browser without VideoEncoder says so; `rigor export --mp4` makes the same film. */

const RATE = 30; // pictures a second
const KEY_EVERY = 60; // pictures between those that stand alone: where a player can jump to
const MICROSECONDS = 1e6;

/** A number in as many bytes as it needs, most significant first. */
function bytesOf(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = Math.floor(value); rest > 0 || bytes.length === 0; rest = Math.floor(rest / 256))
    bytes.unshift(rest % 256);
  return bytes;
}

function float(value: number): number[] {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value);
  return Array.from(new Uint8Array(bytes.buffer));
}

const text = (value: string): number[] => [...value].map((letter) => letter.charCodeAt(0));

/** An element: its identifier, the length of its content in eight bytes, the content. */
function element(id: number, content: number[]): number[] {
  const size = bytesOf(content.length);
  return [...bytesOf(id), 0x01, ...new Array<number>(7 - size.length).fill(0), ...size, ...content];
}

const number = (id: number, value: number): number[] => element(id, bytesOf(value));

function head(width: number, height: number, seconds: number): number[] {
  const ebml = element(0x1a45dfa3, [
    ...number(0x4286, 1), // EBMLVersion
    ...number(0x42f7, 1), // EBMLReadVersion
    ...number(0x42f2, 4), // EBMLMaxIDLength
    ...number(0x42f3, 8), // EBMLMaxSizeLength
    ...element(0x4282, text("webm")), // DocType
    ...number(0x4287, 2), // DocTypeVersion
    ...number(0x4285, 2), // DocTypeReadVersion
  ]);
  const info = element(0x1549a966, [
    ...number(0x2ad7b1, 1000000), // TimestampScale: milliseconds, in nanoseconds
    ...element(0x4489, float(1000 * seconds)), // Duration
    ...element(0x4d80, text("rigor")), // MuxingApp
    ...element(0x5741, text("rigor")), // WritingApp
  ]);
  const track = element(0xae, [
    ...number(0xd7, 1), // TrackNumber
    ...number(0x73c5, 1), // TrackUID
    ...number(0x83, 1), // TrackType: video
    ...element(0x86, text("V_VP8")), // CodecID
    ...element(0xe0, [...number(0xb0, width), ...number(0xba, height)]), // Video
  ]);
  /* A segment of unknown length: what follows is in it. */
  const segment = [0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
  return [...ebml, ...segment, ...info, ...element(0x1654ae6b, track)];
}

/** One picture, in a cluster of its own. */
function cluster(chunk: EncodedVideoChunk): Uint8Array<ArrayBuffer>[] {
  const data = new Uint8Array(chunk.byteLength);
  chunk.copyTo(data);
  const block = [0x81, 0x00, 0x00, chunk.type === "key" ? 0x80 : 0x00]; // track 1, at the cluster's time
  const time = number(0xe7, Math.round(chunk.timestamp / 1000));
  const blockSize = bytesOf(block.length + data.length);
  const blockHead = [0xa3, 0x01, ...new Array<number>(7 - blockSize.length).fill(0), ...blockSize, ...block];
  const size = bytesOf(time.length + blockHead.length + data.length);
  const begin = [0x1f, 0x43, 0xb6, 0x75, 0x01, ...new Array<number>(7 - size.length).fill(0), ...size];
  return [Uint8Array.from([...begin, ...time, ...blockHead]), data];
}

export interface FilmOrder {
  from: number; // s of the run
  to: number;
  speed: number; // seconds of the run a second of the film
  width: number;
  height: number;
  picture(time: number): Promise<HTMLCanvasElement>;
  /** Pictures so far, and in all; false ends it. */
  progress(made: number, all: number): boolean;
}

/** Null: it was ended on the way. */
export async function makeFilm(order: FilmOrder): Promise<Blob | null> {
  if (typeof VideoEncoder === "undefined")
    throw new Error("This browser cannot make films (no VideoEncoder); rigor export --mp4 can.");
  const width = order.width - (order.width % 2);
  const height = order.height - (order.height % 2);
  const seconds = (order.to - order.from) / order.speed;
  const all = Math.max(1, Math.round(seconds * RATE) + 1);
  const parts: Uint8Array<ArrayBuffer>[] = [Uint8Array.from(head(width, height, all / RATE))];
  let problem: Error | null = null;
  const encoder = new VideoEncoder({
    output: (chunk) => parts.push(...cluster(chunk)),
    error: (error) => (problem = error),
  });
  encoder.configure({ codec: "vp8", width, height, framerate: RATE, bitrate: 0.12 * width * height * RATE });
  try {
    for (let i = 0; i < all; i++) {
      if (problem) throw problem;
      if (!order.progress(i, all)) return null;
      const canvas = await order.picture(Math.min(order.to, order.from + (i / RATE) * order.speed));
      const frame = new VideoFrame(canvas, {
        timestamp: Math.round((i * MICROSECONDS) / RATE),
        duration: Math.round(MICROSECONDS / RATE),
        visibleRect: { x: 0, y: 0, width, height },
      });
      encoder.encode(frame, { keyFrame: i % KEY_EVERY === 0 });
      frame.close();
    }
    await encoder.flush();
    if (problem) throw problem;
    return new Blob(parts, { type: "video/webm" });
  } finally {
    if (encoder.state !== "closed") encoder.close();
  }
}
