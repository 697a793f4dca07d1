/** Upper bounds of one agent's calls on a tree, and the defaults. */

/** A rate: so many calls a second, so many at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The bounds of a tree's tools. */
export interface TreeLimits {
  /** Rows of a page where the call names no number, and at most. */
  readonly pageSize: number;
  readonly maxPageSize: number;
  /** Bytes of an answer. A page that would be larger ends early; `get_node` may take `valueBytes` more, an export `importBytes`. */
  readonly responseBytes: number;
  /** Bytes of one text in a page; `get_node` returns it in full. */
  readonly textBytes: number;
  /** Bytes of one new value, of a whole payload, and of a call's arguments besides an import's view. */
  readonly valueBytes: number;
  readonly payloadBytes: number;
  readonly inputBytes: number;
  /** Paths in a list of properties or filters, and operations in a batch. */
  readonly maxPaths: number;
  readonly maxBatch: number;
  /** Bytes and nodes of an import or an export. */
  readonly importBytes: number;
  readonly maxNodes: number;
  /** Nodes of a nested export; more go in flat rows. */
  readonly nestedNodes: number;
  /** A search that has found nothing for this long answers with a page token. */
  readonly searchMs: number;
  /** Calls per agent; absent: as many as it likes. */
  readonly reads?: Rate;
  readonly writes?: Rate;
}

/** What holds where the caller says nothing. */
export const defaultTreeLimits: TreeLimits = {
  pageSize: 50,
  maxPageSize: 1000,
  responseBytes: 64 * 1024,
  textBytes: 2 * 1024,
  valueBytes: 64 * 1024,
  payloadBytes: 1024 * 1024,
  inputBytes: 1024 * 1024,
  maxPaths: 100,
  maxBatch: 1000,
  importBytes: 16 * 1024 * 1024,
  maxNodes: 1_000_000,
  nestedNodes: 10_000,
  searchMs: 50,
};

/** The deepest nested view; what is deeper goes in flat rows. */
export const maxNestedDepth = 500;
