import { describe, expect, it } from 'vitest';
import type { Key } from '../../../src/base/key.ts';
import {
  continued,
  createOAuthPeer,
  issuer,
  mcpOrigin,
  person,
  signInWorld,
  type SignInWorldOptions,
} from '../../fixtures/mcp/oauth-peer.ts';
import { lastData } from '../../fixtures/runtime.ts';
import type { Storage } from '../../../src/index.ts';

async function due(options: Parameters<typeof signInWorld>[0] = {}) {
  let now = Date.now();
  const world = await signInWorld({ now: () => now, ...options });
  await world.prepare();
  now += 3_590_000;
  return { world, now: () => now };
}

const grantKey: Key = ['mcp-grant', 'acme', 'u:ann', 'docs'];

async function all(storage: Storage): Promise<string> {
  const entries = await Promise.all(
    ['mcp-grant', 'mcp-sign-in', 'mcp-consent', 'mcp-client', 'mcp-continuation', 'interruption', 'run'].map((prefix) =>
      storage.list({ prefix: [prefix], limit: 1000 })
    ),
  );
  return JSON.stringify(entries);
}

describe('the tokens of a sign-in', () => {
  it('are sealed in storage, and in no event, stream or prompt', async () => {
    const events: unknown[] = [];
    const on = {
      'tools/call': ({ id, request }: { id?: string | number; request: Request }) =>
        Response.json({
          jsonrpc: '2.0',
          id,
          result: {
            resultType: 'complete',
            content: [{ type: 'text', text: `You sent ${request.headers.get('authorization')}` }],
          },
        }),
    };
    const world = await signInWorld({ on, sinks: [(event) => void events.push(event)] });
    await world.prepare();
    const chunks = await world.run();
    expect(JSON.stringify(chunks)).toContain('You sent Bearer');
    const seen = JSON.stringify(chunks) + JSON.stringify(events) + await all(world.storage);
    for (const token of world.oauth.valid) expect(seen).not.toContain(token);
    expect(seen).not.toContain('refresh-');
    for (const form of world.oauth.tokenRequests) expect(seen).not.toContain(form.get('code_verifier'));
  });

  it('go to the server of their resource alone', async () => {
    const world = await signInWorld();
    await world.prepare();
    await world.run();
    const sent = world.oauth.requests.filter(({ headers }) => headers.get('authorization')?.startsWith('Bearer '));
    expect(sent.length).toBeGreaterThan(0);
    expect(new Set(sent.map(({ url }) => url))).toEqual(new Set([`${mcpOrigin}/mcp`]));
  });

  it('are no longer used when their row was moved to another person', async () => {
    const world = await signInWorld();
    await world.prepare();
    const entry = await world.storage.get(grantKey);
    await world.storage.commit([{ key: ['mcp-grant', 'acme', 'u:bob', 'docs'], value: entry?.value }]);
    const bob = await world.run({}, person('bob'));
    expect(lastData(bob, 'data-interruption')).toMatchObject({ kind: 'sign_in' });
    expect(world.oauth.peer.of('tools/call')).toHaveLength(0);
  });

  it('are no longer used when the address of the server has changed', async () => {
    const world = await signInWorld();
    await world.prepare();
    expect(await world.runtime.mcpSignIns.grant('docs', person())).toMatchObject({ state: 'active' });
    const record = (await world.registry.mcpServer?.('docs'))!;
    await world.registry.put('mcpServer', { ...record, url: `${mcpOrigin}/other` });
    expect(await world.runtime.mcpSignIns.grant('docs', person())).toMatchObject({ state: 'none' });
  });

  it('are erased and revoked on request', async () => {
    const world = await signInWorld();
    await world.prepare();
    await world.runtime.mcpSignIns.revoke('docs', person());
    expect(await world.storage.get(grantKey)).toBeUndefined();
    const [request] = world.oauth.to('/revoke');
    expect(new URLSearchParams(await request?.text()).get('token')).toMatch(/^refresh-/);
    expect(await world.runtime.mcpSignIns.grant('docs', person())).toMatchObject({ state: 'none' });
  });
});

describe('a refresh', () => {
  it('is made once by 20 calls of two instances', async () => {
    const { world, now } = await due();
    const second = await signInWorld({ oauth: world.oauth, storage: world.storage, now });
    const runs = await Promise.all(
      Array.from(
        { length: 20 },
        (_, at) =>
          (at % 2 === 0 ? world : second).run({
            chat: { id: `chat-${at}`, messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] },
          }),
      ),
    );
    for (const chunks of runs) expect(chunks.some(({ type }) => type === 'tool-output-available')).toBe(true);
    const refreshes = world.oauth.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token');
    expect(refreshes).toHaveLength(1);
    expect(refreshes[0]?.get('resource')).toBe(`${mcpOrigin}/mcp`);
  });

  it('is made once when the server refuses the token, and the call is sent again', async () => {
    const world = await signInWorld();
    await world.prepare();
    world.oauth.valid.clear();
    const chunks = await world.run();
    expect(chunks.some(({ type }) => type === 'tool-output-available')).toBe(true);
    expect(world.oauth.tokenRequests.filter((form) => form.has('refresh_token'))).toHaveLength(1);
  });

  it('that is refused breaks the grant, deletes nothing, and asks the person', async () => {
    const { world } = await due();
    world.oauth.valid.clear();
    const broken = createOAuthPeer(); // knows none of the tokens
    const second = await signInWorld({ oauth: broken, storage: world.storage, now: () => Date.now() + 3_590_000 });
    const chunks = await second.run();
    expect(lastData(chunks, 'data-interruption')).toMatchObject({ kind: 'sign_in' });
    expect(await world.runtime.mcpSignIns.grant('docs', person())).toMatchObject({ state: 'broken' });
    expect(JSON.stringify(chunks)).not.toContain('TEXT OF THE SERVER');
  });

  it('is not made, and no token is sent, when the sign-in has drifted', async () => {
    const events: unknown[] = [];
    const world = await signInWorld();
    await world.prepare();
    const oauth = createOAuthPeer({ resource: { authorization_servers: ['https://evil.example'] } });
    const second = await signInWorld({
      oauth,
      storage: world.storage,
      sinks: [(event) => void events.push(event)],
    });
    const chunks = await second.run();
    expect(chunks.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { details: { reason: 'mcp_issuer_unlisted' } },
    });
    expect(oauth.tokenRequests).toEqual([]);
    expect(events).toContainEqual(expect.objectContaining({ action: 'mcp.auth_changed' }));
  });

  it('waits for a lease of another instance, and takes over when that instance is gone', async () => {
    const { world, now } = await due();
    const entry = (await world.storage.get(grantKey))!;
    const lease = { id: 'gone', until: now() + 300 };
    await world.storage.commit([{ key: grantKey, value: { ...entry.value as object, lease } }]);
    let at = now();
    const second = await signInWorld({ oauth: world.oauth, storage: world.storage, now: () => (at += 20) });
    const chunks = await second.run();
    expect(chunks.some(({ type }) => type === 'tool-output-available')).toBe(true);
  });
});

describe('a call that needs more than was granted', () => {
  /** A server that wants `write` for calls. */
  async function stepUp(options: SignInWorldOptions = {}) {
    let allowed = false;
    const first = async (request: Request) => {
      const { pathname } = new URL(request.url);
      if (pathname !== '/mcp' || allowed || !(await request.clone().text()).includes('tools/call')) return undefined;
      const header = 'Bearer error="insufficient_scope", scope="write"';
      return new Response(null, { status: 403, headers: { 'www-authenticate': header } });
    };
    const world = await signInWorld({ ...options, first });
    await world.prepare();
    return { world, allow: () => (allowed = true) };
  }

  it('asks the person, shows what is added, and requests it with what was granted', async () => {
    const { world, allow } = await stepUp();
    const waiting = await world.run();
    const asked = lastData(waiting, 'data-interruption');
    expect(asked).toMatchObject({ signIn: { scopes: ['write'], added: ['write'] } });
    const { url } = await world.runtime.mcpSignIns.start(
      'docs',
      { redirectUri: 'https://chat.example.com/callback', interruptionId: asked['id'] },
      person(),
    );
    expect(new URL(url).searchParams.get('scope')).toBe('read write');
    await world.runtime.mcpSignIns.finish(await world.oauth.consent(url), person());
    allow();
    const after = await world.run(continued(waiting));
    expect(after.some(({ type }) => type === 'tool-output-available')).toBe(true);
  });

  it('asks once: a call that is refused after the sign-in fails', async () => {
    const { world } = await stepUp();
    const waiting = await world.run();
    await world.signIn(person(), { interruptionId: String(lastData(waiting, 'data-interruption')['id']) });
    const after = await world.run(continued(waiting));
    expect(after.find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { code: 'forbidden', details: { reason: 'mcp_scope_refused' } },
    });
  });

  it('asks a person three times in an hour, on all instances', async () => {
    let time = Date.now();
    const { world } = await stepUp({ now: () => time, expiresIn: 36_000 });
    const second = await signInWorld({ oauth: world.oauth, storage: world.storage, now: () => time });
    for (const instance of [world, second, world]) {
      expect(lastData(await instance.run(), 'data-interruption')).toMatchObject({ kind: 'sign_in' });
      time += 60_000;
    }
    expect((await second.run()).find(({ type }) => type === 'data-tool-error')).toMatchObject({
      data: { code: 'rate_limited', retryAfterMs: 3_420_000, details: { reason: 'mcp_step_up_limit' } },
    });
    time += 3_420_001;
    expect(lastData(await second.run(), 'data-interruption')).toMatchObject({ kind: 'sign_in' });
  });

  it('is not asked for by the interruption of another person', async () => {
    const { world } = await stepUp();
    const id = lastData(await world.run(), 'data-interruption')['id'];
    const start = world.runtime.mcpSignIns.start(
      'docs',
      { redirectUri: 'https://chat.example.com/callback', interruptionId: id },
      person('bob'),
    );
    await expect(start).rejects.toMatchObject({ code: 'not_found' });
    expect(issuer).toBeDefined();
  });
});
