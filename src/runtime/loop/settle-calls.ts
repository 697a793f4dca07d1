/** Settles the calls of a step: each has an outcome, or waits for a person. */

import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { toData } from '../../base/errors.ts';
import { raceAbort } from '../../base/until-aborted.ts';
import type { JSONValue, UIMessageChunk } from '../../contracts/ai-types.ts';
import { describedText } from '../../tools/call-approval.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import type { SettledCall } from '../../tools/run-calls.ts';
import type { LoopOptions } from './loop-options.ts';
import type { ParsedCall } from './parse-call.ts';

/** What became of the calls of a step. */
export interface Settled {
  /** In the order of the calls. */
  readonly results: readonly LanguageModelV4ToolResultPart[];
  /** How many calls wait for a person. */
  readonly waiting: number;
}

/** A step whose calls may not be made. */
export const unsettled: Settled = { results: [], waiting: 0 };

/** Makes the calls at once, and yields what becomes of each as it ends. */
export async function* settleCalls(
  calls: readonly ParsedCall<Tool>[],
  run: LoopOptions,
): AsyncGenerator<readonly UIMessageChunk[], Settled> {
  const results: (LanguageModelV4ToolResultPart | undefined)[] = calls.map(() => undefined);
  const ready: UIMessageChunk[] = [];
  let wake = Promise.withResolvers<void>();
  let failure: { readonly error: unknown } | undefined;
  let [open, waiting] = [calls.length, 0];
  const settleAt = async (call: ParsedCall<Tool>, at: number): Promise<void> => {
    try {
      const settled = await settle(call, run);
      if (settled.outcome) results[at] = resultOf(call, await outputOf(settled.outcome, run));
      else waiting += 1;
      ready.push(...settled.chunks);
    } catch (error) {
      failure ??= { error };
    }
    open -= 1;
    wake.resolve();
  };
  for (const [at, call] of calls.entries()) void settleAt(call, at);
  while (open > 0) {
    await raceAbort(wake.promise, run.spans.clock.signal);
    wake = Promise.withResolvers();
    if (failure) throw failure.error;
    if (ready.length > 0) yield ready.splice(0);
  }
  if (ready.length > 0) yield ready.splice(0);
  return { results: results.filter((result) => result !== undefined), waiting };
}

/** What becomes of a call: an outcome, or an approval that a person must give. */
async function settle(
  { tool, toolCallId, toolName, input, error, providerMetadata }: ParsedCall<Tool>,
  run: LoopOptions,
): Promise<SettledCall> {
  const { calls, spans } = run;
  if (error || !tool) {
    return { chunks: [], outcome: { ok: false, error: toData(error ?? run.tools.missing(toolName)) } };
  }
  const call = calls.open(tool, input, toolCallId);
  const prepared = await call.prepare();
  if (!prepared.ok && prepared.approval) {
    const { id: approvalId, description } = await calls.requestApproval(call);
    const facts = description && { reason: describedText(description), approvalDescriptor: description };
    return { chunks: [{ type: 'tool-approval-request', approvalId, toolCallId, ...facts }] };
  }
  const { chunks, outcome } = await calls.settle(call, { signal: spans.clock.signal });
  const [shown, ...rest] = chunks;
  if (!outcome) return { chunks };
  const first = shown && providerMetadata ? { ...shown, providerMetadata } as UIMessageChunk : shown; // an end of a call has the field
  return { chunks: first ? [first, ...rest] : rest, outcome };
}

/** The result of a call as the model receives it; it has the metadata of the call. */
function resultOf(
  { toolCallId, toolName, providerMetadata }: ParsedCall<Tool>,
  output: Output,
): LanguageModelV4ToolResultPart {
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  return { type: 'tool-result', toolCallId, toolName, output, ...options };
}

type Output = LanguageModelV4ToolResultPart['output'];

function outputOf(outcome: ToolOutcome, { files }: LoopOptions): Output | Promise<Output> {
  if (!outcome.ok) return { type: 'error-text', value: outcome.error.message };
  const { output } = outcome;
  if (typeof output === 'string') return { type: 'text', value: output };
  return files.result(output) ?? { type: 'json', value: (output ?? null) as JSONValue }; // safe: `invokeTool` made it JSON
}
