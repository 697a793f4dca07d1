import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import { localPrincipal } from '../../../../src/index.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1' } },
};
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

describe('an MCP session of one person', () => {
  it.each<[string, object | undefined]>([['POST', list], ['GET', undefined], ['DELETE', undefined]])(
    'is as unknown to another person of the tenant as none, by %s, and goes on',
    async (method, body) => {
      const runtime = testRuntime(scriptedModel(says('Hello')));
      const facts = { tenant: 't1', agents: '*', scopes: ['run:create', 'run:read'] } as const;
      const tokens = await Promise.all(
        ['ada', 'bob'].map(async (subject) => ({ ...facts, subject, digest: await digestOfToken(subject) })),
      );
      const tools = () => runtime.tools('helper', localPrincipal());
      const mcp = { tools, storage: memoryStorage(), sessions: {}, hosts: ['agents.example'] };
      const handler = createHandler(runtime, { authenticator: bearerAuthenticator({ tokens }), mcp });
      const ask = async (person: string, session: string | null, how = method, what = body) => {
        const headers = {
          authorization: `Bearer ${person}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session !== null && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
        };
        return await handler(
          new Request('https://agents.example/mcp', {
            method: how,
            headers,
            ...(what && { body: JSON.stringify(what) }),
          }),
        );
      };
      const opened = await ask('ada', null, 'POST', initialize);
      const session = opened.headers.get('mcp-session-id');
      await opened.text();
      const [theirs, none] = [await ask('bob', session), await ask('bob', crypto.randomUUID())];
      expect([theirs.status, await theirs.text()]).toEqual([404, await none.text()]);
      const own = await ask('ada', session, 'POST', list);
      expect([own.status, await own.text()]).toEqual([200, expect.stringContaining('tools')]);
    },
  );
});
