import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import type { Authorization } from '../../../src/contracts/index.ts';
import {
  type Authorize,
  createPrincipal,
  defineTool,
  localPrincipal,
  PinnaceError,
  type Tool,
  type ToolContext,
} from '../../../src/index.ts';
import { invokeTool, prepareCall } from '../../../src/tools/index.ts';
import { caller, callTool, toolCall } from '../../fixtures/tools/tool-call.ts';

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

describe('invokeTool', () => {
  it('returns the output of a tool', async () => {
    expect(await callTool(echo(), input)).toEqual({ ok: true, output: 'ahoy' });
  });

  it('waits for the output of a tool that promises one', async () => {
    const tool = echo(async ({ text }) => ({ text }));
    expect(await callTool(tool, input)).toEqual({ ok: true, output: { text: 'ahoy' } });
  });

  it('passes log lines of the tool on', async () => {
    const log = vi.fn<ToolContext['log']>();
    await callTool(echo((_, context) => context.log('casting off', 'debug')), input, { log });
    expect(log.mock.calls).toEqual([['casting off', 'debug']]);
  });
});

describe('invokeTool, the input', () => {
  it.each([
    [{}, '"text" is missing'],
    [{ text: 7 }, '"text" must be a string'],
    [{ text: 'far too long' }, '"text" must be at most 10 long'],
    [{ text: 'ahoy', extra: 1 }, '"extra" is not known here'],
    ['ahoy', 'must be an object'],
    [null, 'must be an object'],
    [undefined, 'is missing'],
  ])('refuses %j and executes nothing', async (value, message) => {
    const execute = vi.fn<Execute>();
    const authorize = vi.fn<() => Authorization>();
    const outcome = await callTool(echo(execute), value, { authorize });
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'invalid_argument',
        message: `Cannot read the input of tool "echo": ${message}`,
        retryable: false,
      },
    });
    expect(execute).not.toHaveBeenCalled();
    expect(authorize).not.toHaveBeenCalled();
  });

  it('says nothing of the refused value', async () => {
    const outcome = await callTool(echo(), { text: ['hunter2'], hunter3: 'hunter4' });
    expect(JSON.stringify(outcome)).not.toMatch(/hunter[24]/);
  });

  it('reports a check that throws as a failure of the tool', async () => {
    const tool = { ...echo(), check: () => JSON.parse('{hunter2') };
    const outcome = await callTool(tool, input);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'internal', message: 'Tool "echo" failed' } });
  });
});

describe('invokeTool, the permission', () => {
  it('asks with the checked input before it executes', async () => {
    const steps: string[] = [];
    const principal = localPrincipal();
    const authorize = vi.fn<Authorize>(() => {
      steps.push('authorize');
      return { decision: 'allow' };
    });
    const tool = echo(() => void steps.push('execute'));
    await callTool(tool, input, { authorize, principal });
    expect(steps).toEqual(['authorize', 'execute']);
    const context = { input, agentId: 'helper' };
    expect(authorize).toHaveBeenCalledExactlyOnceWith('tool.call', principal, { type: 'tool', id: 'echo' }, context);
  });

  it.each<[string, () => Authorization | Promise<Authorization>, string, string]>([
    ['a denial', () => ({ decision: 'deny', reason: 'not today' }), 'forbidden', 'not today'],
    ['a promised denial', async () => ({ decision: 'deny', reason: 'not today' }), 'forbidden', 'not today'],
    ['a question', () => ({ decision: 'ask', reason: 'a person decides' }), 'approval_required', 'a person decides'],
    ['a hook that rejects', () => Promise.reject(new Error('hunter2')), 'forbidden', 'the permission check failed'],
    ['a hook that returns true', () => true as never, 'forbidden', 'the permission check returned no { decision }'],
    [
      'a hook that returns nothing',
      () => undefined as never,
      'forbidden',
      'the permission check returned no { decision }',
    ],
    ['a hook that throws', () => JSON.parse('{hunter2'), 'forbidden', 'the permission check failed'],
    [
      'a hook that throws an error of ours',
      () => {
        throw new PinnaceError('unavailable', 'hunter2');
      },
      'forbidden',
      'the permission check failed',
    ],
  ])('executes nothing after %s', async (_, authorize, code, reason) => {
    const execute = vi.fn<Execute>();
    const outcome = await callTool(echo(execute), input, { authorize });
    const message = `Cannot call tool "echo": ${reason}`;
    const cause = /check (?:failed|returned)/.test(reason) ? 'permission_check_failed' : 'not_authorized';
    expect(outcome).toEqual({ ok: false, error: { code, message, retryable: false, details: { reason: cause } } });
    expect(execute).not.toHaveBeenCalled();
  });

  it.each([undefined, null, true, {}, { decision: 'ALLOW' }, 'allow'])(
    'executes nothing after the answer %j',
    async (answer) => {
      const execute = vi.fn<Execute>();
      // a hook written in JavaScript may answer anything
      const authorize = () => answer as unknown as Authorization;
      expect(await callTool(echo(execute), input, { authorize })).toMatchObject({ ok: false });
      expect(execute).not.toHaveBeenCalled();
    },
  );
});

describe('invokeTool, the permit', () => {
  const prepare = (tool: Tool, given: unknown = input) => prepareCall(tool, given, caller);

  it('executes a call that was prepared for it, with the input as it was checked', async () => {
    const execute = vi.fn<Execute>();
    const tool = defineTool({
      id: 'echo',
      description: 'Repeats a text',
      input: v.object({ text: v.optional(v.string(), 'ahoy') }),
      execute,
    });
    const given = {};
    const outcome = await invokeTool(tool, given, toolCall({ prepared: await prepare(tool, given) }));
    expect(outcome).toMatchObject({ ok: true });
    expect(execute).toHaveBeenCalledWith({ text: 'ahoy' }, expect.anything());
  });

  it.each<[string, (tool: Tool) => Promise<Parameters<typeof invokeTool>[2]['prepared']>, string]>([
    // callers written in JavaScript may leave it out, or make one up
    ['none', async () => undefined as never, 'permit_missing'],
    ['one that was made up', async () => ({ ok: true, permit: Object.freeze({}) }) as never, 'permit_missing'],
    ['a copy', async (tool) => structuredClone(await prepare(tool)), 'permit_missing'],
    ['one for another tool', () => prepare(echo()), 'permit_mismatch'],
    ['one for another input', (tool) => prepare(tool, { ...input }), 'permit_mismatch'],
    [
      'one for another call',
      (tool) => prepareCall(tool, input, { ...caller, toolCallId: 'call-2' }),
      'permit_mismatch',
    ],
    ['one for another agent', (tool) => prepareCall(tool, input, { ...caller, agentId: 'other' }), 'permit_mismatch'],
    [
      'one for another principal',
      (tool) =>
        prepareCall(tool, input, { ...caller, principal: createPrincipal({ ...localPrincipal(), tenant: 'acme' }) }),
      'permit_mismatch',
    ],
  ])('refuses a call with no permit of its own: %s', async (_, prepared, reason) => {
    const execute = vi.fn<Execute>();
    const tool = echo(execute);
    const outcome = await invokeTool(tool, input, toolCall({ prepared: await prepared(tool) }));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'forbidden', details: { reason } } });
    expect(execute).not.toHaveBeenCalled();
  });

  it('refuses a permit that was used before', async () => {
    const execute = vi.fn<Execute>();
    const tool = echo(execute);
    const prepared = await prepare(tool);
    await invokeTool(tool, input, toolCall({ prepared }));
    const again = await invokeTool(tool, input, toolCall({ prepared }));
    expect(again).toMatchObject({ ok: false, error: { code: 'forbidden', details: { reason: 'permit_missing' } } });
    expect(execute).toHaveBeenCalledOnce();
  });
});
