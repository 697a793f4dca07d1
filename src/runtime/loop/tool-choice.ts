/** Which tool a model must call, and whether it has. */

import type { LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { PinnaceError } from '../../base/errors.ts';
import type { Tool } from '../../tools/tool.ts';
import type { LoopOptions } from './loop-options.ts';
import type { Answer } from './step-content.ts';

/**
 * Returns the choice of the coming step: that of the agent's settings in the first step of an answer, `undefined` in all others.
 *
 * @throws PinnaceError `invalid_argument` with the reason `tool_choice` where no tool of the step can fulfill it.
 */
export function toolChoiceOf(
  { agent, continues }: Pick<LoopOptions, 'agent' | 'continues'>,
  { offered, step }: { readonly offered: readonly Tool[]; readonly step: number },
): LanguageModelV4ToolChoice | undefined {
  const given = agent.modelSettings?.toolChoice;
  if (given === undefined || step > 1 || continues !== undefined) return undefined;
  const choice: LanguageModelV4ToolChoice = typeof given === 'string' ? { type: given } : given;
  const isPossible = choice.type === 'tool'
    ? offered.some(({ definition: { name } }) => name === choice.toolName)
    : choice.type !== 'required' || offered.length > 0;
  if (isPossible) return choice;
  throw new PinnaceError(
    'invalid_argument',
    'Cannot call the model: the "toolChoice" of the agent needs a tool that this run does not have; list it in "entryTools"',
    { details: { reason: 'tool_choice' } },
  );
}

/** @throws PinnaceError `unavailable` with the reason `tool_choice` for a complete answer that ignores the choice. */
export function requireChoice(choice: LanguageModelV4ToolChoice | undefined, answer: Answer<Tool>): void {
  if (choice === undefined || isFollowed(choice, answer)) return;
  throw new PinnaceError(
    'unavailable',
    'The model ignored the "toolChoice" of the agent: use a model that supports it, or remove the setting',
    { details: { reason: 'tool_choice' } },
  );
}

function isFollowed(choice: LanguageModelV4ToolChoice, { finishReason, message }: Answer<Tool>): boolean {
  const parts = typeof message.content === 'string' ? [] : message.content;
  const called = parts.flatMap((part) => part.type === 'tool-call' ? [part.toolName] : []);
  if (choice.type === 'none') return called.length === 0;
  if (finishReason !== 'stop' && finishReason !== 'tool-calls') return true; // cut or filtered: not the model's choice
  if (choice.type === 'required') return called.length > 0;
  return choice.type !== 'tool' || (called.length > 0 && called.every((name) => name === choice.toolName));
}
