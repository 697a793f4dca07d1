import { describe, expect, it } from 'vitest';
import { localPrincipal } from '../../../../src/index.ts';
import type { ThinkRequest } from '../../../../src/contracts/steps.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';
import { apiError, fallbackRuntime, namedModel } from '../loop/fallback-runtime.ts';
import { promptText, smallWindow } from './long-chat.ts';

const { tenant, subject, agents, scopes } = localPrincipal();

const thought = (more: Partial<ThinkRequest>): ThinkRequest => ({
  agentId: 'helper',
  owner: { tenant, subject, agents, scopes },
  taskId: 'plan-1',
  traceId: 'a'.repeat(32),
  signal: new AbortController().signal,
  history: undefined,
  inputs: [{ type: 'text', text: 'Go on' }],
  instructions: 'You plan.',
  primitives: [],
  ...more,
});

/** The history of a task that has made so many calls, each with an output of about 400 tokens. */
function historyOf(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => {
    const call = { toolCallId: `c${i}`, toolName: 'look' };
    const output = { type: 'text', value: `result ${i} ${'r'.repeat(1_600)}` };
    return [
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
    ];
  }).flat();
}

describe('a model call of a plan whose history fills the context window', () => {
  it('is made with the newest outputs; the stored history keeps all', async () => {
    const { model, calls } = scriptedModel(says('Done'));
    const { steps } = testRuntime({ model, agent: smallWindow });
    const { history, text } = await steps.think(thought({ history: historyOf(6) }));
    expect([text, calls.length]).toEqual(['Done', 1]);
    expect(promptText(calls[0])).not.toContain('result 0 ');
    expect(promptText(calls[0])).toContain('result 5 ');
    expect(JSON.stringify(history)).toContain('result 0 ');
  });

  it('is shortened for a fallback that takes less, and for the same fallback in the next step', async () => {
    const models = {
      one: namedModel('first', () => Promise.reject(apiError(401))),
      two: namedModel('second', says('Done')),
    };
    const { steps } = fallbackRuntime(models, { providers: { two: smallWindow } });
    const first = await steps.think(thought({ history: historyOf(6) }));
    await steps.think(thought({ history: first.history }));
    expect(promptText(models.one.calls[0])).toContain('result 0 ');
    expect(models.two.calls.map((call) => promptText(call).includes('result 0 '))).toEqual([false, false]);
    expect(JSON.stringify(first.history)).toContain('result 0 ');
  });
});
