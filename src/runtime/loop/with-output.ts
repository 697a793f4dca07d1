/** The end of a run whose last answer must be data. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { PinnaceError, toData } from '../../base/errors.ts';
import type { Issue } from '../../base/parse.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RunEnd } from '../log/run-end.ts';
import { failed, stepLimit, stopped } from './loop-end.ts';
import type { LoopOptions } from './loop-options.ts';
import type { Answer } from './step-content.ts';

interface OutputPlace {
  readonly answer: Answer<Tool>;
  readonly prompt: LanguageModelV4Message[];
  readonly run: Pick<LoopOptions, 'output' | 'limits' | 'usage'>;
}

/**
 * Returns the end with the answer read: yields its data where it is valid. The first invalid answer is removed from the stream, and
 * the model answers once more, in a step that counts.
 */
export async function* withOutput(
  end: RunEnd | undefined,
  { answer: { finishReason, calls, text, isDeferred }, prompt, run }: OutputPlace,
): AsyncGenerator<readonly UIMessageChunk[], RunEnd | undefined> {
  const { output, limits, usage } = run;
  if (!output || end?.type !== 'completed') return end;
  if (finishReason === 'length') return truncated();
  if (finishReason === 'content-filter') return failed(refused());
  const said = await output.read(text);
  if (said.ok) {
    yield [output.chunk(said.data)];
    return end;
  }
  const isCutShort = calls.length > 0 || isDeferred; // what was said is no answer that could be repaired
  if (isCutShort) return usage.steps >= limits.steps ? stopped(finishReason, stepLimit(limits)) : failed(missing());
  if (output.isRepaired || usage.steps >= limits.steps) return failed(invalid(said.issues));
  output.isRepaired = true;
  yield [{ type: 'reset-step' }];
  prompt.push(output.correction(said.issues));
  return undefined;
}

function truncated(): RunEnd {
  const error = new PinnaceError(
    'budget_exceeded',
    'The answer is not complete: it reached the limit of output tokens; raise "maxOutputTokens" or "outputTokens"',
    { details: { reason: 'output_truncated' } },
  );
  return { type: 'stopped', finishReason: 'length', error: toData(error) };
}

function refused(): PinnaceError {
  return new PinnaceError('unavailable', 'The provider filtered the answer, so there is no data to read', {
    retryable: false,
    details: { reason: 'output_refused' },
  });
}

function missing(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'The run ended before the answer that "output" asks for: it was stopped while the model called tools',
    { retryable: false, details: { reason: 'output_missing' } },
  );
}

function invalid(issues: readonly Issue[]): PinnaceError {
  const [first] = issues;
  const where = first?.path ? `"${first.path}" ` : 'it ';
  return new PinnaceError(
    'unavailable',
    `The answer of the model does not fit the JSON Schema of "output": ${where}${first?.message ?? 'is not valid'}`,
    { details: { reason: 'output_invalid', issues: issues.slice(0, 20) } },
  );
}
