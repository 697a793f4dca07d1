/** The port to data sources. */

import type { Filter, FilterOp } from './filter.ts';

/** What a grounding source searches. */
export type GroundingKind = 'search' | 'vector' | 'structured' | 'code';

/** A question to one source. */
export interface GroundingRequest {
  /** Whose data: part of the key under which it is kept, never a filter. */
  readonly tenant: string;
  readonly query?: string | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** The most hits, 1 to 200. */
  readonly topK: number;
  /** All must hold for every hit. */
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

/** Where a hit comes from. Lines count from 1, both ends included. */
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
  /** As the source reckons; not to be compared with another source's. */
  readonly score: number;
  readonly scoreKind: 'bm25' | 'cosine' | 'exact' | 'rerank';
  /** How probable it is that the hit is relevant, 0 to 1. */
  readonly confidence: number;
  /** Where the query matched, in UTF-16 code units of the content or of another field. */
  readonly matched: readonly { readonly field: string; readonly ranges: readonly (readonly [number, number])[] }[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** How much a source holds of one tenant. */
export interface GroundingStats {
  /** Differs after every change of what is held. */
  readonly version: string;
  readonly items: number;
  /** Figures for the operator of the source: sizes, measured quality. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What a source can be asked. */
export interface GroundingCapabilities {
  readonly query: boolean;
  readonly embedding: boolean;
  readonly filters: readonly FilterOp[];
  /** Sorting and figures. */
  readonly records: boolean;
}

/**
 * Where context comes from.
 *
 * `retrieve` gives hits of the request's tenant alone, the best first, at most `topK`. Filters are applied before anything is
 * scored or cut. Every hit has content, its source and a confidence in 0..1; no two have the same id. Nothing found is an empty
 * list, never an error. The same request on the same version gives the same hits in the same order; changing what was given
 * changes nothing that is held. A request for what is not among the capabilities, or that asks nothing at all, is
 * `invalid_argument`; a source that does not answer is `unavailable`; after the signal has aborted, `cancelled`. No error names a
 * query or a content.
 */
export interface GroundingSource {
  readonly id: string;
  readonly kind: GroundingKind;
  readonly capabilities: GroundingCapabilities;
  retrieve(request: GroundingRequest, signal: AbortSignal): Promise<readonly SourceHit[]>;
  stats(tenant: string, signal: AbortSignal): Promise<GroundingStats>;
}

/** What is to be remembered. */
export interface GroundingItem {
  /** Remembering the same id again replaces what was there; without one, it is a hash of the content. */
  readonly id?: string | undefined;
  readonly text: string;
  readonly title?: string | undefined;
  readonly uri?: string | undefined;
  readonly path?: string | undefined;
  readonly lines?: readonly [from: number, to: number] | undefined;
  readonly embedding?: ArrayLike<number> | undefined;
  /** JSON; filters read it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The item is gone after this time. */
  readonly ttlMs?: number | undefined;
}

/**
 * A source that can be written. `remember` keeps items of one tenant, 1 to 1,000 at once, and gives their ids; what it has given
 * can be found at once. The same items twice equal once. Under an `idempotencyKey` at most 50 are taken, all or none; the same
 * key with the same items does nothing and gives the same ids, with others it is a `conflict`. `forget` removes what is among
 * the ids and passes the filters, and gives how many there were; another tenant's are never touched. Items that are no items are
 * `invalid_argument`, and then nothing is kept.
 */
export interface WritableGroundingSource extends GroundingSource {
  remember(request: RememberRequest, signal: AbortSignal): Promise<readonly string[]>;
  forget(request: ForgetRequest, signal: AbortSignal): Promise<number>;
}

/** Items to be kept for one tenant. */
export interface RememberRequest {
  readonly tenant: string;
  readonly items: readonly GroundingItem[];
  readonly idempotencyKey?: string | undefined;
}

/** What to forget of one tenant: what is among the ids and passes the filters. One of the two must be there. */
export interface ForgetRequest {
  readonly tenant: string;
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
}
