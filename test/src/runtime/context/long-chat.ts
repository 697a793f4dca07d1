/** Chats that are too long for their model, and models that summarize them. */

import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { UIMessage } from '../../../../src/index.ts';
import { says, type ScriptedModel, scriptedModel, streamOf } from '../../../fixtures/model.ts';
import { userMessage } from '../../../fixtures/runtime.ts';

type Part = UIMessage['parts'][number];

/** A window of 2,000 tokens, of which a prompt may fill 1,600. */
export const smallWindow = { contextTokens: 2_000 };

export function answerMessage(text: string, id: string): UIMessage {
  return { id, role: 'assistant', parts: [{ type: 'text', text }] };
}

export function callMessage(id: string, output: unknown, tool = 'lookup'): UIMessage {
  const call = { type: `tool-${tool}`, toolCallId: `call-${id}`, state: 'output-available', input: { id }, output };
  return { id, role: 'assistant', parts: [call as Part, { type: 'text', text: `found ${id}` }] };
}

/** `turns` questions and answers of about 100 tokens each, and a last question. The ids are u0, a0, u1, … */
export function longChat(turns: number): UIMessage[] {
  const all = Array.from({ length: turns }, (_, i) => [
    userMessage(`question ${i} ${'q'.repeat(180)}`, `u${i}`),
    answerMessage(`answer ${i} ${'a'.repeat(180)}`, `a${i}`),
  ]);
  return [...all.flat(), userMessage('the last question', 'last')];
}

/** Whether a call is asked for a summary. */
export function isSummary({ prompt }: LanguageModelV4CallOptions): boolean {
  return prompt[0]?.role === 'system' && prompt[0].content.startsWith('You summarize');
}

type Script = ReturnType<typeof says> | ReadableStream<ReturnType<typeof says>[number]>;

export function modelOf(answer: (options: LanguageModelV4CallOptions, call: number) => Script): ScriptedModel {
  let calls = 0;
  return scriptedModel((options) => {
    const script = answer(options, ++calls);
    return Array.isArray(script) ? streamOf(script) : script;
  });
}

/** A script that reports an error. */
export function failing(): ReturnType<typeof says> {
  return [{ type: 'error', error: { error: { message: 'no', status: 500 } } }];
}

/** A model that summarizes as the script says, and otherwise answers. */
export function summarizingModel(summary: Script = says('They talked about letters.')) {
  const model = modelOf((options) => isSummary(options) ? summary : says('Hello'));
  const answers = () => model.calls.filter((call) => !isSummary(call));
  return { ...model, answers, summaries: () => model.calls.filter(isSummary) };
}

export function promptText(call: LanguageModelV4CallOptions | undefined): string {
  return JSON.stringify(call?.prompt ?? []);
}
