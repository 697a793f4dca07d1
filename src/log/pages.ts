/** Reading and removing more entries than one call to a storage takes. */

import type { Key } from '../base/key.ts';
import type { Entry, Storage } from '../contracts/storage.ts';

/** Reads the entries under `prefix` behind `after`, `limit` at a time. Returns no empty page. */
export async function* readPages(
  storage: Pick<Storage, 'list'>,
  { after, ...options }: { readonly prefix: Key; readonly after?: Key | undefined; readonly limit: number },
): AsyncGenerator<readonly Entry[], void> {
  for (let last = after;;) {
    const page = await storage.list({ ...options, ...(last && { after: last }) });
    if (page.length > 0) yield page;
    if (page.length < options.limit) return;
    last = page.at(-1)?.key;
  }
}

const keysPerCommit = 100;

/** Removes keys, as many per commit as a storage takes: after an outage some may remain. */
export async function removeKeys(storage: Pick<Storage, 'commit'>, keys: readonly Key[]): Promise<void> {
  for (let at = 0; at < keys.length; at += keysPerCommit) {
    await storage.commit(keys.slice(at, at + keysPerCommit).map((key) => ({ key })));
  }
}
