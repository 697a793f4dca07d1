import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { durableObjectStorage } from '../../../adapters/storage/durable-object.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import { interleave } from '../../fixtures/persons/interleavings.ts';
import { objectDatabase } from '../../fixtures/workers/object-database.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';

describe('two persons with equal chat ids, keys and bytes reach their own records alone', () => {
  it('in a durable object', async () => {
    const storage = durableObjectStorage({ storage: objectDatabase() });
    for (let seed = 2000; seed < 2005; seed++) expect(await interleave(storage, { seed, actions: 20 })).toEqual([]);
  });

  describe.skipIf(postgresPrograms === undefined)('in PostgreSQL', () => {
    let server: PostgresServer;
    beforeAll(async () => void (server = await startPostgres()));
    afterAll(() => server.stop());

    it('over one table', async () => {
      const storage = postgresStorage({ connect: server.connect, table: 'persons' });
      for (let seed = 3000; seed < 3005; seed++) expect(await interleave(storage, { seed, actions: 20 })).toEqual([]);
      await storage.close();
    });
  });
});
