/** What clients of the AI SDK send beside a chat's messages. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { RunRequestInput } from '../../src/runtime/run-request.ts';

/**
 * Returns the agent that `body.agentId` names, and `body.output`, which the runtime parses.
 *
 * @throws PinnaceError `invalid_argument` without an agent.
 */
export function readChatBody(body: object | undefined): Pick<RunRequestInput, 'agentId' | 'output'> {
  if (!body || !('agentId' in body) || typeof body.agentId !== 'string') {
    throw new PinnaceError('invalid_argument', 'Cannot send the messages: name the agent in "body.agentId"');
  }
  const { agentId } = body;
  // Safe: the runtime parses it as it parses every request.
  return 'output' in body ? { agentId, output: body.output as RunRequestInput['output'] } : { agentId };
}
