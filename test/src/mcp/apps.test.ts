import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { type AgentInput, createPrincipal, createRegistry, localPrincipal, PinnaceError } from '../../../src/index.ts';
import type { McpReading } from '../../../src/contracts/mcp/mcp-connector.ts';
import type { McpValidationInput } from '../../../src/registry/index.ts';
import { fakeMcp, rawTool } from '../../fixtures/mcp.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const server = 'docs-server';
const uri = 'ui://docs/chart.html';
const html = '<!doctype html><h1>Chart</h1>';
const appType = 'text/html;profile=mcp-app';

const withApp = (name: string, ui: Record<string, unknown>) => rawTool({ name, _meta: { ui } });
const chart = withApp('chart', { resourceUri: uri });
const refresh = withApp('refresh', { resourceUri: uri, visibility: ['app'] });
const summary = withApp('summary', { visibility: ['model'] });
const remove = { ...withApp('remove_point', { visibility: ['app'] }), annotations: { destructiveHint: true } };

type Part = Record<string, unknown>;
const appPart = (more: Part = {}): Part => ({ uri, mimeType: appType, text: html, ...more });

interface Given {
  readonly parts?: Record<string, Part | undefined>;
  readonly tools?: readonly unknown[];
  readonly resources?: readonly unknown[];
  readonly selection?: NonNullable<AgentInput['mcp']>[string];
  readonly apps?: boolean;
  readonly url?: string;
}

/** A runtime whose agent selects a server with apps. `parts` is what it answers, and can be changed. */
async function setUp({ parts = { [uri]: appPart() }, selection = {}, apps = true, ...given }: Given = {}) {
  const { tools = [chart, refresh, summary, remove], resources = [], url = 'https://docs.example.com/mcp' } = given;
  const onRead = ({ params }: McpReading) => {
    const part = parts[String(params['uri'])];
    if (!part) throw new PinnaceError('not_found', 'The server knows no such resource');
    return { contents: [part] };
  };
  const mcp = fakeMcp({
    tools,
    resources,
    onRead,
    onCall: ({ name }) => ({ content: [{ type: 'text', text: `made by ${name}` }], isError: false }),
  });
  const storage = memoryStorage();
  const catalog = createRegistry({ storage, privateOrigins: ['loopback'] });
  await catalog.put('provider', { id: 'default', kind: 'custom' });
  await catalog.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { [server]: selection } });
  await catalog.put('agent', { id: 'other', name: 'Other', providerId: 'default' });
  await catalog.put('mcpServer', { id: server, alias: 'docs', url, apps });
  const sink = memorySink();
  const model = scriptedModel(callsTools({ tool: 'docs__chart', input: {} }), says('Here it is'));
  const compose = () => testRuntime({ model: model.model, catalog, storage, mcp: mcp.connector, sinks: [sink.sink] });
  const runtime = compose();
  const record = async () => await catalog.mcpServer?.(server) ?? expect.fail('The server has no record');
  const look = (request: McpValidationInput = {}) => runtime.validateMcpServer(server, request, me);
  const approve = async (request: McpValidationInput = {}) => {
    const { digest } = await look();
    const effects = { chart: 'read', refresh: 'read', summary: 'read', remove_point: 'destructive' } as const;
    const known = new Set(tools.map((tool) => (tool as { readonly name: string }).name));
    const wanted = Object.fromEntries(Object.entries(effects).filter(([name]) => known.has(name)));
    return await look({ approve: true, digest, effects: wanted, ...request });
  };
  const hashOf = async () => (await look()).apps?.[0]?.sha256 ?? '';
  return {
    mcp,
    parts,
    runtime,
    compose,
    catalog,
    record,
    look,
    approve,
    hashOf,
    events: sink.events,
    calls: model.calls,
  };
}

const drifted = { code: 'forbidden', details: { reason: 'mcp_drifted' } };
const unknown = { code: 'not_found', details: { reason: 'mcp_app_not_found' } };
const unknownTool = { code: 'not_found', details: { reason: 'mcp_app_tool_unknown' } };

async function appParts({ runtime }: Pick<Awaited<ReturnType<typeof setUp>>, 'runtime'>) {
  const chunks = await readAll(
    await runtime.run({
      agentId: 'helper',
      chat: { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go' }] }] },
    }, me),
  );
  return chunks.filter(({ type }) => type === 'data-mcp-app');
}

describe('apps of an MCP server', () => {
  it('are shown before an approval, with what they may reach, and cannot be read before it', async () => {
    const csp = {
      connectDomains: ['https://API.example.com/', 'wss://live.example.com'],
      resourceDomains: ['https://*.cdn.example.com'],
    };
    const { look, runtime } = await setUp({
      parts: { [uri]: appPart({ _meta: { ui: { csp, permissions: { camera: {} } } } }) },
    });
    const answer = await look();
    expect(answer.apps).toEqual([{
      uri,
      label: `app:${uri}`,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: html.length,
      csp: { connect: ['https://api.example.com', 'wss://live.example.com'], resource: ['https://*.cdn.example.com'] },
      permissions: ['camera'],
      tools: ['chart', 'refresh'],
      change: 'added',
      included: true,
    }]);
    expect(answer.findings).toContainEqual(expect.objectContaining({ rule: 'app_permission', item: `app:${uri}` }));
    const sha256 = answer.apps?.[0]?.sha256 ?? '';
    await expect(runtime.apps.read('helper', { server, uri, sha256 }, me)).rejects.toMatchObject(unknown);
  });

  it('are read again once they are approved, and announced with the results of their tools', async () => {
    const { approve, hashOf, runtime } = await setUp();
    expect(await approve()).toMatchObject({ approved: true, apps: [{ included: true }] });
    const sha256 = await hashOf();
    expect(await runtime.apps.read('helper', { server, uri, sha256 }, me)).toEqual({
      server,
      alias: 'docs',
      host: 'docs.example.com',
      uri,
      sha256,
      untrusted: true,
      html,
      csp: { connect: [], resource: [] },
    });
    const [part, ...others] = await appParts({ runtime });
    expect(part).toMatchObject({ data: { toolCallId: expect.any(String), serverId: server, uri, sha256 } });
    expect(others).toEqual([]);
  });

  it('change the digest of the offer, so an app that changes after a look is not approved', async () => {
    const { look, parts } = await setUp();
    const { digest } = await look();
    parts[uri] = appPart({ text: '<script>other()</script>' });
    await expect(look({ approve: true, digest })).rejects.toMatchObject({ code: 'conflict' });
  });

  it.each([
    ['another HTML', { text: `${html} ` }],
    ['another origin', { _meta: { ui: { csp: { connectDomains: ['https://evil.example'] } } } }],
    ['another permission', { _meta: { ui: { permissions: { microphone: {} } } } }],
    ['another type', { mimeType: 'text/html' }],
    ['no HTML', { text: undefined }],
  ])('with %s are hidden alone, on every instance, until a person approves again', async (_, change) => {
    const { approve, hashOf, runtime, compose, parts, events, record } = await setUp();
    await approve();
    const request = { server, uri, sha256: await hashOf() };
    parts[uri] = appPart(change);
    await expect(runtime.apps.read('helper', request, me)).rejects.toMatchObject(drifted);
    parts[uri] = appPart(); // even if it returns
    await expect(runtime.apps.read('helper', request, me)).rejects.toMatchObject(drifted);
    await expect(compose().apps.read('helper', request, me)).rejects.toMatchObject(drifted);
    expect((await record()).pinned?.apps).toMatchObject([{ status: 'drifted' }]);
    expect(events.filter(({ action }) => action === 'mcp.content_changed')).toHaveLength(1);
    const chunks = await appParts({ runtime }); // the tool works without it
    expect(chunks).toEqual([]);
    const { tools } = await runtime.manifest('helper', me);
    expect(tools.find(({ id }) => id === 'docs__chart')).toEqual({ id: 'docs__chart' });
    await approve();
    expect(await runtime.apps.read('helper', { ...request, sha256: await hashOf() }, me)).toMatchObject({ html });
  });

  it('are compared with the pin by a look too', async () => {
    const { approve, hashOf, runtime, parts, look } = await setUp();
    await approve();
    const request = { server, uri, sha256: await hashOf() };
    parts[uri] = appPart({ text: 'other' });
    expect(await look()).toMatchObject({ apps: [{ change: 'changed' }] });
    parts[uri] = appPart();
    await expect(runtime.apps.read('helper', request, me)).rejects.toMatchObject(drifted);
  });

  it.each<[string, Part | undefined, string]>([
    ['is larger than 512 KiB', appPart({ text: 'x'.repeat(524_289) }), 'app_too_large'],
    ['is no HTML of an app', appPart({ mimeType: 'text/html' }), 'app_type'],
    ['is answered under another address', appPart({ uri: 'ui://docs/other' }), 'app_missing'],
    ['is no text', appPart({ text: 7 }), 'app_text'],
    ['is no UTF-8', appPart({ text: undefined, blob: '/w==' }), 'app_text'],
    ['cannot be read', undefined, 'app_unreadable'],
    ...[
      'http://api.example.com',
      'https://127.0.0.1',
      'http://127.0.0.1:8080',
      'https://localhost',
      'https://*',
      'https://*.com',
      'https://a.example; script-src *',
      'https://a.example/path',
      'https://u@a.example',
      'data:',
      '*',
      'https://db.internal',
    ].map((origin): [string, Part, string] => [
      `may reach ${origin}`,
      appPart({ _meta: { ui: { csp: { connectDomains: [origin] } } } }),
      'app_origin',
    ]),
    [
      'may load from anywhere',
      appPart({ _meta: { ui: { csp: { resourceDomains: ['wss://a.example'] } } } }),
      'app_origin',
    ],
    [
      'may reach too many origins',
      appPart({ _meta: { ui: { csp: { connectDomains: Array(21).fill('https://a.example') } } } }),
      'app_origin',
    ],
  ])('is left out, and its tool is not, when it %s', async (_, part, rule) => {
    const { approve } = await setUp({ parts: { [uri]: part } });
    const answer = await approve();
    expect(answer.apps).toBeUndefined();
    expect(answer).toMatchObject({ approved: true });
    expect(answer.findings).toContainEqual(expect.objectContaining({ rule, severity: 'warning', item: `app:${uri}` }));
    expect(answer.tools.every(({ included }) => included)).toBe(true);
  });

  it('may reach addresses of this machine where their server is on this machine', async () => {
    const meta = { ui: { csp: { connectDomains: ['http://127.0.0.1:4000', 'ws://localhost:4001'] } } };
    const { look } = await setUp({ url: 'http://127.0.0.1:3000/mcp', parts: { [uri]: appPart({ _meta: meta }) } });
    expect((await look()).apps?.[0]?.csp.connect).toEqual(['http://127.0.0.1:4000', 'ws://localhost:4001']);
  });

  it('may be base64, and take their metadata from the list of resources', async () => {
    const meta = { ui: { csp: { connectDomains: ['https://api.example.com'] } } };
    const resources = [{ uri, name: 'Chart', _meta: meta }];
    const { approve, hashOf, runtime } = await setUp({
      resources,
      parts: { [uri]: appPart({ text: undefined, blob: btoa(html) }) },
    });
    expect((await approve()).content).toBeUndefined();
    const app = await runtime.apps.read('helper', { server, uri, sha256: await hashOf() }, me);
    expect(app).toMatchObject({ html, csp: { connect: ['https://api.example.com'], resource: [] } });
  });

  it('are at most 32 for a server', async () => {
    const many = Array.from({ length: 33 }, (_, i) => withApp(`tool_${i}`, { resourceUri: `ui://docs/${i}` }));
    const parts = Object.fromEntries(many.map((_, i) => [`ui://docs/${i}`, appPart({ uri: `ui://docs/${i}` })]));
    const answer = await (await setUp({ tools: many, parts })).look();
    expect(answer.apps).toHaveLength(32);
    expect(answer.findings).toContainEqual(expect.objectContaining({ rule: 'too_many', item: 'app:ui://docs/32' }));
  });

  it('can be excluded from an approval, and masked by an agent', async () => {
    const excluded = await setUp();
    await excluded.approve({ leaveOut: [`app:${uri}`] });
    const sha256 = await excluded.hashOf();
    await expect(excluded.runtime.apps.read('helper', { server, uri, sha256 }, me)).rejects.toMatchObject(unknown);
    const masked = await setUp({ selection: { mask: ['app:*'] } });
    await masked.approve();
    await expect(masked.runtime.apps.read('helper', { server, uri, sha256 }, me)).rejects.toMatchObject(unknown);
  });
});

describe('calls of apps', () => {
  const request = { server, uri, tool: 'refresh', arguments: {} };

  it('reach tools for apps, which models do not get', async () => {
    const { approve, hashOf, runtime, mcp } = await setUp();
    await approve();
    const { tools } = await runtime.manifest('helper', me);
    expect(tools).toContainEqual({ id: 'docs__refresh', excluded: 'mcp_app_only' });
    expect(tools).toContainEqual({ id: 'docs__summary' });
    const result = await runtime.apps.call('helper', { ...request, sha256: await hashOf() }, me);
    expect(result).toMatchObject({
      ok: true,
      output: { source: 'docs', untrusted: true, content: [{ text: 'made by refresh' }] },
    });
    expect(mcp.asked.calls.map(({ name }) => name)).toEqual(['refresh']);
  });

  it.each([
    ['a tool for models only', { tool: 'summary' }],
    ['an unknown tool', { tool: 'nothing' }],
    ['a server that the agent does not select', { server: 'other-server' }],
  ])('do not reach %s', async (_, wanted) => {
    const { approve, hashOf, runtime, mcp } = await setUp();
    await approve();
    const call = runtime.apps.call('helper', { ...request, sha256: await hashOf(), ...wanted }, me);
    await expect(call).rejects.toMatchObject(unknownTool);
    expect(mcp.asked.calls).toEqual([]);
  });

  it('keep to the agent’s selection', async () => {
    const { approve, hashOf, runtime, mcp } = await setUp({ selection: { allow: ['chart'] } });
    await approve();
    await expect(runtime.apps.call('helper', { ...request, sha256: await hashOf() }, me)).rejects.toMatchObject(
      unknownTool,
    );
    expect(mcp.asked.calls).toEqual([]);
  });

  it('are refused for an app that has changed or is not approved', async () => {
    const { approve, hashOf, runtime, parts, mcp } = await setUp();
    await approve();
    const sha256 = await hashOf();
    await expect(runtime.apps.call('helper', { ...request, sha256: '0'.repeat(64) }, me)).rejects.toMatchObject(
      drifted,
    );
    parts[uri] = appPart({ text: 'other' });
    await expect(runtime.apps.read('helper', { server, uri, sha256 }, me)).rejects.toMatchObject(drifted);
    await expect(runtime.apps.call('helper', { ...request, sha256 }, me)).rejects.toMatchObject(drifted);
    expect(mcp.asked.calls).toEqual([]);
  });

  it('need an approval where a model’s call would, by someone who may approve', async () => {
    const { approve, hashOf, runtime, mcp, events } = await setUp();
    await approve();
    const wanted = { ...request, tool: 'remove_point', arguments: { query: '7' }, sha256: await hashOf() };
    const asked = await runtime.apps.call('helper', wanted, me);
    expect(asked).toMatchObject({ ok: false, error: { code: 'approval_required' } });
    expect(asked).toMatchObject({ question: expect.stringContaining('docs__remove_point') });
    expect(mcp.asked.calls).toEqual([]);
    const denied = await runtime.apps.call('helper', { ...wanted, approved: false }, me);
    expect(denied).toMatchObject({ ok: false, error: { details: { reason: 'approval_denied' } } });
    const caller = createPrincipal({ via: 'http', tenant: 'local', subject: 's', scopes: ['run:create'], agents: '*' });
    const unasked = await runtime.apps.call('helper', wanted, caller);
    expect(unasked).toMatchObject({ ok: false, error: { code: 'approval_required' } });
    expect(unasked).not.toHaveProperty('question');
    const forged = await runtime.apps.call('helper', { ...wanted, approved: true }, caller);
    expect(forged).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    expect(mcp.asked.calls).toEqual([]);
    expect(await runtime.apps.call('helper', { ...wanted, approved: true }, me)).toMatchObject({ ok: true });
    expect(mcp.asked.calls.map(({ name, input }) => [name, input])).toEqual([['remove_point', { query: '7' }]]);
    expect(events.map(({ action }) => action)).toContain('approval.decide');
  });

  it('check their input against the pinned schema', async () => {
    const { approve, hashOf, runtime, mcp } = await setUp();
    await approve();
    const wanted = { ...request, arguments: { query: 7 }, sha256: await hashOf() };
    expect(await runtime.apps.call('helper', wanted, me)).toMatchObject({
      ok: false,
      error: { code: 'invalid_argument' },
    });
    expect(mcp.asked.calls).toEqual([]);
  });
});
