/* A scene inside an address: compressed (deflate), in base64 without characters that addresses give a
 * meaning to. What comes after # is never sent to a server. */

const KEY = "#scene=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: ReadableWritablePair): Promise<Uint8Array> {
  const out = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(out).arrayBuffer());
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export function unzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return through(bytes, new DecompressionStream("gzip") as ReadableWritablePair);
}

export async function linkOf(text: string): Promise<string> {
  const bytes = await through(
    new TextEncoder().encode(text),
    new CompressionStream("deflate-raw") as ReadableWritablePair,
  );
  let characters = "";
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return KEY + btoa(characters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The scene of an address; null: there is none in it. */
export async function sceneOf(hash: string): Promise<string | null> {
  if (!hash.startsWith(KEY)) return null;
  const bytes = bytesOf(hash.slice(KEY.length).replace(/-/g, "+").replace(/_/g, "/"));
  const text = await through(
    bytes,
    new DecompressionStream("deflate-raw") as ReadableWritablePair,
  );
  return new TextDecoder().decode(text);
}
