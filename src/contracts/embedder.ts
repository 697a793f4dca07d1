/** The port that turns texts into vectors. */

/** Turns texts into vectors of one length, in the order of the texts. `id` names the model: vectors of another do not compare. */
export interface Embedder {
  readonly id: string;
  /** Whether each dimension counts features of the text, so that rare ones say more; false for models. */
  readonly countsFeatures?: boolean;
  /** Returns the vector of a text at once, where that takes no model. Stored vectors of another length are then made again. */
  embedNow?(text: string): ArrayLike<number>;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly ArrayLike<number>[]>;
}
