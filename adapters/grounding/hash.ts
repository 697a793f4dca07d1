/** SHA-256, for ids that follow from the content and for parts that tell whether they are whole. */

/** The hash of bytes, hexadecimal. */
export async function hashBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The hash of a text as UTF-8, hexadecimal. */
export function hashText(text: string): Promise<string> {
  return hashBytes(new TextEncoder().encode(text));
}
