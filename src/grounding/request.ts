/** The request and the answer of grounding. */

import * as v from 'valibot';
import type { ErrorData } from '../base/errors.ts';
import { Filters, type GroundingKind, type SourceHit } from '../contracts/grounding-source.ts';

const SourceId = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const Field = v.pipe(v.string(), v.minLength(1), v.maxLength(200));

/** Figures of structured sources. */
const Aggregate = v.strictObject({
  by: v.optional(Field),
  figures: v.pipe(
    v.array(v.strictObject({ op: v.picklist(['count', 'sum', 'avg', 'min', 'max']), field: v.optional(Field) })),
    v.minLength(1),
    v.maxLength(20),
  ),
});

/** A question to one source or several. */
export const RetrieveRequest = v.strictObject({
  dataSourceId: v.optional(SourceId),
  dataSourceIds: v.optional(v.pipe(v.array(SourceId), v.minLength(1), v.maxLength(32))),
  query: v.optional(v.pipe(v.string(), v.maxLength(4096))),
  embedding: v.optional(
    v.pipe(
      v.array(v.pipe(v.number(), v.check((value: number) => Number.isFinite(value), 'must be finite'))),
      v.minLength(1),
      v.maxLength(8192),
    ),
  ),
  /** The most hits. */
  topK: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 10),
  filters: v.optional(Filters, []),
  /** Hits below are left out, after fusion; then no hits are an answer too. */
  minConfidence: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0),
  /** How long sources are waited for. */
  budgetMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(60_000)), 2_000),
  /** The fields of `metadata` that are wanted; all when absent. */
  include: v.optional(v.pipe(v.array(Field), v.maxLength(100))),
  sort: v.optional(
    v.pipe(
      v.array(v.strictObject({ field: Field, direction: v.optional(v.picklist(['asc', 'desc'])) })),
      v.maxLength(5),
    ),
  ),
  aggregate: v.optional(Aggregate),
});
export type RetrieveRequest = v.InferOutput<typeof RetrieveRequest>;
/** A question to data sources, as callers write it: fields with defaults are optional. */
export type RetrieveInput = v.InferInput<typeof RetrieveRequest>;

/** JSON that belongs to an item. */
const Metadata = v.record(v.pipe(v.string(), v.maxLength(200)), v.unknown());

/** What one call may keep. */
export const RememberInput = v.strictObject({
  dataSourceId: SourceId,
  items: v.pipe(
    v.array(v.strictObject({
      id: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
      text: v.pipe(v.string(), v.minLength(1), v.maxLength(65_536)),
      title: v.optional(v.pipe(v.string(), v.maxLength(500))),
      uri: v.optional(v.pipe(v.string(), v.maxLength(2048))),
      /** The first and the last line in what the uri names, from 1. */
      lines: v.optional(v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(1))), v.length(2))),
      embedding: v.optional(
        v.pipe(
          v.array(v.pipe(v.number(), v.check((value: number) => Number.isFinite(value), 'must be finite'))),
          v.minLength(1),
          v.maxLength(8192),
        ),
      ),
      metadata: v.optional(Metadata),
      ttlMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
    })),
    v.minLength(1),
    v.maxLength(50),
  ),
  /** The same call again under the same key keeps nothing twice. */
  idempotencyKey: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
});
export type RememberInput = v.InferInput<typeof RememberInput>;

/** What to delete. */
export const ForgetInput = v.strictObject({
  dataSourceId: SourceId,
  ids: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.maxLength(1000))),
  filters: v.optional(Filters),
});
export type ForgetInput = v.InferInput<typeof ForgetInput>;

/** One result. */
export interface GroundingHit extends Omit<SourceHit, 'scoreKind'> {
  readonly dataSourceId: string;
  readonly kind: GroundingKind;
  /** `rrf` where several sources were fused: then the score says nothing but the order. */
  readonly scoreKind: SourceHit['scoreKind'] | 'rrf';
  /** From 1. */
  readonly rank: number;
  /** Whether the confidence was fitted to judged hits of this source. */
  readonly calibrated: boolean;
}

/** How one source fared. `partial`: some of its hits broke the rules and were left out. */
export interface SourceReport {
  readonly dataSourceId: string;
  readonly kind?: GroundingKind;
  readonly tookMs: number;
  /** The hits that it gave before fusion. */
  readonly candidates: number;
  readonly status: 'ok' | 'partial' | 'error';
  /** The source was filled, for others than the caller's tenant: it has nothing to find here. */
  readonly reason?: 'no_items_of_tenant';
  readonly error?: ErrorData;
  /** The version of the data: a cached answer is valid until it changes. */
  readonly version?: string;
}

/** The answer. No hits is one: nothing was found. */
export interface GroundingAnswer {
  readonly hits: readonly GroundingHit[];
  /**
   * The probability that the sources answer the query at all, 0 to 1, whatever `minConfidence` leaves out. A low value means "not in the
   * sources". A hit's confidence is the probability of that hit, so it is lower where several hits are near each other.
   */
  readonly answered: number;
  /** By id. */
  readonly sources: readonly SourceReport[];
  /** Whether the hits of several sources are in one order. */
  readonly fused: boolean;
}
