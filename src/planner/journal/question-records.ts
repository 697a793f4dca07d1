/** The records by which people answer: one for each open question, closed when the plan no longer needs the answer. */

import type { Change } from '../../contracts/storage.ts';
import { type Interruption, interruptionChange } from '../../permission/interruption.ts';
import type { AskFacts, PlanEvent } from '../model/plan-event.ts';
import type { PlanState } from '../model/plan-state.ts';
import { askKey, type PlanHead } from './plan-record.ts';

/** Creates the records of a plan's questions. */
export function createQuestionRecords(
  state: PlanState,
  { planId, ttlMs, owner: { tenant, subject, actor } }: {
    readonly planId: string;
    readonly ttlMs: number;
    readonly owner: Pick<PlanHead, 'tenant' | 'subject' | 'actor'>;
  },
): { changes(events: readonly PlanEvent[]): readonly Change[] } {
  const open = new Map<string, AskFacts>(state.asks);
  const record = (ask: AskFacts, how: Interruption['state']): Change =>
    interruptionChange({
      id: ask.ask,
      kind: ask.kind === 'approval' ? 'approval' : 'question',
      runId: planId,
      tenant,
      ...(subject !== undefined && { subject }),
      ...(actor !== undefined && { actor }),
      ...(ask.approvers && { approvers: ask.approvers }),
      ...(ask.fourEyes && { fourEyes: ask.fourEyes }),
      agentId: state.agents.get(ask.agent)?.spec.agentId ?? '',
      binding: `${ask.agent} ${ask.step ?? ''}`,
      expiresAt: ask.expiresAt,
      state: how,
    }, ttlMs);
  return {
    changes(events) {
      if (open.size === 0 && !events.some(({ type }) => type === 'ask.opened')) return [];
      const changes: Change[] = [];
      for (const event of events) {
        if (event.type === 'ask.opened' && state.asks.has(event.ask)) {
          open.set(event.ask, event);
          const { at: _, type: _type, ...facts } = event;
          changes.push(record(event, 'pending'), { key: askKey(planId, event.ask), value: facts, ttlMs });
        } else if (event.type === 'ask.answered' && event.by !== 'timeout') {
          open.delete(event.ask); // its record has the answer
          changes.push({ key: askKey(planId, event.ask) });
        }
      }
      for (const ask of open.values()) {
        if (state.asks.has(ask.ask)) continue;
        open.delete(ask.ask);
        changes.push(record(ask, 'closed'), { key: askKey(planId, ask.ask) });
      }
      return changes;
    },
  };
}
