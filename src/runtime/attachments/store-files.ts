/** Stores what is too large for a run's log: base64 in outputs and chunks becomes the address of a stored file. */

import { fromBase64 } from '../../base/base64.ts';
import { isRecord } from '../../base/is-record.ts';
import { sniffType } from './file-type.ts';
import type { LoadedFile } from './files.ts';
import { readDataUrl } from './references.ts';

/** Longer base64 is stored, in UTF-16 code units. */
export const longestInline = 65_536;

/** Stores a file, and returns its address; `undefined` where the store has failed. */
export type StoreFile = (file: Omit<LoadedFile, 'from'>) => Promise<string | undefined>;

/** Returns the data with the address of a stored file in place of each long base64 text or data URL. */
export async function withStoredFiles<T>(data: T, store: StoreFile): Promise<T> {
  const stored = new Map<string, string>();
  await Promise.all([...longTextsIn(data)].map(async (text) => {
    const file = readLong(text);
    if (file) stored.set(text, await store(file) ?? 'left out: the file store has failed');
  }));
  return stored.size === 0 ? data : replaced(data, stored) as T; // of the same shape
}

/** The long texts within data that may be base64. */
function longTextsIn(data: unknown, found = new Set<string>()): Set<string> {
  if (typeof data === 'string') return data.length > longestInline ? found.add(data) : found;
  if (Array.isArray(data)) { for (const item of data) longTextsIn(item, found); }
  else if (isRecord(data)) { for (const value of Object.values(data)) longTextsIn(value, found); }
  return found;
}

function readLong(text: string): Omit<LoadedFile, 'from'> | undefined {
  const base64 = readDataUrl(text)?.base64 ?? text;
  const bytes = fromBase64(base64);
  return bytes && { bytes, base64, mediaType: sniffType(bytes) ?? 'application/octet-stream' };
}

function replaced(data: unknown, stored: ReadonlyMap<string, string>): unknown {
  if (typeof data === 'string') return stored.get(data) ?? data;
  if (Array.isArray(data)) return data.map((item) => replaced(item, stored));
  if (!isRecord(data)) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, replaced(value, stored)]));
}
