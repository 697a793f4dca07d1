/** The failures of one model call: reported as they were thrown, and turned into errors of the run. */

import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { PinnaceError } from '../../base/errors.ts';
import type { Report } from '../../events/report.ts';
import { toModelError } from './model-error.ts';
import type { PartReader } from './part-reader.ts';
import { ReportedError } from './retry.ts';

/** What observes the failures of a call. Nothing is a failure once the signal has aborted. */
export interface ModelFailures {
  /** Does a try; reports what it throws. */
  observe<T>(work: () => Promise<T>, attempt: number): Promise<T>;
  /** Does all tries. @throws PinnaceError for what they throw. */
  translate<T>(work: () => Promise<T>): Promise<T>;
  /** Reports what breaks the answer off. @throws PinnaceError for it. */
  observeReads<Reader extends PartReader<LanguageModelV4StreamPart>>(reader: Reader): Reader;
}

/** Creates the failures of a call that has had none. */
export function createModelFailures(
  { models, report, clock }: {
    readonly models: { readonly current: { readonly model: Pick<LanguageModelV4, 'modelId'> } };
    readonly report: Report;
    readonly clock: { readonly signal: AbortSignal };
  },
): ModelFailures {
  let attempt = 1;
  const failed = (error: unknown): void => {
    const isLimit = error instanceof PinnaceError && error.code === 'budget_exceeded'; // no try was made
    if (!clock.signal.aborted && !isLimit) report(error, { kind: 'model', id: models.current.model.modelId, attempt });
  };
  const asError = (error: unknown): unknown => clock.signal.aborted ? error : toModelError(error);
  return {
    async observe(work, number) {
      attempt = number;
      try {
        return await work();
      } catch (thrown) {
        failed(thrown instanceof ReportedError ? thrown.cause : thrown);
        throw thrown;
      }
    },
    async translate(work) {
      try {
        return await work();
      } catch (thrown) {
        throw asError(thrown);
      }
    },
    observeReads(reader) {
      return {
        ...reader,
        async read() {
          try {
            const parts = await reader.read();
            for (const part of parts ?? []) if (part.type === 'error') failed(part.error);
            return parts;
          } catch (thrown) {
            failed(thrown);
            throw asError(thrown);
          }
        },
      };
    },
  };
}
