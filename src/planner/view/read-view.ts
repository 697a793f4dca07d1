/** Reads what people see of a plan. */

import { PinnaceError } from '../../base/errors.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { PlanHead } from '../journal/plan-record.ts';
import { readState } from '../journal/read-state.ts';
import type { AskFacts } from '../model/plan-event.ts';
import { type PlanView, viewOf } from './plan-view.ts';

/** Returns the current view of a plan that was found. */
export async function readView(storage: Storage, planId: string, { status }: PlanHead): Promise<PlanView> {
  const { state, seq } = await readState(storage, planId);
  const view = viewOf(state, { seq, isSuspended: status === 'waiting' });
  if (!view) throw new PinnaceError('internal', 'Cannot show the plan: its journal has no first event');
  return view;
}

/** Returns the open questions of a plan that was found. */
export async function openQuestions(storage: Storage, planId: string): Promise<readonly AskFacts[]> {
  const open = await storage.list({ prefix: ['plan', planId, 'ask'], limit: 100 });
  return open.map(({ value }) => value as AskFacts); // written with the events
}
