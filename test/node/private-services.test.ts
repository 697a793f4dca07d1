import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpCatalog } from '../../adapters/catalog/http.ts';
import { staticCatalog } from '../../adapters/catalog/static.ts';
import { denoEgress } from '../../adapters/egress/deno.ts';
import { rehearsal } from '../../adapters/models/rehearsal.ts';
import { createNodeEndpoint, type NodeEndpoint } from '../../adapters/node.ts';
import { memorySecrets } from '../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../adapters/transport/client.ts';
import { createRegistry, type Registry } from '../../src/index.ts';
import { closeServer, listen } from '../tools/servers/http-server.ts';

const digest = await digestOfToken('token');
const scopes = ['run:create', 'run:read'] as const;
const authenticator = () =>
  bearerAuthenticator({ tokens: [{ digest, tenant: 'shop', subject: 'ada', agents: '*', scopes }] });

describe('a service on a private network', () => {
  const seen: IncomingMessage[] = [];
  let stock: Server;
  let origin = '';
  const open: NodeEndpoint[] = [];

  beforeAll(async () => {
    stock = createServer((request, response) => {
      seen.push(request);
      response.setHeader('content-type', 'application/json').end('{"left":7}');
    });
    origin = await listen(stock);
  });
  afterAll(async () => {
    await Promise.all(open.map((endpoint) => endpoint.close({ drainMs: 0 })));
    await closeServer(stock);
  });

  const tool = () => ({
    id: 'stock',
    name: 'stock',
    type: 'http' as const,
    description: 'How many are left',
    paramsSchema: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
    secrets: [{ id: 'stock-key' }],
    config: { origin, path: '/items/{sku}', headers: { authorization: 'Bearer {{secret:stock-key}}' } },
  });
  const records = () => ({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['stock'] }],
    providers: [{ id: 'main', kind: 'rehearsal' as const }],
    tools: [tool()],
  });

  async function endpointWith(options: Partial<Parameters<typeof createNodeEndpoint>[0]>): Promise<NodeEndpoint> {
    const endpoint = await createNodeEndpoint({
      catalog: staticCatalog(records()),
      storage: memoryStorage(),
      authenticator,
      models: { model: () => rehearsal({ delayMs: 0 }) },
      secrets: memorySecrets({ 'stock-key': { value: 'sk-1', origins: [origin] } }),
      sinks: [],
      exitOnStop: false,
      ...options,
    });
    open.push(endpoint);
    return endpoint;
  }

  async function outputOf({ handler }: NodeEndpoint): Promise<unknown> {
    const client = createClient({
      url: 'https://agents.example',
      agentId: 'helper',
      credentials: { bearer: 'token' },
      fetch: async (request) => await handler(request),
    });
    const text = '/stock {"sku":"a-1"}';
    const chat = {
      id: 'c1',
      messages: [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] }],
    };
    const chunks = await Array.fromAsync(await client.run({ agentId: 'helper', chat }));
    return chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : []);
  }

  it('is called by an HTTP tool with its secret, where the composition lists its origin', async () => {
    const output = await outputOf(await endpointWith({ privateOrigins: [origin] }));
    expect(output).toMatchObject([{ status: 200, data: { left: 7 } }]);
    expect(seen.at(-1)).toMatchObject({ url: '/items/a-1', headers: { authorization: 'Bearer sk-1' } });
  });

  it('is called by a tool of a registry, which knows what the composition lists', async () => {
    let registry: Registry | undefined;
    const endpoint = await endpointWith({
      privateOrigins: ['loopback'],
      catalog: (storage, tools, shared) => (registry = createRegistry({ storage, tools, ...shared })),
    });
    await registry?.import({ format: 'pinnace-catalog', formatVersion: 1, ...records() });
    expect(await outputOf(endpoint)).toMatchObject([{ data: { left: 7 } }]);
  });

  it.each([['nothing', []], ['another port', ['http://127.0.0.1:1']]])(
    'is refused when the endpoint is created that lists %s, with what to pass',
    async (_, privateOrigins) => {
      await expect(endpointWith({ privateOrigins })).rejects.toMatchObject({
        message: expect.stringContaining(`pass privateOrigins: ["${origin}"]`) as string,
        details: { reason: 'private_origin', origin },
      });
    },
  );

  it('is refused at the registry, before a record names it', async () => {
    const registry = createRegistry({ storage: memoryStorage() });
    await expect(registry.tools.register(tool())).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { issues: [{ path: 'config.origin' }] },
    });
    const listing = createRegistry({ storage: memoryStorage(), privateOrigins: [origin] });
    expect(await listing.tools.register(tool())).toMatchObject({ id: 'stock' });
  });

  it('may have the catalog, over an egress that lists it', async () => {
    const url = `${origin}/catalog.json`;
    expect(() => httpCatalog({ url, egress: denoEgress() })).toThrow('privateOrigins');
    expect(httpCatalog({ url, egress: denoEgress({ privateOrigins: [origin] }) })).toBeDefined();
  });
});
