/** What the loop needs of a structured answer. */

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { Issue } from '../../base/parse.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';

/** What the last answer of a run must be. */
export interface RunOutput {
  /** Is sent with every step. */
  readonly responseFormat: NonNullable<LanguageModelV4CallOptions['responseFormat']>;
  /** Reads an answer. */
  read(text: string): Promise<OutputReading>;
  /** The chunk of a valid answer. */
  chunk(data: unknown): UIMessageChunk;
  /** The message that lists the errors of the answer for the model. */
  correction(issues: readonly Issue[]): LanguageModelV4Message;
  /** Whether the model has received that message. */
  isRepaired: boolean;
}

/** An answer as data, or what is wrong with it. */
export type OutputReading = { readonly ok: true; readonly data: unknown } | {
  readonly ok: false;
  readonly issues: readonly Issue[];
};
