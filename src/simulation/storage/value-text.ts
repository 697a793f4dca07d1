/** Stored values and keys as text, to compare and to show. */

import { isRecord } from '../../base/is-record.ts';
import type { Key } from '../../base/key.ts';

/** Returns a text that two values have in common only when they are equal. Stores may reorder the members of objects. */
export function valueText(value: unknown): string {
  return JSON.stringify(plain(value)) ?? 'undefined';
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (value instanceof Date) return { date: value.getTime() };
  if (value instanceof Map) return { map: [...value].map((entry) => entry.map(plain)) };
  if (value instanceof Set) return { set: [...value].map(plain) };
  if (ArrayBuffer.isView(value)) {
    return { bytes: [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)] };
  }
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.keys(value).toSorted().map((name) => [name, plain(value[name])]));
}

/** Returns a key as a report shows it: without ids, which differ from seed to seed. */
export function shownKey(key: Key): string {
  const parts = key.map((part) =>
    typeof part === 'string' && /[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f]{4}-/.test(part) ? '<id>' : JSON.stringify(part)
  );
  return `[${parts.join(', ')}]`;
}
