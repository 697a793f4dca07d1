/** A request to fork a run. Transports read its schema without the code of forks. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { readData } from '../base/json.ts';
import { ModelSettings } from '../base/model-settings.ts';
import { parse } from '../base/parse.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import type { Limits } from '../runtime/limits.ts';
import { checkSize } from '../runtime/run-request.ts';
import type { ForkOptions } from '../runtime/runtime.ts';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

const Part = v.looseObject({ type: v.picklist(['text', 'file'], 'must be "text" or "file"') });

/** A message of the user: texts and files. */
const Message = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  role: v.literal('user', 'must be "user"'),
  parts: v.pipe(v.array(Part), v.minLength(1)),
});

const Changes = v.strictObject({
  model: v.optional(v.strictObject({ providerId: Id, modelId: v.optional(Id) })),
  modelSettings: v.optional(ModelSettings),
  instructions: v.optional(v.pipe(v.string(), v.maxLength(65_536))),
  agent: v.optional(v.picklist(['recorded', 'current'])),
  message: v.optional(Message),
  toolOutputs: v.optional(v.pipe(v.record(Id, v.unknown()), v.maxEntries(100))),
});

/** The schema of a request to fork a run. */
export const ForkRequest = v.strictObject({
  atStep: v.pipe(v.number(), v.integer(), v.minValue(1)),
  changes: v.optional(Changes),
  effects: v.optional(v.picklist(['dry', 'live'])),
  chatId: v.optional(Id),
});

/**
 * Parses a request to fork a run from anywhere.
 *
 * @throws PinnaceError `invalid_argument` that names what is wrong.
 */
export function parseForkRequest(data: unknown, limits: Limits): ForkOptions {
  const request = parse(ForkRequest, readData(data), { what: 'the request to fork the run' });
  const { message, toolOutputs = {} } = request.changes ?? {};
  if (message) checkSize([message as unknown as UIMessage], limits); // only lengths of its parts are read
  for (const output of Object.values(toolOutputs)) requireLength(output, limits);
  // Safe to pass on: the parts of the message are checked with those of the chat.
  return request as unknown as ForkOptions;
}

function requireLength(output: unknown, { toolOutputLength }: Limits): void {
  if ((JSON.stringify(output)?.length ?? 0) <= toolOutputLength) return;
  throw new PinnaceError('invalid_argument', `Cannot fork the run: an output is longer than ${toolOutputLength}`, {
    details: { reason: 'output_too_large', maxOutputLength: toolOutputLength },
  });
}

/** The names of what a request changes, sorted. */
export function changedFields({ changes = {} }: ForkOptions): readonly string[] {
  return Object.entries(changes)
    .flatMap(([name, value]) => value === undefined || (name === 'agent' && value === 'recorded') ? [] : [name])
    .toSorted();
}
