import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import type { Authorization } from '../../../src/contracts/index.ts';
import { defineTool, Secret, type Tool, type ToolContext } from '../../../src/index.ts';
import { callTool } from '../../fixtures/tools/tool-call.ts';

type Execute = (input: { text: string }, context: ToolContext) => unknown;

function echo(execute: Execute = ({ text }) => text): Tool {
  return defineTool({
    id: 'echo',
    description: 'Repeats a text',
    input: v.strictObject({ text: v.pipe(v.string(), v.maxLength(10)) }),
    execute,
  });
}

const input = { text: 'ahoy' };
const never = (): Promise<never> => new Promise(() => undefined);

describe('invokeTool, the time', () => {
  const deadline = { ok: false, error: { code: 'deadline_exceeded', message: 'Tool "echo" took longer than 5 ms' } };
  const cancelled = {
    ok: false,
    error: { code: 'cancelled', message: 'Tool "echo" was stopped: the run was cancelled' },
  };
  const unknown = { ok: false, error: { code: 'outcome_unknown', retryable: false } };

  it('ends a tool that ignores its signal', async () => {
    const reader = { ...echo(never), definition: { ...echo().definition, annotations: { readOnlyHint: true } } };
    expect(await callTool(reader, input, { timeoutMs: 5 })).toMatchObject(deadline);
    expect(await callTool(echo(never), input, { timeoutMs: 5 })).toMatchObject(unknown);
  });

  it('ends a permission check that does not answer, and executes nothing when it does', async () => {
    const execute = vi.fn<Execute>();
    const start = vi.fn<() => Promise<void>>();
    const answer = Promise.withResolvers<Authorization>();
    const outcome = await callTool(echo(execute), input, { authorize: () => answer.promise, start, timeoutMs: 5 });
    answer.resolve({ decision: 'allow' });
    await new Promise((resolve) => setTimeout(resolve)); // all that follows the answer has had its turn
    expect(outcome).toMatchObject(deadline);
    expect(start).not.toHaveBeenCalled();
    expect(execute).not.toHaveBeenCalled();
  });

  it('executes nothing when the run has ended', async () => {
    const execute = vi.fn<Execute>();
    expect(await callTool(echo(execute), input, { signal: AbortSignal.abort() })).toMatchObject(cancelled);
    expect(execute).not.toHaveBeenCalled();
  });

  it('ends a tool that ignores its signal with its run', async () => {
    const run = new AbortController();
    const outcome = callTool(echo(() => (run.abort(), never())), input, { signal: run.signal });
    expect(await outcome).toMatchObject(unknown);
  });

  it('knows no outcome of a tool that rejects because of the abort', async () => {
    const run = new AbortController();
    const tool = echo((_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('hunter2', 'AbortError')));
        run.abort();
      })
    );
    expect(await callTool(tool, input, { signal: run.signal })).toMatchObject(unknown);
  });

  it('ends a permission check with its run', async () => {
    const run = new AbortController();
    const authorize = (): Promise<Authorization> => (run.abort(), never());
    expect(await callTool(echo(), input, { authorize, signal: run.signal })).toMatchObject(cancelled);
  });
});

describe('invokeTool, the failure', () => {
  it('hides the text of an error that is not ours', async () => {
    const tool = echo(() => {
      throw new Error('login with hunter2 failed');
    });
    expect(await callTool(tool, input)).toEqual({
      ok: false,
      error: { code: 'internal', message: 'Tool "echo" failed', retryable: false, details: { reason: 'tool_failed' } },
    });
  });

  it.each([['hunter2'], [undefined], [null], [{ code: 'not_found', message: 'hunter2' }]])(
    'hides a thrown %j',
    async (thrown) => {
      const outcome = await callTool(echo(() => Promise.reject(thrown)), input);
      expect(outcome).toMatchObject({ ok: false, error: { code: 'internal', message: 'Tool "echo" failed' } });
    },
  );
});

describe('invokeTool, the output', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;

  it.each<[string, () => unknown]>([
    ['a BigInt', () => ({ value: 1n })],
    ['a cycle', () => cycle],
    ['a toJSON that throws', () => ({ toJSON: () => JSON.parse('{hunter2') })],
    ['a response', () => new Response('text')],
    ['a promise in it', () => ({ later: Promise.resolve(1) })],
    ['an error', () => new Error('hunter2')],
    ['bytes', () => new Uint8Array([1])],
    ['bytes in a list', () => [new Uint8Array([1])]],
    ['a function', () => () => 1],
  ])('refuses %s', async (_, execute) => {
    expect(await callTool(echo(execute), input)).toEqual({
      ok: false,
      error: {
        code: 'internal',
        message: 'Cannot use the output of tool "echo": it is not JSON',
        retryable: false,
        details: { reason: 'output_not_json' },
      },
    });
  });

  it('returns maps as objects or pairs, sets as lists, and objects without fields as they are', async () => {
    const pairs = new Map<unknown, unknown>([[1, new Set(['x'])]]);
    const tool = echo(() => ({
      named: new Map([['a', new Map()]]),
      pairs,
      none: {},
      own: Object.create({ inherited: 1 }),
      method: () => 1,
    }));
    const output = { named: { a: {} }, pairs: [[1, ['x']]], none: {}, own: {} };
    expect(await callTool(tool, input)).toMatchObject({ ok: true, output });
  });

  it('returns JSON values: dates as text, no undefined, no secret', async () => {
    const secret = new Secret({ id: 'key', version: '1', value: 'hunter2' });
    const tool = echo(() => ({ at: new Date(0), none: undefined, secret, nan: NaN }));
    const output = { at: '1970-01-01T00:00:00.000Z', secret: '[secret key]', nan: null };
    expect(await callTool(tool, input)).toEqual({ ok: true, output });
  });

  it('returns a copy of an object that the tool keeps', async () => {
    const kept = { list: [1] };
    const outcome = await callTool(echo(() => kept), input);
    kept.list.push(2);
    expect(outcome).toEqual({ ok: true, output: { list: [1] } });
  });

  it('takes an output of exactly the length allowed', async () => {
    const outcome = await callTool(echo(() => 'x'.repeat(8)), input, { maxOutputLength: 10 });
    expect(outcome).toEqual({ ok: true, output: 'xxxxxxxx' });
  });

  it('refuses an output that is longer', async () => {
    const outcome = await callTool(echo(() => 'x'.repeat(9)), input, { maxOutputLength: 10 });
    expect(outcome).toEqual({
      ok: false,
      error: {
        code: 'budget_exceeded',
        message: 'Cannot use the output of tool "echo": it is too long',
        retryable: false,
        details: { reason: 'output_too_large', maxOutputLength: 10 },
      },
    });
  });
});
