/** The time and the tokens of each step of a run, from its events. */

import { breakdownOf } from '../../runs/state/breakdown.ts';
import { spansOf } from '../../runs/state/run-spans.ts';
import type { RunRecord } from '../../control/runs-control.ts';

export interface StepFigure {
  readonly ms: number;
  readonly tokens: number;
}

/** By the numbers of the steps. */
export type StepFigures = ReadonlyMap<number, StepFigure>;

/** Returns the figures; those of a fork start with its own first step, `from`. */
export function stepFigures(record: RunRecord | undefined, from: number): StepFigures {
  if (!record) return new Map();
  const own = breakdownOf(spansOf(record.events)).steps.filter(({ address }) => address === undefined);
  return new Map(
    own.map(({ time, inputTokens, outputTokens }, i) => [
      from + i,
      { ms: time.totalMs, tokens: inputTokens + outputTokens },
    ]),
  );
}
