/** A memory for each person: a source whose items belong to the subject of the caller, not to all of the tenant. */

import type { GroundingSource, WritableGroundingSource } from '../contracts/grounding-source.ts';
import { isWritable } from './create-grounding.ts';

/** How a memory is kept. */
export interface PerSubjectOptions {
  /** How long items are stored that name no `ttlMs` of their own, in milliseconds; forever when absent. */
  readonly retentionMs?: number;
}

/**
 * Returns the source as one whose items belong to the caller's subject. `remember`, `retrieve` and `forget` of a principal reach
 * only what the same tenant and subject has stored. `erasePerson` removes it.
 *
 * @example
 * const memory = perSubject(textSource({ id: 'memory', storage }), { retentionMs: 90 * 86_400_000 });
 * const grounding = createGrounding({ sources: [memory] });
 */
export function perSubject(source: WritableGroundingSource, options?: PerSubjectOptions): WritableGroundingSource;
export function perSubject(source: GroundingSource, options?: PerSubjectOptions): GroundingSource;
export function perSubject(source: GroundingSource, { retentionMs }: PerSubjectOptions = {}): GroundingSource {
  const reading: GroundingSource = {
    id: source.id,
    kind: source.kind,
    capabilities: source.capabilities,
    ...(source.quality !== undefined && { quality: source.quality }),
    scope: 'subject',
    retrieve: (request, signal) => source.retrieve(request, signal),
    stats: (owner, signal) => source.stats(owner, signal),
  };
  if (!isWritable(source)) return reading;
  const writing: WritableGroundingSource = {
    ...reading,
    remember: (request, signal) =>
      source.remember({
        ...request,
        items: request.items.map((item) => ({ ...(retentionMs !== undefined && { ttlMs: retentionMs }), ...item })),
      }, signal),
    forget: (request, signal) => source.forget(request, signal),
  };
  return writing;
}
