import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { denoEgress } from '../../../adapters/egress/deno.ts';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { mcpSignIn } from '../../../adapters/mcp/sign-in.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { scopes } from '../../../src/base/principal.ts';
import { createRegistry, type Storage } from '../../../src/index.ts';
import { continued, sealKey } from '../../fixtures/mcp/oauth-peer.ts';
import { consent, redirectUri, startServers, type World } from '../../fixtures/mcp/oidc-servers.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';

/** One instance of the endpoint, of the user `ann`, whose clock may be ahead. */
async function instance({ issuer, mcp }: World, storage: Storage, aheadMs = 0) {
  const egress = denoEgress({ loopback: [issuer, mcp] });
  const registry = createRegistry({ storage, privateOrigins: ['loopback'] });
  const { model } = scriptedModel(({ prompt }) =>
    streamOf(prompt.at(-1)?.role === 'tool' ? says('ok') : callsTools({ tool: 'docs__echo', input: { text: 'hello' } }))
  );
  const runtime = testRuntime({
    model,
    catalog: registry,
    storage,
    secrets: memorySecrets({ seal: { value: sealKey, origins: ['code'] } }),
    mcp: mcpConnector({ egress }),
    mcpSignIn: mcpSignIn({ egress, redirectUris: [redirectUri], loopback: [issuer, mcp] }),
    sealKey: { id: 'seal' },
    now: () => Date.now() + aheadMs,
  });
  const facts = { tenant: 'acme', subject: 'ann', agents: '*', scopes, deployment: true } as const;
  const authenticator = bearerAuthenticator({ tokens: [{ digest: await digestOfToken('token-of-ann'), ...facts }] });
  const handle = createHandler(runtime, { authenticator, registry, quotas: { runsPerSubject: 16 } });
  const send = async (method: string, path: string, body?: unknown): Promise<Response> =>
    await handle(
      new Request(`http://127.0.0.1/v1${path}`, {
        method,
        headers: {
          authorization: 'Bearer token-of-ann',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(path === '/runs' && { 'idempotency-key': `"${crypto.randomUUID()}"` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const run = async (request = {}) => {
    const text = await (await send('POST', '/runs', runRequest(request))).text();
    return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => JSON.parse(data));
  };
  const approve = async (): Promise<void> => {
    const look = await (await send('POST', '/mcp-servers/docs/validate', {})).json();
    expect(look).toMatchObject({ findings: [] });
    const effects = Object.fromEntries(look.tools.map(({ name }: { name: string }) => [name, 'read']));
    const answer = await send('POST', '/mcp-servers/docs/validate', { approve: true, digest: look.digest, effects });
    expect(await answer.json()).toMatchObject({ approved: true });
  };
  return { runtime, registry, send, run, approve };
}

describe('a sign-in at an authorization server of oidc-provider', () => {
  let world: World;
  beforeAll(async () => {
    world = await startServers();
  });
  afterAll(() => world.close());

  it('goes on at another instance after a restart between the consent and the callback', async () => {
    const storage = memoryStorage();
    const first = await instance(world, storage);
    await first.registry.put('provider', { id: 'default', kind: 'custom' });
    await first.registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { docs: {} } });
    const auth = { issuer: world.issuer };
    await first.registry.put('mcpServer', { id: 'docs', alias: 'docs', url: `${world.mcp}/mcp`, auth });
    await first.approve();
    const started = await (await first.send('POST', '/mcp-servers/docs/sign-in', { redirectUri })).json();
    const query = await consent(started.url);
    await first.runtime.close();

    const second = await instance(world, storage);
    expect((await second.send('POST', '/mcp-sign-ins', query)).status).toBe(204);
    expect((await second.send('POST', '/mcp-sign-ins', query)).status).toBe(404);
    await second.approve();
    expect(await (await second.send('GET', '/mcp-servers/docs/grant')).json()).toMatchObject({ state: 'active' });
    expect((await second.run()).some(({ type }) => type === 'tool-output-available')).toBe(true);

    const [later, third] = await Promise.all([instance(world, storage, 40_000), instance(world, storage, 40_000)]);
    const before = world.grants.filter((grant) => grant === 'refresh_token').length;
    const runs = await Promise.all(
      Array.from(
        { length: 20 },
        (_, at) =>
          (at % 2 === 0 ? later : third).run({ chat: { id: `chat-${at}`, messages: runRequest().chat.messages } }),
      ),
    );
    const done = runs.filter((chunks) => chunks.some(({ type }) => type === 'tool-output-available'));
    expect(done).toHaveLength(20);
    expect(world.grants.filter((grant) => grant === 'refresh_token').length - before).toBe(1);

    expect((await second.send('DELETE', '/mcp-servers/docs/grant')).status).toBe(204);
    const waiting = await second.run();
    const asked = waiting.find(({ type }) => type === 'data-interruption');
    expect(asked).toMatchObject({ data: { kind: 'sign_in', server: { alias: 'docs' } } });
    const again = { redirectUri, interruptionId: asked.data.id };
    const { url } = await (await third.send('POST', '/mcp-servers/docs/sign-in', again)).json();
    expect((await second.send('POST', '/mcp-sign-ins', await consent(url))).status).toBe(204);
    const after = await third.run(continued(waiting));
    expect(after.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { content: [{ text: 'hello' }] },
    });
  }, 30_000);
});
