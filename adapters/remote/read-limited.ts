/** Reads the body of an answer, and never more of it than allowed. */

/** Returns the bytes of the body, or `undefined` when there are more than `maxBytes`. They are counted as they come. */
export async function readLimited(
  { body }: Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (!body) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.length;
      if (length > maxBytes) return undefined;
      chunks.push(next.value);
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  } finally {
    void reader.cancel().catch(() => undefined); // a body that has ended is not hurt by it
  }
}
