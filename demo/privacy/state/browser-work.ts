/** The work of the privacy page in a browser. */

import type { ClosableStorage } from '../../../src/contracts/storage.ts';
import { openStorage } from '../../storage/open-storage.ts';
import type { RegistryControl } from '../../agents/worker/control.ts';
import type { PrivacyWork } from './privacy-page.ts';
import { eraseAll, isServed } from './erase.ts';
import { browserPlaces, ownSettings, type Places, takeInventory } from './inventory.ts';
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
