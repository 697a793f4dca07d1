/** The port to data sources. */

import type { Filter, FilterOp } from './filter.ts';

/** What a grounding source searches. */
export type GroundingKind = 'search' | 'vector' | 'structured' | 'code';

/** A question to one source. */
export interface GroundingRequest {
  /** The owner of the data: part of the storage key, never a filter. A tenant, or a tenant with a subject. */
  readonly tenant: string;
  readonly query?: string | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** The maximum number of hits, 1 to 200. */
  readonly topK: number;
  /** Every hit matches all of them. */
  readonly filters: readonly Filter[];
  /** The order of a structured source's hits; text and numbers as they compare. */
  readonly sort?: readonly { readonly field: string; readonly direction?: 'asc' | 'desc' | undefined }[] | undefined;
  /** Figures of a structured source instead of its records: one hit for each value of `by`, or one for all. */
  readonly aggregate?: GroundingAggregate | undefined;
}

/** What a structured source adds up. */
export interface GroundingAggregate {
  readonly by?: string | undefined;
  readonly figures: readonly {
    readonly op: 'count' | 'sum' | 'avg' | 'min' | 'max';
    readonly field?: string | undefined;
  }[];
}

/** The source of a hit. Lines count from 1, both ends included. */
export interface GroundingOrigin {
  readonly uri: string;
  readonly path?: string;
  readonly lines?: readonly [from: number, to: number];
  /** The version of the source, or of the file, that was read. */
  readonly version: string;
  readonly updatedAt?: string;
}

/** One result of one source. */
export interface SourceHit {
  readonly id: string;
  readonly content: string;
  /** Which part of the whole text the content is, in UTF-16 code units; absent for all of it. */
  readonly contentRange?: readonly [from: number, to: number];
  readonly title?: string;
  readonly source: GroundingOrigin;
  /** The source's own score; not comparable with that of another source. */
  readonly score: number;
  readonly scoreKind: 'bm25' | 'cosine' | 'exact' | 'rerank';
  /** The probability that the hit is relevant, 0 to 1. */
  readonly confidence: number;
  /** The probability that the source answers the query at all, judged by this hit, 0 to 1; the confidence when absent. */
  readonly answered?: number;
  /** Where the query matched, in UTF-16 code units of the content or of another field. */
  readonly matched: readonly { readonly field: string; readonly ranges: readonly (readonly [number, number])[] }[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The amount of data that a source stores for one tenant. */
export interface GroundingStats {
  /** Changes with every change of the stored data. */
  readonly version: string;
  readonly items: number;
  /** Figures for the operator of the source: sizes, measured quality. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The kinds of request that a source supports. */
export interface GroundingCapabilities {
  readonly query: boolean;
  readonly embedding: boolean;
  readonly filters: readonly FilterOp[];
  /** Sorting and figures. */
  readonly records: boolean;
}

/**
 * A source of context for agents.
 *
 * `retrieve` returns at most `topK` hits of the request's tenant, the best first. It applies filters before it scores and cuts. Every
 * hit has content, its source and a confidence of 0 to 1; ids are unique. Without a match the list is empty. The same request on the
 * same version returns the same hits in the same order; changes to a returned hit do not change the stored data. Rejects with
 * `invalid_argument` for an empty request or an unsupported capability, `unavailable` when the source does not answer, `cancelled`
 * after the signal has aborted. No error contains a query or content.
 */
export interface GroundingSource {
  readonly id: string;
  readonly kind: GroundingKind;
  readonly capabilities: GroundingCapabilities;
  /** How much its hits count beside those of other sources, as measured; 1 when absent. `weights` of `createGrounding` replace it. */
  readonly quality?: number;
  /** Whose the items are: of the caller's tenant (when absent), or of the caller's subject alone (`perSubject`). */
  readonly scope?: 'tenant' | 'subject';
  /** The origins that it sends questions or items to; absent: none, or it does not say. An agent's `egress` must have them all. */
  readonly origins?: readonly string[];
  retrieve(request: GroundingRequest, signal: AbortSignal): Promise<readonly SourceHit[]>;
  stats(tenant: string, signal: AbortSignal): Promise<GroundingStats>;
}

/** An item to store. */
export interface GroundingItem {
  /** An item with the same id replaces the stored one. Defaults to a hash of the content. */
  readonly id?: string | undefined;
  readonly text: string;
  readonly title?: string | undefined;
  readonly uri?: string | undefined;
  readonly path?: string | undefined;
  readonly lines?: readonly [from: number, to: number] | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** JSON; filters read it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The item expires after this time. */
  readonly ttlMs?: number | undefined;
}

/**
 * A source that can be written. `remember` stores 1 to 1,000 items of one tenant and returns their ids; `retrieve` finds them from
 * then on. Storing the same items twice has no further effect. A call with an `idempotencyKey` stores at most 50 items, all or none;
 * repeating the key with the same items returns the same ids, with other items it rejects with `conflict`. `forget` removes the
 * tenant's items that are among the ids and match the filters, and returns their number. Invalid items are rejected with
 * `invalid_argument`, and nothing is stored.
 */
export interface WritableGroundingSource extends GroundingSource {
  remember(request: RememberRequest, signal: AbortSignal): Promise<readonly string[]>;
  forget(request: ForgetRequest, signal: AbortSignal): Promise<number>;
}

/** Items to store for one tenant. */
export interface RememberRequest {
  readonly tenant: string;
  readonly items: readonly GroundingItem[];
  readonly idempotencyKey?: string | undefined;
}

/** Items of one tenant to remove: those that are among the ids and match the filters. At least one of the two is required. */
export interface ForgetRequest {
  readonly tenant: string;
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
}
