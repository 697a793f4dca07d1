/** What a run's loop is told as: steps one after the other, in each the model call and then the tool calls. */

import type { LanguageModel } from '../ai-types.ts';
import type { ErrorData } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Place, Span, SpanEnd } from '../span.ts';
import { type ModelWatch, watchModel } from './model-watch.ts';

/** The spans of a loop. */
export interface LoopSpans extends ModelWatch {
  /** The step that is under way; before the first, the run. */
  readonly current: Place;
  /** The step before has ended, and the next begins. */
  readonly beginStep: () => void;
  /** The last step has ended. */
  readonly end: (how: { readonly status: SpanEnd['status']; readonly error: ErrorData | null }) => void;
}

/** Gives the spans of the loop of one run, none of them begun. */
export function createLoopSpans(
  { span: run, agent: { id }, model, metrics }: {
    readonly span: Span;
    readonly agent: { readonly id: string };
    readonly model: LanguageModel;
    readonly metrics: Metrics;
  },
): LoopSpans {
  const agent = { type: 'agent', id } as const;
  let step: Span | undefined;
  let count = 0;
  const current = (): Place => step ?? run;
  const watch = watchModel(model, { place: current, metrics });
  return {
    ...watch,
    get current() {
      return current();
    },
    beginStep() {
      step?.end({ status: 'ok' });
      step = run.start({ action: 'step', actor: agent, target: agent, payload: { step: ++count } });
    },
    end: (how) => step?.end(how),
  };
}
