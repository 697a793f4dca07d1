/** The CPU of runs whose inputs are recorded for forks, beside the same runs without: a short chat and a long one. */

import { localPrincipal, type UIMessage } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { double } from '../../fixtures/programs.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { cpuRounds, median, ratioOf, report, type Row } from '../measure.ts';

const bar = 1.05;
const call = callsTools({ tool: 'double', input: { x: 2 } });
const words = says(...Array.from({ length: 100 }, (_, i) => `token${i} `));

function chat(length: number): UIMessage[] {
  return Array.from({ length }, (_, i) => ({
    id: `m${i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `${i}: ${'All work and no play makes a dull day of it. '.repeat(20)}` }],
  }));
}

/** Runs of three calls and an answer of a hundred chunks. */
function runs(messages: UIMessage[], options: { readonly keep?: 'inputs' }): () => Promise<unknown> {
  let scripted = scriptedModel();
  const { model } = scripted;
  const doStream: typeof model.doStream = (given) => scripted.model.doStream(given);
  const runtime = testRuntime({ model: { ...model, doStream }, tools: [double], ...options });
  return async () => {
    scripted = scriptedModel(call, call, call, words);
    return await readAll(await runtime.run(runRequest({ chat: { id: 'chat', messages } }), localPrincipal()));
  };
}

const rows: Row[] = [];
for (const length of [1, 41]) {
  const messages = chat(length);
  const variants = { plain: runs(messages, {}), kept: runs(messages, { keep: 'inputs' }) };
  const { plain = [], kept = [] } = await cpuRounds(variants, { rounds: 15, calls: 60, warmup: 120 });
  const ratio = ratioOf(kept, plain);
  rows.push({
    figure: `CPU of a run with keep: 'inputs', a chat of ${length} ${length === 1 ? 'message' : 'messages'}`,
    value: `${median(kept).toFixed(2)} ms`,
    peer: `without: ${median(plain).toFixed(2)} ms`,
    ratio: ratio.toFixed(3),
    bar: `<= ${bar}`,
    met: ratio <= bar,
  });
}
report('Recorded inputs', rows);
