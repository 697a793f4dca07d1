/** What a worker and its page say to each other about tools. */

import { type ErrorData, PinnaceError } from '../../src/base/errors.ts';
import { asRecord } from '../../src/base/is-record.ts';

export interface AskedCall {
  readonly name: string;
  readonly input: unknown;
  /** The decision of the person in front of the page. */
  readonly approved?: boolean;
}

export function readCall(params: unknown): AskedCall {
  const { name, input, approved } = asRecord(params);
  if (typeof name !== 'string') throw new PinnaceError('invalid_argument', 'Cannot call the tool: its name is missing');
  return { name, input, ...(typeof approved === 'boolean' && { approved }) };
}

/** An agent's tool as the page registers it. */
export interface AgentTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean; readonly untrustedContentHint: boolean };
}

/** How a call ended. With `question`, a person may decide on it, and it can be sent again with the decision. */
export type AgentToolAnswer =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: ErrorData; readonly question?: string | undefined };
