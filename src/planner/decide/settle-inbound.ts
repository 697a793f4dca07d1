/** Turns what comes from outside into events, and what can never come. */

import type { Draft } from './draft.ts';
import { cancel, fail } from './ending.ts';
import { failure } from '../model/failure.ts';
import type { InboundItem } from '../journal/plan-record.ts';
import { hasEnded, livingAgents, rootOf } from '../model/plan-state.ts';
import { settleAnswer } from './settle-ask.ts';

/** Records one thing from outside; what is of no use any more changes nothing. */
export function settleInbound(draft: Draft, item: InboundItem): void {
  if (item.type === 'answer') return settleAnswer(draft, item.ask, item);
  if (item.type !== 'cancel') {
    if ((item.type === 'pause') === draft.state.paused) return; // a repeated request
    draft.add({ type: item.type === 'pause' ? 'run.paused' : 'run.resumed', by: item.by });
    return;
  }
  const agent = draft.state.agents.get(item.target);
  if (!agent || hasEnded(agent)) return;
  draft.add({ type: 'cancel.requested', target: item.target, by: item.by, reason: item.reason });
  cancel(draft, agent, item.reason);
}

/** Agents that wait for each other, or for messages without a possible sender, fail: the deepest first. */
export function breakDeadlock(draft: Draft): void {
  const living = livingAgents(draft.state).filter((agent) => agent.open === 0);
  const [agent = rootOf(draft.state)] = living.toSorted((a, b) => b.depth - a.depth || a.order - b.order);
  if (agent) fail(draft, agent, failure('conflict', 'What the agent waits for can never come', { reason: 'deadlock' }));
}
