/** The state of a plan's task for people: a word and a mark. */

import { isEnded, type TaskNode } from './plan-data.ts';
import type { PlanTask, PlanView } from './plan-data.ts';

/** How a task looks: each has a colour and a mark. */
export type TaskLook = 'done' | 'failed' | 'cancelled' | 'work' | 'next' | 'asks' | 'waits';

/** A plan at the chosen time. */
export interface LookedAt {
  readonly view: PlanView;
  /** Whether those that are ready are being worked on right now. */
  readonly isAtWork: boolean;
  /** The chosen time. */
  readonly at: number;
}

const ended = { done: 'Done', failed: 'Failed', cancelled: 'Canceled' } as const;

export function lookOf(
  { task, children }: TaskNode,
  { view, isAtWork }: Pick<LookedAt, 'view' | 'isAtWork'>,
): { readonly look: TaskLook; readonly word: string } {
  const { status, address, after } = task;
  if (status === 'done' || status === 'failed' || status === 'cancelled') return { look: status, word: ended[status] };
  if (view.questions.some(({ agent }) => agent === address)) return { look: 'asks', word: 'Has a question' };
  if (status === 'ready') {
    if (isAtWork) return { look: 'work', word: 'Working' };
    return { look: 'next', word: view.state === 'running' && !view.paused ? 'Working' : 'Next' };
  }
  const isAfter = (other: PlanTask): boolean => after.includes(other.address) && !isEnded(other);
  if (view.tasks.some(isAfter)) return { look: 'waits', word: 'Waiting for a free slot' };
  if (children.some((child) => !isEnded(child.task))) return { look: 'waits', word: 'Waiting for sub-tasks' };
  return { look: 'waits', word: 'Waiting' };
}

/** How long the task has taken, in milliseconds; 0 before it starts. */
export function timeOf({ task, children }: TaskNode, at: number): number {
  if (task.status === 'waiting' && children.length === 0) return 0;
  return Math.max(0, (task.endedAt ?? at) - task.startedAt);
}
