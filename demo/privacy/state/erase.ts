/** Erases everything that this page stores in the browser. */

import { ownCaches, ownDatabases, ownSettings, type Places } from './inventory.ts';

/** How long to wait for a database that another tab holds open. */
const patienceMs = 20_000;

/**
 * Erases databases, settings and, unless the page could then not be opened any more, its own files. All writers have stopped before.
 * Returns the names of what could not be erased.
 */
export async function eraseAll(places: Places, { keepFiles }: { readonly keepFiles: boolean }): Promise<string[]> {
  const { indexedDB, localStorage } = places;
  for (const name of ownSettings(places)) localStorage?.removeItem(name);
  const names = await ownDatabases(places);
  const outcomes = await Promise.all(
    names.map(async (name) => ({ name, isRemoved: await isDeleted(indexedDB, name) })),
  );
  if (!keepFiles) await eraseFiles(places);
  return outcomes.flatMap(({ name, isRemoved }) => isRemoved ? [] : [name]);
}

/** Whether the page's server responds; else the page depends on its offline files. */
export async function isServed(folder: string, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<boolean> {
  try {
    const { ok } = await fetch(new URL('service-worker.js', folder), { cache: 'no-store', method: 'HEAD' });
    return ok;
  } catch {
    return false;
  }
}

async function eraseFiles(places: Places): Promise<void> {
  const { caches, serviceWorker, folder } = places;
  const registration = await serviceWorker?.getRegistration(folder).catch(() => undefined);
  if (registration?.scope === folder) await registration.unregister();
  for (const name of await ownCaches(places)) await caches?.delete(name);
}

function isDeleted(factory: IDBFactory | undefined, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = factory?.deleteDatabase(name);
    request?.addEventListener('success', () => resolve(true));
    request?.addEventListener('error', () => resolve(false));
    setTimeout(() => resolve(false), patienceMs); // another tab does not let go of it
  });
}
