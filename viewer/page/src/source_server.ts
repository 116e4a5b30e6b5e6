/* A recording that `rigor view` serves. */

import type { BootRun, FrameSource } from "./contract";
import { FormatError, readManifest, readOverview } from "./format";
import { RecordedSource } from "./source";

/** The address of a resource of the server that served this page, with the page's token. */
export function serverAddress(path: string): string {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const address = new URL(path, location.origin);
  address.searchParams.set("token", token);
  return address.href;
}

async function get(path: string): Promise<Response> {
  let answer;
  try {
    answer = await fetch(serverAddress(path), { cache: "no-store" });
  } catch {
    throw new FormatError("The server does not answer. Is rigor view still running?");
  }
  if (!answer.ok)
    throw new FormatError(`The server refuses ${path}: ${answer.status} ${answer.statusText}.`);
  return answer;
}

export async function fetchRuns(): Promise<BootRun[]> {
  return (await (await get("/api/runs")).json()) as BootRun[];
}

export async function openServed(run: BootRun): Promise<FrameSource> {
  const base = `/api/runs/${encodeURIComponent(run.id)}`;
  const [manifest, overview, times] = await Promise.all([
    get(`${base}/manifest`).then((answer) => answer.text()),
    get(`${base}/overview`).then((answer) => answer.arrayBuffer()),
    get(`${base}/times`).then((answer) => answer.arrayBuffer()),
  ]);
  return new RecordedSource({
    manifest: readManifest(manifest),
    overview: await readOverview(overview),
    times: new Float64Array(times, 0, times.byteLength >> 3),
    fetchChunk: async (n) => (await get(`${base}/chunks/${n}`)).arrayBuffer(),
  });
}
