/** What clients of the AI SDK send beside a chat's messages. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { UIMessage } from '../../../src/contracts/ai-types.ts';
import { messagesToSend } from '../../../src/runtime/message-parts.ts';
import type { RunRequestInput } from '../../../src/runtime/run-request.ts';

/** The fields of a run that a chat may set. */
const fields = ['agentId', 'runtimeId', 'context', 'limits', 'budget', 'output', 'settings', 'planner'] as const;

/**
 * Returns the request for a run. With `body.store` the server stores the chat: only the last message is sent. `body` names the agent and sets other fields of the run; the runtime parses them.
 *
 * @throws PinnaceError `invalid_argument` without an agent.
 */
export function chatRequest(
  { id, messages }: { readonly id: string; readonly messages: readonly UIMessage[] },
  body: Readonly<Record<string, unknown>>,
): RunRequestInput {
  if (typeof body['agentId'] !== 'string') {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot send the messages: name the agent in "agentId" of the transport, or in "body.agentId"',
    );
  }
  const given = Object.fromEntries(fields.flatMap((name) => body[name] === undefined ? [] : [[name, body[name]]]));
  const { store } = body;
  const chat = store === true
    ? { id, messages: messages.slice(-1), store }
    : { id, messages: messagesToSend(messages) };
  // Safe: the runtime parses it as it parses every request.
  return { ...given, chat } as unknown as RunRequestInput;
}
