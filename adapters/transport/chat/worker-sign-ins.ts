/** The sign-ins of a worker to MCP servers, as its page calls them. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { RuntimeSignIns } from '../../../src/contracts/mcp/sign-in.ts';
import type { RemoteMcpSignIns } from '../client/mcp-sign-ins.ts';

/** A call on its way to the worker: the method, and its arguments without the options. */
export type SignInCall =
  | readonly ['start', string, unknown]
  | readonly ['finish', unknown]
  | readonly ['grant' | 'revoke', string]
  | readonly ['answer', string, string, unknown];

/** Calls a method of the sign-ins. The principal is that of the port, whatever the page passes. */
export async function callSignIns(
  signIns: RuntimeSignIns | undefined,
  principal: Principal,
  call: SignInCall,
): Promise<unknown> {
  if (!signIns) throw new PinnaceError('not_found', 'Cannot sign in to MCP servers: the runtime has no sign-ins');
  switch (call[0]) {
    case 'start':
      return await signIns.start(call[1], call[2], principal);
    case 'finish':
      return await signIns.finish(call[1], principal);
    case 'grant':
    case 'revoke':
      return await signIns[call[0]](call[1], principal);
    case 'answer':
      return await signIns.answer(call[1], call[2], { answers: call[3] }, principal);
    default:
      call satisfies never;
      throw new PinnaceError('invalid_argument', 'Cannot call the sign-ins: the method is unknown');
  }
}

/** Returns the sign-ins of a worker. Signals stay on this side. */
export function workerSignIns(send: (call: SignInCall) => Promise<unknown>): RemoteMcpSignIns {
  const call = async (...given: SignInCall): Promise<never> => await send(given) as never; // what the method of this name returns
  return {
    start: (serverId, request) => call('start', serverId, request),
    finish: (callback) => call('finish', callback),
    grant: (serverId) => call('grant', serverId),
    revoke: (serverId) => call('revoke', serverId),
    answer: (runId, interruptionId, answers) => call('answer', runId, interruptionId, answers),
  };
}
