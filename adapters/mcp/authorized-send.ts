/** Sends requests with access tokens: one that the server refuses is sent once more, with another token. */

import type { Secret } from '../../src/base/secret.ts';
import type { McpAuthorization } from '../../src/contracts/mcp/mcp-connector.ts';
import type { McpChallenge } from '../../src/contracts/mcp/sign-in.ts';

/** Returns the challenge of a response that refuses a request. */
export type ReadChallenge = (answer: Response) => McpChallenge;

/** Where tokens come from, and how refusals are read. */
export interface Challenges {
  readonly authorization: McpAuthorization;
  readonly read: ReadChallenge;
}

/** Sends a request. Rejects as `McpAuthorization.refused` does. */
export async function sendAuthorized(
  { authorization, read }: Challenges,
  sendWith: (token: Secret | undefined) => Promise<Response>,
): Promise<Response> {
  let token = await authorization.token();
  for (const again of [false, true]) {
    const answer = await sendWith(token);
    if (answer.status !== 401 && answer.status !== 403) return answer;
    await answer.body?.cancel().catch(() => {});
    token = await authorization.refused(read(answer), { token, again });
  }
  return await sendWith(token); // not reached: a second refusal rejects
}
