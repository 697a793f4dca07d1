/** Span ids that every process makes alike, so that they need not be stored. */

/** 16 hexadecimal digits for an agent of a plan (FNV-1a over its address, twice with different offsets). */
export function spanIdOf(planId: string, address: string): string {
  const text = `${planId}/${address}`;
  return hash(text, 0x811c9dc5) + hash(text, 0x01000193);
}

function hash(text: string, offset: number): string {
  let value = offset;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 16;
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  return (value >>> 0).toString(16).padStart(8, '0');
}
