import { afterEach, describe, expect, it, vi } from 'vitest';
import { indexedDbStorage, type StorageFormat } from '../../../adapters/storage/indexeddb.ts';
import type { ClosableStorage, Watchable } from '../../../src/contracts/storage.ts';
import { createTestClock, type StorageSubject, watchableStorageContract } from '../../contracts/storage.ts';

const opened: { readonly name: string; readonly storage: ClosableStorage }[] = [];

function open(options: Partial<Parameters<typeof indexedDbStorage>[0]> = {}): ClosableStorage & Watchable {
  const name = options.name ?? `test-${crypto.randomUUID()}`;
  const storage = indexedDbStorage({ ...options, name });
  opened.push({ name, storage });
  return storage;
}

function freshSubject(): StorageSubject<ClosableStorage & Watchable> {
  const clock = createTestClock();
  const openFresh = async () => open({ now: clock.now });
  return { clock, open: openFresh, openOther: openFresh };
}

function deleteDatabase(name: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const request = indexedDB.deleteDatabase(name);
  for (const type of ['success', 'error', 'blocked']) request.addEventListener(type, () => resolve(type));
  return promise;
}

/** A factory that hands out the real connections and keeps hold of them. */
function watchedFactory(): { factory: IDBFactory; databases: IDBDatabase[] } {
  const databases: IDBDatabase[] = [];
  const openReal: IDBFactory['open'] = (name, version) => {
    const request = indexedDB.open(name, version);
    request.addEventListener('success', () => databases.push(request.result));
    return request;
  };
  return { factory: { open: openReal } as IDBFactory, databases }; // safe: the adapter only opens
}

/** A factory whose request ends in the given event. */
function failingFactory(type: 'error' | 'blocked', error: DOMException | null): IDBFactory {
  const openNothing = () => {
    const request = Object.assign(new EventTarget(), { error, result: { close: () => {} } });
    queueMicrotask(() => request.dispatchEvent(new Event(type)));
    return request;
  };
  return { open: openNothing } as unknown as IDBFactory; // safe: the adapter only opens, and only listens
}

/** Lets something happen instead of, or after, a row is put. */
function interceptPut(
  intercept: (put: () => IDBRequest, store: IDBObjectStore, row: { value: unknown }) => IDBRequest,
): void {
  const original = Reflect.get(IDBObjectStore.prototype, 'put'); // called with its store
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, row, key) {
    return intercept(() => original.call(this, row, key), this, row);
  });
}

function throwingFactory(name: string): IDBFactory {
  const refuse = () => {
    throw new DOMException('refused', name);
  };
  return { open: refuse } as unknown as IDBFactory; // safe: the adapter only opens
}

const blocked = { code: 'unavailable', details: { reason: 'storage_blocked' } };

describe.skipIf(!('indexedDB' in globalThis))('indexedDbStorage', () => {
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const { name, storage } of opened.splice(0)) {
      await storage.close();
      await deleteDatabase(name);
    }
  });

  describe('keeps the contract of a closable storage', () => {
    it.each(watchableStorageContract)('$name', async ({ run }) => {
      await expect(run(freshSubject())).resolves.toBeUndefined();
    });
  });

  it.skipIf(!globalThis.navigator?.locks)('knows until when a process lives', async () => {
    const name = `test-${crypto.randomUUID()}`;
    const [own, other] = [open({ name }).presence!, open({ name }).presence!];
    const [life, look] = [new AbortController(), new AbortController()];
    await own.show('one', life.signal);
    const ended = other.ended('one', new AbortController().signal);
    const stopped = other.ended('one', look.signal);
    look.abort(new Error('closed'));
    await expect(stopped).rejects.toThrow('closed');
    await open().presence!.ended('one', life.signal); // of another storage
    expect(await Promise.race([ended.then(() => 'ended'), other.ended('two', life.signal)])).toBeUndefined();
    life.abort();
    await expect(ended).resolves.toBeUndefined();
  });

  it('shows one name the same entries in every tab, and decides races between them', async () => {
    const name = `test-${crypto.randomUUID()}`;
    const [tab, otherTab] = [open({ name }), open({ name })];
    await tab.commit([{ key: ['a'], value: 1 }]);
    expect(await otherTab.get(['a'])).toMatchObject({ value: 1 });
    const race = Array.from({ length: 20 }, (_, value) => {
      return (value % 2 === 0 ? tab : otherTab).commit([{ key: ['b'], value, ifVersion: null }]);
    });
    expect((await Promise.all(race)).filter(({ ok }) => ok)).toHaveLength(1);
  });

  it('finds the entries again after it was closed', async () => {
    const name = `test-${crypto.randomUUID()}`;
    const first = open({ name });
    await first.commit([{ key: ['a'], value: 1 }]);
    const entry = await first.get(['a']);
    await first.close();
    expect(await open({ name }).get(['a'])).toEqual(entry);
  });

  it('says what would work when the request to open fails or is blocked', async () => {
    const failing = open({ indexedDB: failingFactory('error', new DOMException('private', 'InvalidStateError')) });
    await expect(failing.get(['a'])).rejects.toMatchObject({ ...blocked, cause: { name: 'InvalidStateError' } });
    await expect(failing.get(['a'])).rejects.toThrow(/memoryStorage/);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const held = open({ indexedDB: failingFactory('blocked', null) });
    const refused = held.list({ prefix: [], limit: 1 });
    void vi.advanceTimersByTimeAsync(10_000);
    await expect(refused).rejects.toMatchObject(blocked);
    vi.useRealTimers();
  });

  describe('with a format', () => {
    const doubled = (version: number): StorageFormat => ({
      version,
      upgrade({ value }, from) {
        if (typeof value !== 'number') throw new Error('It is no number');
        return value * 2 ** (version - from);
      },
    });

    it('converts stored values to the current format when it opens, and leaves those that cannot be converted', async () => {
      const name = `test-${crypto.randomUUID()}`;
      const first = open({ name });
      await first.commit([{ key: ['a'], value: 3 }, { key: ['b'], value: 'not a number' }]);
      const before = await first.get(['a']);
      await first.close();
      const third = open({ name, format: doubled(3) });
      expect(await third.get(['a'])).toEqual({ ...before, value: 12 });
      expect(await third.get(['b'])).toMatchObject({ value: 'not a number' });
      await third.commit([{ key: ['a'], value: 5 }]);
      await third.close();
      expect(await open({ name, format: doubled(3) }).get(['a'])).toMatchObject({ value: 5 });
    });

    it('takes the database over from a tab with an earlier format, which then changes nothing more', async () => {
      const name = `test-${crypto.randomUUID()}`;
      const older = open({ name });
      await older.commit([{ key: ['a'], value: 1 }]);
      const newer = open({ name, format: doubled(2) });
      expect(await newer.get(['a'])).toMatchObject({ value: 2 });
      const refused = { code: 'unavailable', details: { reason: 'storage_newer' } };
      await expect(older.commit([{ key: ['a'], value: 'lost' }])).rejects.toMatchObject(refused);
      await expect(older.get(['a'])).rejects.toMatchObject(refused);
      expect(await newer.get(['a'])).toMatchObject({ value: 2 });
    });
  });

  it('says what would work where there is no IndexedDB', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const storage = indexedDbStorage({ name: 'none' });
    const refusal = storage.get(['a']);
    await expect(refusal).rejects.toMatchObject(blocked);
    await expect(refusal).rejects.toThrow(/memoryStorage/);
    vi.unstubAllGlobals();
  });

  it('is full when the quota is used up while opening', async () => {
    const storage = open({ indexedDB: throwingFactory('QuotaExceededError') });
    await expect(storage.get(['a'])).rejects.toMatchObject({ details: { reason: 'storage_full' } });
  });

  it('opens again when the browser has closed the connection', async () => {
    const { factory, databases } = watchedFactory();
    const storage = open({ indexedDB: factory });
    await storage.commit([{ key: ['a'], value: 1 }]);
    databases[0]?.close();
    const reads = await Promise.all([storage.get(['a']), storage.list({ prefix: [], limit: 1 })]);
    expect(reads).toMatchObject([{ value: 1 }, [{ value: 1 }]]);
    databases.at(-1)?.close();
    expect(await storage.commit([{ key: ['a'], value: 2, ifVersion: reads[0]?.version ?? null }])).toMatchObject({
      ok: true,
    });
    expect((await storage.get(['a']))?.value).toBe(2);
  });

  it.each<[string, (database: IDBDatabase, mode: IDBTransactionMode) => IDBTransaction]>([
    ['refuses transactions', () => {
      throw new DOMException('Connection to Indexed Database server lost', 'UnknownError');
    }],
    ['fails them', (database, mode) => {
      const transaction = database.transaction(['entries'], mode);
      vi.spyOn(transaction.objectStore('entries'), 'get').mockImplementation(() => {
        throw new DOMException('Lost', 'UnknownError');
      });
      return transaction;
    }],
  ])('opens again when a connection that was lost without an event %s', async (_, lost) => {
    const { factory, databases } = watchedFactory();
    const storage = open({ indexedDB: factory });
    await storage.commit([{ key: ['a'], value: 1 }]);
    const original = Reflect.get(IDBDatabase.prototype, 'transaction'); // called with its database
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, names, mode) {
      const isFirst = this === databases[0] && names === 'entries';
      return isFirst ? lost(this, mode ?? 'readonly') : original.call(this, names, mode);
    });
    await storage.commit([{ key: ['b'], value: 2 }]).catch(() => undefined); // it may have been written
    expect(await storage.get(['a'])).toMatchObject({ value: 1 });
    expect(await storage.commit([{ key: ['a'], value: 3 }])).toMatchObject({ ok: true });
    expect(databases).toHaveLength(2);
  });

  it('is full when the browser refuses a write, and has written nothing', async () => {
    const storage = open();
    await storage.commit([{ key: ['a'], value: 1 }]);
    interceptPut((put, _, { value }) => {
      if (value === 'too much') throw new DOMException('no room', 'QuotaExceededError');
      return put();
    });
    await expect(storage.commit([{ key: ['a'], value: 2 }, { key: ['b'], value: 'too much' }])).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
      details: { reason: 'storage_full' },
    });
    expect(await storage.list({ prefix: [], limit: 10 })).toMatchObject([{ key: ['a'], value: 1 }]);
  });

  it('rejects when the transaction aborts after its writes, and has written nothing', async () => {
    const storage = open();
    await storage.commit([{ key: ['a'], value: 1 }]);
    interceptPut((put, store, { value }) => {
      const request = put();
      if (value === 'last') request.addEventListener('success', () => store.transaction.abort());
      return request;
    });
    await expect(storage.commit([{ key: ['a'], value: 2 }, { key: ['b'], value: 'last' }])).rejects.toMatchObject(
      blocked,
    );
    expect(await storage.list({ prefix: [], limit: 10 })).toMatchObject([{ key: ['a'], value: 1 }]);
  });

  it('refuses values that can be cloned but not stored', async () => {
    const storage = open();
    await storage.commit([{ key: ['warm'], value: 1 }]);
    interceptPut(() => {
      throw new DOMException('shared memory', 'DataCloneError');
    });
    await expect(storage.commit([{ key: ['a'], value: 1 }])).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_value' },
    });
  });
});
