/** The answers of a person to the questions of an MCP server. */

import * as v from 'valibot';
import type { Principal } from '../../base/principal.ts';

/** The answer to one question: `content` has the fields of a form that is accepted. */
export const McpAnswer = v.strictObject({
  action: v.picklist(['accept', 'decline', 'cancel']),
  content: v.optional(v.record(v.pipe(v.string(), v.maxLength(200)), v.unknown())),
});
export type McpAnswer = v.InferOutput<typeof McpAnswer>;

/** The answers to all questions of an interruption, by their keys. */
export const McpAnswers = v.strictObject({
  answers: v.pipe(v.record(v.pipe(v.string(), v.maxLength(128)), McpAnswer), v.maxEntries(5)),
});
export type McpAnswers = v.InferOutput<typeof McpAnswers>;

/** Answers, and the interruption that they are for. */
export interface AnsweredQuestions extends McpAnswers {
  readonly runId: string;
  /** Of the interruption. */
  readonly id: string;
  /** Who answers. */
  readonly principal: Principal;
}

/** Questions of a server, and what it wants back with the answers. */
export interface McpInputRequired {
  /** By key; untrusted. */
  readonly inputRequests: unknown;
  /** Is sent back as it came. */
  readonly requestState?: string | undefined;
}

/** The answers that a call sends. */
export interface McpInputResponses {
  readonly inputResponses: Readonly<Record<string, McpAnswer>>;
  readonly requestState?: string | undefined;
}
