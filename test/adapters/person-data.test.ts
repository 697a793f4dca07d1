import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../adapters/catalog/static.ts';
import { textSource } from '../../adapters/grounding/text.ts';
import { erasePerson } from '../../adapters/upkeep/person-data.ts';
import { memorySink } from '../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../adapters/transport/client.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import {
  type Authorize,
  createAudit,
  createGrounding,
  createPrincipal,
  createRuntime,
  type Principal,
  type Scope,
} from '../../src/index.ts';
import { ingest, perSubject } from '../../src/grounding/index.ts';
import { groundingContract } from '../contracts/grounding.ts';
import { fakeModel, readRun } from '../contracts/index.ts';
import { userMessage } from '../fixtures/runtime.ts';

const dayMs = 86_400_000;

interface SetupOptions {
  readonly authorize?: Authorize;
  readonly retentionMs?: number;
}

/** A runtime whose agent remembers, and persons of two tenants. */
function setup({ authorize, retentionMs }: SetupOptions = {}) {
  let time = Date.UTC(2026, 10, 23);
  const now = () => time;
  const storage = memoryStorage({ now });
  const memory = perSubject(textSource({ id: 'memory', storage, now }), {
    ...(retentionMs !== undefined && { retentionMs }),
  });
  const handbook = textSource({ id: 'handbook', storage, now });
  const grounding = createGrounding({ sources: [memory, handbook] });
  const { sink, events } = memorySink();
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{
        id: 'helper',
        name: 'Helper',
        providerId: 'main',
        entryTools: ['remember', 'retrieve'],
        dataSources: ['memory'],
      }],
      providers: [{ id: 'main', kind: 'custom' }],
    }),
    models: fakeModel(...Array.from({ length: 20 }, () => 'Noted')).source,
    storage,
    grounding,
    now,
    audit: createAudit({ storage }),
    sinks: [sink],
    ...(authorize && { authorize }),
  });
  const person = (subject: string, tenant = 'acme', scopes: readonly Scope[] = ['run:create', 'run:read']): Principal =>
    createPrincipal({ via: 'http', tenant, subject, agents: '*', scopes });
  const admin = (tenant = 'acme') => person('root', tenant, ['admin', 'run:create', 'run:read', 'run:cancel']);
  const tell = async (principal: Principal, text: string) => {
    const items = [{ text }];
    await grounding.remember({ dataSourceId: 'memory', items }, { principal });
    const chat = { id: `chat of ${principal.subject}`, store: true, messages: [userMessage(text)] };
    return await readRun(await runtime.run({ agentId: 'helper', chat }, principal));
  };
  const recall = async (principal: Principal, query = 'anchor') => {
    const { hits } = await grounding.retrieve({ dataSourceId: 'memory', query }, { principal });
    return hits.map(({ content }) => content);
  };
  return { runtime, grounding, storage, events, person, admin, tell, recall, pass: (ms: number) => time += ms };
}

describe('a memory per subject', () => {
  it.each(groundingContract)('keeps the contract of a source: $name', async ({ run }) => {
    const open: Parameters<typeof run>[0]['open'] = async (documents) => {
      const source = perSubject(textSource({ id: 'memory', storage: memoryStorage() }));
      for (const [tenant, items] of Object.entries(documents)) {
        await source.remember(
          { tenant, items: items.map(({ id, text }) => ({ id, text })) },
          new AbortController().signal,
        );
      }
      return source;
    };
    await expect(run({ open })).resolves.toBeUndefined();
  });

  it('shows each person only the items of the same person', async () => {
    const { tell, recall, person, grounding } = setup();
    await tell(person('ada'), 'Ada drops anchor at noon');
    await tell(person('bo'), 'Bo weighs anchor at dusk');
    expect(await recall(person('ada'))).toEqual(['Ada drops anchor at noon']);
    expect(await recall(person('bo'))).toEqual(['Bo weighs anchor at dusk']);
    expect(await recall(person('ada', 'other'))).toEqual([]);
    const everyId = { dataSourceId: 'memory', filters: [{ field: 'id', op: 'exists' as const, value: false }] };
    expect(await grounding.forget(everyId, { principal: person('eve') })).toEqual({ forgotten: 0 });
  });

  it.each([
    ['a subject that imitates an owner', '["acme","ada"]', 'acme'],
    ['a tenant that imitates an owner', 'x', '["acme","ada"]'],
    ['no subject of that name', 'ada","x', 'acme'],
  ])('is not reached by %s', async (_, subject, tenant) => {
    const { tell, recall, person } = setup();
    await tell(person('ada'), 'Ada drops anchor at noon');
    expect(await recall(person(subject, tenant))).toEqual([]);
  });

  it("is reached by another's name with the scope admin alone", async () => {
    const { grounding, tell, person, admin } = setup();
    await tell(person('ada'), 'Ada drops anchor at noon');
    const question = { dataSourceId: 'memory', query: 'anchor' };
    expect((await grounding.retrieve(question, { principal: admin(), subject: 'ada' })).hits).toHaveLength(1);
    const { hits, sources } = await grounding.retrieve(question, { principal: person('eve'), subject: 'ada' });
    expect(hits).toEqual([]);
    expect(sources[0]?.error?.code).toBe('forbidden');
  });

  it('forgets items after the retention, if they name no time of their own', async () => {
    const { grounding, recall, person, pass } = setup({ retentionMs: 30 * dayMs });
    const items = [{ text: 'The anchor is green' }, { text: 'The anchor is heavy', ttlMs: 90 * dayMs }];
    await grounding.remember({ dataSourceId: 'memory', items }, { principal: person('ada') });
    expect(await recall(person('ada'))).toHaveLength(2);
    pass(31 * dayMs);
    expect(await recall(person('ada'))).toEqual(['The anchor is heavy']);
  });

  it('takes no files', async () => {
    const { grounding, storage, person } = setup();
    const options = { dataSourceId: 'memory', storage, files: [{ name: 'a.md', text: () => 'Anchor' }] };
    await expect(ingest(grounding, options, { principal: person('ada') })).rejects.toMatchObject({
      details: { reason: 'source_per_subject' },
    });
  });
});

describe('erasing a person', () => {
  it('removes chats, logs and memory of one subject of one tenant', async () => {
    const { runtime, grounding, tell, recall, person, admin, storage } = setup();
    const { runId } = await tell(person('ada'), 'Ada drops anchor at noon');
    await tell(person('bo'), 'Bo weighs anchor at dusk');
    await tell(person('ada', 'other'), 'Another Ada has an anchor');
    await grounding.remember({ dataSourceId: 'handbook', items: [{ text: 'Anchors of all' }] }, { principal: admin() });

    expect(await erasePerson({ runtime, grounding }, 'ada', admin())).toEqual({
      chats: 1,
      messages: 2,
      runs: 1,
      running: 0,
      memories: 1,
      schedules: 0,
    });

    expect((await runtime.chats.list(person('ada'))).items).toEqual([]);
    expect(await recall(person('ada'))).toEqual([]);
    const left = (await storage.list({ prefix: [], limit: 1_000 })).map(({ value }) =>
      value instanceof Uint8Array ? new TextDecoder().decode(value) : JSON.stringify(value) ?? ''
    );
    expect(left.length).toBeGreaterThan(10);
    expect(left.filter((text) => text.includes('Ada drops'))).toEqual([]);
    expect(left.filter((text) => text.includes('Bo weighs')).length).toBeGreaterThan(1); // the search finds texts at all
    expect(await storage.get(['runs', runId, 'head'])).toBeUndefined();
    expect(await recall(person('bo'))).toHaveLength(1);
    expect((await runtime.chats.list(person('bo'))).items).toHaveLength(1);
    expect(await recall(person('ada', 'other'))).toHaveLength(1);
    expect(await erasePerson({ runtime, grounding }, 'ada', admin())).toMatchObject({ chats: 0, memories: 0 });
  });

  it('needs the scope admin, and a principal of all agents', async () => {
    const { runtime, grounding, tell, recall, person } = setup();
    await tell(person('ada'), 'Ada drops anchor at noon');
    const limited = createPrincipal({ via: 'http', tenant: 'acme', subject: 'root', agents: [], scopes: ['admin'] });
    for (const principal of [person('ada'), person('eve'), limited]) {
      await expect(erasePerson({ runtime, grounding }, 'ada', principal)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(await recall(person('ada'))).toHaveLength(1);
  });

  it('asks the permission hook, and is audited without what was removed', async () => {
    const asked: string[] = [];
    const { runtime, grounding, tell, admin, person } = setup({
      authorize: (action, _, { type, id }) => {
        asked.push(`${action} ${type}:${id}`);
        return { decision: action === 'subject.erase' && id === 'bo' ? 'deny' : 'allow', reason: 'kept for the audit' };
      },
    });
    await tell(person('ada'), 'Ada drops anchor at noon');
    await tell(person('bo'), 'Bo weighs anchor at dusk');
    await erasePerson({ runtime, grounding }, 'ada', admin());
    await erasePerson({ runtime, grounding }, 'unknown', admin());
    expect(asked).toContain('subject.erase subject:ada');
    const entries = await runtime.audit(admin())?.list({ action: 'subject.erase' });
    expect(entries?.items.map(({ event }) => event.target)).toContainEqual({ type: 'subject', id: 'ada' });
    expect(JSON.stringify(entries)).not.toMatch(/anchor|unknown/);
    await expect(erasePerson({ runtime, grounding }, 'bo', admin())).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is one call of the client', async () => {
    const { runtime, grounding, storage, tell, person } = setup();
    await tell(person('ada'), 'Ada drops anchor at noon');
    const given = { tenant: 'acme', subject: 'root', agents: '*' as const };
    const tokens = [
      { ...given, digest: await digestOfToken('admin'), scopes: ['admin', 'run:create', 'run:read'] as const },
      { ...given, digest: await digestOfToken('reader'), scopes: ['run:create', 'run:read'] as const },
    ];
    const authenticator = bearerAuthenticator({ tokens });
    const handler = createHandler(runtime, { authenticator, grounding: { grounding, storage } });
    const clientOf = (bearer: string) =>
      createClient({ url: 'https://agents.example', credentials: { bearer }, fetch: handler, attempts: 1 });
    await expect(clientOf('reader').erasePerson('ada')).rejects.toMatchObject({ status: 403 });
    expect(await clientOf('admin').erasePerson('ada')).toMatchObject({ chats: 1, memories: 1 });
    await expect(clientOf('admin').erasePerson('x'.repeat(257))).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
