import { lastAssistantMessageIsCompleteWithApprovalResponses as isAnswered } from 'ai';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createEventRing, defineTool, localPrincipal, type ObservedEvent } from '../../../../src/index.ts';
import { decideAll, double, outputOf, programRuntime, sender, take } from '../../../fixtures/programs.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { programSandbox } from '../../../fixtures/program-cells.ts';
import { lastData, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const sendAll = `const names = ['ada', 'bob', 'cy'];
  const all = await Promise.allSettled(names.map((to) => tools.send({ to })));
  return all.map((one) => one.value?.sent ?? one.reason.code);`;

describe('code_run', () => {
  it('calls tools as calls of the run, and hands the model the result alone', async () => {
    const events: ObservedEvent[] = [];
    const { tool, sent } = sender();
    const { runtime, model } = programRuntime(
      `const doubled = await Promise.all([1, 2, 3].map((x) => tools.double({ x })));
      const sum = doubled.reduce((a, b) => a + b);
      if (sum > 10) await tools.send({ to: 'ada' });
      return { sum };`,
      { tools: [double, tool], sinks: [(event) => void events.push(event)], ring: createEventRing({ capacity: 0 }) },
    );
    const { chunks, message } = await take(runtime);
    expect(outputOf(message)).toEqual({ sum: 12 });
    expect(sent).toEqual(['ada']);
    expect(lastData(chunks, 'data-program')).toEqual({
      toolCallId: 'p',
      state: 'completed',
      calls: 4,
      sideEffects: 1,
      replayed: 0,
      tools: { double: 3, send: 1 },
      list: [1, 2, 3].map((n) => ({ n, tool: 'double', state: 'done', ms: expect.any(Number) })).concat([
        { n: 4, tool: 'send', state: 'done', ms: expect.any(Number) },
      ]),
    });
    expect(lastData(chunks, 'data-usage')).toMatchObject({ toolCalls: 5, steps: 2 });
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"sum":12');
    const program = events.find(({ action, status }) => action === 'program.run' && status === 'ok');
    const calls = events.filter(({ action, target, status }) =>
      action === 'tool.call' && target.id !== 'code_run' && status === 'ok'
    );
    expect(calls).toHaveLength(4);
    expect(calls.every(({ parentSpanId }) => parentSpanId === program?.spanId)).toBe(true);
    expect(runtime.metrics.text()).toContain('pinnace_programs_total{status="completed"} 1');
  });

  it('ends a program whose inputs are too long together, also of calls that cannot be made', async () => {
    const { runtime } = programRuntime(
      `const text = 'x'.repeat(900_000);
      for (let i = 0; i < 100; i++) await tools.nothing({ text, i }).catch(() => 0);
      return 'all';`,
      { tools: [double] },
    );
    const { chunks } = await take(runtime);
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: 'tool-output-error', errorText: expect.stringContaining('inputs') }),
    );
  });

  it('runs few programs at once, two of one run, and the others in turn', async () => {
    let [open, most] = [0, 0];
    const own = programSandbox();
    const counting = {
      ...own,
      timeZone: own.timeZone,
      async open(...given: Parameters<typeof own.open>) {
        most = Math.max(most, ++open);
        const cell = await own.open(...given);
        let ended = false;
        const end = (): void => {
          if (!ended) open -= 1;
          ended = true;
          cell.end();
        };
        return { ...cell, end };
      },
    };
    const calls = Array.from({ length: 8 }, (_, i) => ({
      tool: 'code_run',
      input: { code: `await tools.double({ x: ${i} }); return ${i}` },
      id: `p${i}`,
    }));
    const model = scriptedModel(callsTools(...calls), says('Done'));
    const agent = { entryTools: ['*', 'code_run'] };
    const options = { sandbox: counting, programs: true, tools: [double], agent };
    const alone = testRuntime({ ...options, model: model.model });
    const outputs = async (runtime: typeof alone): Promise<unknown[]> =>
      (await take(runtime)).message.parts.flatMap((part) => 'output' in part ? [part.output] : []);
    expect(await outputs(alone)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(2);
    most = 0;
    const shared = testRuntime({
      ...options,
      model: (() => scriptedModel(callsTools(...calls), says('Done')).model)(),
      sandboxes: 1,
    });
    expect(await outputs(shared)).toHaveLength(8);
    expect([most, open]).toEqual([1, 0]);
  });

  it('shows the model what programs may call, as declarations', async () => {
    const hidden = defineTool({
      id: 'inner',
      description: 'Only for programs',
      callers: ['program'],
      input: v.strictObject({}),
      execute: () => 1,
    });
    const outer = defineTool({
      id: 'outer',
      description: 'Only for the model',
      callers: ['model'],
      input: v.strictObject({}),
      execute: () => 1,
    });
    const { runtime, model } = programRuntime(
      `return [await tools.inner({}), await tools.outer({}).catch((e) => e.code), await tools.code_run({ code: '1' }).catch((e) => e.code),
        await tools.nothing().catch((e) => e.code), await tools.double({ x: 'no' }).catch((e) => e.code)]`,
      { tools: [hidden, outer, double] },
    );
    const { message } = await take(runtime);
    const offered = model.calls[0]?.tools ?? [];
    expect(offered.map(({ name }) => name)).toEqual(['code_run', 'double', 'outer']);
    const description = offered.find(({ name }) => name === 'code_run');
    const text = description?.type === 'function' ? description.description : '';
    expect(text).toContain('/** Doubles a number */\ndouble(input: { x: number }): Promise<number>;');
    expect(text).toContain('inner(');
    expect(text).not.toContain('outer(');
    expect(outputOf(message)).toEqual([1, 'forbidden', 'forbidden', 'not_found', 'invalid_argument']);
  });

  it('declares the same tools for each request, and those that fit it in the context of its turn', async () => {
    const tools = Array.from({ length: 120 }, (_, i) =>
      defineTool({
        id: i === 119 ? 'zoo_invoices' : `machine_${i}`,
        description: i === 119
          ? 'Lists what customers have to pay'
          : `Starts machine number ${i} of the workshop at once`,
        callers: ['program'],
        input: v.strictObject({ number: v.number() }),
        execute: () => 1,
      }));
    const { runtime, model } = programRuntime('return 1', { tools });
    const descriptionFor = async (text: string): Promise<[description: string, context: string]> => {
      await take(runtime, [userMessage(text)]);
      const found = model.calls.at(-1)?.tools?.find(({ name }) => name === 'code_run');
      const context = JSON.stringify(model.calls.at(-1)?.prompt);
      return [found?.type === 'function' ? found.description ?? '' : '', context];
    };
    const [description, context] = await descriptionFor('Which zoo invoice is open?');
    expect(description).toMatch(/and \d+ more tools$/);
    expect(description).not.toContain('zoo_invoices');
    expect(context).toContain('zoo_invoices(');
    expect(await descriptionFor('Start all machines')).toEqual([
      description,
      expect.not.stringContaining('zoo_invoices'),
    ]);
  });

  it('suspends the program at calls that a person must approve, and goes on with the decisions', async () => {
    const { tool, sent } = sender('always');
    const { runtime, model } = programRuntime(`const x = await tools.double({ x: 4 }); ${sendAll}`, {
      tools: [double, tool],
    });
    const first = await take(runtime);
    expect(lastData(first.chunks, 'data-run')).toMatchObject({ state: 'awaiting_approval' });
    expect(lastData(first.chunks, 'data-program')).toMatchObject({
      state: 'suspended',
      calls: 1,
      list: [{ n: 1, tool: 'double', state: 'done' }, ...[2, 3, 4].map((n) => ({ n, tool: 'send', state: 'waiting' }))],
    });
    expect(first.message.parts.filter(({ type }) => type === 'dynamic-tool')).toHaveLength(3);
    expect(sent).toEqual([]);
    const answered = await decideAll(runtime, first, (input) => (input as { to: string }).to !== 'bob');
    expect(isAnswered({ messages: [answered] })).toBe(true);
    const second = await take(runtime, [userMessage('Go'), answered]);
    expect(outputOf(second.message)).toEqual(['ada', 'forbidden', 'cy']);
    expect(sent.toSorted()).toEqual(['ada', 'cy']);
    expect(lastData(second.chunks, 'data-program')).toMatchObject({
      state: 'completed',
      replayed: 1,
      sideEffects: 2,
      list: [
        { n: 1, tool: 'double', state: 'replayed' },
        { n: 2, tool: 'send', state: 'done' },
        { n: 3, tool: 'send', state: 'denied', code: 'forbidden' },
        { n: 4, tool: 'send', state: 'done' },
      ],
    });
    expect(lastData(second.chunks, 'data-run')).toMatchObject({ state: 'completed' });
    const states = second.message.parts.flatMap((part) => part.type === 'dynamic-tool' ? [part.state] : []);
    expect(states).toEqual(['output-available', 'output-denied', 'output-available']);
    const prompt = JSON.stringify(model.calls.at(-1)?.prompt);
    expect(prompt).not.toContain('p/');
    expect(prompt).toContain('forbidden');
  });

  it('asks again when the program that went on needs another approval', async () => {
    const { tool, sent } = sender('always');
    const { runtime } = programRuntime(
      `const one = await tools.send({ to: 'ada' }); const two = await tools.send({ to: 'bob' }); return [one.sent, two.sent];`,
      { tools: [tool] },
    );
    const first = await take(runtime);
    const second = await take(runtime, [userMessage('Go'), await decideAll(runtime, first)]);
    expect(lastData(second.chunks, 'data-run')).toMatchObject({ state: 'awaiting_approval' });
    expect(sent).toEqual(['ada']);
    const answered = await decideAll(runtime, second);
    expect(isAnswered({ messages: [answered] })).toBe(true);
    const third = await take(runtime, [userMessage('Go'), answered]);
    expect(outputOf(third.message)).toEqual(['ada', 'bob']);
    expect(sent).toEqual(['ada', 'bob']);
  });

  it('goes on on another instance, once: a repeated answer repeats nothing', async () => {
    const storage = memoryStorage();
    const { tool, sent } = sender('always');
    const one = programRuntime(sendAll, { tools: [tool], storage });
    const first = await take(one.runtime);
    const answered = await decideAll(one.runtime, first);
    const other = () => {
      const model = scriptedModel(says('Done'));
      const agent = { entryTools: ['*', 'code_run'] };
      return testRuntime({
        model: model.model,
        sandbox: programSandbox(),
        programs: true,
        tools: [tool],
        storage,
        agent,
      });
    };
    const both = await Promise.all([
      take(other(), [userMessage('Go'), answered]),
      take(other(), [userMessage('Go'), answered]),
    ]);
    expect(sent.toSorted()).toEqual(['ada', 'bob', 'cy']);
    const outputs = both.map(({ message }) => outputOf(message));
    expect(outputs).toContainEqual(['ada', 'bob', 'cy']);
    expect(outputs).toContainEqual(expect.stringContaining('another run goes on with it'));
    await take(other(), [userMessage('Go'), answered]);
    expect(sent).toHaveLength(3);
  });

  it('runs nothing where the agent has changed since, or the approval is of another chat', async () => {
    const storage = memoryStorage();
    const { tool, sent } = sender('always');
    const { runtime } = programRuntime(sendAll, { tools: [tool], storage });
    const answered = await decideAll(runtime, await take(runtime));
    const changed = programRuntime(sendAll, { tools: [tool, double], storage }).runtime;
    expect(outputOf((await take(changed, [userMessage('Go'), answered])).message)).toMatch(/have changed/);
    const messages = [userMessage('Go'), answered];
    const stream = await runtime.run(runRequest({ chat: { id: 'chat-2', messages } }), localPrincipal());
    await stream.cancel();
    expect(sent).toEqual([]);
    expect(outputOf((await take(runtime, messages)).message)).toEqual(['ada', 'bob', 'cy']);
  });

  it('gives the model what the program threw, and keeps it out of errors and events', async () => {
    const events: ObservedEvent[] = [];
    const { tool } = sender();
    const { runtime, model } = programRuntime(
      `await tools.send({ to: 'ada' });\nthrow new TypeError('canary')`,
      { tools: [tool], sinks: [(event) => void events.push(event)] },
    );
    const { chunks, message } = await take(runtime);
    expect(outputOf(message)).toMatchObject({
      isError: true,
      error: expect.stringContaining('canary'),
      sideEffects: 1,
    });
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'internal', details: { reason: 'code_failed' } });
    expect(lastData(chunks, 'data-program')).toMatchObject({ state: 'failed' });
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('canary');
    expect(JSON.stringify(events)).not.toContain('canary');
  });

  it.each([
    ['tools.double({ x: 1 }); return 1', /ended before 1 of its calls/],
    ['await new Promise(() => {})', /waits for something that never happens/],
    ['for (;;) await tools.double({ x: 1 }).catch(() => 0)', /more than 1000 calls/],
    [`// ${'x'.repeat(65_536)}`, /longer than 65536/],
  ])('ends a program with an error: %s', async (code, message) => {
    const { runtime } = programRuntime(code, { tools: [double] });
    expect(outputOf((await take(runtime)).message)).toMatch(message);
  });

  it('finds tools by discovery inside of a program, and calls only what it found', async () => {
    const { runtime } = programRuntime(
      `const early = await tools.double({ x: 1 }).catch((e) => e.code);
       const [found] = await tools.tool_find({ query: 'doubles a number' });
       return [early, found.signature, await tools[found.name]({ x: 2 })];`,
      { tools: [double, sender().tool], agent: { entryTools: ['*', 'tool_find', 'code_run'] } },
    );
    expect(outputOf((await take(runtime)).message)).toEqual([
      'not_found',
      'double(input: { x: number }): Promise<number>;',
      4,
    ]);
  });

  it('stops with its run: a side effect that has started has an unknown outcome, nothing else starts', async () => {
    let started = 0;
    const runs: string[] = [];
    const slow = defineTool({
      id: 'slow',
      description: 'Acts slowly',
      input: v.strictObject({}),
      execute: (_, { signal }) => {
        started += 1;
        void runtime.cancel(runs[0] ?? '', localPrincipal());
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
      },
    });
    const { runtime } = programRuntime('await tools.slow({}).catch(() => 0); return await tools.slow({})', {
      tools: [slow],
    });
    const stream = await runtime.run(runRequest(), localPrincipal());
    const chunks = [];
    for await (const chunk of stream as unknown as AsyncIterable<Parameters<typeof lastData>[0][number]>) {
      chunks.push(chunk);
      if (chunk.type === 'data-run') runs.push((chunk.data as { runId: string }).runId);
    }
    expect(started).toBe(1);
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'cancelled' });
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ tool: 'code_run', code: 'outcome_unknown' });
  });

  it('is left out without a sandbox for programs, and is not a tool of the agent outside of runs', async () => {
    const model = scriptedModel(callsTools({ tool: 'code_run', input: { code: 'return 1' } }), says('Done'));
    const agent = { entryTools: ['code_run'] };
    const { chunks } = await take(testRuntime({ model: model.model, agent, programs: true }));
    expect(lastData(chunks, 'data-manifest')).toMatchObject({ included: [], excluded: { no_implementation: 1 } });
  });
});
