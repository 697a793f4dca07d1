/** How the model leads a plan: it divides the goal, assigns each part to a sub-agent, asks a person if the goal says so, and sums up. */

import type { ModelCallOptions } from './conversation.ts';
import type { Call } from './explicit-calls.ts';

/** The primitives of plans: a model that leads knows them by name. */
const primitives: ReadonlySet<string> = new Set(['create', 'send', 'ask_human', 'plan_revise', 'finish']);

/** Whether the instructions make the model a part of a plan. */
export function isInPlan({ prompt, tools = [] }: ModelCallOptions): boolean {
  const system = prompt.find(({ role }) => role === 'system');
  const names = new Set(tools.map(({ name }) => name));
  return names.has('finish') && names.has('send') && typeof system?.content === 'string' &&
    /^You (?:lead a plan|are sub-agent [\d-]+ of a plan)\./.test(system.content);
}

/** The same options without the primitives: the rest is a task like any other. */
export function withoutPrimitives(options: ModelCallOptions): ModelCallOptions {
  return { ...options, tools: (options.tools ?? []).filter(({ name }) => !primitives.has(name)) };
}

/** The next calls of a leader; `undefined` for a goal with one part, which the model does itself. */
export function leaderCalls({ prompt, tools = [] }: ModelCallOptions): readonly Call[] | undefined {
  const parts = partsOf(goalOf(prompt));
  if (parts.length < 2 || !tools.some(({ name }) => name === 'create')) return undefined;
  if (!prompt.some(({ role }) => role === 'assistant')) return parts.map(toCall);
  const { results, cites } = resultsOf(prompt);
  return [callOf('finish', { result: [...results, ...answersOf(prompt)].join('\n\n'), cites })];
}

function goalOf(prompt: ModelCallOptions['prompt']): string {
  const first = prompt.find(({ role }) => role === 'user');
  if (first?.role !== 'user') return '';
  // The text after an empty line is context.
  return first.content.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n').split('\n\n', 1)[0] ?? '';
}

interface Part {
  readonly text: string;
  /** Whether it comes after the part before it: "then" says so. */
  readonly isNext: boolean;
}

function partsOf(goal: string): readonly Part[] {
  const pieces = goal.split(
    /\s*((?:[;\n](?:\s*(?:and\s+)?then\s+(?=\p{L}))?|,?\s+(?:and\s+then|and|then)\s+(?=\p{L})))\s*/u,
  );
  return pieces.flatMap((piece, i) => {
    const text = i % 2 === 0 ? piece.replace(/[\s.,]+$/u, '') : '';
    return text === '' ? [] : [{ text, isNext: /then/u.test(pieces[i - 1] ?? '') }];
  });
}

/** "Ask me which port" is a question to a person; everything else is work. */
function toCall({ text, isNext }: Part, index: number, parts: readonly Part[]): Call {
  const question = questionOf(text);
  if (question !== undefined) return callOf('ask_human', { question: directly(question) });
  const before = parts[index - 1];
  const after = isNext && before && questionOf(before.text) === undefined ? [keyOf(index - 1)] : [];
  return callOf('create', { goal: text, key: keyOf(index), onFailure: 'collect', ...(after.length > 0 && { after }) });
}

function questionOf(text: string): string | undefined {
  return /^ask\s+(?:me|us|a\s+person|somebody|someone):?\s+(.+)$/iu.exec(text)?.[1];
}

const auxiliary = String.raw`\b(?:are|were|can|could|will|would|should|may|must|have|had|do|did)\b`;
const indirect = new RegExp(
  String.raw`^((?:what|which|who|where|when|why|how)\b(?:(?!${auxiliary}).)*?) (I|we|you|they) (?!${auxiliary})`,
  'iu',
);

/** An indirect question as one to a person: "which port we sail for" becomes "Which port do we sail for?". */
function directly(question: string): string {
  const asked = question.replace(indirect, '$1 do $2 ');
  return `${asked.charAt(0).toUpperCase()}${asked.slice(1)}?`;
}

function keyOf(index: number): string {
  return `part-${index + 1}`;
}

function callOf(toolName: string, input: unknown): Call {
  return { toolName, input: JSON.stringify(input) };
}

/** What the sub-agents have found or failed at, as the leader receives it. */
function resultsOf(prompt: ModelCallOptions['prompt']): { readonly results: string[]; readonly cites: string[] } {
  const texts = prompt.flatMap((message) =>
    message.role === 'user'
      ? message.content.flatMap((part) =>
        part.type === 'text' ? part.text.split(/\n\n(?=The result of |Sub-agent )/) : []
      )
      : []
  );
  const results: string[] = [];
  const cites: string[] = [];
  for (const text of texts) {
    const found = /^(The result of sub-agent|Sub-agent) ([\d-]+)[^\n]*\n([^]*)$/.exec(text);
    if (!found) continue;
    const [, kind, address = '', data = ''] = found;
    const hasFailed = kind === 'Sub-agent';
    results.push(`**${address}** ${hasFailed ? `failed: ${data}` : data}`);
    if (!hasFailed) cites.push(address);
  }
  return { results, cites };
}

/** What people have answered. */
function answersOf(prompt: ModelCallOptions['prompt']): readonly string[] {
  return prompt.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap((part) =>
        part.type === 'tool-result' && part.toolName === 'ask_human' && part.output.type === 'text'
          ? [`You said: **${part.output.value}**`]
          : []
      )
      : []
  );
}
