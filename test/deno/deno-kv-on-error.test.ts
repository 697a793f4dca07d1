import { describe, expect, it } from 'vitest';
import { denoKvStorage } from '../../adapters/storage/deno-kv.ts';
import type { OnError } from '../../src/index.ts';

/** A database whose method fails so. */
const failing = (method: 'watch' | 'list', cause: unknown) => async (): Promise<Deno.Kv> => {
  const kv = await Deno.openKv(':memory:');
  const fails = (): never => {
    throw cause;
  };
  return new Proxy(kv, {
    get(target, name) {
      if (name === method) return fails;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
};

describe('onError of denoKvStorage', () => {
  it.each([['watch', 'watch'], ['sweep', 'list']] as const)('receives why "%s" failed', async (id, method) => {
    const reports: unknown[] = [];
    const onError: OnError = (cause, context) => void reports.push([cause, context]);
    const cause = new TypeError('canary');
    const storage = denoKvStorage({ path: ':memory:', openKv: failing(method, cause), onError });
    const stop = new AbortController();
    storage.watch([['a']], { signal: stop.signal, onNews: () => undefined });
    await expect.poll(() => reports).toEqual([[cause, { kind: 'storage', id }]]);
    stop.abort();
    await storage.close();
  });

  it('receives nothing when the storage is closed under a subscription', async () => {
    const reports: unknown[] = [];
    const storage = denoKvStorage({ path: ':memory:', onError: (cause) => void reports.push(cause) });
    const stop = new AbortController();
    const { promise: heard, resolve: onNews } = Promise.withResolvers<void>();
    storage.watch([['a']], { signal: stop.signal, onNews });
    await storage.commit([{ key: ['a'], value: 1 }]);
    await heard;
    await storage.close();
    expect(reports).toEqual([]);
  });
});
