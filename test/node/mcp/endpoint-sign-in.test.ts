import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeEndpoint, type NodeEndpoint } from '../../../adapters/node.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { scopes } from '../../../src/base/principal.ts';
import { createRegistry } from '../../../src/index.ts';
import { continued, sealKey } from '../../fixtures/mcp/oauth-peer.ts';
import { consent, redirectUri, startServers, type World } from '../../fixtures/mcp/oidc-servers.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { readAll, runRequest } from '../../fixtures/runtime.ts';

const facts = { tenant: 'acme', agents: '*', scopes, deployment: true } as const;
const tokens = async () =>
  await Promise.all(
    ['ann', 'bob'].map(async (subject) => ({ digest: await digestOfToken(`token-of-${subject}`), subject, ...facts })),
  );

/** One instance of an endpoint; the storage outlives it. */
async function instance({ issuer, mcp }: Pick<World, 'issuer' | 'mcp'>, storage: ReturnType<typeof memoryStorage>) {
  const { model } = scriptedModel(({ prompt }) =>
    streamOf(prompt.at(-1)?.role === 'tool' ? says('ok') : callsTools({ tool: 'docs__echo', input: { text: 'hello' } }))
  );
  const authenticator = bearerAuthenticator({ tokens: await tokens() });
  const endpoint = await createNodeEndpoint({
    catalog: (own) => createRegistry({ storage: own, privateOrigins: ['loopback'] }),
    authenticator: () => authenticator,
    tools: [],
    storage: { ...storage, close: async () => {} },
    models: { model: () => model },
    secrets: memorySecrets({ seal: { value: sealKey, origins: ['code'] } }),
    sinks: [],
    exitOnStop: false,
    loopback: [issuer, mcp],
    mcpSignIn: { redirectUris: [redirectUri], endpointUrl: 'https://agents.example.com' },
    sealKey: { id: 'seal' },
  });
  return { endpoint, ...clientsOf(endpoint) };
}

function clientsOf({ handler }: NodeEndpoint) {
  const clientOf = (subject: string) =>
    createClient({ url: 'https://agents.example.com', credentials: { bearer: `token-of-${subject}` }, fetch: handler });
  return { ann: clientOf('ann'), bob: clientOf('bob') };
}

type Client = ReturnType<typeof createClient>;

async function register(storage: ReturnType<typeof memoryStorage>, { issuer, mcp }: World): Promise<void> {
  const registry = createRegistry({ storage, privateOrigins: ['loopback'] });
  await registry.put('provider', { id: 'default', kind: 'custom' });
  await registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { docs: {} } });
  await registry.put('mcpServer', { id: 'docs', alias: 'docs', url: `${mcp}/mcp`, auth: { issuer } });
}

async function approve(client: Client): Promise<void> {
  const { digest, tools } = await client.validateMcpServer('docs');
  const effects = Object.fromEntries(tools.map(({ name }) => [name, 'read' as const]));
  expect(await client.validateMcpServer('docs', { approve: true, digest, effects })).toMatchObject({ approved: true });
}

const run = async (client: Client, request = {}) => await readAll(await client.run(runRequest(request)));
const isOutput = ({ type }: { readonly type: string }): boolean => type === 'tool-output-available';

describe('sign-in to MCP servers at an endpoint on Node', () => {
  let world: World;
  beforeAll(async () => {
    world = await startServers();
  });
  afterAll(() => world.close());

  it('finishes at another instance after a restart between the consent and the callback', async () => {
    const storage = memoryStorage();
    await register(storage, world);
    const first = await instance(world, storage);
    await approve(first.ann);
    const { url } = await first.ann.mcpSignIns.start('docs', { redirectUri });
    const query = await consent(url);
    await first.endpoint.close({ drainMs: 0 });

    const [second, third] = [await instance(world, storage), await instance(world, storage)];
    const callback = { state: '', ...query };
    await expect(second.bob.mcpSignIns.finish(callback)).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'mcp_sign_in_of_another' },
    });
    await second.ann.mcpSignIns.finish(callback);
    await expect(third.ann.mcpSignIns.finish(callback)).rejects.toMatchObject({ code: 'not_found' });
    await approve(third.ann);
    expect(await third.ann.mcpSignIns.grant('docs')).toMatchObject({ state: 'active' });
    expect((await run(third.ann)).some(isOutput)).toBe(true);

    await second.ann.mcpSignIns.revoke('docs');
    const waiting = await run(second.ann, { chat: { id: 'chat-1', messages: runRequest().chat.messages } });
    const asked = waiting.find(({ type }) => type === 'data-interruption');
    expect(asked).toMatchObject({ data: { kind: 'sign_in', server: { alias: 'docs' } } });
    const { id: interruptionId } = (asked as { readonly data: { readonly id: string } }).data;
    const again = await third.ann.mcpSignIns.start('docs', { redirectUri, interruptionId });
    await second.ann.mcpSignIns.finish({ state: '', ...await consent(again.url) });
    expect((await run(third.ann, continued(waiting))).find(isOutput)).toMatchObject({
      output: { content: [{ text: 'hello' }] },
    });
    await Promise.all([second, third].map(({ endpoint }) => endpoint.close({ drainMs: 0 })));
  });

  it('identifies itself by its metadata document, which the authorization server reads', async () => {
    const storage = memoryStorage();
    const reads: string[] = [];
    let endpoint: NodeEndpoint | undefined;
    const own = await startServers({
      readDocument: async (url) => {
        reads.push(url);
        return await endpoint?.handler(new Request(url)) ?? new Response(null, { status: 503 });
      },
    });
    const one = await instance(own, storage);
    endpoint = one.endpoint;
    await register(storage, own);
    await approve(one.ann);
    const { url } = await one.ann.mcpSignIns.start('docs', { redirectUri });
    const clientId = 'https://agents.example.com/oauth/client.json';
    expect(new URL(url).searchParams.get('client_id')).toBe(clientId);
    await one.ann.mcpSignIns.finish({ state: '', ...await consent(url) });
    expect(reads).toEqual([clientId]);
    await approve(one.ann);
    expect((await run(one.ann)).some(isOutput)).toBe(true);
    await endpoint.close({ drainMs: 0 });
    own.close();
  });

  it('is refused without a secret that seals the tokens', async () => {
    const options = {
      catalog: () => createRegistry({ storage: memoryStorage() }),
      authenticator: () => bearerAuthenticator({ tokens: [] }),
      tools: [],
      storage: memoryStorage(),
      exitOnStop: false,
      mcpSignIn: { redirectUris: [redirectUri] },
    };
    await expect(createNodeEndpoint(options)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'no_seal_key' },
    });
  });
});
