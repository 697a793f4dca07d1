import { describe, expect, it, onTestFinished } from 'vitest';
import * as v from 'valibot';
import { offerAgentTools, servePageTools, type ToolQuestion } from '../../../adapters/webmcp/page.ts';
import { answerPort } from '../../../adapters/webmcp/port-calls.ts';
import { pageToolsConnector, serveAgentTools } from '../../../adapters/webmcp/worker.ts';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRuntime, defineTool, localPrincipal, type Tool } from '../../../src/index.ts';
import type { McpServer } from '../../../src/registry/index.ts';
import { FakeModelContext } from '../../fixtures/webmcp/fake-model-context.ts';

const url = 'https://app.example/webmcp';
const server = { id: 'page', alias: 'page', url } as McpServer; // a connector reads its URL alone
const { signal } = new AbortController();
const paint = {
  name: 'paint',
  description: 'Paints the page',
  inputSchema: { type: 'object', properties: { color: { type: 'string' } } },
  execute: (input: unknown) => Promise.resolve(`painted ${JSON.stringify(input)}`),
};

/** A page with tools, and a connection of a worker to it. */
async function connected(context = new FakeModelContext(), onToolsChanged = (): void => undefined) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(servePageTools(port1, { context }));
  const connector = pageToolsConnector({ url });
  connector.connectPage(port2);
  const connection = await connector.connect(server, { secret: undefined, signal, onToolsChanged });
  return { context, connection, port1 };
}

const callOf = (name: string, input: Readonly<Record<string, unknown>> = {}) => ({
  name,
  input,
  definition: {},
  signal,
  timeoutMs: 10_000,
});

describe('the tools of a page, for an agent', () => {
  it('are listed with their schemas as objects, and called with their input', async () => {
    const { context, connection } = await connected();
    await context.registerTool(paint, { signal });
    expect(await connection.listTools({ signal })).toEqual([{
      name: 'paint',
      description: 'Paints the page',
      inputSchema: paint.inputSchema,
      annotations: { readOnlyHint: false },
    }]);
    expect(await connection.callTool(callOf('paint', { color: 'red' }))).toEqual({
      content: [{ type: 'text', text: 'painted {"color":"red"}' }],
      isError: false,
    });
  });

  it('of other origins are left out', async () => {
    const { context, connection } = await connected();
    context.origins.set('paint', 'https://elsewhere.example');
    await context.registerTool(paint, { signal });
    expect(await connection.listTools({ signal })).toEqual([]);
    await expect(connection.callTool(callOf('paint'))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('fail as a result, without the text of the page', async () => {
    const { context, connection } = await connected();
    await context.registerTool({ ...paint, execute: () => Promise.reject(new Error('my password')) }, { signal });
    const result = await connection.callTool(callOf('paint'));
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result)).not.toContain('password');
  });

  it('end with the call that is canceled, by its signal', async () => {
    const { context, connection } = await connected();
    const aborted = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const execute = (_: unknown, options?: { signal?: AbortSignal }): Promise<never> =>
      new Promise((_resolve, reject) => {
        options?.signal?.addEventListener('abort', () => {
          aborted.resolve();
          reject(new Error('ended'));
        });
        started.resolve();
      });
    await context.registerTool({ ...paint, execute }, { signal });
    const abort = new AbortController();
    const call = connection.callTool({ ...callOf('paint'), signal: abort.signal });
    await started.promise;
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await aborted.promise;
  });

  it('are out of reach without a page: unavailable, reason no_page', async () => {
    const connection = await pageToolsConnector({ url }).connect(server, { secret: undefined, signal });
    await expect(connection.listTools({ signal })).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'no_page' },
    });
  });

  it('report a page that closes during a call as page_gone: the call may have had its effect', async () => {
    const { context, connection } = await connected();
    const started = Promise.withResolvers<void>();
    const execute = (): Promise<never> => {
      started.resolve();
      return new Promise(() => {});
    };
    await context.registerTool({ ...paint, execute }, { signal });
    const connector = pageToolsConnector({ url });
    const { port1, port2 } = new MessageChannel();
    const stop = servePageTools(port1, { context });
    connector.connectPage(port2);
    const other = await connector.connect(server, { secret: undefined, signal });
    const call = other.callTool(callOf('paint'));
    await started.promise;
    stop();
    await expect(call).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'page_gone' } });
    expect(await connection.listTools({ signal })).toHaveLength(1);
  });

  it('leave other MCP servers to the connector that is given', async () => {
    const asked: string[] = [];
    const others = { connect: (to: McpServer) => Promise.reject(new Error(`asked ${asked.push(to.url)}`)) };
    const connector = pageToolsConnector({ url, others });
    await expect(connector.connect({ ...server, url: 'https://mcp.example' }, { secret: undefined, signal })).rejects
      .toThrow('asked 1');
    expect(asked).toEqual(['https://mcp.example']);
  });
});

const reads = defineTool({
  id: 'greet',
  description: 'Greets',
  input: v.object({ name: v.string() }),
  annotations: { readOnlyHint: true },
  execute: ({ name }) => `Hello ${name}`,
});
const deleted: string[] = [];
const acts = defineTool({
  id: 'wipe',
  description: 'Deletes everything',
  input: v.object({ what: v.string() }),
  annotations: { destructiveHint: true },
  approval: 'always',
  execute({ what }) {
    deleted.push(what);
    return 'done';
  },
});

interface Offered {
  readonly context: FakeModelContext;
  readonly run: (name: string, input: unknown) => Promise<unknown>;
}

/** A page to which an agent's tools are offered. */
async function offered(
  { only, tools = [reads, acts], confirm }: {
    only?: '*' | readonly string[];
    tools?: readonly Tool[];
    confirm?: (question: ToolQuestion) => Promise<boolean>;
  } = {},
): Promise<Offered> {
  deleted.length = 0;
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', providerId: 'p', name: 'Helper', instructions: '', entryTools: ['greet', 'wipe'] }],
      providers: [{ id: 'p', kind: 'rehearsal', model: 'm' }],
    }),
    models: { model: () => rehearsal() },
    storage: memoryStorage(),
    tools,
  });
  const { port1, port2 } = new MessageChannel();
  const serving = serveAgentTools(port1, {
    runtime,
    agentId: 'helper',
    principal: localPrincipal(),
    ...(only && { only }),
  });
  const context = new FakeModelContext();
  const stop = await offerAgentTools(port2, { context, ...(confirm && { confirm }) });
  onTestFinished(() => {
    stop();
    serving.close();
  });
  const run = async (name: string, input: unknown): Promise<unknown> => {
    const tool = (await context.getTools()).find((one) => one.name === name);
    if (!tool) throw new Error(`The page has no tool ${name}`);
    const text = String(await context.executeTool(tool, JSON.stringify(input), { signal }));
    return text.startsWith('{') ? JSON.parse(text) : text;
  };
  return { context, run };
}

describe('the tools of an agent, for the browser', () => {
  it('are those that only read, unless others are named', async () => {
    const names = async ({ context }: Offered): Promise<readonly string[]> =>
      (await context.getTools()).map(({ name }) => name);
    expect(await names(await offered())).toEqual(['greet']);
    expect(await names(await offered({ only: ['wipe'] }))).toEqual(['wipe']);
    expect(await names(await offered({ only: '*' }))).toEqual(['greet', 'wipe']);
  });

  it('check what the browser does not: a wrong input is an error as a value', async () => {
    const { run } = await offered({ only: '*' });
    expect(await run('wipe', { what: 1 })).toMatchObject({ error: { code: 'invalid_argument' } });
    expect(deleted).toEqual([]);
  });

  it('act only after a person in front of the page has approved the call', async () => {
    const questions: string[] = [];
    let decision = false;
    const { run } = await offered({
      only: '*',
      confirm: ({ name, text }) => {
        questions.push(`${name}: ${text}`);
        return Promise.resolve(decision);
      },
    });
    expect(await run('wipe', { what: 'a' })).toHaveProperty('error');
    expect(deleted).toEqual([]);
    decision = true;
    expect(await run('wipe', { what: 'b' })).toBe('done');
    expect(deleted).toEqual(['b']);
    expect(questions[0]).toContain('wipe');
    expect(questions).toHaveLength(2);
  });

  it('are refused as approval_required where approvals are not possible', async () => {
    const { run } = await offered({ only: '*' });
    expect(await run('wipe', { what: 'a' })).toMatchObject({ error: { code: 'approval_required' } });
    expect(deleted).toEqual([]);
  });

  it('report a change that the browser refuses, and take the next one', async () => {
    const context = new FakeModelContext();
    const { port1, port2 } = new MessageChannel();
    let list = [paint];
    const serving = answerPort(port1, { list: () => Promise.resolve(list.map(({ execute: _, ...one }) => one)) });
    const failed = Promise.withResolvers<unknown>();
    const stop = await offerAgentTools(port2, { context, onError: failed.resolve });
    onTestFinished(() => {
      stop();
      serving.close();
    });
    await context.registerTool({ ...paint, name: 'print' }, { signal });
    list = [{ ...paint, name: 'print' }];
    serving.changed();
    expect(await failed.promise).toMatchObject({ name: 'InvalidStateError' });
    const changed = Promise.withResolvers<void>();
    list = [{ ...paint, name: 'draw' }];
    context.addEventListener('toolchange', () => changed.resolve());
    serving.changed();
    await changed.promise;
    expect((await context.getTools()).map(({ name }) => name)).toContain('draw');
  });

  it('are not offered back to agents of the same page', async () => {
    const { context } = await offered();
    const { connection } = await connected(context);
    expect(await connection.listTools({ signal })).toEqual([]);
  });
});
