/** How far a stop of the tour is, read from what has really happened. */

import type { Activity } from '../../control/tree-control.ts';
import { waitingCalls } from '../../chat/state/approval.ts';
import type { AssistantMessage, ToolPart } from '../../chat/state/message.ts';
import type { Run } from '../../chat/state/chat.ts';

export interface Observed {
  readonly answer: AssistantMessage;
  readonly run: Run | undefined;
  /** Whether the knowledge is open beside the chat. */
  readonly isReading: boolean;
  /** The latest change to the tree since the stop started. */
  readonly activity: Activity | undefined;
  /** Whether the visitor has ended the worker in the middle of this stop. */
  readonly wasPulled: boolean;
}

/** What the visitor can do in the tour itself. */
export type TourAct = 'leave' | 'read-on' | 'pull';

/** A stop's progress: `going`, the agent works; `yours`, it is the visitor's turn; `missed`, start again. */
export interface Progress {
  readonly type: 'ready' | 'going' | 'yours' | 'done' | 'missed';
  readonly say: string;
  /** Where to look: the last element that this selects. */
  readonly look?: string;
  readonly act?: TourAct;
  /** The tour performs the action itself: the visitor would be too late otherwise. */
  readonly isDue?: boolean;
}

/** The agent works. */
export function going(say: string, look?: string): Progress {
  return { type: 'going', say, ...(look !== undefined && { look }) };
}

/** It is the visitor's turn. */
export function yours(
  say: string,
  { look, act, isDue = false }: { look?: string; act?: TourAct; isDue?: boolean } = {},
): Progress {
  return { type: 'yours', say, ...(look !== undefined && { look }), ...(act && { act }), ...(isDue && { isDue }) };
}

/** The real thing has happened. */
export function done(say: string, look?: string): Progress {
  return { type: 'done', say, ...(look !== undefined && { look }) };
}

/** It has not, and will not without beginning again. */
export function missed(say: string): Progress {
  return { type: 'missed', say };
}

/** The calls of an answer, in order. */
export function callsOf({ parts }: AssistantMessage): readonly ToolPart['call']['value'][] {
  return parts.value.flatMap((part) => part.type === 'tool' ? [part.call.value] : []);
}

/** What ends any stop: a run that failed or was stopped. */
export function brokenOff({ outcome }: AssistantMessage): Progress | undefined {
  const { value } = outcome;
  if (value.type === 'stopped') return missed('The run was stopped before its end. Start again.');
  if ('error' in value) {
    return missed(`The run failed: ${value.error.message}. Start again.`);
  }
  return undefined;
}

/** Whether the answer has come to its end. */
export function hasEnded({ outcome }: AssistantMessage): boolean {
  return outcome.value.type === 'done';
}

/** The call that waits for a person to decide. */
export function undecidedCall(answer: AssistantMessage): ToolPart | undefined {
  return waitingCalls(answer).find(({ call }) => call.value.approval?.decision === undefined);
}
