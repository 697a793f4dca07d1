/** The port that turns texts into vectors. */

/** Turns texts into vectors of one length, in the order of the texts. `id` names the model: vectors of another do not compare. */
export interface Embedder {
  readonly id: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly ArrayLike<number>[]>;
}
