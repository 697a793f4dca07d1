/** Stop conditions as functions. */

import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { PinnaceError } from '../../base/errors.ts';
import type { Report } from '../../events/report.ts';
import type { LoopOptions } from '../loop/loop-options.ts';
import type { FinishedCall, FinishedStep, StopCondition } from './agent-code.ts';

/** Creates the check that the loop makes after each step. It throws `internal` with the reason `stop_when` where the condition throws. */
export function createStopCheck(stopWhen: StopCondition | undefined, report: Report): LoopOptions['isEnough'] {
  if (!stopWhen) return undefined;
  const steps: FinishedStep[] = [];
  return ({ text, finishReason, calls }, results) => {
    const byId = new Map(results.map((result) => [result.toolCallId, result]));
    steps.push({
      text,
      finishReason,
      calls: calls.map(({ toolCallId, toolName, input }): FinishedCall => ({
        toolCallId,
        toolName,
        input,
        ...resultOf(byId.get(toolCallId)),
      })),
    });
    return isMet(stopWhen, [...steps], report);
  };
}

function resultOf(result: LanguageModelV4ToolResultPart | undefined): Pick<FinishedCall, 'output' | 'isError'> {
  const { output } = result ?? {};
  return {
    ...(output && 'value' in output && { output: output.value }),
    isError: output?.type.startsWith('error-') === true,
  };
}

function isMet(stopWhen: StopCondition, steps: readonly FinishedStep[], report: Report): boolean {
  try {
    const met: unknown = stopWhen(steps);
    if (typeof met === 'boolean') return met;
  } catch (cause) {
    report(cause, { kind: 'hook', id: 'stopWhen' });
    throw broken('it threw an error', cause);
  }
  throw broken('it returned no boolean');
}

function broken(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('internal', `Cannot decide by the function "stopWhen" of the agent: ${why}`, {
    cause,
    details: { reason: 'stop_when' },
  });
}
