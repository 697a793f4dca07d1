/** A call of a tool by the person who makes it: the input, what would be sent, and what came of it. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { ErrorData } from '../../../src/base/errors.ts';
import type { JsonSchema } from '../../../src/registry/index.ts';
import type { ToolRequest, ToolTrial, TrialControl } from '../../control/trial-control.ts';
import { sampleOf } from './params-table.ts';

export interface Trial {
  /** As JSON. */
  readonly input: ReadonlySignal<string>;
  /** The request preview of an HTTP tool, with the input at that time. */
  readonly request: ReadonlySignal<ToolRequest | undefined>;
  readonly result: ReadonlySignal<ToolTrial | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  write(input: string): void;
  /** Writes an input that fits the parameters, where the person has written none. */
  suggest(schema: unknown): void;
  /** Shows the request; sends nothing. */
  preview(tool: object): Promise<void>;
  call(tool: object): Promise<void>;
}

/** Creates a trial. Calls the worker only when the person does. */
export function createTrial(control: TrialControl): Trial {
  const input = signal('{}');
  const request = signal<ToolRequest | undefined>(undefined);
  const result = signal<ToolTrial | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const isBusy = signal(false);
  /** What was suggested last: it may be replaced. */
  let suggested = input.value;

  async function send(work: (value: unknown) => Promise<ErrorData | undefined>): Promise<void> {
    const parsed = parseInput(input.value);
    problem.value = parsed === undefined ? 'The input must be JSON.' : undefined;
    if (!parsed || isBusy.value) return;
    isBusy.value = true;
    const error = await work(parsed.value).catch((): ErrorData => noResponse);
    isBusy.value = false;
    problem.value = error && `${error.message}.`;
  }

  return {
    input,
    request,
    result,
    problem,
    isBusy,
    write(text) {
      input.value = text;
    },
    suggest(schema) {
      if (input.value !== suggested || typeof schema !== 'object' || schema === null) return;
      suggested = JSON.stringify(sampleOf(schema as JsonSchema), null, 2); // safe: what it does not know it leaves out
      input.value = suggested;
    },
    preview: (tool) =>
      send(async (value) => {
        const answer = await control.previewTool(tool, value);
        request.value = answer.ok ? answer.value : undefined;
        return answer.ok ? undefined : answer.error;
      }),
    call: (tool) =>
      send(async (value) => {
        result.value = undefined;
        const answer = await control.callTool(tool, value);
        if (!answer.ok) return answer.error;
        result.value = answer.value;
        return undefined;
      }),
  };
}

const noResponse: ErrorData = { code: 'unavailable', message: 'The worker did not respond', retryable: true };

function parseInput(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
