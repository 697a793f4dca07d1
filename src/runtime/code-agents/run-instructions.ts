/** The instructions of one run: the text of the record, or what the agent's function returns. */

import { PinnaceError } from '../../base/errors.ts';
import type { Agent } from '../../base/schema.ts';
import type { Report } from '../../events/report.ts';
import { raceAbort } from '../../base/until-aborted.ts';
import type { Instructions, InstructionsRequest } from './agent-code.ts';

const mostMs = 2_000;
const mostLength = 65_536;

/** What a function is called with besides its request. */
export interface InstructionsCall {
  readonly signal: AbortSignal;
  readonly report: Report;
}

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
  call: InstructionsCall,
): Promise<Agent> {
  if (!instructions) return agent;
  return { ...agent, instructions: await callWithin(instructions, request, call) };
}

async function callWithin(
  instructions: Instructions,
  request: InstructionsRequest,
  { signal, report }: InstructionsCall,
): Promise<string> {
  const own = new AbortController();
  const follow = (): void => own.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(() => own.abort(broken(`it took longer than ${mostMs} ms`)), mostMs);
  try {
    const text: unknown = await raceAbort(called(instructions, request, { signal: own.signal, report }), own.signal);
    if (typeof text !== 'string') throw broken('it returned no text');
    if (text.length > mostLength) throw broken(`it returned more than ${mostLength} characters`);
    return text;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', follow);
  }
}

async function called(
  instructions: Instructions,
  request: InstructionsRequest,
  { signal, report }: InstructionsCall,
): Promise<unknown> {
  try {
    signal.throwIfAborted();
    return await instructions(request, { signal });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    report(cause, { kind: 'hook', id: 'instructions' });
    throw broken('it threw an error', cause);
  }
}

function broken(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('internal', `Cannot make the instructions of the agent by its function: ${why}`, {
    cause,
    details: { reason: 'instructions' },
  });
}
