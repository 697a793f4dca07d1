/** Options of a client call. */
export interface CallOptions {
  /** Aborts the call and its stream. The run continues; `cancel` stops it. */
  readonly signal?: AbortSignal | undefined;
}
