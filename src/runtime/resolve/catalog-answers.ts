/** Checks a catalog's answers: an invalid record is rejected, so no cache stores it. */

import { PinnaceError } from '../../base/errors.ts';
import { type CatalogRecords, kindNames, readRecord, type RecordKind } from '../../registry/record-kinds.ts';
import type { ToolDefinition } from '../../base/schema.ts';

/**
 * Reads a record; `undefined` stays what it is.
 *
 * @throws PinnaceError `unavailable` with the reason `catalog_invalid` for one that breaks its schema, or has another id.
 */
export function readAnswer<Kind extends RecordKind>(
  kind: Kind,
  id: string,
  answer: unknown,
): CatalogRecords[Kind] | undefined {
  if (answer === undefined) return undefined;
  const what = kindNames[kind];
  try {
    const record = readRecord[kind](answer, what);
    if (record.id === id) return record;
  } catch (cause) {
    throw invalid(what, cause);
  }
  throw invalid(what);
}

/**
 * Reads a page of tools, of which there may be thousands: only as far as the way from here needs. Each is read whole where it is
 * made a tool.
 *
 * @throws PinnaceError as `readAnswer`.
 */
export function readToolsAnswer(answer: unknown): readonly ToolDefinition[] {
  if (Array.isArray(answer) && answer.every(isDefinition)) return answer as readonly ToolDefinition[]; // see above
  throw invalid('tools');
}

function isDefinition(one: unknown): boolean {
  if (typeof one !== 'object' || one === null) return false;
  const { id, name, paramsSchema } = one as Partial<Record<keyof ToolDefinition, unknown>>; // every object has these, or not
  return typeof id === 'string' && typeof name === 'string' && typeof paramsSchema === 'object' &&
    paramsSchema !== null;
}

function invalid(what: string, cause?: unknown): PinnaceError {
  return new PinnaceError('unavailable', `Cannot load the ${what}: the catalog answered something else`, {
    cause,
    retryable: false,
    details: { reason: 'catalog_invalid' },
  });
}
