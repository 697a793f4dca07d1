/** Asks the strategy of a composition which messages to send. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { PinnaceError } from '../../base/errors.ts';
import { raceAbort } from '../../base/until-aborted.ts';
import type { ContextState, ContextStrategy } from '../../contracts/context-strategy.ts';
import { originOf } from '../messages/origin.ts';
import type { FitOptions } from './context-options.ts';
import { messageTokens } from './estimate.ts';
import { chatStart, isPinned } from './turns.ts';

type Message = LanguageModelV4Message;

/** Returns the prompt as the strategy wants it. @throws PinnaceError `internal` with the reason `context_strategy`. */
export async function applyStrategy(
  strategy: ContextStrategy,
  prompt: readonly Message[],
  { agentId, runId, signal, contextTokens, tokensOf }: FitOptions,
): Promise<readonly Message[]> {
  const start = chatStart(prompt);
  const messages = prompt.slice(start).map((message) => {
    const id = originOf(message)?.id;
    return { message, tokens: messageTokens(message), isPinned: isPinned(message), ...(id !== undefined && { id }) };
  });
  const state = { agentId, runId, messages, tokens: tokensOf(prompt), contextTokens, signal };
  const chosen = await callStrategy(strategy, state);
  if (!chosen) return prompt;
  requireComplete(chosen);
  return [...prompt.slice(0, start), ...chosen];
}

async function callStrategy(
  strategy: ContextStrategy,
  state: ContextState,
): Promise<readonly Message[] | undefined> {
  try {
    return await raceAbort(Promise.resolve(strategy(state)), state.signal);
  } catch (cause) {
    state.signal.throwIfAborted();
    throw failed('it failed', cause);
  }
}

/** Models refuse a call without its result, and a result without its call. */
function requireComplete(messages: readonly Message[]): void {
  const open = new Set<string>();
  for (const { role, content } of messages) {
    if (role === 'system') throw failed('it returned a system message');
    if (role === 'user' && open.size > 0) throw failed('it left out the result of a call');
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type === 'tool-call' && part.providerExecuted !== true) open.add(part.toolCallId);
      if (part.type !== 'tool-result' || role !== 'tool') continue;
      if (!open.delete(part.toolCallId)) throw failed('it left out the call of a result');
    }
  }
  if (open.size > 0) throw failed('it left out the result of a call');
}

function failed(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('internal', `Cannot fit the chat into the context window: ${why}`, {
    details: { reason: 'context_strategy' },
    cause,
  });
}
