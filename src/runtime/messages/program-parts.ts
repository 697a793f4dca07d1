/** The parts of programs in a client's message: the calls of `code_run`, and calls inside of them that wait for a person. */

import type { UIMessage } from '../../contracts/ai-types.ts';
import { codeRunId } from '../../tools/run-scope.ts';

type Part = UIMessage['parts'][number];

/** Whether a part is a program that was still waiting when the chat went on. */
export function isWaitingProgram(part: Part): boolean {
  if (!isProgram(part) || !('output' in part)) return false;
  return isSuspended(part.output);
}

/** Whether an output is that of a program which waits for people. */
export function isSuspended(output: unknown): boolean {
  return typeof output === 'object' && output !== null && '$suspended' in output;
}

/** The programs of a message. */
export interface ProgramParts {
  /** Returns the call of `code_run` that this call is inside of. */
  of(toolCallId: string): string | undefined;
  /** Whether one of the calls inside of them waits for a person, or claims a decision. */
  readonly isWaiting: boolean;
}

/** Finds the programs of a message. */
export function programsIn(message: UIMessage | undefined): ProgramParts {
  const ids = (message?.parts ?? []).flatMap((part) => isProgram(part) ? [part.toolCallId] : []);
  const of = (toolCallId: string): string | undefined => ids.find((id) => toolCallId.startsWith(`${id}/`));
  const isWaiting = ids.length > 0 &&
    (message?.parts ?? []).some((part) =>
      part.type === 'dynamic-tool' && of(part.toolCallId) !== undefined && part.state.startsWith('approval-')
    );
  return { of, isWaiting };
}

function isProgram(part: Part): part is Part & { readonly toolCallId: string } {
  return part.type === `tool-${codeRunId}` && 'toolCallId' in part && typeof part.toolCallId === 'string';
}

/** The parts without the calls inside of programs: a model has the results of the programs. */
export function withoutInnerCalls({ parts }: UIMessage): readonly Part[] {
  if (!parts.some(isProgram)) return parts;
  const programs = programsIn({ id: '', role: 'assistant', parts });
  return parts.filter((part) => part.type !== 'dynamic-tool' || programs.of(part.toolCallId) === undefined);
}
