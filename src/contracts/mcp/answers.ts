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

/** Asks a person while the call waits: returns the id of the interruption, when the stream shows it. */
export type AskWhileOpen = (interaction: Interaction) => Promise<string>;

/** A question to a person, asked by a call that has ended for now. The chat's next run makes the call again, with the answer. */
export interface Interaction {
  readonly kind: 'sign_in' | 'elicitation';
  /** For clients that know approvals only, in our words. */
  readonly reason: string;
  /** Further fields of the stream's `data-interruption` part. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Stores what the next call needs, before the person is asked. */
  readonly save: (
    interruption: { readonly id: string; readonly runId: string; readonly expiresAt: number },
  ) => Promise<void>;
}
