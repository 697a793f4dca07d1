import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import { createRegistry, type HostedRuntime, localPrincipal } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { platformEgress } from '../../fixtures/platform-egress.ts';
import { testRuntime } from '../../fixtures/runtime.ts';
import { type AppServer, startAppServer } from '../../tools/servers/app-server.ts';

const me = localPrincipal();
const extension = 'io.modelcontextprotocol/ui';
const uri = 'ui://harbor/view.html';
let server: AppServer;
beforeAll(async () => {
  server = await startAppServer();
});
afterAll(() => server.close());

/** A runtime that uses the server, and what it has sent. */
async function setUp({ apps }: { readonly apps: boolean }) {
  const bodies: string[] = [];
  const way = await platformEgress({ loopback: [new URL(server.url).origin] });
  const egress: Egress = {
    async fetch(request, options) {
      bodies.push(await request.clone().text());
      return await way.fetch(request, options);
    },
  };
  const storage = memoryStorage();
  const registry = createRegistry({ storage, privateOrigins: ['loopback'] });
  await registry.put('provider', { id: 'default', kind: 'custom' });
  await registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { harbor: {} } });
  await registry.put('mcpServer', { id: 'harbor', alias: 'harbor', url: server.url, apps });
  const mcp = mcpConnector({ egress });
  const runtime = testRuntime({ model: scriptedModel(says('ok')).model, catalog: registry, storage, mcp });
  const look = await runtime.validateMcpServer('harbor', {}, me);
  const effects = { refresh: 'read' } as const;
  await runtime.validateMcpServer('harbor', { approve: true, digest: look.digest, effects }, me);
  return { runtime, look, bodies, request: { server: 'harbor', uri, sha256: look.apps?.[0]?.sha256 ?? '' } };
}

function overPort(runtime: HostedRuntime) {
  const { port1, port2 } = new MessageChannel();
  exposeRuntime(runtime, port1);
  onTestFinished(() => port1.close());
  return Promise.resolve(connectRuntime(port2).apps);
}

async function overHttp(runtime: HostedRuntime) {
  const { tenant, subject } = me;
  const scopes = ['run:create', 'tool:approve'] as const;
  const tokens = [{ digest: await digestOfToken('token-of-ann'), tenant, subject, agents: '*', scopes } as const];
  const handle = createHandler(runtime, { authenticator: bearerAuthenticator({ tokens }) });
  const fetch = async (request: Request): Promise<Response> => await handle(request);
  return createClient({ url: 'https://agents.example', credentials: { bearer: 'token-of-ann' }, fetch }).apps;
}

describe('apps of a server that is made with the SDK for apps', () => {
  it('are asked for where the record of the server wants them, and only there', async () => {
    const without = await setUp({ apps: false });
    expect(without.look.apps).toBeUndefined();
    expect(without.bodies.join('\n')).not.toContain(extension);
    const { look, bodies } = await setUp({ apps: true });
    expect(bodies.join('\n')).toContain(`"${extension}":{"mimeTypes":["text/html;profile=mcp-app"]}`);
    expect(look.apps?.map(({ uri: address, tools, csp }) => [address, tools, csp.connect.length])).toEqual([
      [uri, ['tides'], 0],
      ['ui://harbor/hostile.html', ['attack'], 0],
      ['ui://harbor/listed.html', ['listed'], 1],
    ]);
    expect(look.content).toBeUndefined();
  });

  it.each([['a message port', overPort], ['HTTP', overHttp]] as const)(
    'are read and make calls over %s',
    async (_, connect) => {
      const { runtime, request } = await setUp({ apps: true });
      const apps = await connect(runtime);
      const app = await apps.read('helper', request);
      expect(app).toMatchObject({ ...request, alias: 'harbor', host: new URL(server.url).host, untrusted: true });
      expect(app.html).toContain('Tides today');
      const { sha256 } = request;
      await expect(apps.read('helper', { ...request, sha256: sha256.replace(/./g, '0') })).rejects.toMatchObject({
        code: 'forbidden',
        details: { reason: 'mcp_drifted' },
      });
      expect(await apps.call('helper', { ...request, tool: 'refresh' })).toMatchObject({
        ok: true,
        output: { source: 'harbor', untrusted: true, content: [{ text: 'Tides are fresh' }] },
      });
      await expect(apps.call('helper', { ...request, tool: 'tides' })).rejects.toMatchObject({
        code: 'not_found',
        details: { reason: 'mcp_app_tool_unknown' },
      });
      const before = server.calls.length;
      const wanted = { ...request, tool: 'remove', arguments: { hour: 7 } };
      const asked = await apps.call('helper', wanted);
      expect(asked).toMatchObject({ ok: false, error: { code: 'approval_required' } });
      expect(asked).toMatchObject({ question: expect.stringContaining('harbor__remove') });
      expect(server.calls.length).toBe(before);
      expect(await apps.call('helper', { ...wanted, approved: true })).toMatchObject({ ok: true });
      expect(server.calls.slice(before)).toEqual(['remove']);
      const dropped = { ...wanted, arguments: { hour: 7, constructor: 'x' }, approved: true };
      await expect(apps.call('helper', dropped)).rejects.toMatchObject({ details: { reason: 'reserved_key' } });
      expect(server.calls.slice(before)).toEqual(['remove']);
    },
  );
});
