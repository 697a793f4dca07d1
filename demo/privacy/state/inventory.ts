/** The page's stored data: databases, settings, offline files. Only the page's own names. */

/** A place with stored data. */
export interface Holding {
  readonly kind: 'database' | 'settings' | 'files' | 'worker';
  readonly name: string;
  /** Entries, by object store where there is more than one. */
  readonly stores: readonly { readonly name: string; readonly count: number; readonly bytes: number }[];
}

/** All stored data. */
export interface Inventory {
  readonly holdings: readonly Holding[];
  /** By the browser's own account; it counts what other pages of the origin keep, too. */
  readonly usage: number | undefined;
  readonly quota: number | undefined;
  /** The browser keeps it even when space is low. */
  readonly isPersistent: boolean;
}

/** The storages to inspect; the browser's own by default. */
export interface Places {
  readonly indexedDB: IDBFactory | undefined;
  readonly caches: CacheStorage | undefined;
  readonly localStorage: Storage | undefined;
  readonly storage: StorageManager | undefined;
  readonly serviceWorker: ServiceWorkerContainer | undefined;
  /** The page's folder, as a URL. */
  readonly folder: string;
}

/** The names that databases have here, for browsers that do not list them. */
const databaseNames = ['pinnace', 'pinnace-playground', 'pinnace-runs', 'pinnace-vault:pinnace-vault'];
/** The sample of a store to estimate its size. */
const sample = { rows: 200, bytes: 4_000_000 };

/** Returns the browser's own places; a browser may refuse any of them. */
export function browserPlaces(): Places {
  const given = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch {
      return undefined;
    }
  };
  return {
    indexedDB: given(() => globalThis.indexedDB),
    caches: given(() => globalThis.caches),
    localStorage: given(() => globalThis.localStorage),
    storage: navigator.storage,
    serviceWorker: navigator.serviceWorker,
    folder: new URL('./', document.baseURI).href,
  };
}

/** Inspects all places. Omits what a browser does not report. */
export async function takeInventory(places: Places): Promise<Inventory> {
  const { storage } = places;
  const [databases, files, worker, estimate, isPersistent] = await Promise.all([
    holdingDatabases(places),
    holdingFiles(places),
    holdingWorker(places),
    storage?.estimate?.().catch(() => undefined),
    storage?.persisted?.().catch(() => false),
  ]);
  return {
    holdings: [...databases, ...holdingSettings(places), ...files, ...worker],
    usage: estimate?.usage,
    quota: estimate?.quota,
    isPersistent: isPersistent ?? false,
  };
}

/** The page's databases. */
export async function ownDatabases({ indexedDB }: Pick<Places, 'indexedDB'>): Promise<readonly string[]> {
  if (!indexedDB) return [];
  const found = await indexedDB.databases?.().catch(() => undefined);
  if (!found) return databaseNames;
  return found.flatMap(({ name = '' }) => /^pinnace(?:[-:]|$)/.test(name) ? [name] : []).toSorted();
}

/** The names of the page's settings. */
export function ownSettings({ localStorage }: Pick<Places, 'localStorage'>): readonly string[] {
  return Object.keys(localStorage ?? {}).filter((name) => name.startsWith('pinnace.')).toSorted();
}

/** The caches of the page's folder. */
export async function ownCaches({ caches, folder }: Pick<Places, 'caches' | 'folder'>): Promise<readonly string[]> {
  const names = await caches?.keys().catch(() => []) ?? [];
  return names.filter((name) => name.startsWith(`pinnace ${new URL(folder).pathname} `));
}

async function holdingDatabases(places: Places): Promise<Holding[]> {
  const { indexedDB } = places;
  const holdings: Holding[] = [];
  for (const name of indexedDB ? await ownDatabases(places) : []) {
    const stores = await lookInto(indexedDB!, name).catch(() => undefined); // safe: checked above
    if (stores) holdings.push({ kind: 'database', name, stores });
  }
  return holdings;
}

async function lookInto(factory: IDBFactory, name: string): Promise<Holding['stores'] | undefined> {
  const database = await openExisting(factory, name);
  if (!database) return undefined;
  try {
    const stores = [...database.objectStoreNames];
    return await Promise.all(stores.map((store) => measure(database.transaction(store).objectStore(store))));
  } finally {
    database.close();
  }
}

/** Asking for a database makes it: one that was not there is not made. */
function openExisting(factory: IDBFactory, name: string): Promise<IDBDatabase | undefined> {
  return new Promise((resolve, reject) => {
    const request = factory.open(name);
    let isNew = false;
    request.addEventListener('upgradeneeded', () => {
      isNew = true;
      request.transaction?.abort();
    });
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener(
      'error',
      () => isNew ? resolve(undefined) : reject(request.error ?? new Error('It failed')),
    );
  });
}

/** Counts all and weighs some: the size is about right. */
async function measure(store: IDBObjectStore): Promise<Holding['stores'][number]> {
  const counting = settled(store.count());
  let [rows, bytes] = [0, 0];
  await new Promise<void>((resolve, reject) => {
    const request = store.openCursor();
    request.addEventListener('error', () => reject(request.error ?? new Error('It failed')));
    request.addEventListener('success', () => {
      const { result: cursor } = request;
      if (!cursor || rows >= sample.rows || bytes >= sample.bytes) return resolve();
      rows++;
      bytes += sizeOf(cursor.value);
      cursor.continue();
    });
  });
  const count = await counting;
  return { name: store.name, count, bytes: rows === 0 ? 0 : Math.round(bytes / rows * count) };
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item), 0);
  return Object.entries(value).reduce((sum, [name, field]) => sum + name.length + sizeOf(field), 0);
}

function holdingSettings(places: Places): Holding[] {
  const names = ownSettings(places);
  if (names.length === 0) return [];
  const stores = names.map((name) => ({
    name: name.slice('pinnace.'.length),
    count: 1,
    bytes: name.length + (places.localStorage?.getItem(name)?.length ?? 0),
  }));
  return [{ kind: 'settings', name: 'localStorage', stores }];
}

async function holdingFiles(places: Places): Promise<Holding[]> {
  return await Promise.all((await ownCaches(places)).map(async (name): Promise<Holding> => {
    const cache = await places.caches?.open(name);
    const answers = await Promise.all((await cache?.keys() ?? []).map(async (request) => await cache?.match(request)));
    const bytes = await Promise.all(answers.map(async (answer) => (await answer?.blob())?.size ?? 0));
    const total = bytes.reduce((sum, size) => sum + size, 0);
    return { kind: 'files', name, stores: [{ name: 'files', count: answers.length, bytes: total }] };
  }));
}

async function holdingWorker({ serviceWorker, folder }: Places): Promise<Holding[]> {
  const registration = await serviceWorker?.getRegistration(folder).catch(() => undefined);
  return registration?.scope === folder ? [{ kind: 'worker', name: 'Service worker', stores: [] }] : [];
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('It failed')));
  });
}
