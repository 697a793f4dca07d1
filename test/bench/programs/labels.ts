/** What labels cost a call of a run, and what handles cost the program of a guarded agent. CPU of this process, cells included. */

import * as v from 'valibot';
import { createRules, defineTool, localPrincipal, type Tool } from '../../../src/index.ts';
import type { RuleInput } from '../../../src/permission/index.ts';
import { callsTools, says, scriptedModel, type Source } from '../../fixtures/model.ts';
import { localSandbox } from '../../fixtures/program-cells.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { cpuRounds, median, report, type Row } from '../measure.ts';

const count = 1_000;
const reads = { readOnlyHint: true } as const;
const noop = defineTool({
  id: 'noop',
  description: 'Nothing',
  annotations: reads,
  input: v.looseObject({}),
  execute: () => 1,
});

function sources(as: Tool['definition']['reads']): readonly Tool[] {
  return Array.from({ length: 16 }, (_, i) =>
    defineTool({
      id: `source_${i}`,
      description: 'A source',
      annotations: reads,
      ...(as && { reads: as }),
      input: v.strictObject({}),
      execute: () => 'text',
    }));
}

/** Runs of a thousand calls with 64 values each. */
function calls(as: Tool['definition']['reads'], rules: readonly RuleInput[]): () => Promise<unknown> {
  const input = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`field${i}`, `value ${i}`]));
  const script = [
    callsTools(...Array.from({ length: 16 }, (_, i) => ({ tool: `source_${i}`, input: {}, id: `s${i}` }))),
    callsTools(...Array.from({ length: count }, (_, i) => ({ tool: 'noop', input: { ...input, i }, id: `c${i}` }))),
    says('Done'),
  ];
  return runs(script, {
    tools: [noop, ...sources(as)],
    authorize: createRules([...rules, { effect: 'allow', actions: ['*'] }]),
  });
}

function runs(script: readonly Source[], options: Partial<Parameters<typeof testRuntime>[0]>): () => Promise<unknown> {
  let scripted = scriptedModel();
  const { model } = scripted;
  const doStream: typeof model.doStream = (given) => scripted.model.doStream(given);
  const limits = { toolCalls: 2 * count };
  const runtime = testRuntime({ model: { ...model, doStream }, limits, ...options });
  return async () => {
    scripted = scriptedModel(...script);
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
    if (!chunks.some(({ type }) => type === 'finish')) throw new Error('The run did not finish');
  };
}

const rule = (effect: 'deny' | 'ask', more: Partial<RuleInput>): RuleInput => ({
  effect,
  actions: ['tool.call'],
  ...more,
});
const plain = [rule('deny', { resources: ['tool:other'] }), rule('ask', { resources: ['tool:another'] })];
const ofFacts = [
  rule('ask', { acts: true, read: ['untrusted'] }),
  rule('ask', { leaks: true }),
  rule('deny', { from: [{ at: '*', sources: ['mcp:other'] }] }),
];

const same = defineTool({
  id: 'same',
  description: 'Returns it',
  annotations: reads,
  input: v.strictObject({ x: v.number() }),
  execute: ({ x }) => x,
});

/** Runs of a program whose thousand calls each take what the one before has returned. */
function program(trust: 'open' | 'guarded', as: Tool['definition']['reads']): () => Promise<unknown> {
  const code = `let x = 1; for (let i = 0; i < ${count}; i++) x = await tools.same({ x }); return x;`;
  const tool: Tool = { ...same, definition: { ...same.definition, ...(as && { reads: as }) } };
  return runs([callsTools({ tool: 'code_run', input: { code }, id: 'p' }), says('Done')], {
    tools: [tool],
    sandbox: localSandbox(setImmediate),
    programs: true,
    agent: { trust, entryTools: ['*', 'code_run'] },
  });
}

const terms = { rounds: 11, calls: 2, warmup: 6 };
const labels = await cpuRounds({
  without: calls(undefined, plain),
  labelled: calls('untrusted', plain),
  ruled: calls('untrusted', ofFacts),
}, terms);
const programs = await cpuRounds({
  plain: program('open', undefined),
  trusted: program('guarded', 'trusted'),
  handles: program('guarded', 'untrusted'),
}, terms);

/** The median of the differences, round by round, in microseconds for each call. */
function costOf(longer: readonly number[] = [], shorter: readonly number[] = []): number {
  return median(longer.map((ms, i) => ms - (shorter[i] ?? NaN))) * 1_000 / count;
}

function each(figure: string, us: number, bar: number): Row {
  const whole = median(labels['without'] ?? []) * 1_000 / count;
  return {
    figure,
    value: `${us.toFixed(1)} us`,
    peer: `of ${whole.toFixed(0)} us`,
    bar: `<= ${bar} us`,
    met: us <= bar,
  };
}

function ratio(figure: string, name: string): Row {
  const [ours, theirs] = [median(programs[name] ?? []), median(programs['plain'] ?? [])];
  const by = median((programs[name] ?? []).map((ms, i) => ms / (programs['plain']?.[i] ?? NaN)));
  const perCall = (ms: number) => `${(ms * 1_000 / count).toFixed(0)} us`;
  return {
    figure,
    value: perCall(ours),
    peer: `plain: ${perCall(theirs)}`,
    ratio: by.toFixed(3),
    bar: '<= 1.1',
    met: by <= 1.1,
  };
}

report('Labels and handles', [
  each('Labels of a call, 16 sources read, no rule reads facts', costOf(labels['labelled'], labels['without']), 5),
  each('Labels of a call, 16 sources read, rules read facts', costOf(labels['ruled'], labels['without']), 20),
  ratio('A call of a guarded program, trusted values', 'trusted'),
  ratio('A call of a guarded program, handles', 'handles'),
]);
