import { describe, expect, it } from 'vitest';
import { mcpResourceSource } from '../../../adapters/mcp/grounding.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import type { Catalog } from '../../../src/contracts/catalog.ts';
import { parse } from '../../../src/base/parse.ts';
import { McpServer } from '../../../src/base/schema.ts';
import { fingerprintOf } from '../../../src/mcp/pins.ts';
import { groundingContract, type GroundingSubject } from '../../contracts/index.ts';
import { neverAborted } from '../../fixtures/grounding.ts';
import { fakeMcp, pinnedServer } from '../../fixtures/mcp.ts';

const token = 'docs-SECRET-0123456789';

interface Document {
  readonly uri: string;
  readonly text: string;
}

const definitionOf = ({ uri }: Document) => ({ uri, name: uri });

/** A record whose resources were approved as they are listed. */
async function recordOf(documents: readonly Document[], overrides: object = {}): Promise<McpServer> {
  const record = await pinnedServer();
  const resources = await Promise.all(documents.map(async (document) => ({
    definition: definitionOf(document),
    fingerprint: await fingerprintOf(definitionOf(document), 'resources'),
    status: 'valid' as const,
  })));
  return parse(McpServer, { ...record, pinned: { ...record.pinned!, resources }, ...overrides }, { what: 'server' });
}

function serving(documents: readonly Document[]) {
  return fakeMcp({
    resources: documents.map(definitionOf),
    onRead: ({ params: { uri } }) => {
      const found = documents.find((document) => document.uri === uri);
      if (!found) throw new Error('unknown');
      return { contents: [{ uri, text: found.text }] };
    },
  });
}

const catalogOf = (record: McpServer | undefined): Catalog =>
  ({ mcpServer: () => Promise.resolve(record) }) as unknown as Catalog;

const subject: GroundingSubject = {
  async open(documents) {
    const all = Object.entries(documents).map(([tenant, list]) =>
      [tenant, list.map(({ id, text }) => ({ uri: `${id}:it`, text }))] as const
    );
    const records = new Map(
      await Promise.all(all.map(async ([tenant, list]) => [tenant, await recordOf(list)] as const)),
    );
    const none = await recordOf([]);
    const servers = new Map(all.map(([tenant, list]) => [tenant, serving(list)]));
    const catalog = {
      mcpServer: () => Promise.resolve(undefined),
      forTenant: (tenant: string) => ({
        mcpServer: () => Promise.resolve({ ...(records.get(tenant) ?? none), tenant }),
      }),
    } as unknown as Catalog;
    return mcpResourceSource({
      id: 'docs',
      server: 'docs-server',
      catalog,
      connector: {
        connect: (record, options) =>
          (servers.get(record.tenant ?? '') ?? serving([])).connector.connect(record, options),
      },
    });
  },
};

describe('mcpResourceSource keeps the contract', () => {
  it.each(groundingContract)('$name', async ({ run }) => {
    await expect(run(subject)).resolves.toBeUndefined();
  });
});

const documents: Document[] = [
  { uri: 'docs://tides', text: 'The harbour tides rise twice a day.' },
  { uri: 'docs://anchors', text: `Anchors hold a ship. ${token}` },
  {
    uri: 'docs://long',
    text: Array.from({ length: 60 }, (_, i) => `Line ${i} of the log.\n`).join('\n') + '\nA violin.',
  },
];

async function setUp(overrides: object = {}, include?: readonly string[]) {
  let time = 0;
  const list = documents.map((document) => ({ ...document }));
  const mcp = serving(list);
  const errors: unknown[] = [];
  const record = { current: await recordOf(documents, { secret: { id: 'docs-token' }, ...overrides }) };
  const source = mcpResourceSource({
    id: 'docs',
    server: 'docs-server',
    catalog: { mcpServer: () => Promise.resolve(record.current) } as unknown as Catalog,
    connector: mcp.connector,
    secrets: memorySecrets({ 'docs-token': token }, { unboundSecrets: 'allow' }),
    now: () => time,
    onError: (error) => errors.push(error),
    ...(include && { include }),
  });
  const ask = async (query: string) =>
    await source.retrieve({ tenant: 'local', query, topK: 5, filters: [] }, neverAborted());
  return { mcp, list, record, source, ask, errors, later: () => (time += 600_001) };
}

describe('mcpResourceSource', () => {
  it('finds passages of approved resources and cites them, with one connection for all reads', async () => {
    const { ask, mcp } = await setUp();
    const [hit] = await ask('violin');
    expect(hit).toMatchObject({
      id: expect.stringMatching(/^docs:\/\/long#\d$/),
      source: { uri: 'docs://long', lines: [expect.any(Number), expect.any(Number)] },
      metadata: { server: 'docs', untrusted: true },
    });
    await ask('tides');
    expect(mcp.asked).toMatchObject({ connects: 1, closes: 1, secrets: [token] });
    expect(mcp.asked.reads).toHaveLength(3);
  });

  it('holds no secret that the server repeats', async () => {
    const { ask } = await setUp();
    const [hit] = await ask('anchors');
    expect(hit?.content).toBe('Anchors hold a ship. [secret docs-token]');
  });

  it('reads again in the background when it is old, and answers from what it has', async () => {
    const { ask, list, later, mcp } = await setUp();
    await ask('tides');
    list[0] = { uri: 'docs://tides', text: 'The harbour tides rise in spring.' };
    later();
    expect((await ask('tides'))[0]?.content).toContain('twice a day');
    await expect.poll(() => mcp.asked.closes).toBe(2);
    await expect.poll(async () => (await ask('tides'))[0]?.content).toContain('in spring');
  });

  it('finds no more what has drifted, and skips what cannot be read', async () => {
    const { ask, mcp, later, errors, list } = await setUp();
    await ask('tides');
    mcp.offer.resources[0] = { uri: 'docs://tides', name: 'Forged' };
    list[1] = { uri: 'docs://gone', text: '' };
    later();
    await ask('tides');
    await expect.poll(() => ask('tides')).toEqual([]);
    await expect.poll(() => errors.length).toBe(2);
    expect(await ask('violin')).toHaveLength(1);
  });

  it('reads only what `include` names', async () => {
    const { ask, mcp } = await setUp({}, ['docs://t*']);
    expect(await ask('violin')).toEqual([]);
    expect(mcp.asked.reads.map(({ params }) => params['uri'])).toEqual(['docs://tides']);
  });

  it.each([
    [{ status: 'pending' }, 'mcp_not_validated'],
    [{ state: 'disabled' }, 'mcp_not_validated'],
    [{ auth: { issuer: 'https://login.example.com' } }, 'mcp_sign_in_required'],
  ])('is unavailable for a server that is %o', async (overrides, reason) => {
    const { ask, record, mcp } = await setUp();
    await ask('tides');
    record.current = await recordOf(documents, overrides);
    await expect(ask('tides')).rejects.toMatchObject({ code: 'unavailable', details: { reason } });
    expect(mcp.asked.connects).toBe(1);
  });

  it('indexes the 2,000 approved of 10,000 resources', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => ({ uri: `docs://n/${i}`, text: `Entry number${i} of many` }));
    const record = await recordOf(many);
    const mcp = serving(many);
    const source = mcpResourceSource({
      id: 'docs',
      server: 'docs-server',
      catalog: catalogOf(record),
      connector: mcp.connector,
    });
    expect(await source.stats('local', neverAborted())).toMatchObject({ items: 2000 });
    const [hit] = await source.retrieve({ tenant: 'local', query: 'number1234', topK: 1, filters: [] }, neverAborted());
    expect(hit?.id).toBe('docs://n/1234');
  });
});
