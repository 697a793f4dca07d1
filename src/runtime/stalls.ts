/**
 * Finds the model that goes in circles: the same tool, the same input and the same outcome, again and again.
 *
 * - All three count. Another input with the same result is a search, and the same input with another result is progress.
 * - The count is over the run, so two calls in turn are found as well. What a person says starts it anew.
 * - A long input does not count: a model that goes in circles repeats a short one, and one that writes at length makes something.
 * - An outcome is hashed when its call is made again: most calls are made once.
 * - Equal calls of one step count once: the model has not read the first result when it makes the second.
 * - The line that the model reads is a constant with a number, and stands in the message of the chat: later turns send the same prompt.
 */

import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';

/** A call of a model, as far as it counts. */
interface CountedCall {
  readonly tool?: Tool | undefined;
  readonly toolName: string;
  readonly input: unknown;
}

/** The longest input that counts, in UTF-16 code units of its JSON. */
const mostInput = 2_000;

/** What a call of one input has led to. */
interface MadeCall {
  /** The only outcome so far, not hashed yet. */
  first: { readonly outcome: ToolOutcome; readonly step: number } | undefined;
  /** How often each outcome was counted, and in which step last, by its hash. */
  readonly outcomes: Map<number, { readonly times: number; readonly step: number }>;
}

/** How often each call of a run has had the same outcome. */
export class RepeatedCalls {
  readonly #stallAfter: number;
  /** By tool and input: at most as many as the run may make calls. */
  readonly #made = new Map<string, MadeCall>();
  #step = 0;

  constructor(stallAfter: number) {
    this.#stallAfter = Math.max(2, stallAfter); // once is no repetition
  }

  /** Counts a call. Returns how often its outcome was the same where that is too often. */
  count({ tool, toolName, input }: CountedCall, outcome: ToolOutcome): number | undefined {
    if (tool?.definition.limits?.repeats === 'allowed') return undefined;
    const json = canonicalJson(input);
    if (json.length > mostInput) return undefined;
    const asked = `${toolName}\n${json}`;
    const made = this.#made.get(asked);
    const step = this.#step;
    if (!made) return void this.#made.set(asked, { first: { outcome, step }, outcomes: new Map() });
    const { first, outcomes } = made;
    if (first) outcomes.set(hashOf(first.outcome), { times: 1, step: first.step });
    made.first = undefined;
    const hash = hashOf(outcome);
    const known = outcomes.get(hash);
    if (known?.step === step) return undefined;
    const times = (known?.times ?? 0) + 1;
    outcomes.set(hash, { times, step });
    return times < this.#stallAfter ? undefined : times;
  }

  startStep(): void {
    this.#step += 1;
  }

  /** Whether the run ends at so many repetitions: twice as many as the model was told of first. */
  isOver(times: number): boolean {
    return times >= this.#stallAfter * 2;
  }

  /** Whether the model is told for the first time. */
  isFirst(times: number): boolean {
    return times === this.#stallAfter;
  }

  /** A person has said something: the same call may end differently now. */
  restart(): void {
    this.#made.clear();
  }
}

/** The error of a run that goes in circles. Code and reason are those of a plan that does. */
export function stalledRun(toolName: string, times: number): PinnaceError {
  const message = `The run was stopped: tool "${toolName}" was called ${times} times with the same input and result`;
  return new PinnaceError('budget_exceeded', message, { details: { reason: 'stalled', tool: toolName, times } });
}

/** The part of the message that keeps what the model was told. */
export function stallChunk(toolCallId: string, times: number): UIMessageChunk {
  return { type: 'data-stall', data: { toolCallId, times } };
}

/** Reads such a part. A client sends it: all that it can choose is the number. */
export function readStall(data: unknown): { readonly toolCallId: string; readonly times: number } | undefined {
  if (!isRecord(data)) return undefined;
  const { toolCallId, times } = data;
  if (typeof toolCallId !== 'string' || typeof times !== 'number' || !(times >= 2 && times <= 1000)) return undefined;
  return { toolCallId, times: Math.trunc(times) };
}

/** The result with the line for the model behind it. */
export function withStallLine<Output extends LanguageModelV4ToolResultPart['output']>(output: Output, times: number) {
  const line = `This call has given the same result ${times} times. Do something else.`;
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n${line}` };
    case 'json':
      return { type: 'text' as const, value: `${JSON.stringify(output.value)}\n\n${line}` };
    case 'content':
      return { ...output, value: [...output.value, { type: 'text' as const, text: line }] };
    default:
      return output;
  }
}

/** A hash of 53 bits (cyrb53): no one gains by a collision but the caller, whose run then ends. */
function hashOf(outcome: ToolOutcome): number {
  const text = outcome.ok ? JSON.stringify(outcome.output) ?? '' : outcome.error.message;
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (low & 0x1fffff) * 4294967296 + (high >>> 0);
}
