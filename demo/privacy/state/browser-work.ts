/** The work of the privacy page in a browser. */

import type { ClosableStorage } from '../../../src/contracts/storage.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import { openStorage } from '../../storage/open-storage.ts';
import { browserPlaces, ownCaches, ownDatabases, ownSettings, type Places, takeInventory } from './inventory.ts';
import type { PrivacyWork } from './privacy-page.ts';
import { notifyTabs } from './tabs.ts';
import { exportWhole, importWhole, lookAtWhole, parseWhole, type SettingsStore, type WholeOptions } from './whole.ts';

interface BrowserWorkOptions {
  readonly registry: Pick<RegistryControl, 'exportAll' | 'importAll'>;
  /** Ends everything of this page that writes. */
  readonly quiet: () => Promise<void>;
}

/** Creates the work. Opens nothing before the first call. */
export function createBrowserWork({ registry, quiet: quietHere }: BrowserWorkOptions): PrivacyWork {
  const places = browserPlaces();
  const storages = new Map<string, ClosableStorage>();
  const quiet = async (): Promise<void> => {
    notifyTabs('quiet');
    await quietHere();
  };
  const options: WholeOptions = {
    storageOf(database) {
      const storage = storages.get(database) ?? openStorage(database);
      storages.set(database, storage);
      return storage;
    },
    settings: settingsOf(places),
    registry,
    quiet,
    now: () => new Date(),
  };
  return {
    takeInventory: () => takeInventory(places),
    async erase() {
      await quiet();
      await Promise.all([...storages.values()].map((storage) => storage.close()));
      return await eraseAll(places, { keepFiles: !await isServed(places.folder) });
    },
    exportAll: async () => `${JSON.stringify(await exportWhole(options))}\n`,
    parse: parseWhole,
    look: (whole) => lookAtWhole(whole, options),
    importAll: (whole) => importWhole(whole, options),
    reload() {
      notifyTabs('reload');
      location.replace(location.pathname + location.search); // without the chat that was open
    },
  };
}

function settingsOf(places: Places): SettingsStore {
  const { localStorage } = places;
  return {
    all: () =>
      Object.fromEntries(
        ownSettings(places).filter((key) => key !== 'pinnace.format').map((
          key,
        ) => [key.slice('pinnace.'.length), readJson(localStorage?.getItem(key))]),
      ),
    write: (name, value) => localStorage?.setItem(`pinnace.${name}`, JSON.stringify(value)),
  };
}

function readJson(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** How long to wait for a database that another tab holds open. */
const patienceMs = 20_000;

/**
 * Erases databases, settings and, unless the page could then not be opened any more, its own files. All writers have stopped before.
 * Returns the names of what could not be erased.
 */
async function eraseAll(places: Places, { keepFiles }: { readonly keepFiles: boolean }): Promise<string[]> {
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
async function isServed(folder: string, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<boolean> {
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
