/**
 * The tokens of a task with programs, beside one call a step and parallel calls. A scripted model makes the same calls in each way;
 * counted are the prompts and the tools that it receives, and what it answers, with four characters to a token: the estimate of the runtime itself. Programs alone may call the tools, so that
 * the model does not receive them twice.
 */

import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { report, type Row } from '../measure.ts';
import type { ScriptedModel, Source } from '../../fixtures/model.ts';
import { parallel, program, run, sequential } from './subject.ts';

const charactersPerToken = 4;
const bars = new Map([[3, [0.45, 0.85]], [10, [0.12, 0.5]], [50, [0.03, 0.15]]] as const);

const code = (count: number): string =>
  `const ids = Array.from({ length: ${count} }, (_, i) => i + 1);
const orders = await Promise.all(ids.map((id) => tools.orders_get({ id })));
return { open: orders.filter((one) => one.status === 'open').reduce((sum, one) => sum + one.total, 0) };`;

/** The characters of a prompt without the names of its fields: providers write their own. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [key, one]) => sum + (key === 'type' ? 0 : charactersOf(one)), 0);
}

function namesOf({ toolName, toolCallId }: { readonly toolName: string; readonly toolCallId: string }): number {
  return toolName.length + toolCallId.length;
}

function promptCharacters({ prompt, tools = [] }: LanguageModelV4CallOptions): number {
  const messages = prompt.map(({ content }) =>
    typeof content === 'string' ? content.length : content.reduce((sum, part) => {
      if (part.type === 'tool-call') return sum + namesOf(part) + JSON.stringify(part.input).length;
      if (part.type === 'tool-result') return sum + namesOf(part) + JSON.stringify(part.output).length;
      return sum + charactersOf(part);
    }, 0)
  );
  return [...messages, ...tools.map((tool) => JSON.stringify(tool).length)].reduce((a, b) => a + b, 0);
}

function answerCharacters(source: Source): number {
  if (typeof source === 'function') return 0;
  const parts = source.map((part) =>
    part.type === 'tool-call' ? namesOf(part) + part.input.length : part.type === 'text-delta' ? part.delta.length : 0
  );
  return parts.reduce((a, b) => a + b, 0);
}

async function tokensOf(scripts: readonly Source[]): Promise<{ readonly tokens: number; readonly calls: number }> {
  const { calls }: ScriptedModel = await run(scripts);
  if (calls.length !== scripts.length) throw new Error(`The model was called ${calls.length} times`);
  const read = calls.reduce((sum, call) => sum + promptCharacters(call), 0);
  const written = scripts.reduce((sum, script) => sum + answerCharacters(script), 0);
  return { tokens: Math.ceil((read + written) / charactersPerToken), calls: calls.length };
}

const rows: Row[] = [];
for (const [count, [ofSequential, ofParallel]] of bars) {
  const [ours, one, all] = [
    await tokensOf(program(code(count))),
    await tokensOf(sequential(count)),
    await tokensOf(parallel(count)),
  ];
  const compared = [['one call a step', one, ofSequential], ['parallel calls', all, ofParallel]] as const;
  for (const [way, peer, bar] of compared) {
    const ratio = ours.tokens / peer.tokens;
    rows.push({
      figure: `${count} calls in a program; peer: ${way}`,
      value: `${ours.tokens} tokens, ${ours.calls} model calls`,
      peer: `${peer.tokens} tokens, ${peer.calls} model calls`,
      ratio: ratio.toFixed(3),
      bar: `<= ${bar}`,
      met: ratio <= bar,
    });
  }
}
report('Tokens of programs, four characters each', rows);
