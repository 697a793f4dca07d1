import { describe, expect, it } from 'vitest';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { McpLogMessage } from '../../../src/contracts/mcp/mcp-connector.ts';
import { createRegistry, localPrincipal } from '../../../src/index.ts';
import { secret, server } from '../../contracts/mcp/check.ts';
import { createPeer, echo, event, events, listFields, type PeerMessage, result } from '../../contracts/mcp/peer.ts';
import { connectors, egressTo } from '../../fixtures/mcp/mcp-peer.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const token = 'tools-key-4f9aZ_q-77Kd0Lm2';

const logged = (data: unknown, level = 'error') => event({ method: 'notifications/message', params: { level, data } });

/** Answers a call after these events. */
const after = ({ id, params }: PeerMessage, ...before: readonly string[]) => {
  const { text } = params['arguments'] as { readonly text?: unknown };
  const content = { resultType: 'complete', content: [{ type: 'text', text }] };
  return events([...before, event({ id, result: content })]);
};

const capabilities = { tools: {}, logging: {}, resources: {}, prompts: {} };

describe.each(connectors)('notifications to $name from a server of the era $era', ({ make, era }) => {
  const declaring = {
    'initialize': (asked: PeerMessage) =>
      era === 'legacy'
        ? result(asked, { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'peer', version: '1' } }, {
          'mcp-session-id': 'session-1',
        })
        : undefined,
    'server/discover': (asked: PeerMessage) =>
      era === 'modern' ? result(asked, { ...listFields, supportedVersions: ['2026-07-28'], capabilities }) : undefined,
  };

  async function connect(on: Parameters<typeof createPeer>[1], options: Partial<Parameters<typeof make>[0]> = {}) {
    const logs: McpLogMessage[] = [];
    const changes: string[] = [];
    const signals: AbortSignal[] = [];
    const sent: unknown[] = [];
    const answers: Parameters<typeof createPeer>[1] = {
      'notifications/initialized': () => new Response(null, { status: 202 }),
      'notifications/cancelled': () => new Response(null, { status: 202 }),
      ...declaring,
      ...on,
    };
    const peer = createPeer(era, answers);
    const connector = make({
      egress: egressTo(async (request) => {
        signals.push(request.signal);
        if (request.method === 'POST') sent.push((await request.clone().json() as Partial<PeerMessage>).method);
        return await peer.handle(request);
      }),
      ...options,
    });
    const connection = await connector.connect(server, {
      secret,
      signal: new AbortController().signal,
      onToolsChanged: () => changes.push('tools'),
      onContentChanged: (kind) => changes.push(kind),
      onLog: (message) => logs.push(message),
    });
    return { connection, peer, logs, changes, signals, sent };
  }
  const call = { name: 'echo', input: { text: 'hello' }, definition: echo, timeoutMs: 20_000 };

  it('pass on what it logs, at most 100 messages, and its changed lists', async () => {
    const lists = ['tools', 'prompts', 'resources'].map((kind) =>
      event({ method: `notifications/${kind}/list_changed` })
    );
    const flood = Array.from({ length: 150 }, (_, i) => logged({ i }, i === 0 ? 'made-up' : 'warning'));
    const { connection, logs, changes } = await connect({ 'tools/call': (asked) => after(asked, ...lists, ...flood) });
    const { signal } = new AbortController();
    expect(await connection.callTool({ ...call, signal })).toMatchObject({ content: [{ text: 'hello' }] });
    expect(changes).toEqual(['tools', 'prompts', 'resources']);
    expect(logs).toHaveLength(100);
    expect(logs.slice(0, 2)).toEqual([{ level: 'info', data: { i: 0 } }, { level: 'warning', data: { i: 1 } }]);
    await connection.close();
  });

  it('are asked for with the level of the composition alone', async () => {
    const on = {
      'tools/call': (asked: PeerMessage) => after(asked),
      'logging/setLevel': (asked: PeerMessage) => result(asked, {}),
    };
    for (const logLevel of [undefined, 'warning'] as const) {
      const { connection, peer } = await connect(on, logLevel && { logLevel });
      await connection.callTool({ ...call, signal: new AbortController().signal });
      const meta = peer.of('tools/call').at(-1)?.params['_meta'] as Record<string, unknown> | undefined;
      const level = era === 'modern'
        ? meta?.['io.modelcontextprotocol/logLevel']
        : peer.of('logging/setLevel').at(-1)?.params['level'];
      expect(level).toBe(logLevel);
      await connection.close();
    }
  });

  it('end with a read that is canceled, which is also canceled at the server', async () => {
    const started = Promise.withResolvers<void>();
    const { connection, signals, sent } = await connect({
      'resources/read': () => {
        started.resolve();
        return events([], { open: true });
      },
    });
    const stop = new AbortController();
    const reading = connection.read({
      method: 'resources/read',
      params: { uri: 'docs://a' },
      signal: stop.signal,
      timeoutMs: 20_000,
    });
    await started.promise;
    const request = signals.at(-1);
    stop.abort();
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
    await expect.poll(() => request?.aborted).toBe(true);
    if (era === 'legacy') await expect.poll(() => sent).toContain('notifications/cancelled');
    await connection.close();
  });
});

describe('a run with an MCP server', () => {
  async function runOn(
    url: string,
    connector: Parameters<typeof testRuntime>[0]['mcp'],
    input: { tool: string; input: object },
  ) {
    const storage = memoryStorage();
    const registry = createRegistry({ storage, privateOrigins: ['loopback'] });
    await registry.put('provider', { id: 'default', kind: 'custom' });
    await registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { peer: {} } });
    await registry.put('mcpServer', { id: 'peer', alias: 'peer', url, secret: { id: 'peer-token' } });
    const { model } = scriptedModel(callsTools(input), says('ok'));
    const sink = memorySink();
    const errors: unknown[] = [];
    const runtime = testRuntime({
      model,
      catalog: registry,
      storage,
      ...(connector && { mcp: connector }),
      secrets: memorySecrets({ 'peer-token': token }, { unboundSecrets: 'allow' }),
      sinks: [sink.sink],
      onError: (error, { kind, id }) => errors.push([kind, id, String(error)]),
    });
    const { digest, tools } = await runtime.validateMcpServer('peer', {}, me);
    const effects = Object.fromEntries(tools.map(({ name }) => [name, 'read' as const]));
    await runtime.validateMcpServer('peer', { approve: true, digest, effects }, me);
    return { chunks: await readAll(await runtime.run(runRequest(), me)), events: sink.events, errors };
  }

  it('reports warnings and errors of its log without secrets, and emits their shape', async () => {
    const text = `Disk full, token ${token}`;
    const peer = createPeer('modern', {
      'tools/call': (asked) => after(asked, logged(text), logged('all fine', 'info'), logged({ key: token }, 'alert')),
    });
    const connector = mcpConnector({ egress: egressTo(peer.handle) });
    const { chunks, events: emitted, errors } = await runOn('https://mcp.example.com/mcp', connector, {
      tool: 'peer__echo',
      input: { text: 'hello' },
    });
    expect(errors).toEqual([
      ['mcp', 'peer', 'McpServerLog: MCP server "peer" logs (error): Disk full, token [secret peer-token]'],
      ['mcp', 'peer', 'McpServerLog: MCP server "peer" logs (alert): {"key":"[secret peer-token]"}'],
    ]);
    const logs = emitted.filter(({ action }) => action === 'mcp.log');
    expect(logs.map(({ status, payloadSummary }) => [status, payloadSummary.split(' ')[0]])).toEqual([
      ['error', 'level=error'],
      ['ok', 'level=info'],
      ['error', 'level=alert'],
    ]);
    expect(JSON.stringify([chunks, emitted])).not.toMatch(/Disk full|all fine/);
  });

  it('shows the progress of its calls, and drops what is no progress', async () => {
    const progress = (params: object) => (asked: PeerMessage) =>
      event({
        method: 'notifications/progress',
        params: { progressToken: (asked.params['_meta'] as { progressToken?: unknown }).progressToken, ...params },
      });
    const peer = createPeer('modern', {
      'tools/call': (asked) =>
        after(
          asked,
          progress({ progress: 1, total: 3, message: `Half\u202e way ${token}` })(asked),
          progress({ progress: 1, total: 3 })(asked),
          progress({ progress: 3, total: 3 })(asked),
          ...Array.from({ length: 500 }, (_, i) => progress({ progress: 4 + i })(asked)),
        ),
    });
    const connector = mcpConnector({ egress: egressTo(peer.handle) });
    const { chunks } = await runOn('https://mcp.example.com/mcp', connector, {
      tool: 'peer__echo',
      input: { text: 'hello' },
    });
    const parts = chunks.flatMap((chunk) => chunk.type === 'data-tool-progress' ? [chunk] : []);
    expect(parts.slice(0, 2).map(({ data }) => data)).toEqual([
      { toolCallId: 'call-0', progress: 1, total: 3, message: 'Half  way [secret peer-token]' },
      { toolCallId: 'call-0', progress: 3, total: 3 },
    ]);
    expect(parts.length).toBeLessThan(20);
  });
});
