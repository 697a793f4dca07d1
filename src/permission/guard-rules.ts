/** What a watched and a guarded agent may do: the rules of the levels, as data, and the hook that asks them beside the composition's. */

import type { Authorize } from '../contracts/authenticator.ts';
import type { Trust } from './label.ts';
import { createRules, type RuleInput } from './rules.ts';

const watched: readonly RuleInput[] = [
  {
    id: 'acts-on-strangers-words',
    effect: 'ask',
    actions: ['tool.call'],
    acts: true,
    read: ['untrusted'],
    reason: 'the agent has read what others have written',
  },
  {
    id: 'private-goes-out',
    effect: 'ask',
    actions: ['tool.call'],
    leaks: true,
    reason: 'it may send out what the agent has read',
  },
];

/** A place that the user or the clean planner has named is their decision, also for private data. */
const guarded: readonly RuleInput[] = [
  {
    id: 'destination-of-a-stranger',
    effect: 'ask',
    actions: ['tool.call'],
    acts: true,
    from: [{ at: 'destinations', sources: ['*'] }],
    reason: 'where it goes is from a text of others',
  },
  {
    id: 'private-to-a-strangers-address',
    effect: 'ask',
    actions: ['tool.call'],
    leaks: true,
    from: [{ at: 'destinations', sources: ['*'] }],
    reason: 'what is not public goes to an address from a text of others',
  },
];

/**
 * Returns the rules of a level. A runtime asks them beside its own `authorize`: the stricter answer counts.
 *
 * @example
 * const rules = createRules([...guardRules('watched'), { effect: 'allow', actions: ['*'] }]);
 */
export function guardRules(level: Trust): readonly RuleInput[] {
  return structuredClone(level === 'open' ? [] : level === 'watched' ? watched : guarded);
}

const hooks = new Map<string, Authorize>();

/**
 * Returns the hook of a level for the calls of a program, or for those that a model makes itself: such a model has seen what was read,
 * so that in a guarded agent the rules of a watched one hold for it as well.
 */
export function guardHook(level: Exclude<Trust, 'open'>, by: 'program' | 'model'): Authorize {
  const key = `${level} ${by}`;
  const rules = level === 'guarded' && by === 'program'
    ? guarded
    : level === 'guarded'
    ? [...watched, ...guarded]
    : watched;
  const hook = hooks.get(key) ?? createRules(rules, { otherwise: 'allow' });
  hooks.set(key, hook);
  return hook;
}
