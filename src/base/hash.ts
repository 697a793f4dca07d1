/** SHA-256, for ids that follow from the content, for chains, and for detecting changes. */

/** The hash of bytes, or of a text as UTF-8, as hexadecimal digits. */
export async function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** At most 4,096 bytes as hexadecimal digits. Runtimes of 2024 have no `toHex`. */
export function hexOf(bytes: Uint8Array): string {
  const codes: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    codes.push(digits[bytes[i]! >> 4]!, digits[bytes[i]! & 15]!); // four bits are below 16
  }
  return String.fromCharCode(...codes); // added digit by digit, the text would be a tree of pieces
}
