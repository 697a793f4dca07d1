import { describe, expect, it, onTestFinished } from 'vitest';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createPrincipal, localPrincipal, type Principal } from '../../../src/index.ts';
import type { PeerMessage } from '../../contracts/mcp/peer.ts';
import { result } from '../../contracts/mcp/peer.ts';
import { continued, person, redirectUri, type SignInWorld, signInWorld } from '../../fixtures/mcp/oauth-peer.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, testRuntime } from '../../fixtures/runtime.ts';

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
