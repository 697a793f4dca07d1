import { describe, expect, it } from 'vitest';
import { checkStored, upgradeStored } from '../../adapters/upkeep/stored-data.ts';
import { databases, inlineChat } from '../fixtures/stored-databases.ts';
import { freshPath, open } from './deno-kv-fixture.ts';

describe('stored data in Deno KV', () => {
  it.each(databases.map((database) => [database.version, database] as const))(
    'of version %s is checked, and upgraded once',
    async (_, database) => {
      const path = freshPath();
      const storage = open({ path, now: () => database.at });
      await database.fill(storage);
      await inlineChat(storage, database.at);
      const options = { now: () => database.at };
      const found = await checkStored(storage, options);
      expect(found).toMatchObject({ state: 'older', unknown: 0, steps: [{ entries: 1 }] });
      expect(Object.fromEntries(found.older.map(({ form, entries }) => [form, entries]))).toEqual(database.older);
      expect(Object.values((await upgradeStored(storage, options)).written)).toEqual([1]);
      expect(await checkStored(storage, options)).toMatchObject({ state: 'current', steps: [] });
      expect((await upgradeStored(storage, options)).written).toEqual({});
    },
  );
});
