import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import * as v from 'valibot';
import { decideAnswered } from '../../../adapters/transport/chat/chat-request.ts';
import { checkStored, upgradeStored } from '../../../adapters/upkeep/stored-data.ts';
import { scopes } from '../../../src/base/principal.ts';
import { createPrincipal, defineTool } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { databases, inlineChat } from '../../fixtures/stored-databases.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';

const binary = join(import.meta.dirname, '../../../adapters/cli/pinnace.ts');

describe.skipIf(postgresPrograms === undefined)('pinnace db, over PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await startPostgres()));
  afterAll(() => server.stop());

  function pinnace(
    args: readonly string[],
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
    return new Promise((resolve) => {
      const { PATH } = process.env;
      const folder = server.socket.slice(0, server.socket.lastIndexOf('/'));
      const env = { PATH, DATABASE_URL: 'postgres:///postgres', PGHOST: folder, PGUSER: 'pinnace' };
      execFile(process.execPath, [binary, 'db', ...args], { env }, (error, out, err) => {
        resolve({ code: error ? Number(error.code) : 0, out, err });
      });
    });
  }

  it('checks and upgrades what 0.1 and 0.2 have stored, and changes nothing else', async () => {
    const storage = postgresStorage({ connect: server.connect, table: 'kept' });
    for (const database of databases) await database.fill(storage);
    await inlineChat(storage, Date.now());
    const before = await storage.list({ prefix: [], limit: 1_000 });
    const check = await pinnace(['check', '--table', 'kept']);
    expect(check).toMatchObject({ code: 0, err: '' });
    expect(check.out).toContain('written by version 0.1 or 0.2');
    expect(check.out).toContain('runs without an owner (0.1, 0.2): 7.');
    expect(check.out).toContain(
      'An upgrade would:\n  inline files of stored chats become files: 1\n  mark the format\n',
    );
    for (const secret of ['ada', 'acme', 'run_']) expect(check.out).not.toContain(secret);
    expect(await storage.list({ prefix: [], limit: 1_000 })).toEqual(before);
    const dry = await pinnace(['upgrade', '--dry-run', '--json', '--table', 'kept']);
    expect(JSON.parse(dry.out)).toMatchObject({ state: 'older', entries: before.length, unknown: 0 });
    const done = await pinnace(['upgrade', '--table', 'kept']);
    expect(done.out).toBe(
      `Looked through ${before.length} entries. The data has format 3.\n  inline files of stored chats become files: 1\n`,
    );
    expect((await pinnace(['upgrade', '--json', '--table', 'kept'])).out).toContain('"written":{}');
    expect((await pinnace(['check', '--table', 'kept'])).out).toMatch(
      /^The data has the format of this version \(3\)\./,
    );
    const names = new Set(before.map(({ key, version }) => JSON.stringify([key, version])));
    const after = await storage.list({ prefix: [], limit: 1_000 });
    const changed = after.filter(({ key, version }) => !names.has(JSON.stringify([key, version])));
    expect(changed.map(({ key }) => key[0])).toEqual(['blob', 'blob', 'chats', 'format']);
    await storage.close();
  });

  it('reads what an endpoint of 0.2.0 has stored here, carries out its approval, and upgrades it', async () => {
    const sql = postgres({ path: server.socket, user: 'pinnace', database: 'postgres', onnotice: () => undefined });
    await sql.unsafe(readFileSync(join(import.meta.dirname, '../../fixtures/stored/postgres-0.2.sql'), 'utf8'));
    await sql.end();
    const now = () => Date.parse('2026-11-28T01:00:00Z');
    const storage = postgresStorage({ connect: server.connect, now });
    const cancelled: string[] = [];
    const orderCancel = defineTool({
      id: 'order_cancel',
      description: 'Cancels',
      input: v.object({ order: v.string() }),
      approval: 'always',
      execute: ({ order }) => (cancelled.push(order), { order, state: 'cancelled' }),
    });
    const runtime = testRuntime({ model: scriptedModel(says('Done.')).model, storage, now, tools: [orderCancel] });
    const ada = createPrincipal({ via: 'http', tenant: 't1', subject: 'ada', agents: '*', scopes: [...scopes] });
    const { items } = await runtime.chats.list(ada);
    expect(items.map(({ chatId }) => chatId).toSorted()).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    const { messages } = await runtime.chats.get('c4', ada);
    const asked = messages.at(-1)!;
    const parts = asked.parts.map((part) =>
      'approval' in part
        ? { ...part, state: 'approval-responded', approval: { ...part.approval as object, approved: true } }
        : part
    );
    const answered = { ...asked, parts } as typeof asked; // the part of a tool, decided as a page does it
    await decideAnswered([answered], (...decided) => runtime.decide(...decided, ada));
    await readAll(await runtime.run(runRequest({ chat: { id: 'c4', messages: [answered], store: true } }), ada));
    expect(cancelled).toEqual(['o1']);
    expect(await checkStored(storage, { now })).toMatchObject({ state: 'older', unknown: 0, steps: [{ entries: 1 }] });
    await upgradeStored(storage, { now });
    const texts = await Promise.all(
      items.map(async ({ chatId }) => JSON.stringify(await runtime.chats.get(chatId, ada))),
    );
    expect(texts.join()).toContain('"state":"cancelled"');
    expect(texts.join()).toMatch(/pinnace-blob:[0-9a-f]{64}/);
    await storage.close();
  });

  it('refuses what it does not understand', async () => {
    expect((await pinnace(['purge'])).code).toBe(2);
    expect((await pinnace(['check', '--kv', 'x.kv'])).err).toContain('deno run');
    expect((await pinnace(['check', '--chat-retention', 'long'])).err).toContain('takes days, or none');
    expect((await pinnace(['check', '--table', 'empty_one'])).out).toBe('There is no data.\n0 entries\n');
  });
});
