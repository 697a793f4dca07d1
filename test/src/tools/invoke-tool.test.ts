import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import {
  type Authorization,
  type Authorize,
  createPrincipal,
  defineTool,
  invokeTool,
  localPrincipal,
  PinnaceError,
  Secret,
  type Tool,
  type ToolContext,
} from '../../../src/index.ts';
import { toolCall } from '../../fixtures/tool-call.ts';

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
  it('gives the output of a tool', async () => {
    expect(await invokeTool(echo(), input, toolCall())).toEqual({ ok: true, output: 'ahoy' });
  });

  it('waits for the output of a tool that promises one', async () => {
    const tool = echo(async ({ text }) => ({ text }));
    expect(await invokeTool(tool, input, toolCall())).toEqual({ ok: true, output: { text: 'ahoy' } });
  });

  it('hands the tool what the call carries', async () => {
    const principal = createPrincipal({ ...localPrincipal(), tenant: 'acme' });
    const secrets = { key: new Secret({ id: 'key', version: '1', value: 'hunter2' }) };
    const execute = vi.fn<Execute>();
    await invokeTool(echo(execute), input, toolCall({ principal, secrets, toolCallId: 'call-7' }));
    expect(execute).toHaveBeenCalledWith(input, expect.objectContaining({ principal, secrets, toolCallId: 'call-7' }));
  });

  it('passes log lines of the tool on', async () => {
    const log = vi.fn<ToolContext['log']>();
    await invokeTool(echo((_, context) => context.log('casting off', 'debug')), input, toolCall({ log }));
    expect(log.mock.calls).toEqual([['casting off', 'debug']]);
  });
});

describe('invokeTool, the input', () => {
  it.each([
    [{}, '"text" is missing'],
    [{ text: 7 }, '"text" must be string'],
    [{ text: 'far too long' }, '"text" must be at most 10 long'],
    [{ text: 'ahoy', extra: 1 }, '"extra" is not known here'],
    ['ahoy', 'must be Object'],
    [null, 'must be Object'],
    [undefined, 'is missing'],
  ])('refuses %j and executes nothing', async (value, message) => {
    const execute = vi.fn<Execute>();
    const authorize = vi.fn<() => Authorization>();
    const outcome = await invokeTool(echo(execute), value, toolCall({ authorize }));
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
    const outcome = await invokeTool(echo(), { text: ['hunter2'], hunter3: 'hunter4' }, toolCall());
    expect(JSON.stringify(outcome)).not.toMatch(/hunter[24]/);
  });

  it('reports a check that throws as a failure of the tool', async () => {
    const tool = { ...echo(), check: () => JSON.parse('{hunter2') };
    const outcome = await invokeTool(tool, input, toolCall());
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
    await invokeTool(tool, input, toolCall({ authorize, principal }));
    expect(steps).toEqual(['authorize', 'execute']);
    const context = { input, agentId: 'helper' };
    expect(authorize).toHaveBeenCalledExactlyOnceWith('tool.call', principal, { type: 'tool', id: 'echo' }, context);
  });

  it.each<[string, () => Authorization | Promise<Authorization>, string, string]>([
    ['a denial', () => ({ decision: 'deny', reason: 'not today' }), 'forbidden', 'not today'],
    ['a promised denial', async () => ({ decision: 'deny', reason: 'not today' }), 'forbidden', 'not today'],
    ['a question', () => ({ decision: 'ask', reason: 'a person decides' }), 'approval_required', 'a person decides'],
    ['a hook that rejects', () => Promise.reject(new Error('hunter2')), 'forbidden', 'the permission check failed'],
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
    const outcome = await invokeTool(echo(execute), input, toolCall({ authorize }));
    const message = `Cannot call tool "echo": ${reason}`;
    const cause = reason.includes('check failed') ? 'permission_check_failed' : 'not_authorized';
    expect(outcome).toEqual({ ok: false, error: { code, message, retryable: false, details: { reason: cause } } });
    expect(execute).not.toHaveBeenCalled();
  });

  it.each([undefined, null, true, {}, { decision: 'ALLOW' }, 'allow'])(
    'executes nothing after the answer %j',
    async (answer) => {
      const execute = vi.fn<Execute>();
      // a hook written in JavaScript may answer anything
      const authorize = () => answer as unknown as Authorization;
      expect(await invokeTool(echo(execute), input, toolCall({ authorize }))).toMatchObject({ ok: false });
      expect(execute).not.toHaveBeenCalled();
    },
  );
});
