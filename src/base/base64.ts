/** Bytes as base64, and back. */

type Bytes = Uint8Array<ArrayBuffer>;

/** What runtimes of 2025 and later have of their own, many times faster. */
interface NativeBytes {
  readonly toBase64?: () => string;
}
interface NativeConstructor {
  readonly fromBase64?: (text: string) => Bytes;
}

/** Bytes as base64; a text is base64 already. */
export function toBase64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data;
  const native = (data as NativeBytes).toBase64; // feature-tested
  if (native) return native.call(data);
  let binary = '';
  for (let at = 0; at < data.length; at += 0x8000) binary += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(binary);
}

/** The bytes of a text in base64; `undefined` for any other text. */
export function fromBase64(text: string): Bytes | undefined {
  try {
    const native = (Uint8Array as NativeConstructor).fromBase64; // feature-tested
    if (native) return native.call(Uint8Array, text);
    return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The base64 of what may be a data URL, or in letters for URLs. A data URL has a type. */
export function plainBase64(given: unknown): { readonly base64: string; readonly mimeType?: string | undefined } {
  const text = typeof given === 'string' ? given : '';
  const [head = '', mimeType] = /^data:([^,;]*)[^,]*,/i.exec(text.slice(0, 200)) ?? [];
  const base64 = text.slice(head.length).replaceAll('-', '+').replaceAll('_', '/');
  return { base64, ...(mimeType && { mimeType }) };
}

/** The number of bytes that a base64 text encodes, without decoding it. */
export function base64Size(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(text.length * 3 / 4) - padding;
}
