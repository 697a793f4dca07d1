/** What a worker and its page say to each other about the browser's model. */

import type { ErrorData } from '../../../src/base/errors.ts';
import type { PromptMessage } from './prompt-api.ts';

export interface OfferedTool {
  readonly name: string;
  readonly inputSchema: unknown;
}

export interface GenerateRequest {
  /** The system message first, if there is one; a user's message last. */
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly OfferedTool[];
  /** Whether the model must choose a tool. */
  readonly mustChoose: boolean;
  readonly constraint?: unknown;
}

export interface TokenCounts {
  readonly input: number | undefined;
  readonly output: number | undefined;
}

export type AnswerPiece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool'; readonly name: string; readonly input: string };

/** The worker's messages. */
export type ToPage =
  | { readonly type: 'generate'; readonly id: number; readonly request: GenerateRequest }
  | { readonly type: 'cancel'; readonly id: number };

/** The page's messages. Each call ends with `done` or `failed`. */
export type ToWorker =
  | { readonly type: 'piece'; readonly id: number; readonly piece: AnswerPiece }
  | { readonly type: 'done'; readonly id: number; readonly tokens: TokenCounts }
  | { readonly type: 'failed'; readonly id: number; readonly error: ErrorData };
