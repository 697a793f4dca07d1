import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { type CreateRuntimeOptions, defineTool, localPrincipal } from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

/** Runs one call, and returns what its stream and its events say of the error. */
async function run(tool: string, options: Partial<CreateRuntimeOptions>, input: object = {}) {
  const { sink, events } = memorySink();
  const { model } = scriptedModel(callsTools({ tool, input }), says('ok'));
  const chunks = await readAll(await testRuntime({ ...options, model, sinks: [sink] }).run(runRequest(), me));
  const event = events.findLast(({ action, status }) => action === 'tool.call' && status !== 'pending');
  return { part: lastData(chunks, 'data-tool-error'), event };
}

const agents = [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] }];
const providers = [{ id: 'default', kind: 'custom' as const }];

function httpTool(answers: readonly (() => Response)[], config: object = {}): Partial<CreateRuntimeOptions> {
  const tool = {
    id: 'look',
    name: 'look',
    type: 'http' as const,
    description: 'Looks',
    paramsSchema: { type: 'object', properties: {} },
    config: { origin: 'https://api.example.com', ...config },
  };
  let sent = 0;
  const fetch = async (): Promise<Response> => (answers[sent++] ?? answers.at(-1))!(); // there is one
  return { catalog: staticCatalog({ agents, providers, tools: [tool] }), egress: { fetch } };
}

const busy = (status: number, headers: Record<string, string> = {}) => () => new Response('', { status, headers });

describe('the error of a tool call', () => {
  it('counts the attempts that were made', async () => {
    const { part } = await run('look', httpTool([busy(503, { 'retry-after': '0' })], { retries: 2 }));
    expect(part).toMatchObject({ code: 'unavailable', attempt: 3 });
    const once = await run('look', httpTool([busy(404)], { retries: 2 }));
    expect(once.part).toMatchObject({ code: 'not_found', attempt: 1 });
  });

  it.each([
    ['429', busy(429, { 'retry-after': '7' }), 'rate_limited'],
    ['503', busy(503, { 'retry-after': '7' }), 'unavailable'],
    [
      '429 with a date',
      busy(429, { 'date': 'Sun, 22 Nov 2026 12:00:00 GMT', 'retry-after': 'Sun, 22 Nov 2026 12:00:07 GMT' }),
      'rate_limited',
    ],
  ])('keeps retryAfterMs of an HTTP answer %s in stream and event', async (_, answer, code) => {
    const { part, event } = await run('look', httpTool([answer], { retries: 0 }));
    expect(part).toMatchObject({ code, retryable: true, retryAfterMs: 7000 });
    expect(event?.error).toMatchObject({ code, retryAfterMs: 7000 });
  });
});

describe('a field that a tool does not declare', () => {
  const inputs = {
    closed: v.strictObject({ to: v.string() }),
    silent: v.object({ to: v.string() }),
    open: v.looseObject({ to: v.string() }),
    nested: v.object({ to: v.object({ name: v.string() }) }),
    free: v.object({ to: v.string(), meta: v.unknown() }),
  };
  const tool = (input: (typeof inputs)[keyof typeof inputs], readOnlyHint: boolean) => {
    return defineTool({
      id: 'send',
      description: 'Sends',
      input,
      annotations: { readOnlyHint },
      execute: () => 'sent',
    });
  };
  const codeOf = async (name: keyof typeof inputs, input: object, readOnly = false): Promise<unknown> => {
    const { model } = scriptedModel(callsTools({ tool: 'send', input }), says('ok'));
    const runtime = testRuntime({ model, tools: [tool(inputs[name], readOnly)] });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    const failed = chunks.find(({ type }) => type === 'data-tool-error');
    return failed && 'data' in failed ? failed.data : 'sent';
  };
  const refused = { code: 'invalid_argument', details: { reason: 'undeclared_field' } };

  it('is refused by a tool that may act, at the top and within', async () => {
    expect(await codeOf('silent', { to: 'ada', 'amount\n': 1 })).toMatchObject(refused);
    expect(await codeOf('nested', { to: { name: 'ada', more: 1 } })).toMatchObject(refused);
    expect(await codeOf('closed', { to: 'ada', more: 1 })).toMatchObject({ code: 'invalid_argument' });
  });

  it('needs no person: a call with it is refused before an approval is requested', async () => {
    const { model } = scriptedModel(callsTools({ tool: 'send', input: { to: 'ada', more: 1 } }), says('ok'));
    const asking = { ...tool(inputs.silent, false) };
    const definition = { ...asking.definition, approval: 'always' as const };
    const chunks = await readAll(
      await testRuntime({ model, tools: [{ ...asking, definition }] }).run(runRequest(), me),
    );
    expect(chunks.some(({ type }) => type === 'tool-approval-request')).toBe(false);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject(refused);
  });

  it('is taken where the schema permits it, and by a tool that only reads', async () => {
    expect(await codeOf('open', { to: 'ada', more: 1 })).toBe('sent');
    expect(await codeOf('free', { to: 'ada', meta: { any: { thing: 1 } } })).toBe('sent');
    expect(await codeOf('silent', { to: 'ada', more: 1 }, true)).toBe('sent');
  });
});
