/** Sign-ins to MCP servers, and the answers to their questions, at an endpoint or in a worker. */

import type { McpAnswers } from '../../../src/contracts/mcp/answers.ts';
import type {
  McpGrant,
  McpSignInCallback,
  McpSignInRequest,
  McpSignInStart,
} from '../../../src/contracts/mcp/sign-in.ts';
import type { CallOptions } from './call-options.ts';
import { runPath } from './connection.ts';

/** Sign-ins of the caller to MCP servers, by the ids of their records. */
export interface RemoteMcpSignIns {
  /**
   * Returns the URL that the caller opens, for ten minutes. With `interruptionId`, the sign-in answers that interruption of a run.
   *
   * Rejects with `invalid_argument` for a redirect URI that the composition does not list, `not_found`, and `conflict` when the
   * server's sign-in is not approved as it is now.
   */
  start(serverId: string, request: McpSignInRequest, options?: CallOptions): Promise<McpSignInStart>;
  /**
   * Finishes a sign-in with the query parameters of the redirect, once, as the caller who started it.
   *
   * Rejects with `not_found` for an unknown, used or late `state`, `forbidden` when it was refused, or for another caller.
   */
  finish(callback: McpSignInCallback, options?: CallOptions): Promise<void>;
  /** Returns the caller's sign-in, without its tokens. */
  grant(serverId: string, options?: CallOptions): Promise<McpGrant>;
  /** Erases the tokens, and revokes them where the authorization server can. */
  revoke(serverId: string, options?: CallOptions): Promise<void>;
  /**
   * Answers all questions of an interruption of the kind `elicitation`, by their keys. The chat's next run sends them with the call.
   *
   * Rejects with `invalid_argument` for answers that do not fit, which leaves the questions open, `already_decided`,
   * `approval_expired` and `not_found`.
   */
  answer(
    runId: string,
    interruptionId: string,
    answers: McpAnswers['answers'],
    options?: CallOptions,
  ): Promise<void>;
}

/** Sends one request and returns the JSON of the response. */
type Call = (method: string, path: string, options?: CallOptions & { readonly body?: unknown }) => Promise<unknown>;

/** Creates the sign-ins at a remote endpoint. */
export function createRemoteMcpSignIns(call: Call): RemoteMcpSignIns {
  const pathOf = (serverId: string): string => `/v1/mcp-servers/${encodeURIComponent(serverId)}`;
  return {
    start: async (serverId, body, given) =>
      await call('POST', `${pathOf(serverId)}/sign-in`, { ...given, body }) as McpSignInStart, // the endpoint's schema says so
    finish: async (body, given) => void await call('POST', '/v1/mcp-sign-ins', { ...given, body }),
    grant: async (serverId, given = {}) => await call('GET', `${pathOf(serverId)}/grant`, given) as McpGrant, // as `start`
    revoke: async (serverId, given = {}) => void await call('DELETE', `${pathOf(serverId)}/grant`, given),
    answer: async (runId, interruptionId, answers, given) =>
      void await call('POST', `${runPath(runId)}/interruptions/${encodeURIComponent(interruptionId)}`, {
        ...given,
        body: { answers },
      }),
  };
}
