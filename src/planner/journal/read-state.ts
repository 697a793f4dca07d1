/** Reads the state of a plan: its last snapshot, and the events behind it. */

import type { Storage } from '../../contracts/storage.ts';
import { readPlanEvents } from './plan-record.ts';
import { type AgentState, createPlanState, hasEnded, type PlanState } from '../model/plan-state.ts';
import { reduce } from '../fold/reduce.ts';
import { changedAtEnd, readSnapshot, type SnapshotRecord } from './snapshot-store.ts';

/** A state that was read. */
export interface ReadState {
  readonly state: PlanState;
  /** The number of the last event in it. */
  readonly seq: number;
  /** The snapshot that it was read with; without one, the whole journal was read. */
  readonly snapshot: SnapshotRecord | undefined;
  /** Agents that have ended behind the snapshot; some may be there twice. */
  readonly ended: readonly AgentState[];
}

/** Reads the state of an existing plan. */
export async function readState(storage: Storage, planId: string): Promise<ReadState> {
  const found = await readSnapshot(storage, planId);
  const state = found?.state ?? createPlanState();
  const ended: AgentState[] = [];
  let seq = found?.record.seq ?? 0;
  for (let page = await readPlanEvents(storage, planId, seq); page.length > 0;) {
    for (const { event } of page) {
      reduce(state, event);
      const agent = changedAtEnd(state, event);
      if (agent && hasEnded(agent)) ended.push(agent);
    }
    seq = page.at(-1)?.seq ?? seq;
    page = await readPlanEvents(storage, planId, seq);
  }
  state.fresh = []; // the owner starts with everything
  return { state, seq, snapshot: found?.record, ended };
}
