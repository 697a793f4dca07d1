/** Data in the part of a link after `#`, compressed: browsers send it to no server. */

/** The longest text that is read, in characters, and the longest document in it, in bytes: a short link can expand to gigabytes. */
const longestRead = 65_536;
const longestDocument = 262_144;

/** Returns the link to `page`; `mark` says what it holds, as `#agent=`. */
export async function packLink(mark: string, value: unknown, page: string): Promise<string> {
  const packed = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return `${page}${mark}${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/**
 * Returns a link's content as unvalidated data. `what` names it in errors.
 *
 * @throws Error for a text that is no such link, is too long, or holds too much.
 */
export async function unpackLink(mark: string, hash: string, what: string): Promise<unknown> {
  if (hash.length > longestRead) throw new Error('it is too long');
  const text = hash.startsWith(mark) ? hash.slice(mark.length) : '';
  if (!/^[\w-]+$/.test(text)) throw new Error('it is incomplete or was changed');
  const json = await inflate(text).catch((cause: unknown) => {
    if (cause instanceof RangeError) throw new Error('it is too large', { cause });
    throw new Error('it is incomplete or was changed', { cause });
  });
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new Error(`it contains no ${what}`, { cause });
  }
}

async function inflate(base64url: string): Promise<string> {
  const packed = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(packed, (char) => char.charCodeAt(0));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let length = 0;
  for await (const chunk of chunksOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')))) {
    length += chunk.length;
    if (length > longestDocument) throw new RangeError('Too long');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Streams cannot be iterated in every browser. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
