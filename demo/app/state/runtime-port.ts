/** The page's end of a runtime's port, as a transport. */

import { connectRuntime as connectPort } from '../../../adapters/transport/comlink.ts';
import { localPrincipal } from '../../../src/base/principal.ts';
import type { Transport } from '../../chat/state/run.ts';

/** Returns the transport. The page is the local principal; an endpoint reads the principal from the page's certificate. */
export function connectRuntime(port: MessagePort): Transport {
  const runtime = connectPort(port);
  return {
    sendMessages: (options) => runtime.sendMessages(options),
    resume: (runId, after, { signal }) => runtime.resume(runId, after, { principal: localPrincipal(), signal }),
    fork: (runId, fork, call) => runtime.fork(runId, fork, localPrincipal(), call),
    decide: (runId, approvalId, decision) => runtime.decide(runId, approvalId, decision, localPrincipal()),
    send: (runId, message) => runtime.send(runId, message, localPrincipal()),
    reply: (runId, reply) => runtime.reply(runId, reply, localPrincipal()),
    readFile: (url) => runtime.readFile(url),
    mcp: () => Promise.resolve(runtime),
  };
}
