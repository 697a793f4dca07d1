import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Storage } from '../../../src/index.ts';
import { continued, person, redirectUri, signInWorld } from '../../fixtures/mcp/oauth-peer.ts';
import { lastData } from '../../fixtures/runtime.ts';

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
