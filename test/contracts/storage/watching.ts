import type { Key } from '../../../src/base/key.ts';
import type { Storage, Watchable } from '../../../src/contracts/storage.ts';
import { assertEqual } from '../assert.ts';
import type { StorageCheck } from './check.ts';

/** Resolves with the first news of any of these keys. */
function firstNews(storage: Watchable, keys: readonly Key[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => storage.watch(keys, { signal, onNews: resolve }));
}

/** What every `Watchable` keeps to. */
export const watchingChecks: readonly StorageCheck<Storage & Watchable>[] = [
  {
    name: 'reports a write and a delete',
    async run({ open }) {
      const storage = await open();
      const stop = new AbortController();
      const news: string[] = [];
      const written = firstNews(storage, [['a'], ['b']], stop.signal).then(() => news.push('written'));
      await storage.commit([{ key: ['b'], value: 1 }]);
      await written;
      const deleted = firstNews(storage, [['b']], stop.signal).then(() => news.push('deleted'));
      await storage.commit([{ key: ['b'] }]);
      await deleted;
      stop.abort();
      assertEqual(news, ['written', 'deleted']);
    },
  },
  {
    name: 'reports the last write to a watcher that starts during many writes',
    async run({ open }) {
      const storage = await open();
      const stop = new AbortController();
      const seen = new Promise<void>((resolve) => {
        const look = async (): Promise<void> => {
          if ((await storage.get(['n']))?.value === 20) resolve();
        };
        storage.watch([['n']], { signal: stop.signal, onNews: () => void look() });
      });
      for (let n = 1; n <= 20; n++) await storage.commit([{ key: ['n'], value: n }]);
      await seen;
      stop.abort();
    },
  },
];
