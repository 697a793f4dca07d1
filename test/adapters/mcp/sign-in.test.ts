import { describe, expect, it, onTestFinished } from 'vitest';
import { mcpSignIn } from '../../../adapters/mcp/sign-in.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import type { McpSignIn } from '../../../src/contracts/mcp/sign-in.ts';
import { createPrincipal, localPrincipal, type Principal, type Storage } from '../../../src/index.ts';
import { type PeerMessage, result } from '../../contracts/mcp/peer.ts';
import {
  continued,
  createOAuthPeer,
  person,
  redirectUri,
  type SignInWorld,
  signInWorld,
} from '../../fixtures/mcp/oauth-peer.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, runRequest, testRuntime } from '../../fixtures/runtime.ts';

describe('a sign-in to an MCP server', () => {
  it('is asked for by the run that needs it, and lets the chat go on with the call', async () => {
    const world = await signInWorld();
    await world.prepare();
    const bob = person('bob');
    const waiting = await world.run({}, bob);
    expect(waiting.some(({ type }) => type === 'tool-output-error')).toBe(false);
    expect(lastData(waiting, 'data-interruption')).toMatchObject({
      kind: 'sign_in',
      server: { id: 'docs', alias: 'docs', host: 'mcp.example.com' },
      signIn: { issuerHost: 'login.example.com', scopes: ['read'] },
    });
    expect(waiting.at(-1)).toMatchObject({ type: 'finish' });
    expect(world.oauth.peer.of('tools/call')).toHaveLength(0);
    await world.signIn(bob, { interruptionId: String(lastData(waiting, 'data-interruption')['id']) });
    const after = await world.run(continued(waiting), bob);
    expect(after.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { content: [{ type: 'text', text: 'hello' }] },
    });
    expect(world.oauth.peer.of('tools/call')).toHaveLength(1);
  });

  it('lets the server go on with a stored chat, where no page does', async () => {
    let time = Date.now();
    const world = await signInWorld({ now: () => time });
    await world.prepare();
    const bob = person('bob');
    const waiting = await world.run({ chat: { ...runRequest().chat, store: true } }, bob);
    const sweep = async () => [await world.runtime.sweep(), world.oauth.peer.of('tools/call').length];
    await world.signIn(bob, { interruptionId: String(lastData(waiting, 'data-interruption')['id']) });
    expect(await sweep()).toEqual([0, 0]); // a page may be faster
    time += 10_000;
    expect((await sweep())[0]).toBe(1);
    await expect.poll(() => world.oauth.peer.of('tools/call').length).toBe(1);
  });

  it('is finished where its interruption cannot be written, and the cause is reported', async () => {
    const kept = memoryStorage();
    const cause = new Error('disk');
    let isFull = false;
    const storage: Storage = {
      ...kept,
      async commit(changes) {
        if (isFull && changes.some(({ key }) => key[0] === 'interruption')) throw cause;
        return await kept.commit(changes);
      },
    };
    const reported: unknown[] = [];
    const world = await signInWorld({ kept: storage, onError: (error) => void reported.push(error) });
    await world.prepare();
    const bob = person('bob');
    const waiting = await world.run({}, bob);
    isFull = true;
    await world.signIn(bob, { interruptionId: String(lastData(waiting, 'data-interruption')['id']) });
    expect(reported).toContain(cause);
    isFull = false;
    expect(await world.runtime.mcpSignIns.grant('docs', bob)).toMatchObject({ state: 'active' });
  });

  it('says which refusal it was, and nothing else that the authorization server wrote', async () => {
    const world = await signInWorld();
    await world.approve();
    const ann = person();
    for (const error of ['access_denied', 'server_error', 'CANARY']) {
      const { url } = await world.runtime.mcpSignIns.start('docs', { redirectUri }, ann);
      const { state, iss } = await world.oauth.consent(url);
      const failed = await world.runtime.mcpSignIns.finish({ state, iss, error }, ann).catch((thrown: unknown) =>
        thrown
      );
      const { details } = failed as { readonly details: unknown };
      const code = error === 'CANARY' ? {} : { oauthError: error };
      expect(details).toEqual({ reason: 'mcp_sign_in_refused', ...code });
    }
  });

  it('is looked at as missing where its token cannot be refreshed, and the cause is reported', async () => {
    let isDown = false;
    const reported: unknown[] = [];
    const world = await signInWorld({
      expiresIn: 1,
      onError: (error) => void reported.push(error),
      first: (request) =>
        isDown && new URL(request.url).pathname === '/token' ? new Response(null, { status: 500 }) : undefined,
    });
    await world.prepare();
    isDown = true;
    world.oauth.valid.clear();
    const look = await world.runtime.validateMcpServer('docs', {}, person('ann', { deployment: true }));
    expect(look).toMatchObject({ signedIn: false });
    expect(reported).toContainEqual(expect.objectContaining({ code: 'unavailable' }));
  });
});

const { egress } = createOAuthPeer();
const authenticator = bearerAuthenticator({ tokens: [] });

/** Starts a sign-in at an authorization server, and serves the endpoint whose runtime does so. */
async function started(reads: boolean, endpointUrl = 'https://agents.example/pinnace/') {
  let signIn: McpSignIn | undefined;
  const world = await signInWorld({
    server: { client_id_metadata_document_supported: reads },
    mcpSignIn: (own) =>
      signIn = mcpSignIn({ egress: own, redirectUris: [redirectUri], endpointUrl, clientName: 'Acme' }),
  });
  const { runtime, oauth } = world;
  await world.approve();
  const { url } = await runtime.mcpSignIns.start('docs', { redirectUri }, person());
  const serve = createHandler(runtime, { authenticator, basePath: '/pinnace', ...(signIn && { mcpSignIn: signIn }) });
  return { clientId: new URL(url).searchParams.get('client_id') ?? '', serve, oauth };
}

describe('the client ID metadata document', () => {
  it('is not the client id of an authorization server that does not read it', async () => {
    const { clientId, oauth } = await started(false);
    expect(clientId).not.toContain('client.json');
    expect(oauth.to('/register')).toHaveLength(1);
  });

  it.each([
    'http://agents.example',
    'agents.example',
    'https://a:b@agents.example',
    'https://agents.example?a=1',
    'https://agents.example#a',
  ])(
    'needs an https address without more: %s',
    (endpointUrl) => {
      const create = () => mcpSignIn({ egress, redirectUris: [redirectUri], endpointUrl });
      expect(create).toThrow(expect.objectContaining({ details: { reason: 'invalid_redirect_uri' } }));
    },
  );
});

/** The principal of a page, and its end of a real message channel. */
function overPort({ runtime }: Pick<SignInWorld, 'runtime'>) {
  const { port1, port2 } = new MessageChannel();
  exposeRuntime(runtime, port1);
  onTestFinished(() => port1.close());
  return { caller: localPrincipal(), remote: connectRuntime(port2).mcpSignIns };
}

async function overHttp({ runtime, registry }: SignInWorld) {
  const caller = person();
  const { tenant, subject, agents, scopes } = caller;
  const tokens = [{ digest: await digestOfToken('token-of-ann'), tenant, subject, agents, scopes }];
  const handle = createHandler(runtime, { authenticator: bearerAuthenticator({ tokens }), registry });
  const remote = createClient({
    url: 'https://agents.example',
    credentials: { bearer: 'token-of-ann' },
    fetch: async (request) => await handle(request),
  }).mcpSignIns;
  return { caller, remote };
}

const question = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Who?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
};

/** A server whose tool asks once. */
async function asking(): Promise<SignInWorld> {
  let asked = 0;
  const call = (message: PeerMessage) =>
    asked++ === 0
      ? result(message, { resultType: 'input_required', inputRequests: { who: question } })
      : result(message, { resultType: 'complete', content: [{ type: 'text', text: 'thanks' }] });
  const world = await signInWorld({ on: { 'tools/call': call } });
  await world.approve();
  return world;
}

/** Approves the tools: the caller has signed in. */
async function approveTools({ runtime }: SignInWorld, caller: Principal): Promise<void> {
  const admin = createPrincipal({ ...caller, deployment: true });
  const { digest } = await runtime.validateMcpServer('docs', {}, admin);
  await runtime.validateMcpServer('docs', { approve: true, digest, effects: { echo: 'read' } }, admin);
}

describe.each([['a message port', overPort], ['HTTP', overHttp]] as const)('sign-ins over %s', (_, connect) => {
  it('start, finish, show and revoke a sign-in, and answer a question', async () => {
    const world = await asking();
    const { caller, remote } = await connect(world);
    expect(await remote.grant('docs')).toMatchObject({ state: 'none', scopes: [] });
    const { url, expiresAt } = await remote.start('docs', { redirectUri });
    expect(expiresAt).toBeGreaterThan(Date.now());
    const callback = await world.oauth.consent(url) as { readonly state: string; readonly code: string };
    await remote.finish(callback);
    await expect(remote.finish(callback)).rejects.toMatchObject({ code: 'not_found' });
    expect(await remote.grant('docs')).toMatchObject({ state: 'active', scopes: ['read'] });
    await approveTools(world, caller);
    const waiting = await world.run({}, caller);
    const id = String(lastData(waiting, 'data-interruption')['id']);
    const runId = String(lastData(waiting, 'data-run')['runId']);
    const wrong = remote.answer(runId, id, { who: { action: 'accept', content: {} } });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_argument' });
    await remote.answer(runId, id, { who: { action: 'accept', content: { name: 'Ann' } } });
    const after = await world.run(continued(waiting), caller);
    expect(after.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { content: [{ text: 'thanks' }] },
    });
    await remote.revoke('docs');
    expect(await remote.grant('docs')).toMatchObject({ state: 'none' });
  });
});

describe('sign-ins over a message port', () => {
  it('are not found where the runtime has none', async () => {
    const { remote } = overPort({ runtime: testRuntime({ model: scriptedModel(says('ok')).model }) });
    await expect(remote.start('docs', { redirectUri })).rejects.toMatchObject({ code: 'not_found' });
  });
});
