import { afterEach, describe, expect, it, vi } from 'vitest';
import { maxValueBytes } from '../../adapters/storage/value-codec.ts';
import { denoKvStorage } from '../../adapters/storage/deno-kv.ts';
import type { Change } from '../../src/contracts/storage.ts';
import { watchableStorageContract } from '../contracts/storage.ts';
import { blocked, freshPath, freshSubject, interrupted, large, open, openRaw, rawKeys } from './deno-kv-fixture.ts';

/** A hundred large changes whose keys have this many zeros each. */
function withKeysOf(length: number): Change[] {
  return Array.from({ length: 100 }, (_, at) => {
    return { key: [at, '\0'.repeat(length)], value: 'x'.repeat(10_000), ifVersion: null };
  });
}

/** A large text of one character. */
function filledWith(round: number): string {
  return String.fromCodePoint(0x4E00 + round).repeat(100_000);
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each([
  { where: 'in memory', subject: freshSubject(() => ':memory:') },
  { where: 'in a file', subject: freshSubject(freshPath) },
])('denoKvStorage $where keeps the contract of a closable storage', ({ subject }) => {
  it.each(watchableStorageContract)('$name', async ({ run }) => {
    await expect(run(subject())).resolves.toBeUndefined();
  });
});

describe('denoKvStorage', () => {
  it('finds the entries again after it was closed', async () => {
    const path = freshPath();
    const first = open({ path });
    await first.commit([{ key: ['a'], value: 1 }, { key: ['b'], value: large }]);
    const entries = await first.list({ prefix: [], limit: 10 });
    await first.close();
    expect(await open({ path }).list({ prefix: [], limit: 10 })).toEqual(entries);
  });

  it('says what to do where Deno has no KV', async () => {
    vi.stubGlobal('Deno', { ...Deno, openKv: undefined });
    const refusal = denoKvStorage().get(['a']);
    await expect(refusal).rejects.toMatchObject({ ...blocked, retryable: false });
    await expect(refusal).rejects.toThrow(/--unstable-kv.+deno\.json/);
  });

  it('opens again after a failure', async () => {
    let attempts = 0;
    const openKv = () => attempts++ === 0 ? Promise.reject(new Error('unreachable')) : Deno.openKv(':memory:');
    const storage = open({ openKv });
    await expect(storage.get(['a'])).rejects.toMatchObject({ ...blocked, cause: { message: 'unreachable' } });
    expect(await storage.get(['a'])).toBeUndefined();
  });

  it('cannot be reached where its file cannot be opened', async () => {
    await expect(open({ path: `${freshPath()}/missing/state.kv` }).get(['a'])).rejects.toMatchObject(blocked);
  });

  it('is full when the disk is', async () => {
    const openKv = interrupted(() => {
      throw new Error('database or disk is full');
    });
    await expect(open({ path: ':memory:', openKv }).commit([{ key: ['a'], value: 1 }])).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
      details: { reason: 'storage_full' },
    });
  });

  it('writes again when another process has locked the file', async () => {
    let isLocked = true;
    const openKv = interrupted(() => {
      if (!isLocked) return;
      isLocked = false;
      throw new TypeError('database is locked');
    });
    const storage = open({ path: ':memory:', openKv });
    expect(await storage.commit([{ key: ['a'], value: 1 }])).toMatchObject({ ok: true });
  });

  it('takes many more writers of one key than it makes attempts', async () => {
    const storage = open({ path: ':memory:' });
    const commits = Array.from({ length: 300 }, (_, value) => storage.commit([{ key: ['a'], value }]));
    expect((await Promise.all(commits)).filter(({ ok }) => ok)).toHaveLength(300);
  });

  it('refuses a value of more than 4 MiB in serialised form, and writes nothing', async () => {
    const storage = open({ path: ':memory:' });
    const value = new Uint8Array(maxValueBytes);
    await expect(storage.commit([{ key: ['a'], value: 1 }, { key: ['b'], value }])).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'value_too_large' },
    });
    expect(await storage.list({ prefix: [], limit: 1 })).toEqual([]);
    expect(await storage.commit([{ key: ['b'], value: value.slice(100) }])).toMatchObject({ ok: true });
  });

  it('refuses a commit whose keys take more than Deno KV does, and takes one just below', async () => {
    const storage = open({ path: ':memory:' });
    await expect(storage.commit(withKeysOf(700))).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'commit_too_large' },
    });
    expect(await storage.commit(withKeysOf(330))).toMatchObject({ ok: true });
    expect(await storage.list({ prefix: [], limit: 1000 })).toHaveLength(100);
  });

  it.each([new Blob(['text']), { at: new Map([[1, new Set([new Blob()])]]) }, [new SharedArrayBuffer(1)]])(
    'refuses a host object, which would be stored as an empty one: %o',
    async (value) => {
      await expect(open({ path: ':memory:' }).commit([{ key: ['a'], value }])).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { reason: 'invalid_value' },
      });
    },
  );
});

describe('denoKvStorage with two instances on one file', () => {
  it('shows each what the other commits', async () => {
    const path = freshPath();
    const [one, two] = [open({ path }), open({ path })];
    await one.commit([{ key: ['a'], value: 1 }, { key: ['b'], value: large }]);
    expect(await two.list({ prefix: [], limit: 10 })).toEqual(await one.list({ prefix: [], limit: 10 }));
    await two.commit([{ key: ['b'], value: 'small' }]);
    expect((await one.get(['b']))?.value).toBe('small');
  });

  it.each([['small', 'x'], ['large', large]])('lets one of 50 racers win with %s values', async (_, text) => {
    const path = freshPath();
    const instances = [open({ path }), open({ path })];
    const race = Array.from({ length: 50 }, async (__, at) => {
      return await instances[at % 2]?.commit([{ key: ['a'], value: text + at, ifVersion: null }]);
    });
    expect((await Promise.all(race)).filter((result) => result?.ok)).toHaveLength(1);
    const raw = await openRaw(path);
    expect(await rawKeys(raw, 'part')).toHaveLength(text === large ? 4 : 0);
    expect(await rawKeys(raw, 'unnamed')).toEqual([]);
  });

  it('reads whole values only while others replace them, and leaves no parts of them', async () => {
    const path = freshPath();
    const [reader, writer] = [open({ path }), open({ path })];
    await writer.commit([{ key: ['a'], value: filledWith(0) }]);
    const seen: string[] = [];
    const write = async () => {
      for (let round = 1; round <= 20; round++) await writer.commit([{ key: ['a'], value: filledWith(round) }]);
    };
    const read = async () => {
      for (let round = 0; round < 20; round++) seen.push(String((await reader.get(['a']))?.value));
      for (const { value } of await reader.list({ prefix: [], limit: 1 })) seen.push(String(value));
    };
    await Promise.all([write(), read()]);
    expect(seen.every((text) => text.length === 100_000 && new Set(text).size === 1)).toBe(true);
    expect(await rawKeys(await openRaw(path), 'part')).toHaveLength(4);
  });
});
