/** The instructions of one run: the text of the record, or what the agent's function returns. */

import { PinnaceError } from '../../base/errors.ts';
import type { Agent } from '../../base/schema.ts';
import { raceAbort } from '../../base/until-aborted.ts';
import type { Instructions, InstructionsRequest } from './agent-code.ts';

const mostMs = 2_000;
const mostLength = 65_536;

/**
 * Returns the agent with the instructions of this run.
 *
 * @throws PinnaceError `internal` with the reason `instructions` when the function throws, returns no text, or takes longer than two
 * seconds; the signal's reason when it aborts.
 */
export async function withInstructions(
  agent: Agent,
  instructions: Instructions | undefined,
  request: InstructionsRequest,
  signal: AbortSignal,
): Promise<Agent> {
  if (!instructions) return agent;
  return { ...agent, instructions: await callWithin(instructions, request, signal) };
}

async function callWithin(instructions: Instructions, request: InstructionsRequest, signal: AbortSignal) {
  const own = new AbortController();
  const follow = (): void => own.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(() => own.abort(broken(`it took longer than ${mostMs} ms`)), mostMs);
  try {
    const text: unknown = await raceAbort(called(instructions, request, own.signal), own.signal);
    if (typeof text !== 'string') throw broken('it returned no text');
    if (text.length > mostLength) throw broken(`it returned more than ${mostLength} characters`);
    return text;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', follow);
  }
}

async function called(instructions: Instructions, request: InstructionsRequest, signal: AbortSignal): Promise<unknown> {
  try {
    signal.throwIfAborted();
    return await instructions(request, { signal });
  } catch (cause) {
    throw signal.aborted ? signal.reason : broken('it threw an error', cause);
  }
}

function broken(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('internal', `Cannot make the instructions of the agent by its function: ${why}`, {
    cause,
    details: { reason: 'instructions' },
  });
}
