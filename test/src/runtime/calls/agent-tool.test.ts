import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  createPrincipal,
  createRuntime,
  type CreateRuntimeOptions,
  defineTool,
  type LanguageModel,
  localPrincipal,
  type ProviderInput,
  type ToolDefinitionInput,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, textOf } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

const askExpert: ToolDefinitionInput = {
  id: 'ask_expert',
  name: 'ask_expert',
  type: 'agent',
  description: 'Asks the expert',
  paramsSchema: { type: 'object' },
  config: { agentId: 'expert' },
};

/** A runtime with `helper`, who can ask `expert` by a tool. */
function delegating(
  { helper, expert }: { helper: LanguageModel; expert: LanguageModel },
  { agents = {}, definitions = [askExpert], prices, ...options }: Partial<Omit<CreateRuntimeOptions, 'agents'>> & {
    prices?: ProviderInput['prices'];
    agents?: { helper?: Partial<AgentInput>; expert?: Partial<AgentInput> };
    definitions?: readonly ToolDefinitionInput[];
  } = {},
) {
  const base = { name: 'Agent', entryTools: ['*'] };
  const catalog = staticCatalog({
    agents: [
      { ...base, id: 'helper', providerId: 'helper', ...agents.helper },
      { ...base, id: 'expert', providerId: 'expert', entryTools: [], ...agents.expert },
    ],
    providers: ['helper', 'expert'].map((id) => ({ id, kind: 'custom', prices })),
    tools: definitions,
  });
  const models = { model: ({ id }: { id: string }) => id === 'expert' ? expert : helper };
  return createRuntime({ catalog, models, storage: memoryStorage(), ...options });
}

const handsOver = callsTools({ tool: 'ask_expert', input: { task: 'Weigh the anchor' } });
const outputs = (chunks: readonly UIMessageChunk[]): unknown[] =>
  chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : []);

describe('a tool of type agent', () => {
  it('passes the task to the agent, and returns its answer to the model', async () => {
    const helper = scriptedModel(handsOver, says('It weighs a ton'));
    const expert = scriptedModel(says('One ton'));
    const runtime = delegating({ helper: helper.model, expert: expert.model });
    expect((await runtime.manifest('helper', me)).tools).toEqual([{ id: 'ask_expert' }]);
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(helper.calls[0]?.tools).toMatchObject([{ inputSchema: { required: ['task'] } }]);
    expect(JSON.stringify(expert.calls[0]?.prompt)).toContain('Weigh the anchor');
    expect(outputs(chunks)).toEqual(['One ton']);
    expect(textOf(chunks)).toBe('It weighs a ton');
    expect(lastData(chunks, 'data-plan')).toMatchObject({ state: 'done', toolCallId: 'call-0' });
    expect(lastData(chunks, 'data-usage')).toMatchObject({ totalTokens: 45 });
  });

  it('reaches an internal agent, and one that the principal may not run itself, by the tool alone', async () => {
    const helper = scriptedModel(handsOver, says('ok'));
    const runtime = delegating({ helper: helper.model, expert: scriptedModel(says('One ton')).model }, {
      agents: { expert: { visibility: 'internal' } },
    });
    const limited = createPrincipal({ ...me, agents: ['helper'] });
    expect(outputs(await readAll(await runtime.run(runRequest(), limited)))).toEqual(['One ton']);
    await expect(runtime.run(runRequest({ agentId: 'expert' }), limited)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('lets the agent use the tools of its own allowlist', async () => {
    const weigh = defineTool({ id: 'weigh', description: 'Weighs', input: v.object({}), execute: () => '1000 kg' });
    const expert = scriptedModel(callsTools({ tool: 'weigh', input: {} }), says('1000 kg'));
    const runtime = delegating({ helper: scriptedModel(handsOver, says('ok')).model, expert: expert.model }, {
      agents: { helper: { entryTools: ['ask_expert'] }, expert: { entryTools: ['weigh'] } },
      tools: [weigh],
    });
    expect(outputs(await readAll(await runtime.run(runRequest(), me)))).toEqual(['1000 kg']);
  });

  it('shows the approval of an inner call in the stream, and goes on when a person has decided', async () => {
    const done: unknown[] = [];
    const heave = defineTool({
      id: 'heave',
      description: 'Heaves',
      approval: 'always',
      input: v.object({}),
      execute: () => (done.push('heaved'), 'heaved'),
    });
    const expert = scriptedModel(callsTools({ tool: 'heave', input: {} }), says('It is up'));
    const runtime = delegating({ helper: scriptedModel(handsOver, says('ok')).model, expert: expert.model }, {
      agents: { helper: { entryTools: ['ask_expert'] }, expert: { entryTools: ['heave'] } },
      tools: [heave],
    });
    const chunks: UIMessageChunk[] = [];
    let answered = false;
    for await (const chunk of await runtime.run(runRequest(), me)) {
      chunks.push(chunk);
      if (chunk.type !== 'data-plan' || answered) continue;
      const { questions } = chunk.data as { questions: { ask: string; agent: string }[] };
      const [question] = questions;
      if (!question) continue;
      expect(done).toEqual([]);
      expect(question, 'with the address of the agent that asks').toMatchObject({ agent: '1', question: 'Call heave' });
      answered = true;
      const runId = String(lastData(chunks, 'data-run')['runId']);
      await runtime.reply(runId, { askId: question.ask, answer: { approved: true } }, me);
    }
    expect([answered, done, outputs(chunks)]).toEqual([true, ['heaved'], ['It is up']]);
  });

  it('shows what the agent says while it works, as the preliminary output of the call', async () => {
    const words = Array.from({ length: 40 }, (_, i) => `word${i} `);
    const expert = scriptedModel(says(...words));
    const runtime = delegating({ helper: scriptedModel(handsOver, says('ok')).model, expert: expert.model });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    const shown = chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk] : []);
    const last = shown.pop();
    expect(last).toEqual({ type: 'tool-output-available', toolCallId: 'call-0', output: words.join('') });
    expect(shown.length).toBeGreaterThan(2);
    for (const { preliminary, output } of shown) {
      expect(preliminary).toBe(true);
      expect(words.join('').startsWith(String(output))).toBe(true);
    }
  });

  it('stops the agent with the run', async () => {
    const stopped = Promise.withResolvers<void>();
    const working = Promise.withResolvers<void>();
    const expert = scriptedModel(({ abortSignal }) => {
      abortSignal?.addEventListener('abort', () => stopped.resolve());
      working.resolve();
      return stallingStream(says('One').slice(0, 2));
    });
    const runtime = delegating({ helper: scriptedModel(handsOver).model, expert: expert.model });
    const abort = new AbortController();
    const reading = readAll(await runtime.run(runRequest(), me, { signal: abort.signal }));
    await working.promise;
    abort.abort('user');
    expect(terminalChunks(await reading)).toMatchObject([{ type: 'abort' }]);
    await stopped.promise;
  });

  it("returns the agent's failure to the model", async () => {
    const failing = scriptedModel([{ type: 'error', error: new Error('secret text') }]);
    const runtime = delegating({ helper: scriptedModel(handsOver, says('ok')).model, expert: failing.model });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool: 'ask_expert' });
    expect(JSON.stringify(chunks)).not.toContain('secret text');
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });

  it('is refused when agents have handed the task on too often', async () => {
    const circle = scriptedModel(handsOver, handsOver, handsOver, handsOver, handsOver, says('Enough'));
    const runtime = delegating({ helper: circle.model, expert: circle.model }, {
      agents: { expert: { entryTools: ['ask_expert'] } },
    });
    await readAll(await runtime.run(runRequest(), me));
    expect(circle.calls.length).toBeLessThan(20);
    const said = JSON.stringify(circle.calls.map(({ prompt }) => prompt));
    expect(said).toContain('agents have handed it on already');
  });

  it('gets at most half of the tokens that the run has left', async () => {
    const helper = scriptedModel(handsOver, says('ok'));
    const expert = scriptedModel(callsTools({ tool: 'weigh', input: {} }));
    const weigh = defineTool({ id: 'weigh', description: 'Weighs', input: v.object({}), execute: () => 'heavy' });
    const runtime = delegating({ helper: helper.model, expert: expert.model }, {
      agents: { helper: { entryTools: ['ask_expert'] }, expert: { entryTools: ['weigh'] } },
      tools: [weigh],
    });
    const chunks = await readAll(await runtime.run(runRequest({ budget: { tokens: 100 } }), me));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool: 'ask_expert', code: 'budget_exceeded' });
    expect(expert.calls.length).toBeLessThan(4); // 15 tokens each, of at most 42
    expert.calls.length = 0;
    helper.calls.length = 0;
    await readAll(await runtime.run(runRequest({ budget: { tokens: 1 } }), me));
    expect(expert.calls).toEqual([]);
  });

  it('limits the answers of the agent to its half, and counts what they cost', async () => {
    const prices = { input: 1000, output: 1000, currency: 'EUR' };
    const expert = scriptedModel(says('A ship'));
    const runtime = delegating({ helper: scriptedModel(handsOver, says('ok')).model, expert: expert.model }, {
      prices,
    });
    const budget = { tokens: 4000, cost: { amount: 3, currency: 'EUR' } };
    const chunks = await readAll(await runtime.run(runRequest({ budget }), me));
    expect(expert.calls[0]?.maxOutputTokens).toBeLessThan(1500);
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(lastData(chunks, 'data-usage')).toMatchObject({
      totalTokens: 45,
      cost: { amount: 0.045, currency: 'EUR' },
    });
  });

  it('is left out where its definition names no agent', async () => {
    const runtime = delegating({ helper: scriptedModel().model, expert: scriptedModel().model }, {
      definitions: [{ ...askExpert, config: {} }],
    });
    expect((await runtime.manifest('helper', me)).tools).toEqual([{ id: 'ask_expert', excluded: 'no_implementation' }]);
  });
});
