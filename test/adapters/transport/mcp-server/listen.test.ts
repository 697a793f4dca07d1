import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { type McpResources } from '../../../../adapters/transport/mcp-content.ts';
import type { Handler } from '../../../../adapters/transport/http.ts';
import type { Authorize } from '../../../../src/index.ts';
import { askModern, mcpEndpoint, mcpRuntime, type Message } from '../../../fixtures/mcp/mcp-host.ts';

/** A resource of each tenant, and the way to change it. */
function watched() {
  const changes = new EventTarget();
  const watching = new Set<string>();
  const resources: McpResources = {
    read: (uri, { principal: { tenant } }) => uri.startsWith(`x://${tenant}/`) ? [{ text: tenant }] : undefined,
    watch(uri, { principal: { tenant }, signal, onChange }) {
      if (!uri.startsWith(`x://${tenant}/`)) return false;
      watching.add(uri);
      signal.addEventListener('abort', () => watching.delete(uri));
      changes.addEventListener(uri, onChange, { signal });
      return true;
    },
  };
  return { resources, watching, change: (uri: string) => void changes.dispatchEvent(new Event(uri)) };
}

async function endpoint(resources: McpResources, authorize?: Authorize) {
  const tokens = await Promise.all(['a', 'b'].map(async (tenant) => ({
    digest: await digestOfToken(tenant),
    tenant,
    subject: 's',
    actFor: ['p*'],
    agents: '*' as const,
    scopes: ['run:create'] as const,
  })));
  const runtime = mcpRuntime(authorize ? { authorize } : {});
  const authenticator = bearerAuthenticator({ tokens });
  return { runtime, serve: mcpEndpoint({ runtime, authenticator, mcp: { resources: [resources] } }) };
}

/** Listens, and collects what arrives. */
async function listen(serve: Handler, token: string, uris: readonly unknown[]) {
  const params = { notifications: { resourceSubscriptions: uris } };
  const response = await askModern(serve)('subscriptions/listen', params, {
    headers: { authorization: `Bearer ${token}` },
  });
  const messages: Message[] = [];
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(async () => await reader.cancel().catch(() => undefined));
  const ended = (async () => {
    let text = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      text += piece.value;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      messages.push(
        ...lines.filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice(6)) as Message),
      );
    }
  })();
  const updates = () =>
    messages.filter(({ method }) => method === 'notifications/resources/updated').map(({ params: sent }) =>
      sent?.['uri']
    );
  await vi.waitFor(() => expect(messages[0]?.method).toBe('notifications/subscriptions/acknowledged'));
  return { response, messages, updates, ended, leave: () => reader.cancel() };
}

const honored = ({ messages: [first] }: { readonly messages: readonly Message[] }) => first?.params?.['notifications'];

describe('a client of 2026-07-28 that listens', () => {
  it('receives no change of another tenant, although it names the resource', async () => {
    const { resources, change, watching } = watched();
    const { serve } = await endpoint(resources);
    const [own, other] = [await listen(serve, 'a', ['x://a/1']), await listen(serve, 'b', ['x://a/1', 'x://b/1'])];
    expect(honored(other)).toEqual({ resourceSubscriptions: ['x://b/1'] });
    change('x://a/1');
    await vi.waitFor(() => expect(own.updates()).toEqual(['x://a/1']));
    change('x://b/1');
    await vi.waitFor(() => expect(other.updates()).toEqual(['x://b/1']));
    expect([...watching]).toEqual(['x://a/1', 'x://b/1']);
  });

  it('receives nothing that the permission hook denies, also later', async () => {
    const { resources, change } = watched();
    let [isAllowed, asked] = [true, 0];
    const authorize: Authorize = (action, _, { id }) => {
      if (action !== 'mcp.resource.watch') return { decision: 'allow' };
      asked++;
      return { decision: isAllowed && id !== 'x://a/closed' ? 'allow' : 'deny', reason: 'closed' };
    };
    const { serve } = await endpoint(resources, authorize);
    const client = await listen(serve, 'a', ['x://a/1', 'x://a/closed']);
    expect(honored(client)).toEqual({ resourceSubscriptions: ['x://a/1'] });
    isAllowed = false;
    change('x://a/1');
    await vi.waitFor(() => expect(asked).toBe(3));
    isAllowed = true;
    change('x://a/1');
    await vi.waitFor(() => expect(client.updates()).toEqual(['x://a/1']));
  });

  it('of one tenant has 100 streams with all its persons, and takes none of others', async () => {
    const { serve } = await endpoint(watched().resources);
    const params = { notifications: { resourceSubscriptions: ['x://a/1'] } };
    const statusFor = async (token: string, person: number) => {
      const headers = { 'authorization': `Bearer ${token}`, 'pinnace-subject': `p${person}` };
      const { status, body } = await askModern(serve)('subscriptions/listen', params, { headers });
      onTestFinished(async () => await body?.cancel());
      return status;
    };
    for (let at = 0; at < 100; at++) expect(await statusFor('a', Math.floor(at / 10))).toBe(200);
    expect([await statusFor('a', 10), await statusFor('b', 10)]).toEqual([429, 200]);
  });

  it('has 10 streams at most, and takes none of others', async () => {
    const { resources } = watched();
    const { serve } = await endpoint(resources);
    const clients = [];
    for (let at = 0; at < 10; at++) clients.push(await listen(serve, 'a', ['x://a/1']));
    const params = { notifications: { resourceSubscriptions: ['x://a/1'] } };
    const ask = () => askModern(serve)('subscriptions/listen', params, { headers: { authorization: 'Bearer a' } });
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', details: { reason: 'too_many_mcp_streams' } });
    await listen(serve, 'b', ['x://b/1']);
    await clients[0]?.leave();
    await vi.waitFor(async () => {
      const response = await ask();
      await response.body?.cancel();
      expect(response.status).toBe(200);
    });
  });
});
