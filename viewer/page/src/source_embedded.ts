/* A run that lies inside the page itself: JSON and base64 in script elements. */

import type { BootRun, FrameSource } from "./contract";
import { FormatError, readManifest, readOverview, readTimes } from "./format";
import { RecordedSource } from "./source";

function textOf(id: string): string {
  const element = document.getElementById(id);
  if (!element) throw new FormatError(`The page lacks its part ${id}.`);
  return element.textContent ?? "";
}

function fromBase64(text: string): ArrayBuffer {
  let binary;
  try {
    binary = atob(text.trim());
  } catch {
    throw new FormatError("A part of the page is damaged.");
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

export async function openEmbedded(run: BootRun): Promise<FrameSource> {
  const manifest = readManifest(textOf(`rigor-manifest-${run.id}`));
  const overview = await readOverview(fromBase64(textOf(`rigor-overview-${run.id}`)));
  const frames = manifest.frame_count ?? 0;
  const perChunk = Math.max(1, manifest.chunk_frames ?? 64);
  const times = new Float64Array(frames);
  for (let n = 0; n * perChunk < frames; n++) {
    const part = await readTimes(fromBase64(textOf(`rigor-chunk-${run.id}-${n}`)));
    if (part.length !== Math.min(perChunk, frames - n * perChunk))
      throw new FormatError(`Chunk ${n} has not as many frames as the manifest says.`);
    times.set(part, n * perChunk);
  }
  return new RecordedSource({
    manifest,
    overview,
    times,
    fetchChunk: async (n) => fromBase64(textOf(`rigor-chunk-${run.id}-${n}`)),
  });
}
